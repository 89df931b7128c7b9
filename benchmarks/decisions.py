"""One decision on dSprites at granularity 1: the engine, the NumPy path and pymdp."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from importlib.util import find_spec

from benchmarks.measure import Effort, Row, Time, in_new_process, least
from benchmarks.models import dsprites_starts
from btai import BTAI_3MF
from btai.envs import dsprites_slice

__all__ = ["measure"]

ITERATIONS = 150
NO_PYMDP = "not installed: pip install 'btai[pymdp]'"


def measure(effort: Effort) -> Iterator[Row]:
    """All rows, engine first."""
    engine = cycle("compiled", ITERATIONS, effort)
    overhead = cycle("compiled", 1, effort)
    iterations = 15 if effort.quick else ITERATIONS
    numpy = cycle("numpy", iterations, effort)
    fast, slow = (engine.wall - overhead.wall) / (ITERATIONS - 1), numpy.wall / iterations
    yield Row("engine: planning iteration", 1e6 * fast, "µs")
    yield Row("engine: cycle of 1 iteration", 1e6 * overhead.wall, "µs", "update + step: inference, Python")
    yield Row(f"engine: cycle of {ITERATIONS} iterations", 1e6 * engine.wall, "µs")
    yield Row("NumPy path: planning iteration", 1e6 * slow, "µs")
    yield Row(f"NumPy path: cycle of {iterations} iterations", 1e3 * numpy.wall, "ms")
    yield Row("NumPy path: times the engine's iteration", slow / fast, "×")
    yield from pymdp(effort, engine)


def cycle(engine: str, iterations: int, effort: Effort) -> Time:
    """The mean over several starts of the least time of a whole cycle, `update` and `step`."""
    agent = BTAI_3MF(dsprites_slice(granularity=1), iterations, engine=engine)
    starts = dsprites_starts(2 if effort.quick else 16)
    times = [
        least(partial(perceive_and_plan, agent, seen), effort.seconds / 4, partial(agent.reset, seen))
        for seen in starts
    ]
    return Time(sum(t.wall for t in times) / len(times), sum(t.cpu for t in times) / len(times))


def perceive_and_plan(agent: BTAI_3MF, seen: Mapping[str, int]) -> None:
    agent.update(0, seen)
    agent.step()


def pymdp(effort: Effort, engine: Time) -> Iterator[Row]:
    """pymdp's planners on the same task, in a process of their own."""
    planners = ["mcts 50"] if effort.quick else ["mcts 50", "mcts 150", "enumeration 6"]
    for planner in planners:
        kind, size = planner.split()
        name = f"pymdp: MCTS, {size} simulations" if kind == "mcts" else f"pymdp: enumeration, horizon {size}"
        if find_spec("pymdp") is None:
            yield Row(name, None, "ms", NO_PYMDP)
            continue
        found = in_new_process("-m", "benchmarks.pymdp_decision", kind, size, str(effort.seconds))
        yield Row(name, 1e3 * found["wall"], "ms", f"{1e3 * found['cpu']:.3g} ms on processors")
        yield Row(f"{name}: first call", found["first"], "s", "not counted above")
        yield Row(f"{name}: memory", found["memory"] / 2**20, "MiB")
        yield Row(
            f"{name}: times the engine's {ITERATIONS} iterations", found["cpu"] / engine.cpu, "×", "on processors"
        )
