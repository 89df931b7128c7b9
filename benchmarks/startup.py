"""What a user waits for and what it takes: import, first decision, memory. Each in a process of its own."""

from __future__ import annotations

from collections.abc import Iterator
from tempfile import TemporaryDirectory

from benchmarks.measure import Effort, Row, in_new_process

__all__ = ["measure"]

IMPORT = """
import time, numpy, numpy.random; begin = time.perf_counter(); import btai; print(time.perf_counter() - begin)
"""
FIRST_DECISION = """
import json, time
begin = time.perf_counter()
from btai import BTAI_3MF
from btai.envs import dsprites_slice
ts = dsprites_slice(granularity=1)
agent = BTAI_3MF(ts, 150)
agent.reset({"O_pos_x": 5, "O_pos_y": 9, "O_shape": 0})
agent.step()
wall = time.perf_counter() - begin
agent.update(0, {"O_pos_x": 5, "O_pos_y": 17, "O_shape": 0})
cpu = time.process_time()
from benchmarks.measure import peak_memory
print(json.dumps([wall, cpu, peak_memory()]))
"""


def measure(effort: Effort) -> Iterator[Row]:
    """All rows."""
    times = 3 if effort.quick else 15
    yield Row("import btai, after NumPy", 1e3 * min(in_new_process("-c", IMPORT) for _ in range(times)), "ms")
    if effort.quick:
        yield Row("first decision, nothing compiled yet", None, "s", "left out of the quick run")
    else:
        with TemporaryDirectory() as empty:
            wall, cpu, _ = in_new_process("-c", FIRST_DECISION, NUMBA_CACHE_DIR=empty)
        yield Row("first decision, nothing compiled yet", wall, "s", f"once per machine; {cpu:.3g} s on processors")
    warm = [in_new_process("-c", FIRST_DECISION) for _ in range(times)]
    yield Row("first decision, everything compiled", min(wall for wall, _, _ in warm), "s", "imports and all")
    yield Row("memory of the process with its agent", min(memory for _, _, memory in warm) / 2**20, "MiB", "resident")
