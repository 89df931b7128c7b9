"""What the paper says of its three agents on dSprites, and what its authors' programs did when we ran them.

The paper's results are four tables, here in their order: BTAI_VMP at granularity 8, BTAI_VMP at granularity 4, BTAI_BF,
BTAI_3MF. Each figure of them is a mean over 100 random trials.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["AUTHORS_SOURCE", "PAPER_SOURCE", "REPAIRED", "ROWS", "Found", "Row"]

PAPER_SOURCE = (
    "Champion, Grześ and Bowman, Multi-Modal and Multi-Factor Branching Time Active Inference, section 3: "
    "means over 100 random trials. Its seconds of BTAI_3MF say nothing: they come from a clock that ticks every 128 s."
)
REPAIRED = (
    "BTAI_BF with its one needless product of matrices per node replaced by a vector computed once, which gives the "
    "same actions."
)
AUTHORS_SOURCE = (
    "The authors' own programs, unmodified, as we ran them once on one core of a test machine, not of yours: means of "
    f"random trials, in seconds of processor time. Repaired: {REPAIRED}"
)


@dataclass(frozen=True)
class Found:
    """What somebody found of a program: None where it is not known.

    Attributes:
        p_solved: with unfinished trials counted as the program counts them.
        seconds: per trial.
        trials: of which these are the means.
        p_solved_by_text: with unfinished trials counted as the paper's text says, -1.
    """

    p_solved: float | None = None
    seconds: float | None = None
    trials: int | None = 100
    p_solved_by_text: float | None = None


@dataclass(frozen=True)
class Row:
    """A line of one of the tables: a setting, and what is known of it.

    Attributes:
        table: from 1 to 4.
        agent: the agent's name.
        granularity, planning: pixels that look alike; planning iterations per action.
        paper: what the paper reports.
        authors: what the authors' program did when we ran it.
        repaired_seconds: the same, of the program without its needless product.
        ties: of BTAI_3MF, see there.
    """

    table: int
    agent: str
    granularity: int
    planning: int
    paper: Found
    authors: Found
    repaired_seconds: float | None = None
    ties: str = "cost"

    @property
    def is_random(self) -> bool:
        """Whether the agent draws its actions."""
        return self.agent != "BTAI_3MF"

    @property
    def unfinished(self) -> float:
        """The reward of a trial that takes too long in the program that the paper's figures come from."""
        return 0.0 if self.is_random else -1.0

    @property
    def paper_seconds(self) -> float | None:
        """The paper's seconds per trial where they can be compared with.

        Those of BTAI_3MF cannot: they come from a clock that ticks every 128 s (a float32 of time.time()).
        """
        return self.paper.seconds if self.is_random else None

    @property
    def marked_agent(self) -> str:
        """The agent's name, with an asterisk where ties go to the first action."""
        return self.agent + ("" if self.ties == "cost" else "*")

    @property
    def name(self) -> str:
        """What tells this line from every other."""
        ties = "" if self.ties == "cost" else f"-ties-{self.ties}"
        return f"{self.agent}-g{self.granularity}-n{self.planning}{ties}"


def _vmp(table: int, granularity: int, planning: int, paper: tuple[float, float], authors: Found) -> Row:
    return Row(table, "BTAI_VMP", granularity, planning, Found(*paper), authors)


def _bf(granularity: int, paper: tuple[float, float], authors: Found, repaired_seconds: float) -> Row:
    return Row(3, "BTAI_BF", granularity, 50, Found(*paper), authors, repaired_seconds)


def _3mf(granularity: int, planning: int, paper: tuple[float, float], authors: float, ties: str = "cost") -> Row:
    seconds = Found(seconds=authors, trials=None)
    return Row(4, "BTAI_3MF", granularity, planning, Found(*paper), seconds, ties=ties)


ROWS = (
    _vmp(1, 8, 10, (0.813, 0.859), Found(0.808, 0.33, 300, 0.710)),
    _vmp(1, 8, 25, (0.846, 0.862), Found(0.856, 0.34, 300, 0.828)),
    _vmp(1, 8, 50, (0.885, 1.286), Found(0.874, 0.47, 300, 0.871)),
    _vmp(2, 4, 10, (0.859, 3.957), Found(0.819, 3.7, 200, 0.646)),
    _vmp(2, 4, 25, (0.933, 3.711), Found(0.891, 4.1, 100, 0.796)),
    _vmp(2, 4, 50, (0.969, 5.107), Found(0.947, 4.7, 100, 0.917)),
    _bf(8, (0.861, 0.04993), Found(0.864, 0.0397, 100, 0.849), repaired_seconds=0.0050),
    _bf(4, (0.977, 0.24163), Found(0.983, 0.604, 100, 0.983), repaired_seconds=0.0148),
    _bf(2, (0.986, 17.5038), Found(0.95, 39.5, 10, 0.90), repaired_seconds=0.570),
    _3mf(8, 50, (0.895, 1.279), authors=0.31),
    _3mf(4, 50, (0.977, 1.279), authors=0.36),
    _3mf(2, 50, (0.996, 1.279), authors=0.37),
    _3mf(1, 50, (0.72, 2.559), authors=1.55),
    _3mf(1, 100, (0.77, 5.119), authors=2.50),
    _3mf(1, 150, (1.0, 2.559), authors=1.25),
    # Not a line of its own in the paper: what its 0.77 is due to.
    _3mf(1, 100, (0.77, 5.119), authors=2.50, ties="first"),
)
