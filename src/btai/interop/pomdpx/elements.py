"""The elements of a POMDPX file, with their positions.

XML without document types and entities, hence without anything that grows when it is read. What an element may hold
is checked as it is read, so that nothing unexpected is ever stored.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import NoReturn
from xml.parsers import expat

from btai.interop.factored.source import Position, Source
from btai.interop.pomdpx.grammar import RULES, Rule

__all__ = ["Element", "read_elements"]

_WORD = re.compile(r"[^ \t\r\n]+")
_ENCODINGS = ("utf-8", "utf-16", "iso-8859-1", "us-ascii")


@dataclass(slots=True)
class Element:
    """An element: its text in pieces, each with its position, or its children."""

    tag: str
    attributes: dict[str, str]
    at: Position
    children: list[Element] = field(default_factory=list)
    pieces: list[tuple[str, Position]] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All its text."""
        return "".join(piece for piece, _ in self.pieces)

    def words(self) -> list[str]:
        """The words of its text."""
        return _WORD.findall(self.text)

    def position(self, word: int) -> Position:
        """Where a word of its text starts, or the element itself if it has not as many."""
        for i, match in enumerate(_WORD.finditer(self.text)):
            if i == word:
                return self._position_of(match.start())
        return self.at

    def all(self, tag: str) -> list[Element]:
        """Its children of this tag."""
        return [child for child in self.children if child.tag == tag]

    def _position_of(self, offset: int) -> Position:
        starts = [0]
        for piece, _ in self.pieces:
            starts.append(starts[-1] + len(piece))
        number = bisect_right(starts, offset) - 1
        line, column = self.pieces[number][1]
        return Position(line, column + offset - starts[number])  # only a piece of its own holds a line's end


def read_elements(data: bytes, source: Source) -> Element:
    """The root of the file."""
    return _Reader(source).read(data)


class _Reader:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.open: list[Element] = []
        self.root: Element | None = None
        self.count = 0
        self.parser = parser = expat.ParserCreate()
        parser.XmlDeclHandler = self.declaration
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.CharacterDataHandler = self.characters
        parser.StartDoctypeDeclHandler = self.refuse_document_type
        parser.EntityDeclHandler = self.refuse_document_type
        parser.ExternalEntityRefHandler = self.refuse_document_type
        parser.SkippedEntityHandler = self.refuse_document_type

    def read(self, data: bytes) -> Element:
        try:
            self.parser.Parse(data, True)
        except expat.ExpatError as error:
            reason = expat.errors.messages[error.code]
            at = Position(error.lineno, error.offset + 1)
            raise self.source.error(at, f"expected well-formed XML, found: {reason}") from None
        assert self.root is not None  # expat refuses a document without elements
        return self.root

    @property
    def at(self) -> Position:
        return Position(self.parser.CurrentLineNumber, self.parser.CurrentColumnNumber + 1)

    def declaration(self, _version: str, encoding: str | None, _standalone: int) -> None:
        if encoding is not None and encoding.lower() not in _ENCODINGS:
            raise self.source.error(self.at, f"expected one of the encodings {', '.join(_ENCODINGS)}, found {encoding}")

    def refuse_document_type(self, *_: object) -> NoReturn:
        raise self.source.error(self.at, "expected no document type and no entities: neither is read")

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        limits = self.source.limits
        self.count += 1
        if self.count > limits.elements:
            raise self.source.error(self.at, f"expected at most {limits.elements:,} elements")
        if len(self.open) >= limits.depth:
            raise self.source.error(self.at, f"expected elements nested at most {limits.depth} deep")
        element = Element(tag, attributes, self.at)
        self.check(element)
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element
        self.open.append(element)

    def check(self, element: Element) -> None:
        """Its parent may hold it, once or often, and it has the attributes it must have and no other."""
        allowed = self.rule.children if self.open else {"pomdpx": "once"}
        place = f"in <{self.open[-1].tag}>" if self.open else "as the root"
        if element.tag not in allowed:
            names = " or ".join(f"<{tag}>" for tag in allowed) or "no element"
            raise self.source.error(element.at, f"expected {names} {place}, found <{element.tag}>")
        if allowed[element.tag] == "once" and self.open and self.open[-1].all(element.tag):
            raise self.source.error(element.at, f"expected one <{element.tag}> {place}, found a second one")
        rule = RULES[element.tag]
        for name in rule.required:
            if name not in element.attributes:
                raise self.source.error(element.at, f"expected the attribute {name} on <{element.tag}>")
        for name in element.attributes:
            if not rule.any_attribute and name not in rule.required + rule.optional:
                known = ", ".join(rule.required + rule.optional) or "none"
                raise self.source.error(element.at, f"expected on <{element.tag}> the attributes {known}, found {name}")

    @property
    def rule(self) -> Rule:
        return RULES[self.open[-1].tag]

    def end(self, _tag: str) -> None:
        self.open.pop()

    def characters(self, text: str) -> None:
        if self.rule.text:
            self.open[-1].pieces.append((text, self.at))
        elif word := _WORD.search(text):
            at = Position(self.at.line, self.at.column + word.start())
            raise self.source.error(at, f"expected no text in <{self.open[-1].tag}>, found {word.group()[:40]!r}")
