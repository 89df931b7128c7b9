"""Sweeps: a grid of environments, agents, their parameters and seeds; every cell a run, all runs in one run file."""

from btai.experiments.cluster import RayCluster
from btai.experiments.processes import Processes
from btai.experiments.sweeps.cells import Cell, grid, read_grid
from btai.experiments.sweeps.driver import SweepProgress, sweep
from btai.experiments.sweeps.shards import Shard, merge
from btai.experiments.sweeps.table import GridRow, grid_rows, write_csv, write_parquet

__all__ = [
    "Cell",
    "GridRow",
    "Processes",
    "RayCluster",
    "Shard",
    "SweepProgress",
    "grid",
    "grid_rows",
    "merge",
    "read_grid",
    "sweep",
    "write_csv",
    "write_parquet",
]
