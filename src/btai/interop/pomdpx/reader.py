"""Read POMDPX: factored POMDPs in XML."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from btai.errors import FormatError
from btai.interop.factored.columns import with_sums_of_one
from btai.interop.factored.network import Conditional, Network, Reward, Role
from btai.interop.factored.numbers import Levels, probability
from btai.interop.factored.source import DEFAULT_LIMITS, Limits, Position, Source, read_bytes
from btai.interop.factored.translate import checked_precision, translated
from btai.interop.loss import Imported, Loss
from btai.interop.pomdpx.diagrams import read_diagram
from btai.interop.pomdpx.elements import Element, read_elements
from btai.interop.pomdpx.tables import Kind, child_of, of_probabilities, of_rewards, read_entries
from btai.interop.pomdpx.variables import Symbol, Variables, read_variables

__all__ = ["parse_pomdpx", "read_pomdpx"]


@dataclass(frozen=True)
class _Section:
    """A section of tables: whose they are and what they may depend on."""

    tag: str
    own: Role
    parents: tuple[Role, ...]


_INITIAL = _Section("InitialStateBelief", "before", ("before",))
_TRANSITIONS = _Section("StateTransitionFunction", "now", ("action", "before", "now"))
_LIKELIHOODS = _Section("ObsFunction", "observation", ("action", "now"))
_REWARDS = _Section("RewardFunction", "reward", ("action", "before", "now", "observation"))

_CALLED = {
    "action": "an action",
    "before": "a state before the action (vnamePrev)",
    "now": "a state after the action (vnameCurr)",
    "observation": "an observation",
    "reward": "a reward",
}


def read_pomdpx(
    path: str | os.PathLike[str],
    *,
    precision: float = 1.0,
    inference: str = "exact",
    limits: Limits = DEFAULT_LIMITS,
) -> Imported:
    """The model in a POMDPX file, and a report of what a temporal slice cannot carry.

    Rewards become preferences, softmax(precision * reward), over the observations that tell them. A reward that
    depends on observations (or fully observed new states) alone is a preference over those; any other gets an added
    observation `O_<reward>` whose values are the amounts, told by the new states or by an added state `S_<reward>`.
    An observation that depends on the action depends on an added state `S_last_<action>`. Several actions are joined.

    `inference` is as for `TemporalSliceBuilder.build`. `FormatError` says file, line, column and what was expected.
    """
    checked_precision(precision)
    return parse_pomdpx(read_bytes(path, limits), os.fspath(path), precision, inference, limits)


def parse_pomdpx(data: bytes, file: str, precision: float, inference: str, limits: Limits) -> Imported:
    """`read_pomdpx` of a text; `file` is what errors call it."""
    source = Source(file, limits)
    return translated(_Reader(read_elements(data, source), source).network(), source, precision, inference)


class _Reader:
    def __init__(self, root: Element, source: Source) -> None:
        self.root = root
        self.source = source
        self.variables: Variables = read_variables(child_of(root, "Variable", source), source)
        self.losses: list[Loss] = []

    def network(self) -> Network:
        self.read_description()
        self.read_discount()
        variables = self.variables
        return Network(
            actions=tuple(variables.actions),
            states=tuple(variables.states),
            observations=tuple(variables.observations),
            priors=self.conditionals(_INITIAL),
            transitions=self.conditionals(_TRANSITIONS),
            likelihoods=self.conditionals(_LIKELIHOODS),
            rewards=self.rewards(),
            losses=tuple(self.losses),
        )

    def read_description(self) -> None:
        for element in self.root.all("Description"):
            if text := " ".join(element.words()):
                self.losses.append(Loss(f"description {text[:60]!r}", "a slice has none"))

    def read_discount(self) -> None:
        element = child_of(self.root, "Discount", self.source)
        words = element.words()
        if len(words) != 1 or probability(words[0]) is None:
            found = " ".join(words)[:40]
            raise self.source.error(
                element.position(0), f"expected a number from 0 to 1 in <Discount>, found {found!r}"
            )
        if probability(words[0]) != 1:
            self.losses.append(Loss(f"discount {words[0]}", "expected free energies are added without a discount"))

    def conditionals(self, section: _Section) -> dict[str, Conditional]:
        """A table for every variable of the section, by the names of the slice."""
        found: dict[str, Conditional] = {}
        for element in self.tables(section):
            variable, parents = self.head(element, section)
            if variable.ref.name in found:
                raise self.source.error(
                    element.at, f"expected one <CondProb> for {variable.name} in <{section.tag}>, found a second one"
                )
            found[variable.ref.name] = self.conditional(element, variable, parents)
        for symbol in self.variables.of_role(section.own):
            if symbol.ref.name not in found:
                at = self.place(section)
                raise self.source.error(at, f"expected a <CondProb> for {symbol.name} in <{section.tag}>, found none")
        return {symbol.ref.name: found[symbol.ref.name] for symbol in self.variables.of_role(section.own)}

    def conditional(self, element: Element, variable: Symbol, parents: list[Symbol]) -> Conditional:
        axes = [*parents, variable]
        self.source.allow_table(element.at, f"the table of {variable.name}", [axis.size for axis in axes])
        table = np.moveaxis(self.parameter(element, axes, of_probabilities()), -1, 0)
        table, losses = with_sums_of_one(
            table, f"the distribution of {variable.name}", self.wrong_sum(element.at, variable, parents)
        )
        self.losses += losses
        return Conditional(variable.ref.name, tuple(parent.ref for parent in parents), table, element.at)

    def wrong_sum(
        self, at: Position, variable: Symbol, parents: list[Symbol]
    ) -> Callable[[tuple[int, ...], float], FormatError]:
        def error(index: tuple[int, ...], total: float) -> FormatError:
            given = ", ".join(f"{p.name}={p.value(i)}" for p, i in zip(parents, index, strict=True))
            whose = f"{variable.name} given {given}" if given else variable.name
            return self.source.error(at, f"expected probabilities of {whose} that sum to 1, found {total:.6g}")

        return error

    def rewards(self) -> tuple[Reward, ...]:
        rewards: dict[str, Reward] = {}
        for element in self.tables(_REWARDS):
            variable, parents = self.head(element, _REWARDS)
            if variable.name in rewards:
                raise self.source.error(element.at, f"expected one <Func> for {variable.name}, found a second one")
            what = f"the table of {variable.name}"
            self.source.allow_table(element.at, what, [axis.size for axis in parents])
            levels = Levels()
            table = self.parameter(element, parents, of_rewards(levels))
            refs = tuple(parent.ref for parent in parents)
            rewards[variable.name] = Reward(variable.name, refs, levels.all, table, element.at)
        for symbol in self.variables.of_role("reward"):
            if symbol.name not in rewards:
                at = self.place(_REWARDS)
                raise self.source.error(at, f"expected a <Func> for {symbol.name} in <RewardFunction>, found none")
        return tuple(rewards.values())

    def tables(self, section: _Section) -> list[Element]:
        return [table for element in self.root.all(section.tag) for table in element.children]

    def place(self, section: _Section) -> Position:
        """Where the section is, or where it ought to be."""
        return (self.root.all(section.tag) or [self.root])[0].at

    def head(self, element: Element, section: _Section) -> tuple[Symbol, list[Symbol]]:
        """Whose table it is, and what it depends on."""
        var = child_of(element, "Var", self.source)
        parent = child_of(element, "Parent", self.source)
        if len(var.words()) != 1:
            raise self.source.error(
                var.position(0),
                f"expected the name of {_CALLED[section.own]} in <Var>, found {var.text.strip()[:40]!r}",
            )
        (variable,) = self.symbols(var, (section.own,))
        if parent.words() == ["null"]:
            return variable, []
        parents = self.symbols(parent, section.parents)
        if not parents:
            raise self.source.error(parent.at, "expected names in <Parent>, or null, found none")
        for i, symbol in enumerate(parents):
            if symbol in parents[:i] or symbol is variable:
                raise self.source.error(
                    parent.position(i),
                    f"expected each parent once and not {variable.name} itself, found {symbol.name!r}",
                )
        return variable, parents

    def symbols(self, element: Element, roles: tuple[Role, ...]) -> list[Symbol]:
        """What the words of an element stand for, each of one of the roles."""
        symbols = []
        for i, word in enumerate(element.words()):
            symbol = self.variables.symbols.get(word)
            if symbol is None or symbol.ref.role not in roles:
                called = " or ".join(_CALLED[role] for role in roles)
                found = f"{word[:40]!r}" if symbol is None else f"{word[:40]!r}, which is {_CALLED[symbol.ref.role]}"
                raise self.source.error(
                    element.position(i), f"expected the name of {called} in <{element.tag}>, found {found}"
                )
            symbols.append(symbol)
        return symbols

    def parameter(self, element: Element, axes: list[Symbol], kind: Kind) -> np.ndarray:
        parameter = child_of(element, "Parameter", self.source)
        kinds = {"TBL": read_entries, "DD": read_diagram}
        name = parameter.attributes.get("type", "TBL")
        if name not in kinds:
            raise self.source.error(parameter.at, f"expected as type TBL or DD, found {name!r}")
        return kinds[name](parameter, axes, kind, self.source)
