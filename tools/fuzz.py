"""Long runs of broken inputs against the parsers: `python tools/fuzz.py pomdpx 200000`.

Every input must be read or refused with `FormatError` (or `CliqueTooLargeError`), in less than a second of computing,
within a limit on the memory of the process. Inputs are sound files, cut up and put together again in a random but
repeatable way; the first that breaks a promise is kept as `fuzz-<parser>.bin` in the directory for temporary files.
"""

from __future__ import annotations

import argparse
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from btai.errors import CliqueTooLargeError, FormatError
from btai.interop.factored.source import Limits
from btai.interop.pomdp.reader import parse_pomdp
from btai.interop.pomdpx.reader import parse_pomdpx

SEEDS = Path(__file__).parent.parent / "tests" / "interop" / "data"
PARSERS = {"pomdpx": parse_pomdpx, "pomdp": parse_pomdp}
PIECES = {
    "pomdpx": rb"""<!DOCTYPE a> &amp; &#48; <Entry> </Entry> <Instance>* -</Instance> <ProbTable>uniform</ProbTable>
        <NumValues>999999999</NumValues> <NumValues>0</NumValues> <Edge val="s0"> <SubDAG type="template" idref="exit"/>
        fullyObs="true" type="DD" type="TBL" <Node var="rover_1"> <Terminal>1</Terminal> <Parent>null</Parent> identity
        rover_1 rock_1 rock_0 rover_0 move arm hear sensor <Discount/> <!-- ]]> <![CDATA[ <?xml encoding="utf-16"?>""",
    "pomdp": rb"""T: O: R: * : uniform identity reset include: exclude: start: states: 999999999 actions: 0 # cost
        listen hear-left tiger-left 0 1 2 observations: discount: values: 1e999 -1e-400
        start include: -0 .5 5. start: 0""",
}
COMMON = rb"* - 0 1 0.5 1e308 -1e308 1e-323 1e999 nan inf 1_0 00 \x00 \xff \xc3\xa9 \xe2\x80\xa8 '".split()
MEMORY = 3 * 2**30  # of address space: Python, NumPy and the tables that the limits allow
SECONDS = 1.0


def cut(data: bytes, rng: random.Random) -> tuple[int, int]:
    """A short stretch of the data, most often."""
    start = rng.randrange(len(data) + 1)
    return start, min(len(data), start + rng.choice([0, 1, 1, 2, 4, 8, 30, 200]))


def mutated(data: bytes, pieces: list[bytes], rng: random.Random) -> bytes:
    """The data with one stretch replaced by nothing, a byte, a piece of the format, or another stretch."""
    start, end = cut(data, rng)
    kind = rng.randrange(5)
    if kind == 0:
        new = b""
    elif kind == 1:
        new = bytes([rng.randrange(256)])
    elif kind == 2:
        new = b" ".join(rng.choices(pieces, k=rng.choice([1, 1, 2, 5])))
    elif kind == 3:
        other, stop = cut(data, rng)
        new = data[other:stop] * rng.choice([1, 1, 2, 20])
    else:
        words = data[start:end].split() or [b"0"]
        new = b" ".join(rng.sample(words, len(words)))
    return data[:start] + new + data[end:]


def inputs(parser: str, seed: int) -> Callable[[], bytes]:
    """A source of inputs for one parser."""
    rng = random.Random(seed)
    sound = [path.read_bytes() for path in sorted(SEEDS.glob(f"*.{parser}"))]
    pieces = PIECES[parser].split() + COMMON

    def draw() -> bytes:
        data = rng.choice(sound)
        for _ in range(rng.choice([1, 1, 1, 2, 3, 6])):
            data = mutated(data, pieces, rng)
        return data

    return draw


def run(parser: str, count: int, seed: int) -> int:
    """Feed `count` inputs; 0 if every promise was kept."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    draw, parse, limits = inputs(parser, seed), PARSERS[parser], Limits()
    read, longest, began = 0, 0.0, time.perf_counter()
    for _ in range(count):
        data = draw()
        problem, start = "", time.process_time()
        try:
            parse(data, "f", 0.1, "exact", limits)
            read += 1
        except (FormatError, CliqueTooLargeError):
            pass
        except BaseException as error:  # whatever it is, the input must be kept
            problem = f"{type(error).__name__}: {error}"
        seconds = time.process_time() - start
        longest = max(longest, seconds)
        if seconds > SECONDS:
            problem = problem or f"took {seconds:.2f} s"
        if problem:
            kept = Path(tempfile.gettempdir()) / f"fuzz-{parser}.bin"
            kept.write_bytes(data)
            sys.stdout.write(f"{parser}: {problem}; the input is {kept}\n")
            return 1
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    sys.stdout.write(
        f"{parser}: {count:,} inputs, {read:,} read, the others refused; longest {1e3 * longest:.0f} ms,"
        f" peak memory {peak} MiB, {time.perf_counter() - began:.0f} s in all\n"
    )
    return 0


def main() -> int:
    """The command line."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("parser", choices=PARSERS)
    options.add_argument("count", type=int, nargs="?", default=200_000)
    options.add_argument("--seed", type=int, default=0)
    given = options.parse_args()
    return run(given.parser, given.count, given.seed)


if __name__ == "__main__":
    sys.exit(main())
