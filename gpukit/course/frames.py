"""The channel between the parent and the process that runs a student's file.

A frame is two lengths, a JSON header and raw bytes: never a pickle, so nothing that a student's
process sends can make the parent run code.
"""

from __future__ import annotations

import contextlib
import json
import math
import re
import struct
from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np

from gpukit.course.case import Argument, Array

_LENGTHS = struct.Struct("<II")
HEADER_LIMIT = 64 * 1024
BODY_LIMIT = 256 * 1024 * 1024
_DIGITS = 20  # of the largest 64-bit integer
_PART = 1 << 20
_TYPE = re.compile(r"[<>|][biufc]\d{1,2}")
# What Python raises where data is not of the form that a program expects.
DAMAGED = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


class ProtocolError(Exception):
    """The other side sent something that is not a frame."""


@contextlib.contextmanager
def believing_nothing(what: str) -> Iterator[None]:
    """Turn any error of a `with` block that reads what was received into a ProtocolError."""
    try:
        yield
    except DAMAGED as error:
        raise ProtocolError(f"the {what} is damaged") from error


def send(stream: BinaryIO, header: dict[str, Any], body: bytes = b"") -> None:
    """Write one frame."""
    text = json.dumps(header).encode()
    rest = memoryview(_LENGTHS.pack(len(text), len(body)) + text + body)
    while rest:  # a raw stream may take a part
        rest = rest[stream.write(rest) :]
    stream.flush()


def receive(stream: BinaryIO) -> tuple[dict[str, Any], bytes] | None:
    """Read one frame; None at the end of the stream."""
    lengths = _read(stream, _LENGTHS.size)
    if not lengths:
        return None
    if len(lengths) != _LENGTHS.size:
        raise ProtocolError("the stream ended inside a frame")
    header_size, body_size = _LENGTHS.unpack(lengths)
    if header_size > HEADER_LIMIT or body_size > BODY_LIMIT:
        raise ProtocolError("a frame is larger than allowed")
    text = _read(stream, header_size)
    body = _read(stream, body_size)
    if len(text) != header_size or len(body) != body_size:
        raise ProtocolError("the stream ended inside a frame")
    return _header(text), body


def _read(stream: BinaryIO, size: int) -> bytes:
    """Read as many bytes as there are, `size` at most; a raw stream gives them in parts."""
    parts = bytearray()
    while len(parts) < size and (part := stream.read(min(size - len(parts), _PART))):
        parts += part
    return bytes(parts)


def parse(text: str | bytes) -> Any:
    """Return what a JSON text says; raise ValueError for an integer of over 20 digits.

    Python computes with longer ones, and then cannot write them.
    """
    return json.loads(text, parse_int=_integer)


def _integer(digits: str) -> int:
    if len(digits) > _DIGITS:
        raise ValueError(f"an integer of {len(digits)} digits")
    return int(digits)


def _header(text: bytes) -> dict[str, Any]:
    try:
        header = parse(text)
    except (ValueError, RecursionError) as error:
        raise ProtocolError("a header is not JSON") from error
    if not isinstance(header, dict):
        raise ProtocolError("a header is not an object")
    return header


def pack(values: dict[str, Argument]) -> tuple[list[dict[str, Any]], bytes]:
    """Return descriptions and the bytes of the arrays, one after the other."""
    shapes: list[dict[str, Any]] = []
    parts: list[bytes] = []
    for name, value in values.items():
        if isinstance(value, np.ndarray):
            shapes.append({"name": name, "dtype": value.dtype.str, "shape": list(value.shape)})
            parts.append(value.tobytes())
        elif isinstance(value, np.generic):
            shapes.append({"name": name, "scalar": value.item(), "dtype": value.dtype.str})
        else:
            shapes.append({"name": name, "scalar": value})
    return shapes, b"".join(parts)


def unpack(shapes: Any, body: bytes) -> dict[str, Argument]:
    """Return what `pack` was given; refuse what does not add up."""
    values: dict[str, Argument] = {}
    start = 0
    try:
        for item in shapes:
            if "scalar" in item:
                values[item["name"]] = _scalar(item)
                continue
            array, start = _array(item, body, start)
            values[item["name"]] = array
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise ProtocolError("a description of an array is wrong") from error
    if start != len(body):
        raise ProtocolError("bytes left over after the last array")
    return values


def _scalar(item: dict[str, Any]) -> Argument:
    value: Argument = item["scalar"]
    if "dtype" in item:
        value = _dtype(item["dtype"]).type(value)
    return value


def _dtype(name: str) -> np.dtype[Any]:
    """Return a type of numbers; NumPy would read a whole language of others."""
    if not _TYPE.fullmatch(name):
        raise ValueError("not a type of numbers")
    return np.dtype(name)


def _array(item: dict[str, Any], body: bytes, start: int) -> tuple[Array, int]:
    dtype = _dtype(item["dtype"])
    shape = tuple(int(extent) for extent in item["shape"])
    if any(extent < 0 for extent in shape):
        raise ValueError("not an array of numbers")
    stop = start + math.prod(shape) * dtype.itemsize
    if stop > len(body):
        raise ValueError("fewer bytes than the shape needs")
    # A copy, because frombuffer gives read-only memory and kernels write.
    return np.frombuffer(body[start:stop], dtype).reshape(shape).copy(), stop
