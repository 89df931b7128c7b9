"""The words of a .pomdp file, one after the other, with their places."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple, NoReturn

from btai.errors import FormatError
from btai.interop.factored.numbers import NUMBER
from btai.interop.factored.source import Position, Source

__all__ = ["KEYWORDS", "NAME", "Word", "Words"]

NAME = r"[A-Za-z][A-Za-z0-9_\-]*"
KEYWORDS = frozenset(
    {
        *("discount", "values", "states", "actions", "observations", "start", "include", "exclude", "T", "O", "R"),
        *("uniform", "identity", "reset", "reward", "cost"),
    }
)
# White space and comments, then a word. What follows a number directly must not make it another word: 0.5x, 1.2.3.
_WORD = re.compile(
    rf"(?:[ \t\r\n\f\v]+|\#[^\n]*)*+(?:(?P<number>{NUMBER.pattern}(?![\w.]))|(?P<name>{NAME})|(?P<sign>[:*])"
    r"|(?P<end>\Z)|(?P<strange>[^ \t\r\n\f\v]{1,40}))"
)


class Word(NamedTuple):
    """A word, and where it starts in the text."""

    kind: str  # number, name, sign or end
    text: str
    start: int

    @property
    def shown(self) -> str:
        """How errors show it."""
        return "the end of the file" if self.kind == "end" else repr(self.text[:40])

    @property
    def is_value(self) -> bool:
        """Whether it can name a value of a variable."""
        return self.kind == "number" or (self.kind == "name" and self.text not in KEYWORDS)


class Words:
    """The text as a stream of words: `next` is the one that comes, `take` moves on."""

    def __init__(self, text: str, source: Source) -> None:
        self.source = source
        self._text = text
        self._lines = [0, *(match.end() for match in re.finditer("\n", text))]
        self.next = self._word_at(0)

    def take(self) -> Word:
        """The next word, which is then passed."""
        word = self.next
        self.next = self._word_at(word.start + len(word.text))
        return word

    def expect(self, text: str, where: str) -> Word:
        """The next word, which must be `text`."""
        if self.next.text != text:
            self.refuse(f"expected {text!r} {where}")
        return self.take()

    def refuse(self, expected: str) -> NoReturn:
        """Raise the error that the next word is not what was expected."""
        raise self.wrong(self.next, expected)

    def wrong(self, word: Word, expected: str) -> FormatError:
        """The error that a word is not what was expected."""
        return self.source.error(self.position(word), f"{expected}, found {word.shown}")

    def position(self, word: Word) -> Position:
        """The line and the column of a word."""
        line = bisect_right(self._lines, word.start)
        return Position(line, word.start - self._lines[line - 1] + 1)

    def _word_at(self, start: int) -> Word:
        match = _WORD.match(self._text, start)
        assert match is not None  # whatever is no word is strange
        kind = match.lastgroup or ""
        word = Word(kind, match[kind], match.start(kind))
        if kind == "strange":
            raise self.wrong(word, "expected a name, a number, ':' or '*'")
        return word
