"""A sweep as it is written down: a grid of environments, agents, their parameters and seeds, each cell a run."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

from btai.envs import ENVIRONMENTS, Registered
from btai.errors import BtaiError, SweepError
from btai.experiments.run import all_starts, conditions, jobs_of
from btai.experiments.sweeps.recipes import AGENTS, Agents, agent_options, agent_recipe, environment_recipe
from btai.experiments.trial import Job
from btai.experiments.workers import Setup, adapted, opened
from btai.model import TemporalSlice, TemporalSliceBuilder

__all__ = ["FOUND", "Cell", "grid", "read_grid"]

MOST_BYTES = 2**20
MOST_CELLS = 100_000
FOUND = ("environment", "agent", "rewards", "model")  # what a run's configuration says only once a worker has made them
KEYS = ("environment", "agent", "seed", "trials", "exhaustive", "max_cycles", "record")

Environments = Mapping[str, Registered]


@dataclass(frozen=True)
class Cell:
    """A run of the grid: what makes its agent and its environment, and which trials it has."""

    setup: Setup
    chosen: dict[str, Any]  # what the grid says of it
    seed: int
    trials: int
    starts: Sequence[Any] | None  # None: drawn from the seeds

    def jobs(self) -> Iterator[Job]:
        """Its trials, in order."""
        return jobs_of(self.trials, self.seed, self.starts)

    def configuration(self) -> dict[str, Any]:
        """What its run's configuration says before agent and environment are made."""
        setup = self.setup
        return {
            "cell": self.chosen,
            **conditions(self.trials, self.seed, self.starts, setup.max_cycles, record=setup.record),
        }


def read_grid(path: str | os.PathLike[str]) -> list[Cell]:
    """The cells that a TOML file describes."""
    path = Path(path)
    try:
        with path.open("rb") as file:
            text = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise SweepError(f"{path}: cannot be read ({error.strerror}). Give the path of a TOML file.") from error
    if len(text) > MOST_BYTES:
        raise SweepError(f"{path}: more than {MOST_BYTES:,} bytes were given; a description of a sweep is shorter.")
    try:
        document = tomllib.loads(text.decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise SweepError(f"{path}: this is no TOML file: {error}.") from error
    return grid(document, where=f"{path}: ")


def grid(
    document: Mapping[str, Any], environments: Environments = ENVIRONMENTS, agents: Agents = AGENTS, where: str = ""
) -> list[Cell]:
    """The cells of a grid, in order: by environment, then agent, then seed, the last parameter varying fastest.

    Args:
        document: what a sweep's TOML file holds.
        environments: those that can be chosen, by name.
        agents: classes or functions that make an agent of a slice, by name.
        where: what each error message begins with.
    """
    try:
        return _Reader(document, environments, agents).cells()
    except SweepError as error:
        raise SweepError(f"{where}{error}") from None


@dataclass(frozen=True)
class _Choice:
    """An environment or an agent by name, with its options, and the section that says so."""

    section: str
    name: str
    options: dict[str, Any]

    def described(self) -> dict[str, Any]:
        """As the grid says it."""
        return {"name": self.name, **self.options}


class _Reader:
    """Makes the cells of a document."""

    def __init__(self, document: Mapping[str, Any], environments: Environments, agents: Agents) -> None:
        for key in document:
            _check_known(key, key, KEYS, "a sweep")
        self._document = document
        self._environments = environments
        self._agents = agents
        self._max_cycles = _whole("max_cycles", document.get("max_cycles", 1000), 1)
        self._trials = _whole("trials", document.get("trials", 100), 1)
        self._record = _flag("record", document.get("record", False))
        self._exhaustive = _flag("exhaustive", document.get("exhaustive", False))
        if self._exhaustive and "trials" in document:
            raise SweepError(
                "trials: given with exhaustive = true, which tries every start once; leave one of them out."
            )

    def cells(self) -> list[Cell]:
        """The cells, in order."""
        environments = self._choices("environment", {name: list(e.options) for name, e in self._environments.items()})
        agents = self._choices("agent", {name: agent_options(kind) for name, kind in self._agents.items()})
        seeds = [_whole("seed", seed, 0) for seed in _values("seed", self._document.get("seed", 0))]
        _check_number(len(environments) * len(agents) * len(seeds))
        starts = [self._checked_environment(environment) for environment in environments]
        for agent in agents:
            self._check_agent(agent)
        places = zip(environments, starts, strict=True)
        return [self._cell(e, of_e, agent, seed) for (e, of_e), agent, seed in product(places, agents, seeds)]

    def _cell(self, environment: _Choice, starts: Sequence[Any] | None, agent: _Choice, seed: int) -> Cell:
        registered, kind = self._environments[environment.name], self._agents[agent.name]
        setup = Setup(
            agent_recipe(kind, agent.options, registered, environment.options),
            environment_recipe(registered, environment.options),
            self._max_cycles,
            self._record,
        )
        chosen = {"environment": environment.described(), "agent": agent.described(), "seed": seed}
        return Cell(setup, chosen, seed, self._trials if starts is None else len(starts), starts)

    def _choices(self, key: str, known: Mapping[str, Sequence[str]]) -> list[_Choice]:
        """Every combination that a section, or each of several of one name, speaks of."""
        given = self._document.get(key)
        several = isinstance(given, list)
        found: list[_Choice] = []
        for number, table in enumerate(given if several and given else [given]):
            if not isinstance(table, Mapping):
                was = "nothing" if table is None else repr(table)
                raise SweepError(f'{key}: {was} was given; a section [{key}] with a name = "..." is required.')
            found += _combinations(f"{key}[{number}]" if several else key, table, known)
        _check_different(found)
        return found

    def _checked_environment(self, choice: _Choice) -> Sequence[Any] | None:
        """Make the environment once, which says what is wrong with it; its starts, if all are wanted."""
        with _said_of(choice.section), ExitStack() as stack:
            env = opened(environment_recipe(self._environments[choice.name], choice.options), stack)
            return all_starts(adapted(env)) if self._exhaustive else None

    def _check_agent(self, choice: _Choice) -> None:
        """Make the agent once for the least of slices, which says what is wrong with its options."""
        kind = self._agents[choice.name]
        options = dict(choice.options)
        if "engine" in agent_options(kind):
            options.setdefault("engine", "numpy")  # There is nothing to compile.
        with _said_of(choice.section):
            agent_recipe(kind, options, LEAST, {})()


def _combinations(section: str, table: Mapping[str, Any], known: Mapping[str, Sequence[str]]) -> Iterator[_Choice]:
    """Every combination of the values in a section."""
    kind = section.partition("[")[0]
    values = {key: _values(f"{section}.{key}", value) for key, value in table.items()}
    if "name" not in values:
        raise SweepError(f"{section}.name: nothing was given; one of {', '.join(known)} is required.")
    _check_number(prod(map(len, values.values())))
    for name in values["name"]:
        if name not in known:
            raise SweepError(f"{section}.name: {name!r} was given; {kind} is one of {', '.join(known)}.")
        for key in values.keys() - {"name"}:
            _check_known(f"{section}.{key}", key, known[name], name)
    for combination in product(*values.values()):
        chosen = dict(zip(values, combination, strict=True))
        yield _Choice(section, chosen.pop("name"), chosen)


def _check_different(choices: Sequence[_Choice]) -> None:
    seen: dict[Any, _Choice] = {}
    for choice in choices:
        other = seen.setdefault((choice.name, frozenset(choice.options.items())), choice)
        if other is not choice:
            raise SweepError(f"{choice.section}: {choice.described()} is in {other.section} already; once is enough.")


def _values(key: str, given: Any) -> list[Any]:
    """The values that a key shall take, one after the other."""
    values = given if isinstance(given, list) else [given]
    if not values:
        raise SweepError(f"{key}: an empty list was given; at least one value is required.")
    _check_number(len(values))
    seen = set()
    for value in values:
        if not isinstance(value, str | int | float):
            raise SweepError(
                f"{key}: {value!r} was given; text, a number, true or false, or a list of them is allowed."
            )
        if value in seen:
            raise SweepError(f"{key}: {value!r} was given twice; each value may stand once.")
        seen.add(value)
    return values


def _whole(key: str, value: Any, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise SweepError(f"{key}: {value!r} was given; a whole number of at least {least} is required.")
    return value


def _flag(key: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise SweepError(f"{key}: {value!r} was given; true or false is required.")
    return value


def _check_known(where: str, key: str, known: Sequence[str], owner: str) -> None:
    if key not in known:
        raise SweepError(f"{where}: {owner} has no such key; it has {', '.join(known) or 'none'}.")


def _check_number(cells: int) -> None:
    if cells > MOST_CELLS:
        raise SweepError(f"the grid has {cells:,} cells or more; {MOST_CELLS:,} are allowed. Give it in several files.")


@contextmanager
def _said_of(section: str) -> Iterator[None]:
    """Name the section in which something is wrong."""
    try:
        yield
    except (BtaiError, TypeError, ValueError) as error:
        raise SweepError(f"{section}: {error}") from error


def _no_environment() -> None:
    """For agents that do not act."""


def _least_slice() -> TemporalSlice:
    """One state, one observation, one action; no zeros."""
    builder = TemporalSliceBuilder("A_any", 1).add_state("S_any", [0.5, 0.5])
    builder.add_observation("O_any", [[0.5, 0.5], [0.5, 0.5]], ["S_any"])
    builder.add_transition("S_any", [[0.5, 0.5], [0.5, 0.5]], ["S_any"])
    return builder.add_preference(["O_any"], [0.5, 0.5]).build()


LEAST = Registered("least", _no_environment, _least_slice)
