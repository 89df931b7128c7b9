"""A Ray cluster of two nodes on this machine, for the tests."""

from __future__ import annotations

import ctypes
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

__all__ = ["Environment", "node", "two_nodes"]

Environment = Mapping[str, str]

COMMAND = (sys.executable, "-m", "ray.scripts.scripts", "start", "--block", "--num-cpus=1", "--disable-usage-stats")
HEAD = ("--head", "--node-ip-address=127.0.0.1", "--port=0", "--include-dashboard=false")
STORE = "--object-store-memory=100000000"
PRIVATE = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
LOOPBACK = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}  # Ray's word for: 127.0.0.1 is this machine, listen there alone
SECONDS_TO_START = 120  # on a busy machine
PR_SET_PDEATHSIG = 1


@contextmanager
def two_nodes(environment: Environment) -> Iterator[Environment]:
    """Two nodes with a processor each, whose workers have this environment; the environment of programs that use them.

    However it ends, and be it that this process is killed, no process stays: the nodes are killed when the process ends
    that has started them, and what belongs to a node when the node ends.
    """
    environment = {**environment, **PRIVATE}
    with ExitStack() as stack:
        # Not pytest's own: the path of a socket may have little more than a hundred letters.
        folder = Path(tempfile.mkdtemp(prefix="ray-", dir="/tmp"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        stack.enter_context(_started(folder / "head", (*HEAD, f"--temp-dir={folder}"), {**environment, **LOOPBACK}))
        cluster = {**environment, **LOOPBACK, "RAY_ADDRESS": (folder / "ray_current_cluster").read_text().strip()}
        stack.enter_context(node(cluster))
        yield cluster


@contextmanager
def node(cluster: Environment) -> Iterator[None]:
    """One more node of a cluster, with a processor, until the context ends."""
    # Ray would put this machine's other address for 127.0.0.1, where the head does not listen; 0.0.0.0 leads there too.
    address = cluster["RAY_ADDRESS"].replace("127.0.0.1", "0.0.0.0")
    environment = {name: value for name, value in cluster.items() if name not in LOOPBACK}
    options = (f"--address={address}",)
    with tempfile.TemporaryDirectory() as folder, _started(Path(folder) / "node", options, environment):
        yield


@contextmanager
def _started(output: Path, options: tuple[str, ...], environment: Environment) -> Iterator[None]:
    """`ray start`, up and running until the end."""
    command = [*COMMAND, STORE, *options]
    with output.open("w") as file:
        process = subprocess.Popen(
            command, stdout=file, stderr=file, env=os.environ | environment, preexec_fn=_end_with_parent
        )
    try:
        deadline = time.monotonic() + SECONDS_TO_START
        while "Ray runtime started" not in (said := output.read_text()):
            assert process.poll() is None, f"`ray start` ended: {said}"
            assert time.monotonic() < deadline, f"`ray start` has not come so far in {SECONDS_TO_START} s: {said}"
            time.sleep(0.05)
        yield
    finally:
        process.kill()
        process.wait()


def _end_with_parent() -> None:
    """Ask Linux to kill this process when the one that started it ends."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
