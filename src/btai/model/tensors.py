"""The safetensors format, as far as tables of float64 need it.

A file is 8 bytes with the length of the header (little-endian), the header in JSON, and the tables end to end. The
header gives each table's type, shape and place, and may hold some text under `__metadata__`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import prod
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from btai.errors import ModelFileError
from btai.model.document import MAX_AXES, Node, parsed_json

__all__ = ["read_tensors", "write_tensors"]

Table = NDArray[np.float64]
Place = tuple[int, int, list[int]]  # the first byte, the byte after the last, the shape

MAX_HEADER_BYTES = 2**24
LENGTH_BYTES = 8
ITEM_BYTES = 8
LITTLE_ENDIAN = np.dtype("<f8")
METADATA = "__metadata__"


def write_tensors(file: BinaryIO, tables: Mapping[str, Table], metadata: Mapping[str, str]) -> None:
    """Write the tables and the metadata."""
    header: dict[str, Any] = {METADATA: dict(metadata)}
    end = 0
    for name, table in tables.items():
        begin, end = end, end + ITEM_BYTES * table.size
        header[name] = {"dtype": "F64", "shape": [*table.shape], "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % ITEM_BYTES)  # so that the tables are aligned
    if len(text) > MAX_HEADER_BYTES:
        raise ModelFileError(
            f"the model's structure takes {len(text):,} bytes; the limit is {MAX_HEADER_BYTES:,}. Shorten the names of"
            " the variables and of their values."
        )
    file.write(len(text).to_bytes(LENGTH_BYTES, "little") + text)
    for table in tables.values():
        file.write(np.ascontiguousarray(table, dtype=LITTLE_ENDIAN).data)


def read_tensors(file: BinaryIO, size: int) -> tuple[dict[str, Table], dict[str, str]]:
    """The tables and the metadata of a file of `size` bytes; everything is checked before the tables are read."""
    length = int.from_bytes(file.read(LENGTH_BYTES), "little")
    room = size - LENGTH_BYTES
    if not 2 <= length <= min(room, MAX_HEADER_BYTES):
        raise ModelFileError(
            f"this is no safetensors file, or a truncated one: its first {LENGTH_BYTES} bytes announce a header of"
            f" {length:,} bytes; required are 2 to {MAX_HEADER_BYTES:,}, and the file has room for {max(room, 0):,}."
            " A model in JSON has a name that ends in .json; btai.interop.read_model reads other kinds."
        )
    try:
        header = Node(parsed_json(file.read(length).decode()), "")
    except UnicodeDecodeError:
        raise ModelFileError("this is no safetensors file: its header is not text.") from None
    except ModelFileError as error:
        raise ModelFileError(f"this is no safetensors file: in its header, {error}") from None
    if not isinstance(header.value, dict):
        raise ModelFileError("this is no safetensors file: its header is not an object.")
    metadata = _metadata(Node(header.value.pop(METADATA, {}), METADATA))
    places = {name: _place(Node(entry, name)) for name, entry in header.value.items()}
    _check_places(places, room - length)
    numbers = np.frombuffer(file.read(room - length), LITTLE_ENDIAN)
    return {
        name: numbers[begin // ITEM_BYTES : end // ITEM_BYTES].reshape(shape)
        for name, (begin, end, shape) in places.items()
    }, metadata


def _metadata(node: Node) -> dict[str, str]:
    if not isinstance(node.value, dict):
        raise node.wrong("an object of texts")
    return {key: Node(value, f"{METADATA}.{key}").text() for key, value in node.value.items()}


def _place(node: Node) -> Place:
    fields = node.fields(["dtype", "shape", "data_offsets"])
    if fields["dtype"].value != "F64":
        raise fields["dtype"].wrong("'F64'")
    shape = [item.count() for item in fields["shape"].items()]
    offsets = [item.count() for item in fields["data_offsets"].items()]
    if len(shape) > MAX_AXES:
        raise fields["shape"].wrong(f"a list of at most {MAX_AXES} sizes")
    if len(offsets) != 2:
        raise fields["data_offsets"].wrong("a list of two offsets")
    begin, end = offsets
    if end - begin != ITEM_BYTES * prod(shape):
        raise ModelFileError(
            f"{node.path}: the data_offsets [{begin}, {end}] span {end - begin} bytes; required are"
            f" {ITEM_BYTES * prod(shape)} for the shape {tuple(shape)}."
        )
    return begin, end, shape


def _check_places(places: Mapping[str, Place], size: int) -> None:
    """The tables lie end to end and fill the `size` bytes after the header."""
    reached = 0
    for name, (begin, end, _) in sorted(places.items(), key=lambda item: item[1][:2]):
        if begin != reached:
            raise ModelFileError(
                f"{name}: its data begin at byte {begin}; required is {reached}, where the table before it ends."
            )
        reached = end
    if reached != size:
        raise ModelFileError(
            f"its tables take {reached:,} bytes, and {size:,} bytes follow the header: the file is truncated or"
            " damaged. Save the model anew."
        )
