"""A team of workers on a Ray cluster."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from typing import Any

from btai.errors import BtaiError
from btai.experiments.team import Died
from btai.extras import imported

__all__ = ["RayCluster"]

NEAREST = "auto"  # what Ray calls the cluster that this machine is part of
PATIENCE = 10  # seconds
UNDERWAY_PER_PROCESSOR = 2  # so that no processor waits for the driver


class RayCluster:
    """Workers wherever a Ray cluster has processors.

    Args:
        work: what they do with each job.
        address: of a cluster that runs already; "auto": that of the environment's RAY_ADDRESS, else the one that this
            machine is part of.
        workers: jobs to be under way at most; by default two for each processor of the cluster, so that none of them
            waits for the driver.
    """

    def __init__(self, work: Callable[[Any], Any], address: str = NEAREST, workers: int | None = None) -> None:
        self._ray = _imported()
        self._connect(address)
        # Who retries is `done_by`, the same for every team.
        self._function = self._ray.remote(work).options(max_retries=0, num_cpus=1)
        self._workers = workers
        self._most = 0
        self._underway: dict[Any, Any] = {}  # job by reference

    def has_room(self) -> bool:
        """Whether another job can be given."""
        if len(self._underway) >= self._most:
            self._most = self._workers or UNDERWAY_PER_PROCESSOR * max(1, self._processors())
        return len(self._underway) < self._most

    def give(self, job: Any) -> None:
        """Let Ray do a job."""
        self._underway[self._function.remote(job)] = job

    def results(self) -> list[tuple[Any, Any]]:
        """Wait for results."""
        if not self._underway:
            return []
        ready, _ = self._ray.wait(list(self._underway), num_returns=1)
        return [(self._underway.pop(reference), self._result(reference)) for reference in ready]

    def close(self) -> None:
        """Leave the cluster; it ends what is still under way."""
        self._ray.shutdown()

    def _connect(self, address: str) -> None:
        if address == NEAREST:
            address = os.environ.get("RAY_ADDRESS") or NEAREST
        try:
            _knock(address)
            # Without an address, Ray would start a cluster here that is open to whoever can reach this machine.
            self._ray.init(address=address, log_to_driver=False, logging_level="error")
        except (OSError, RuntimeError, ValueError) as error:
            where = "that this machine is part of" if address == NEAREST else f"at {address}"
            raise BtaiError(
                f"ray: there is no cluster {where} ({error}). Give the address of one, host:port, as `ray start --head`"
                " has printed it, or leave Ray out to use this machine's processors."
            ) from error

    def _processors(self) -> int:
        return int(self._ray.cluster_resources().get("CPU", 0))

    def _result(self, reference: Any) -> Any:
        errors = self._ray.exceptions
        try:
            return self._ray.get(reference)
        except errors.RayTaskError as error:  # `work` itself never raises
            raise BtaiError(
                f"ray: a worker cannot run btai: {error}. Install the same btai, and what your own environment and"
                " agent need, on every node."
            ) from error
        except errors.RayError as error:
            return Died(type(error).__name__)


def _knock(address: str) -> None:
    """Refuse an address, host:port, where nobody answers; Ray itself would go on trying for many minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), timeout=PATIENCE).close()


def _imported() -> Any:
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # btai tells nobody anything, and nor does what it starts.
    return imported("ray", "every node of a cluster")
