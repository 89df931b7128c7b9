"""Ctrl-C comes through a running search within a tenth of a second, and the agent goes on as if it had not come."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from dataclasses import replace
from threading import Thread

import numpy as np
import pytest
from hand_made import LEVER
from spec import Factor, Spec

from btai import BTAI_3MF
from btai.agents import BatchAgent
from btai.envs import dsprites_slice

ONE_WAY = replace(LEVER, n_actions=1, transitions={"S_0": Factor(np.eye(2)[:, :1], ("A_pull",))})  # an endless corridor

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="this system has no signal to spare")


class Interrupt:
    """What Ctrl-C does, after so many seconds on the processor: how busy the machine is changes nothing."""

    def __init__(self, after: float) -> None:
        self._due = time.process_time() + after
        self._sender = Thread(target=self._send)
        self.sent = 0.0

    def __enter__(self) -> Interrupt:
        self._before = signal.signal(signal.SIGUSR1, signal.default_int_handler)
        self._sender.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._sender.join()
        signal.signal(signal.SIGUSR1, self._before)

    def _send(self) -> None:
        while time.process_time() < self._due:
            time.sleep(0.001)
        self.sent = time.process_time()
        os.kill(os.getpid(), signal.SIGUSR1)


def seconds_until_back(act: Callable[[], object], after: float = 0.06) -> float:
    """How long `act` goes on after the interrupt."""
    with Interrupt(after) as interrupt, pytest.raises(KeyboardInterrupt):
        act()
    return time.process_time() - interrupt.sent


def ready(spec: Spec) -> BTAI_3MF:
    """An agent whose kernels are compiled."""
    agent = BTAI_3MF(spec.build())
    agent.reset({})
    agent.plan(100)
    agent.reset({})
    return agent


@pytest.mark.parametrize("spec", [LEVER, ONE_WAY], ids=["broad", "deep"])
def test_interrupted_plan_comes_back_at_once_and_keeps_whole_iterations(spec: Spec) -> None:
    interrupted, spared = ready(spec), ready(spec)
    assert seconds_until_back(lambda: interrupted.plan(5_000_000)) < 0.1
    done = len(interrupted.tree.expanded)
    assert 100 < done < 5_000_000
    spared.plan(done)
    assert interrupted.tree.cost.tobytes() == spared.tree.cost.tobytes()
    for agent in (interrupted, spared):
        agent.plan(50)
    assert interrupted.tree.cost.tobytes() == spared.tree.cost.tobytes()
    assert interrupted.choose() == spared.choose()


@pytest.mark.parametrize("threads", [1, 2])
def test_interrupted_batch_comes_back_at_once_and_is_as_it_was(threads: int) -> None:
    n = 5000
    ts = dsprites_slice(granularity=8)
    observed = {name: np.zeros(n, int) for name in ts.observations}
    batch = BatchAgent(ts, n, max_planning_steps=2, threads=threads)
    batch.reset(observed)
    expected = batch.step()
    long = np.full(n, 2000)
    assert seconds_until_back(lambda: batch.step(long)) < 0.1
    np.testing.assert_array_equal(batch.step(), expected)
    assert batch.active.all()
    batch.update(expected, {})
    batch.step()
