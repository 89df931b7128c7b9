"""pymdp on dSprites at granularity 1: `python -m benchmarks.pymdp_decision mcts|enumeration SIZE SECONDS`.

The formulation that is fairest to it: the joint preference becomes a sixth modality, {neutral, good, bad}, that depends
on x, y and shape; everything is jitted.
"""

from __future__ import annotations

import itertools
import json
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from pymdp.agent import Agent
from pymdp.planning.mcts import mcts_policy_search

from benchmarks.measure import least, peak_memory
from benchmarks.models import dsprites_starts
from btai.envs import dsprites_slice
from btai.model import TemporalSlice

Decide = Callable[[list[Any], Any], Any]


def agent_of(ts: TemporalSlice, horizon: int) -> Agent:
    """The slice for pymdp, with the policies of all sequences of actions up to the horizon."""
    states = list(ts.states)
    likelihoods = [o.likelihood for o in ts.observations.values()]
    dependencies = [[states.index(p) for p in o.parents] for o in ts.observations.values()]
    (preference,) = ts.preferences
    scores = np.log(preference.table / np.median(preference.table))
    kind = np.where(scores > 1, 1, np.where(scores < -1, 2, 0))  # neutral, good, bad
    likelihoods.append(np.moveaxis(np.eye(3)[kind], -1, 0))
    dependencies.append([states.index(ts.observations[name].parents[0]) for name in preference.observations])
    transitions = []
    for t in (ts.transitions[name] for name in states):
        moved = ts.action.name in t.parents
        transitions.append(t.table if moved else t.table[..., None])
    controlled = [t.shape[-1] > 1 for t in transitions]
    sequences = itertools.product(range(ts.action.size), repeat=horizon)
    policies = np.array([[[a * c for c in controlled] for a in sequence] for sequence in sequences])
    return Agent(
        A=[jnp.array(a) for a in likelihoods],
        B=[jnp.array(b) for b in transitions],
        C=[jnp.zeros(len(a)) for a in likelihoods[:-1]] + [jnp.array([0.0, 5.0, -5.0])],
        D=[jnp.array(s.prior) for s in ts.states.values()],
        A_dependencies=dependencies,
        B_dependencies=[[i] for i in range(len(states))],
        policies=jnp.array(policies),
    )


def decider(kind: str, size: int) -> Decide:
    """From observations and a random key to an action, jitted."""
    agent = agent_of(dsprites_slice(granularity=1), 1 if kind == "mcts" else size)
    search = mcts_policy_search(num_simulations=size) if kind == "mcts" else None

    def decide(observations: list[Any], key: Any) -> Any:
        beliefs = agent.infer_states(observations, agent.D)
        weights = agent.infer_policies(beliefs)[0] if search is None else search(agent, beliefs, key)[0]
        return agent.sample_action(weights)

    jitted: Decide = jax.jit(decide)
    return jitted


def observed(seen: dict[str, int], ts: TemporalSlice) -> list[Any]:
    """Indices in the order of the slice's observations; nothing good or bad happens before the absorbing row."""
    return [jnp.array([seen[name]]) for name in ts.observations] + [jnp.array([0])]


def act(decide: Decide, observations: list[Any], key: Any) -> None:
    """Decide, and wait for the decision."""
    decide(observations, key).block_until_ready()


def main(kind: str, size: int, seconds: float) -> None:
    ts = dsprites_slice(granularity=1)
    decide = decider(kind, size)
    starts = [observed(dict(seen), ts) for seen in dsprites_starts(4)]
    key = jax.random.PRNGKey(0)
    begin = time.perf_counter()
    act(decide, starts[0], key)
    first = time.perf_counter() - begin
    times = [least(partial(act, decide, start, key), seconds) for start in starts]
    found = {
        "first": first,
        "wall": sum(t.wall for t in times) / len(times),
        "cpu": sum(t.cpu for t in times) / len(times),
        "memory": peak_memory(),
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))
