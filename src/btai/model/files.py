"""A slice in a file: JSON, or safetensors, which holds tables of any size exactly; the ending of the name says which.

Neither can run code when it is read. A safetensors file holds the tables, and in its metadata the document of
`btai.model.document`, with the name of a table in its place.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from btai.errors import ModelError, ModelFileError
from btai.model.cliques import MAX_CLIQUE_ENTRIES
from btai.model.document import Node, parsed_json, to_document, to_slice
from btai.model.jsonform import from_json, to_json
from btai.model.slice import TemporalSlice
from btai.model.tensors import read_tensors, write_tensors

__all__ = ["from_bytes", "load", "named", "replaced", "save", "to_bytes"]

FilePath = str | os.PathLike[str]
Table = NDArray[np.float64]

KEY = "btai"  # of the document in the metadata
MAX_BYTES = 2**32
MAX_JSON_BYTES = 2**26  # it takes ten times as much memory while it is read
LARGER = {
    MAX_JSON_BYTES: "JSON is for small models: larger ones go into a file whose name ends in .safetensors",
    MAX_BYTES: "a slice of that size is better declared with more variables of fewer values",
}


def save(ts: TemporalSlice, path: FilePath) -> None:
    """Write the model to a file: the whole of it, or nothing, in which case a file of that name stays as it was."""
    with named(path):
        write = _write_json if _is_json(path) else _write_safetensors
        with replaced(Path(path)) as file:
            write(ts, file)


def load(path: FilePath, max_clique: int = MAX_CLIQUE_ENTRIES) -> TemporalSlice:
    """The model in a file, equal to the one that was saved: names, order and every bit of the tables.

    The file is checked like a declaration; `max_clique` is that of `TemporalSliceBuilder.build`. What is wrong is
    said by a `ModelFileError`, or a `CliqueTooLargeError`.
    """
    with named(path):
        read, limit = (_read_json, MAX_JSON_BYTES) if _is_json(path) else (_read_safetensors, MAX_BYTES)
        if not Path(path).is_file():
            raise ModelFileError("there is no such file. Check the path.")
        with Path(path).open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            _check_size(size, limit)
            return read(file, size, max_clique)


def to_bytes(ts: TemporalSlice) -> bytes:
    """The model as a safetensors file, to be kept within another file."""
    file = BytesIO()
    _write_safetensors(ts, file)
    return file.getvalue()


def from_bytes(data: bytes, max_clique: int = MAX_CLIQUE_ENTRIES) -> TemporalSlice:
    """The model that `to_bytes` turned into these, checked like any file."""
    return _read_safetensors(BytesIO(data), len(data), max_clique)


def _is_json(path: FilePath) -> bool:
    """Whether the file is JSON; an error if it is none of ours."""
    ending = Path(path).suffix.lower()
    if ending in (".json", ".safetensors"):
        return ending == ".json"
    elsewhere = " Files that end in .pomdpx and .pomdp are for btai.interop.read_model and write_model."
    raise ModelFileError(
        f"the name ends in {ending or 'nothing'}; .json or .safetensors is required, which says what is in it. Rename"
        f" it.{elsewhere if ending in ('.pomdpx', '.pomdp') else ''}"
    )


def _write_json(ts: TemporalSlice, file: BinaryIO) -> None:
    text = to_json(ts).encode()
    _check_size(len(text), MAX_JSON_BYTES)
    file.write(text)


def _read_json(file: BinaryIO, size: int, max_clique: int) -> TemporalSlice:
    try:
        text = file.read(size).decode("utf-8-sig")  # some editors put a mark at the beginning
    except UnicodeDecodeError as error:
        raise ModelFileError(f"byte {error.start} is not UTF-8. Save the text as UTF-8.") from None
    return from_json(text, max_clique)


def _write_safetensors(ts: TemporalSlice, file: BinaryIO) -> None:
    tables: dict[str, Table] = {}

    def name_of(name: str, table: Table) -> str:
        tables[name] = table
        return name

    document = to_document(ts, name_of)
    _check_size(sum(table.nbytes for table in tables.values()), MAX_BYTES)
    write_tensors(file, tables, {KEY: json.dumps(document)})


def _read_safetensors(file: BinaryIO, size: int, max_clique: int) -> TemporalSlice:
    tables, metadata = read_tensors(file, size)
    if KEY not in metadata:
        raise ModelFileError("this safetensors file holds no btai model: its metadata have no key 'btai'.")
    used = set()

    def table_named(node: Node) -> Table:
        if node.text() not in tables:
            raise node.wrong("the name of a table in the file")
        used.add(node.text())
        return tables[node.text()]

    ts = to_slice(parsed_json(metadata[KEY]), table_named, max_clique)
    if unused := tables.keys() - used:
        raise ModelFileError(f"{min(unused)}: this table belongs to no variable of the model. Save the model anew.")
    return ts


def _check_size(size: int, limit: int) -> None:
    if size > limit:
        raise ModelFileError(f"{size:,} bytes are too many; the limit is {limit:,}, and {LARGER[limit]}.")


@contextmanager
def named(path: FilePath) -> Iterator[None]:
    """Every error says which file it is about."""
    try:
        yield
    except ModelError as error:
        raise type(error)(f"{os.fspath(path)}: {error}") from error
    except OSError as error:
        raise ModelFileError(
            f"{os.fspath(path)}: {error.strerror or error}. Choose a file that can be used."
        ) from error
    except UnicodeEncodeError as error:
        raise ModelFileError(f"{os.fspath(path)}: the model has a name that is not Unicode text ({error}).") from error


@contextmanager
def replaced(path: Path) -> Iterator[BinaryIO]:
    """A file to write that takes the place of `path` once all is written; a device or a pipe is written to itself."""
    path = Path(os.path.realpath(path))  # A link stays one.
    if path.exists() and not (path.is_file() or path.is_dir()):
        with path.open("wb") as file:
            yield file
        return
    unfinished = path.with_name(f".{path.name}.{uuid4().hex}")
    try:
        with unfinished.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
