"""What agents achieve in the environments of btai: `python -m benchmarks.environments [NAME ...]`.

Writes the tables of `docs/environments.md` anew, those of all environments or of the ones named. Takes some minutes.
"""

from __future__ import annotations

import inspect
import re
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.worlds import OPTIMA
from btai.commands import run_command
from btai.commands.options import given_options
from btai.envs import environment
from btai.experiments import Trial, run
from btai.experiments.environments import make_agent, make_env

__all__ = ["PAGE", "TABLES", "Case", "RandomAgent", "Table", "rewritten", "row"]

PAGE = Path(__file__).parents[1] / "docs" / "environments.md"
PLUS_MINUS = "\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}"
RANDOM_TRIALS = 1000
BATCH = 100


@dataclass(frozen=True)
class Case:
    """A row: what it adds to the command of its table, and whether it takes a second or two at most."""

    added: str = ""
    quick: bool = False


@dataclass(frozen=True)
class Table:
    """The results in one environment.

    Attributes:
        command: what follows `btai run` in every row.
        is_won_or_lost: whether the reward of a trial is 1 or -1, so that P(solved) is shown; else the mean reward.
        looks: heading for the number of actions that are taken for what they show, and what their names begin with.
        cases: the rows.
    """

    command: str
    is_won_or_lost: bool
    looks: tuple[str, str] | None
    cases: tuple[Case, ...]

    @property
    def name(self) -> str:
        """The environment, as `btai run` knows it."""
        return self.command.split()[0]

    @property
    def head(self) -> list[str]:
        """The first two lines, in Markdown."""
        figure = "P(solved)" if self.is_won_or_lost else "mean reward"
        looks = [self.looks[0]] if self.looks else []
        headings = [f"`btai run {self.command}` ...", figure, "optimum", "random agent", "cycles", *looks]
        return [f"| {' | '.join(headings)} |", "|:--|" + "--:|" * (len(headings) - 1)]

    def shown(self, reward: float) -> str:
        """A mean reward as the table has it."""
        return f"{(reward + 1) / 2:.3f}" if self.is_won_or_lost else f"{reward:.2f}"

    def mean(self, trials: Sequence[Trial], *, sampled: bool = True) -> str:
        """The mean of the trials, and its standard error if they are a sample."""
        rewards = np.array([trial.reward for trial in trials])
        error = rewards.std(ddof=1) / np.sqrt(len(rewards))
        if not sampled or error == 0:
            return self.shown(rewards.mean())
        shown = f"{error / 2:.3f}" if self.is_won_or_lost else f"{error:.2f}"
        return f"{self.shown(rewards.mean())}{PLUS_MINUS}{shown}"


class RandomAgent:
    """Takes any action alike."""

    def __init__(self, n_actions: int) -> None:
        self.n_actions = n_actions
        self.rng = np.random.default_rng(0)

    def seeded(self, number: int) -> None:
        self.rng = np.random.default_rng(number)

    def reset(self, obs: object) -> None:
        pass

    def step(self) -> int:
        return int(self.rng.integers(self.n_actions))

    def update(self, action: int, obs: object) -> None:
        pass


@cache
def random_trials(name: str, options: tuple[tuple[str, Any], ...]) -> Sequence[Trial]:
    """Trials of a random agent in the environment of these options."""
    given = dict(options)
    agent = RandomAgent(environment(name).model(**given).action.size)
    return run(agent, make_env(name, **given), RANDOM_TRIALS).trials


def row(this: Table, case: Case) -> str:
    """A line of a table, in Markdown: run the agent of the command and a random one, and find the optimum."""
    given = run_command.make_context("run", shlex.split(f"{this.command} {case.added}")).params
    entry = given["environment"]
    options = given_options(entry, given["options"], given["granularity"])
    agent = partial(make_agent, entry.name, given["planning"], given["exp_const"], given["ties"], **options)
    env = partial(make_env, entry.name, **options)
    trials = run(agent, env, given["trials"], given["seed"], exhaustive=given["exhaustive"], batch=BATCH).trials
    concerns_env = inspect.signature(entry.make_env).parameters
    drawn = random_trials(entry.name, tuple((name, value) for name, value in options.items() if name in concerns_env))
    optimum = OPTIMA[entry.name](entry.options | options)
    cells = [
        f"`{case.added}`" if case.added else "the defaults",
        this.mean(trials, sampled=not given["exhaustive"]),
        "-" if optimum is None else this.shown(optimum),
        this.mean(drawn),
        f"{np.mean([trial.cycles for trial in trials]):.1f}",
    ]
    if this.looks:
        looks = [name.startswith(this.looks[1]) for name in entry.model(**options).action.values or ()]
        cells.append(f"{np.mean([sum(looks[action] for action in trial.actions) for trial in trials]):.1f}")
    return f"| {' | '.join(cells)} |"


def rewritten(text: str, name: str, lines: Sequence[str]) -> str:
    """The page with another table of this environment between its marks."""
    begin, end = f"<!-- begin: results in {name} -->\n", f"\n<!-- end: results in {name} -->"
    pattern = re.compile(f"(?<={re.escape(begin)}).*?(?={re.escape(end)})", re.DOTALL)
    new, found = pattern.subn(lambda _: "\n".join(lines), text)
    if found != 1:
        raise ValueError(f"{PAGE.name}: {name} has {found} places between marks; one is required.")
    return new


def main(names: Sequence[str]) -> None:
    """Write the tables of these environments, or of all."""
    for this in TABLES:
        if this.name in names or not names:
            lines = this.head
            for case in this.cases:
                lines.append(row(this, case))
                print(f"{this.name} {lines[-1]}", flush=True)
            PAGE.write_text(rewritten(PAGE.read_text("utf-8"), this.name, lines), "utf-8")


TABLES = (
    Table(
        "tmaze --trials 1000",
        True,
        ("visits to the cue", "to the cue"),
        (
            Case(quick=True),
            Case("--set curious=true", quick=True),
            Case("--set maze='blank screen'", quick=True),
            Case("--set maze='blank screen' --set curious=true", quick=True),
            Case("--set maze='useless cue'", quick=True),
            Case("--set maze='useless cue' --set curious=true", quick=True),
        ),
    ),
    Table(
        "maze",
        True,
        None,
        (
            Case(quick=True),
            Case("--set guide=exit"),
            Case("--set guide=exit --planning 2000"),
            Case("--set maze=trap --set guide=manhattan"),
            Case("--set maze=trap"),
            Case("--set maze=labyrinth"),
            Case("--set maze=labyrinth --set slip=0.1"),
            Case("--set maze=labyrinth --set slip=0.1 --set precision=1"),
        ),
    ),
    Table(
        "tiger --trials 1000",
        False,
        ("listens", "listen"),
        (
            Case(quick=True),
            Case("--set caution=1", quick=True),
            Case("--set accuracy=0.7"),
            Case("--set accuracy=0.7 --set caution=3"),
            Case("--set tiger=-10"),
            Case("--set tiger=-10 --set caution=10"),
            Case("--set tiger=-10 --set caution=1"),
        ),
    ),
    Table(
        "rocksample --exhaustive",
        False,
        ("checks", "check"),
        (
            Case(),
            Case("--set caution=2"),
            Case("--set caution=1"),
            Case("--set haste=1"),
            Case("--set size=5 --set rocks=5"),
            Case("--set size=7 --set rocks=8 --set max_cycles=60"),
        ),
    ),
    Table(
        "frozenlake --trials 1000",
        True,
        None,
        (
            Case("--set is_slippery=false"),
            Case(),
            Case("--set hole=4"),
            Case("--set hole=-1"),
            Case("--set map_name=8x8"),
        ),
    ),
)

if __name__ == "__main__":
    main(sys.argv[1:])
