"""Which operator makes an output of an ONNX file, read from its graph without its weights."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from pathlib import Path

from resit.data.guard import reading

# Numbers of fields in ONNX's protobuf messages: ModelProto.graph, GraphProto.node, NodeProto.output and NodeProto.op_type.
GRAPH, NODE, OUTPUT, OPERATOR = 7, 1, 2, 4
FIXED = {1: 8, 5: 4}
VARINT, BYTES = 0, 2


def operator_of(path: Path, output: str) -> str | None:
    """Name of the operator that makes an output, such as ``Softmax``; None where none does.

    Parameters
    ----------
    path : Path
        An ONNX file.
    output : str
        Name of the output.

    Raises
    ------
    InputError
        If the file cannot be read.
    """
    with reading(path), path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        for number, start, end in _fields(content, 0, len(content)):
            for inner, first, last in _fields(content, start, end) if number == GRAPH else ():
                if inner != NODE:
                    continue
                parts = [(part, content[a:b]) for part, a, b in _fields(content, first, last) if part in (OUTPUT, OPERATOR)]
                if (OUTPUT, output.encode()) in parts:
                    return next((text.decode() for part, text in parts if part == OPERATOR), None)
    return None


def _fields(content: mmap.mmap, at: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Number, start and end of each field of a message that has bytes; others are passed over."""
    while at < end:
        key, at = _varint(content, at)
        number, kind = key >> 3, key & 7
        if kind == BYTES:
            size, at = _varint(content, at)
            yield number, at, at + size
            at += size
        elif kind == VARINT:
            _, at = _varint(content, at)
        elif kind in FIXED:
            at += FIXED[kind]
        else:
            raise ValueError(f"a field of unknown type {kind}")


def _varint(content: mmap.mmap, at: int) -> tuple[int, int]:
    """A number in groups of seven bits, lowest first, and where it ends."""
    value, shift = 0, 0
    while True:
        if at >= len(content):
            raise ValueError("cut off")
        byte = content[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at
