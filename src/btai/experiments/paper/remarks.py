"""What has to be said beside the paper's tables: why figures differ, and which agent is the faster one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from btai.experiments.paper.reproduce import Reproduced

__all__ = ["remarks"]

OF_BTAI_3MF = (
    "Why the paper has 0.72 with 50 iterations at granularity 1: 0.71875 is what this agent solves when every cycle "
    "infers from the initial prior. With the prediction for the executed action as prior, as the paper's text asks and "
    "as here, it solves every start.",
    "Why 100 iterations at granularity 1 solve only about 0.78 if ties go to the first action (BTAI_3MF*): far from "
    "the goal the cost is flat, so the visits of several actions tie, and taking the first of them makes the agent "
    "oscillate. Taking the tied action of the lowest mean cost is all it needs to solve every start.",
    "The paper's seconds of BTAI_3MF are left out: they come from a clock that ticks every 128 s (a float32 of "
    "time.time()).",
)
OF_BTAI_VMP = (
    "Far from the goal the costs are flat for BTAI_VMP too: how its search breaks ties, which rounding may decide, "
    "moves P(solved) by up to 0.05. Here costs are rounded to a multiple of 2^-20, and the first of equals is taken. "
    "At granularity 4 with 10 iterations, where it matters most, that solves 0.83 of 1,000 trials; where noise of "
    "0.01 % on the preferences settles the ties instead, 0.88."
)


def remarks(lines: Sequence[Reproduced]) -> list[str]:
    """What is worth saying of these lines."""
    agents = {line.row.agent for line in lines}
    return [
        *(OF_BTAI_3MF if "BTAI_3MF" in agents else ()),
        *([OF_BTAI_VMP] if "BTAI_VMP" in agents else ()),
        *_best_against_best(lines),
        *_at_equal_granularity(lines),
    ]


def _best_against_best(lines: Sequence[Reproduced]) -> Iterator[str]:
    """BTAI_3MF as the paper compares it: each agent where it solves most."""
    ours = _found(lines, "BTAI_3MF", 1, 150)
    for name, granularity in (("BTAI_BF", 2), ("BTAI_VMP", 4)):
        theirs = _found(lines, name, granularity, 50)
        if ours and theirs:
            yield (
                f"Where they solve most: a trial of BTAI_3MF at granularity 1 (150 iterations) takes "
                f"{_ms(ours.seconds)}, one of {name} at granularity {granularity} (50 iterations) "
                f"{_ms(theirs.seconds)}: {_faster('BTAI_3MF', ours.seconds, name, theirs.seconds)}."
            )


def _at_equal_granularity(lines: Sequence[Reproduced]) -> Iterator[str]:
    """Where BTAI_BF and BTAI_3MF look at the same cells, here and in the authors' programs."""
    for granularity in (8, 4, 2):
        flat, factored = (_found(lines, name, granularity, 50) for name in ("BTAI_BF", "BTAI_3MF"))
        if flat and factored:
            here = _faster("BTAI_3MF", factored.seconds, "BTAI_BF", flat.seconds)
            theirs = factored.row.authors.seconds, flat.row.repaired_seconds
            assert theirs[0] is not None
            assert theirs[1] is not None
            yield (
                f"Both at granularity {granularity} (50 iterations): a trial of BTAI_3MF takes {_ms(factored.seconds)} "
                f"(a planning iteration {_pace(factored)}), one of BTAI_BF {_ms(flat.seconds)} ({_pace(flat)}): {here}."
                " Of the authors' programs, in PyTorch and in C++ (repaired), "
                f"{_faster('BTAI_3MF', theirs[0], 'BTAI_BF', theirs[1])}."
            )


def _found(lines: Sequence[Reproduced], agent: str, granularity: int, planning: int) -> Reproduced | None:
    wanted = (agent, granularity, planning, "cost")
    return next((r for r in lines if (r.row.agent, r.row.granularity, r.row.planning, r.row.ties) == wanted), None)


def _faster(first: str, one: float, second: str, other: float) -> str:
    name, times = (first, other / one) if one <= other else (second, one / other)
    return f"{name} is {times:.3g} times as fast"


def _ms(seconds: float) -> str:
    return f"{1e3 * seconds:.3g} ms"


def _pace(line: Reproduced) -> str:
    return f"{line.random.summary.microseconds_per_planning_iteration or 0:.3g} µs"
