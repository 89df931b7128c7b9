"""The first part of a .pomdp file: the sizes and names of its three variables, the discount, the initial belief."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from btai.interop.factored.network import Table
from btai.interop.factored.numbers import probability
from btai.interop.factored.source import Position
from btai.interop.pomdp.words import Word, Words

__all__ = ["Axis", "Preamble", "read_preamble"]


@dataclass(frozen=True, eq=False)
class Axis:
    """A variable: its values are named by their number or, if they have names, by those."""

    called: str
    size: int
    names: dict[str, int] | None
    at: Position

    @property
    def article(self) -> str:
        """What stands before `called` in a sentence."""
        return "an" if self.called[0] in "ao" else "a"

    def index(self, word: Word) -> int | None:
        """The index of the value that `word` names, or None."""
        if word.kind == "number":
            return (
                int(word.text) if word.text.isdigit() and len(word.text) < 10 and int(word.text) < self.size else None
            )
        return self.names.get(word.text) if self.names is not None and word.kind == "name" else None

    def value(self, index: int) -> str:
        """The name of the value at `index`."""
        return str(index) if self.names is None else list(self.names)[index]


@dataclass
class Preamble:
    """What was declared before the first T, O or R."""

    discount: str
    sign: Literal[1, -1]  # -1 if the numbers of R are costs
    actions: Axis
    states: Axis
    observations: Axis
    start: Table
    start_at: Position


@dataclass
class _Declared:
    words: Words
    discount: str = ""
    values: Literal[1, -1] = 1
    axes: dict[str, Axis] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)


def read_preamble(words: Words) -> Preamble:
    """Everything up to the first T, O or R, in any order but `start`, which comes last."""
    declared = _Declared(words)
    begin = words.position(words.next)
    while words.next.text in _READERS:
        keyword = words.take()
        if keyword.text in declared.seen:
            raise words.source.error(
                words.position(keyword), f"expected '{keyword.text}:' once, found it a second time"
            )
        declared.seen.add(keyword.text)
        words.expect(":", f"after {keyword.text!r}")
        _READERS[keyword.text](declared, keyword)
    for name in ("discount", "actions", "states", "observations"):
        if name not in declared.seen:
            words.refuse(f"expected '{name}:' before the start and the tables")
    states = declared.axes["states"]
    start, start_at = _read_start(words, states) if words.next.text == "start" else (_uniform(states), begin)
    return Preamble(
        declared.discount,
        declared.values,
        declared.axes["actions"],
        states,
        declared.axes["observations"],
        start,
        start_at,
    )


def _read_discount(declared: _Declared, _: Word) -> None:
    words = declared.words
    if probability(words.next.text) is None:
        words.refuse("expected a number from 0 to 1 after 'discount:'")
    declared.discount = words.take().text


def _read_values(declared: _Declared, _: Word) -> None:
    if declared.words.next.text not in ("reward", "cost"):
        declared.words.refuse("expected 'reward' or 'cost' after 'values:'")
    declared.values = -1 if declared.words.take().text == "cost" else 1


def _read_axis(declared: _Declared, keyword: Word) -> None:
    words = declared.words
    at = words.position(keyword)
    called = keyword.text.removesuffix("s")
    if words.next.kind == "number":
        declared.axes[keyword.text] = Axis(called, _read_count(words, at, keyword.text), None, at)
        return
    names: dict[str, int] = {}
    while words.next.kind == "name" and words.next.is_value:
        if words.next.text in names:
            words.refuse(f"expected a new name of a {called}")
        names[words.take().text] = len(names)
    if not names:
        words.refuse(f"expected a number or names after '{keyword.text}:'")
    words.source.allow_table(at, f"the {keyword.text}", [len(names)])
    declared.axes[keyword.text] = Axis(called, len(names), names, at)


def _read_count(words: Words, at: Position, what: str) -> int:
    text = words.next.text
    if not text.isdigit() or len(text) > 18 or not int(text):
        words.refuse(f"expected a whole number of at least 1 after '{what}:'")
    words.source.allow_table(at, f"the {what}", [int(text)])
    return int(words.take().text)


_READERS = {
    "discount": _read_discount,
    "values": _read_values,
    "states": _read_axis,
    "actions": _read_axis,
    "observations": _read_axis,
}


def _uniform(states: Axis) -> Table:
    return np.full(states.size, 1 / states.size)


def _certain(states: Axis, index: int) -> Table:
    belief: Table = np.zeros(states.size)
    belief[index] = 1
    return belief


def _read_start(words: Words, states: Axis) -> tuple[Table, Position]:
    """The initial belief `[n_S]`, not yet checked to sum to 1."""
    at = words.position(words.take())
    choice = words.take().text if words.next.text in ("include", "exclude") else ""
    words.expect(":", f"after 'start {choice}'" if choice else "after 'start'")
    if choice:
        return _one_of(words, states, choice, at), at
    if words.next.text == "uniform":
        words.take()
        return _uniform(states), at
    if words.next.kind == "name":
        index = states.index(words.next)
        if index is None:
            words.refuse("expected a state, 'uniform' or probabilities after 'start:'")
        words.take()
        return _certain(states, index), at
    return _read_belief(words, states), at


def _one_of(words: Words, states: Axis, choice: str, at: Position) -> Table:
    """All of the states listed, or all of the others, alike."""
    listed = np.zeros(states.size, dtype=bool)
    while words.next.is_value:
        index = states.index(words.next)
        if index is None:
            words.refuse(f"expected a state after 'start {choice}:'")
        words.take()
        listed[index] = True
    chosen = listed if choice == "include" else ~listed
    if not listed.any():
        words.refuse(f"expected states after 'start {choice}:'")
    if not chosen.any():
        raise words.source.error(at, "expected a state that is not excluded")
    belief: Table = np.where(chosen, 1 / np.count_nonzero(chosen), 0.0)
    return belief


def _read_belief(words: Words, states: Axis) -> Table:
    """A probability for each state, or the number of the one state."""
    given: list[Word] = []
    while words.next.kind == "number" and len(given) < states.size:
        given.append(words.take())
    if len(given) == 1 < states.size and (index := states.index(given[0])) is not None:
        return _certain(states, index)
    if len(given) < states.size:
        words.refuse(f"expected a state, 'uniform' or {states.size} probabilities after 'start:'")
    return np.array([probability_of(words, word) for word in given])


def probability_of(words: Words, word: Word) -> float:
    """The probability that a word is."""
    value = probability(word.text)
    if value is None:
        raise words.wrong(word, "expected a probability from 0 to 1")
    return value
