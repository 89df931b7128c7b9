"""A batch uses several processors: its threads are at work together, and compiled code lets the others go on."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Barrier, Thread
from typing import Any

import numpy as np
import pytest
from hand_made import LEVER

from btai import BatchAgent
from btai.engine import Model, compile, new_workspace
from btai.envs import dsprites_slice
from btai.planning import batch as batches
from btai.planning import kernels, new_tree

TOGETHER = 30  # seconds that a thread waits for the others, on a busy machine


@pytest.mark.parametrize("threads", [2, 3])
@pytest.mark.parametrize("kernel", ["plan_each", "perceive_each"])
def test_all_threads_are_at_work_together(kernel: str, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    portion = batches.PORTION
    batch = BatchAgent(LEVER.build(), threads * portion, 3, threads=threads)
    batch.reset({})
    action = batch.step()
    meeting = Barrier(threads)  # each thread has one portion, and cannot end it before the others have begun theirs
    run = getattr(kernels, kernel)

    def meets(*given: Any) -> None:
        meeting.wait(TOGETHER)
        run(*given)

    monkeypatch.setattr(batches, kernel, meets)
    if kernel == "plan_each":
        assert batch.step().tolist() == action.tolist()
    else:
        batch.update(action, {})


def test_other_threads_go_on_while_a_kernel_plans() -> None:
    """Else one thread after the other would plan, whatever their number."""
    agents, iterations = 500, 500
    program = compile(LEVER.build())
    tree, work = new_tree(2, iterations), new_workspace(program, iterations)
    beliefs, budgets = np.full((agents, 2), 0.5), np.full(agents, iterations)
    actions = np.full(agents, -1)

    def plan() -> None:
        model = Model(program.ops, program.parts, work)
        kernels.plan_each(tree, model, beliefs, budgets, 0, agents, 2.4, True, True, actions)

    plan()  # compiled by now
    begun, ended = [0.0], [0.0]
    thread = Thread(target=timed(plan, begun, ended))
    thread.start()
    seen = []
    while thread.is_alive():
        seen.append(time.perf_counter())
        time.sleep(0)
    inside = [(t - begun[0]) / (ended[0] - begun[0]) for t in seen]
    assert any(0.2 < share < 0.8 for share in inside)


@pytest.mark.slow
@pytest.mark.alone
def test_two_threads_spend_together_what_one_spends() -> None:
    """Working together all the time, they then do at least 1.8 times what one does, on a machine that has the room."""
    ts = dsprites_slice(granularity=1)
    agents = [BatchAgent(ts, 1024, 50, threads=threads) for threads in (1, 2)]
    for batch in agents:
        batch.reset({"O_pos_x": np.arange(1024) % 32})
    least = [np.inf, np.inf]
    for _ in range(10):
        for i, batch in enumerate(agents):
            least[i] = min(least[i], processor_seconds(batch.step))
    assert least[1] < 2 / 1.8 * least[0]


def processor_seconds(act: Callable[[], object]) -> float:
    """What all threads spend on processors, however long they wait for one."""
    begin = time.process_time()
    act()
    return time.process_time() - begin


def timed(act: Callable[[], None], begun: list[float], ended: list[float]) -> Callable[[], None]:
    """`act` that tells when it began and ended."""

    def run() -> None:
        begun[0] = time.perf_counter()
        act()
        ended[0] = time.perf_counter()

    return run
