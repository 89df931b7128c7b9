"""The variables of a POMDPX file: their names there, their names in a slice, their values."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from btai.interop.factored.names import prefixed
from btai.interop.factored.network import Ref, Role, Variable
from btai.interop.factored.source import Position, Source
from btai.interop.pomdpx.elements import Element

__all__ = ["Symbol", "Variables", "read_variables"]

_LETTERS = {"StateVar": "s", "ObsVar": "o", "ActionVar": "a"}  # NumValues 3 stands for s0 s1 s2


@dataclass(frozen=True, eq=False)
class Symbol:
    """What a name in the file stands for."""

    name: str
    ref: Ref
    size: int = 1
    letter: str = ""
    values: dict[str, int] | None = None

    def index(self, word: str) -> int | None:
        """The index of the value that `word` names, or None."""
        if self.values is not None:
            return self.values.get(word)
        digits = word.removeprefix(self.letter)
        if digits == word or not digits.isascii() or not digits.isdigit() or len(digits) > 9:
            return None
        index = int(digits)
        return index if index < self.size and str(index) == digits else None

    def value(self, index: int) -> str:
        """The name of the value at `index`."""
        return f"{self.letter}{index}" if self.values is None else list(self.values)[index]


@dataclass
class Variables:
    """All that `<Variable>` declares, in order, and what each name stands for."""

    source: Source
    states: list[Variable] = field(default_factory=list)
    observations: list[Variable] = field(default_factory=list)
    actions: list[Variable] = field(default_factory=list)
    symbols: dict[str, Symbol] = field(default_factory=dict)
    _taken: set[str] = field(default_factory=set)

    def of_role(self, role: Role) -> list[Symbol]:
        """The symbols of one role, in order."""
        return [symbol for symbol in self.symbols.values() if symbol.ref.role == role]

    def declare(self, element: Element) -> None:
        """Take up one variable of the file."""
        if len(self._taken) >= self.source.limits.variables:
            raise self.source.error(element.at, f"expected at most {self.source.limits.variables} variables")
        if element.tag == "StateVar":
            self._declare_state(element)
        elif element.tag == "RewardVar":
            name = self._attribute(element, "vname")
            self._add(element, Symbol(name, Ref("reward", name)))
        else:
            self._declare_other(element)

    def _declare_state(self, element: Element) -> None:
        before, now = self._attribute(element, "vnamePrev"), self._attribute(element, "vnameCurr")
        size, values = self._values(element)
        name = self._own_name(element, "S_", _stem(before, now))
        labels = tuple(values) if values is not None else None
        self.states.append(Variable(name, size, labels, element.at, self._is_observed(element)))
        self._add(element, Symbol(before, Ref("before", name), size, "s", values))
        self._add(element, Symbol(now, Ref("now", name), size, "s", values))

    def _declare_other(self, element: Element) -> None:
        role: Role = "observation" if element.tag == "ObsVar" else "action"
        vname = self._attribute(element, "vname")
        size, values = self._values(element)
        name = self._own_name(element, "O_" if role == "observation" else "A_", vname)
        labels = tuple(values) if values is not None else None
        variables = self.observations if role == "observation" else self.actions
        variables.append(Variable(name, size, labels, element.at))
        self._add(element, Symbol(vname, Ref(role, name), size, _LETTERS[element.tag], values))

    def _is_observed(self, element: Element) -> bool:
        word = element.attributes.get("fullyObs", "false")
        if word not in ("true", "false"):
            raise self.source.error(element.at, f"expected fullyObs to be true or false, found {word!r}")
        return word == "true"

    def _attribute(self, element: Element, attribute: str) -> str:
        name = element.attributes[attribute]
        if not name or re.search(r"[ \t\r\n]", name) or name in ("*", "-", "null"):
            raise self.source.error(
                element.at, f"expected as {attribute} a name without spaces that is not *, - or null, found {name!r}"
            )
        return name

    def _own_name(self, element: Element, prefix: str, name: str) -> str:
        own = prefixed(prefix, name)
        if own in self._taken:
            raise self.source.error(element.at, f"expected a name of its own, found another variable that is {own}")
        self._taken.add(own)
        return own

    def _add(self, element: Element, symbol: Symbol) -> None:
        if symbol.name in self.symbols:
            raise self.source.error(element.at, f"expected a name of its own, found {symbol.name!r} a second time")
        self.symbols[symbol.name] = symbol

    def _values(self, element: Element) -> tuple[int, dict[str, int] | None]:
        """The number of values, and their indices by name if they have names."""
        if len(element.children) != 1:
            found = "both" if element.children else "none"
            raise self.source.error(
                element.at, f"expected <NumValues> or <ValueEnum> in <{element.tag}>, found {found}"
            )
        (child,) = element.children
        words = child.words()
        if child.tag == "NumValues":
            return self._count(child, words), None
        self.source.allow_table(child.at, "the values", [len(words)])
        if not words:
            raise self.source.error(child.at, "expected the names of the values in <ValueEnum>, found none")
        values: dict[str, int] = {}
        for i, word in enumerate(words):
            if word in values or word in ("*", "-"):
                problem = " a second time" if word in values else ", a wildcard"
                raise self.source.error(child.position(i), f"expected a new name of a value, found {word!r}{problem}")
            values[word] = i
        return len(words), values

    def _count(self, child: Element, words: list[str]) -> int:
        if len(words) != 1 or not words[0].isascii() or not words[0].isdigit() or len(words[0]) > 18:
            found = " ".join(words)[:40]
            raise self.source.error(_first(child), f"expected a whole number in <NumValues>, found {found!r}")
        count = int(words[0])
        if not count:
            raise self.source.error(_first(child), "expected at least 1 value, found 0")
        self.source.allow_table(child.at, "the values", [count])
        return count


def read_variables(section: Element, source: Source) -> Variables:
    """The variables that `<Variable>` declares: at least one state and one action."""
    variables = Variables(source)
    for element in section.children:
        variables.declare(element)
    for tag, found in (("StateVar", variables.states), ("ActionVar", variables.actions)):
        if not found:
            raise source.error(section.at, f"expected at least one <{tag}> in <Variable>, found none")
    return variables


def _first(element: Element) -> Position:
    return element.position(0)


def _stem(before: str, now: str) -> str:
    """The state's one name: `rover` for `rover_0` and `rover_1`, as the format's users write them."""
    stem = before.removesuffix("_0")
    return stem if stem and stem != before and now == f"{stem}_1" else before
