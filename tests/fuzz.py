"""Damaged files for the parsers: each is read or refused, quickly, and never costs more memory than the limits say.

    .venv/bin/python tests/fuzz.py 200000                 so many inputs for each parser
    .venv/bin/python tests/fuzz.py 200000 pomdpx pomdp    for these

An input is made from its parser's name and its number alone, so that whatever is found can be looked into:
`fuzz.damaged("pomdp", 4711)`. The seconds are those of the processor, and memory is what Python and NumPy allocate.
"""

from __future__ import annotations

import signal
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from btai.errors import BtaiError
from btai.interop import Limits
from btai.interop.pomdp.reader import parse_pomdp
from btai.interop.pomdpx.reader import parse_pomdpx
from btai.model import TemporalSlice, TemporalSliceBuilder, from_json, to_json
from btai.model.files import _read_safetensors, _write_safetensors

__all__ = ["PARSERS", "Found", "Parser", "damaged", "declared", "fuzz", "main"]

DATA = Path(__file__).parent / "interop" / "data"
LIMITS = Limits(file_bytes=2**16, elements=2**12, variables=50, axes=12, entries=2**16, writes=2**18)
CONSTANT_BYTES = 2**20  # for the reading itself, whatever the input

MOST_SECONDS = 1.0
NUMBERS = [
    b"0",
    b"1",
    b"-1",
    b"0.5",
    b"1e308",
    b"1e-400",
    b"1e999",
    b"nan",
    b"inf",
    b"999999999",
    b"2147483648",
    b"18446744073709551616",
]
BYTES = [b"\x00", b"\x85", b"\xc3\xa9", b"\xff", b"\xef\xbb\xbf", b"\n", b" ", b"\t", b"\r\n"]


class Hang(BaseException):
    """Reading took too long."""


@dataclass(frozen=True)
class Parser:
    """What is fuzzed: sound files, the words of their format, and the most memory that reading may take."""

    read: Callable[[bytes], Any]
    sound: Sequence[bytes]
    words: Sequence[bytes]
    bytes_per_byte: int  # of the input
    table_bytes: int = 0  # that the limits allow


@dataclass
class Found:
    """What came of the inputs."""

    inputs: int = 0
    read: int = 0
    refused: int = 0
    most_seconds: float = 0.0
    most_bytes: int = 0  # allocated at once
    failures: tuple[str, ...] = ()


def damaged(name: str, number: int) -> bytes:
    """Input `number` of a parser: a sound file with some stretches replaced, taken out, doubled or moved."""
    parser, random = PARSERS[name], Random(f"{name} {number}")
    data = random.choice(parser.sound)
    for _ in range(random.choice((1, 1, 2, 3, 6))):
        begin = random.randint(0, len(data))
        end = min(len(data), begin + random.choice((0, 0, 1, 1, 2, 4, 16, 100)))
        piece, rest = data[begin:end], data[:begin] + data[end:]
        place = random.randint(0, len(rest))
        data = random.choice(
            (
                data[:begin] + _new(parser, random) + data[end:],
                data[:begin] + _new(parser, random) + data[end:],
                rest,
                rest[:place] + piece + rest[place:],
                data[:begin] + piece * random.choice((2, 3, 50)) + data[end:],
                data if random.random() < 0.9 else data[:begin],
            )
        )
    return data


def fuzz(name: str, numbers: Sequence[int]) -> Found:
    """Read these inputs."""
    parser, found = PARSERS[name], Found()
    with _tracing(), _alarm():
        for number in numbers:
            _try(name, parser, number, found)
    return found


def main(arguments: Sequence[str]) -> int:
    """Fuzz each parser, and say what came of it."""
    inputs = int(arguments[0])
    failed = False
    for name in arguments[1:] or PARSERS:
        found = fuzz(name, range(inputs))
        failed |= bool(found.failures)
        print(  # noqa: T201 - a tool
            f"{name}: {found.inputs:,} inputs, {found.read:,} read, {found.refused:,} refused, at most"
            f" {found.most_seconds:.3f} s and {found.most_bytes / 2**20:.2f} MiB; {len(found.failures)} failures",
            *found.failures,
            sep="\n  ",
            flush=True,
        )
    return int(failed)


def _try(name: str, parser: Parser, number: int, found: Found) -> None:
    data = damaged(name, number)
    failure = None
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    start = time.process_time()
    signal.setitimer(signal.ITIMER_VIRTUAL, 2 * MOST_SECONDS)  # what hangs is stopped, what is slow is measured
    try:
        parser.read(data)
        found.read += 1
    except BtaiError:
        found.refused += 1
    except Hang:
        failure = "it hung"
    except Exception as error:
        failure = f"{type(error).__name__}: {error}"
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    seconds, allocated = time.process_time() - start, tracemalloc.get_traced_memory()[1] - before
    if seconds > MOST_SECONDS:
        failure = failure or f"it took {seconds:.1f} s"
    if allocated > CONSTANT_BYTES + parser.table_bytes + parser.bytes_per_byte * len(data):
        failure = failure or f"it allocated {allocated:,} bytes for {len(data):,}"
    found.inputs += 1
    found.most_seconds, found.most_bytes = max(found.most_seconds, seconds), max(found.most_bytes, allocated)
    if failure:
        found.failures += (f"damaged({name!r}, {number}): {failure}",)


def _new(parser: Parser, random: Random) -> bytes:
    if random.random() < 0.2:
        return random.randbytes(random.randint(1, 4))
    return b" ".join(random.choice([*parser.words, *NUMBERS, *BYTES]) for _ in range(random.randint(1, 3)))


@contextmanager
def _tracing() -> Iterator[None]:
    running = tracemalloc.is_tracing()
    tracemalloc.start()
    try:
        yield
    finally:
        if not running:
            tracemalloc.stop()


@contextmanager
def _alarm() -> Iterator[None]:
    def ring(*_: object) -> None:
        raise Hang

    before = signal.signal(signal.SIGVTALRM, ring)
    try:
        yield
    finally:
        signal.signal(signal.SIGVTALRM, before)


def declared() -> TemporalSliceBuilder:
    """A model for model files, preferences to be added."""
    return (
        TemporalSliceBuilder("A_push", 2, ["left", "right"])
        .add_state("S_x", [0.5, 0.5])
        .add_state("S_y", [0.25, 0.75])
        .add_transition("S_x", np.eye(2), ["S_x"])
        .add_transition("S_y", np.eye(2), ["A_push"])
        .add_observation("O_x", [[0.9, 0.2], [0.1, 0.8]], ["S_x"])
    )


def _model() -> TemporalSlice:
    return declared().add_preference(["O_x"], scores=[0.0, 1.0]).build()


def _safetensors() -> bytes:
    file = BytesIO()
    _write_safetensors(_model(), file)
    return file.getvalue()


def _sound(*names: str) -> list[bytes]:
    return [(DATA / name).read_bytes() for name in names]


TABLE_BYTES = 8 * LIMITS.entries
JSON_WORDS = b'[ ] { } , : " \\u0000 \\ud800 true null "S_x" "O_x" "A_push" "states" "prior" "parents" 1e5 NaN'.split()

PARSERS: Mapping[str, Parser] = {
    "pomdpx": Parser(
        lambda data: parse_pomdpx(data, "f.pomdpx", 0.1, "exact", LIMITS),
        _sound("tiger.pomdpx", "rocks.pomdpx"),
        b"<Entry> </Entry> * - <DAG/> <SubDAG> identity uniform &amp; &#0; ]]> <![CDATA[ <!DOCTYPE s0 DD".split(),
        bytes_per_byte=500,
        table_bytes=8 * TABLE_BYTES,
    ),
    "pomdp": Parser(
        lambda data: parse_pomdp(data, "f.pomdp", 0.1, "exact", LIMITS),
        _sound("tiger.pomdp"),
        b"T: O: R: * : uniform identity reset # start: include exclude states: actions: listen 0".split(),
        bytes_per_byte=500,
        table_bytes=8 * TABLE_BYTES,
    ),
    "json": Parser(
        lambda data: from_json(data.decode("utf-8", "replace")), [to_json(_model()).encode()], JSON_WORDS, 200
    ),
    "safetensors": Parser(
        lambda data: _read_safetensors(BytesIO(data), len(data), 2**16),
        [_safetensors()],
        [*JSON_WORDS, b"F64", b"I32", b'"data_offsets"', b"\x00" * 8, b"\xff" * 8],
        200,
    ),
}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
