"""The runs of a file as the rows of a table, and that table as CSV or Parquet."""

from __future__ import annotations

import csv
import json
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from io import TextIOWrapper
from pathlib import Path
from typing import Any, BinaryIO

from btai.errors import BtaiError, RunFileError
from btai.experiments.configuration import flattened
from btai.experiments.runfile import RunFile
from btai.experiments.schema import is_run_file
from btai.experiments.storedrun import Failure, StoredRun
from btai.experiments.summary import Summary
from btai.extras import imported
from btai.model.files import replaced

__all__ = ["GridRow", "grid_rows", "varying", "write_csv", "write_parquet"]

SECTIONS = ("environment", "agent")
FIGURES = [field.name for field in fields(Summary)]
FIGURES += ["run", "trials_wanted", "p_solved_low", "p_solved_high", "failed_trial", "failure"]


@dataclass(frozen=True)
class GridRow:
    """One run: its parameters by column, and what came of it so far."""

    run: int
    parameters: dict[str, Any]
    wanted: int  # trials
    summary: Summary
    failure: Failure | None

    @property
    def complete(self) -> bool:
        """Whether all its trials are done."""
        return self.summary.trials == self.wanted

    def flat(self) -> dict[str, Any]:
        """All of it by column."""
        figures = self.summary.as_dict()
        low, high = figures.pop("interval") or (None, None)
        return {
            "run": self.run,
            **self.parameters,
            "trials_wanted": self.wanted,
            **figures,
            "p_solved_low": low,
            "p_solved_high": high,
            "failed_trial": self.failure and self.failure.trial,
            "failure": self.failure and self.failure.reason,
        }


def grid_rows(file: RunFile) -> list[GridRow]:
    """A row for each run, in the order of the grid; all have the same columns."""
    parameters = [_parameters(run) for run in file.runs]
    names = _columns(list(dict.fromkeys(key for given in parameters for key in given)))
    return [
        GridRow(
            run=run.number,
            parameters={name: given.get(key) for key, name in names.items()},
            wanted=run.config["trials"],
            summary=run.summary(),
            failure=run.failure,
        )
        for run, given in zip(file.runs, parameters, strict=True)
    ]


def varying(rows: Sequence[GridRow]) -> list[str]:
    """The parameters that are not the same in all rows."""
    return [name for name in rows[0].parameters if len({repr(row.parameters[name]) for row in rows}) > 1]


def write_csv(rows: Sequence[GridRow], path: str | os.PathLike[str]) -> None:
    """All rows and columns as CSV."""
    table = [row.flat() for row in rows]
    with _written(Path(path)) as file:
        text = TextIOWrapper(file, "utf-8", newline="")
        writer = csv.DictWriter(text, list(table[0]))
        writer.writeheader()
        writer.writerows(table)
        text.detach()  # It would close the file with itself.


def write_parquet(rows: Sequence[GridRow], path: str | os.PathLike[str]) -> None:
    """All rows and columns as Parquet."""
    pyarrow, parquet = (imported(module, "a table as Parquet") for module in ("pyarrow", "pyarrow.parquet"))
    table = [row.flat() for row in rows]
    columns = {name: _of_one_type([row[name] for row in table]) for name in table[0]}
    with _written(Path(path)) as file:
        parquet.write_table(pyarrow.table(columns), file)


@contextmanager
def _written(path: Path) -> Iterator[BinaryIO]:
    """The file to write the table to: the whole of it or nothing, and never in place of a run file."""
    if path.exists() and is_run_file(path):
        raise RunFileError(f"{path} is a run file, whose trials the table would replace. Choose another file name.")
    try:
        with replaced(path) as file:
            yield file
    except OSError as error:
        raise BtaiError(
            f"{path}: cannot be written ({error.strerror}). Choose a file in a folder that you may write in."
        ) from error


def _parameters(run: StoredRun) -> dict[str, Any]:
    """What sets this run apart from others, by dotted key."""
    chosen = run.config.get("cell") or {key: run.config.get(key) for key in (*SECTIONS, "seed")}
    return {key: json.dumps(value) if isinstance(value, list) else value for key, value in flattened(chosen)}


def _columns(keys: Sequence[str]) -> dict[str, str]:
    """The name of each key's column: its last part where that says enough, and the section's where it is a name."""
    short = {key: key.removesuffix(".name") if key.endswith(".name") else key.rpartition(".")[2] for key in keys}
    count = Counter([*short.values(), *FIGURES])
    return {key: name if count[name] == 1 else key for key, name in short.items()}


def _of_one_type(values: Sequence[Any]) -> list[Any]:
    """A column of Parquet has one type: text, where they differ by more than being whole."""
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) <= 1:
        return list(values)
    if kinds == {int, float}:
        return [None if value is None else float(value) for value in values]
    return [None if value is None else str(value) for value in values]
