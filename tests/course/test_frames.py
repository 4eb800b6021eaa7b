"""Frames transfer arrays unchanged between processes; invalid frames are rejected."""

import io
import json
import struct

import numpy as np
import pytest

from gpukit.course import frames


def there_and_back(header, body=b""):
    stream = io.BytesIO()
    frames.send(stream, header, body)
    stream.seek(0)
    return frames.receive(stream)


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "u1", "c8", "?"])
@pytest.mark.parametrize("shape", [(0,), (1,), (3, 5), (2, 3, 4)])
def test_array_round_trip_preserves_dtype_shape_and_values(dtype, shape):
    array = np.ones(shape, dtype)
    found = frames.unpack(*frames.pack({"x": array}))["x"]
    assert (found.dtype, found.shape) == (array.dtype, array.shape)
    assert np.array_equal(found, array)


def test_an_unpacked_array_is_writeable():
    found = frames.unpack(*frames.pack({"x": np.zeros(3)}))["x"]
    found[0] = 1


def test_scalars_keep_their_type_and_place():
    found = frames.unpack(*frames.pack({"n": 3, "a": np.float32(0.5), "x": np.zeros(2), "b": 2.5}))
    assert list(found) == ["n", "a", "x", "b"]
    assert type(found["n"]) is int
    assert type(found["a"]) is np.float32


def test_frame_round_trip_preserves_header_and_body():
    assert there_and_back({"a": [1, 2]}, b"xyz") == ({"a": [1, 2]}, b"xyz")


def test_the_end_of_the_stream_is_none():
    assert frames.receive(io.BytesIO()) is None


def raw(header, body=b""):
    return struct.pack("<II", len(header), len(body)) + header + body


BAD_FRAMES = {
    "short lengths": b"\x01\x02",
    "huge header": struct.pack("<II", 2**31, 0),
    "huge body": struct.pack("<II", 2, 2**31) + b"{}",
    "cut header": struct.pack("<II", 10, 0) + b"{}",
    "cut body": struct.pack("<II", 2, 9) + b"{}xyz",
    "not JSON": raw(b"{nope"),
    "not an object": raw(b"[1]"),
    "not text": raw(b"\xff\xfe\x00"),
    "deep": raw(b"[" * 30000),
    "an integer that Python cannot write": raw(b'{"text": ' + b"9" * 4300 + b"}"),
}


@pytest.mark.parametrize("name", BAD_FRAMES)
def test_an_invalid_frame_is_rejected(name):
    with pytest.raises(frames.ProtocolError):
        frames.receive(io.BytesIO(BAD_FRAMES[name]))


BAD_ARRAYS = {
    "too few bytes": ([{"name": "x", "dtype": "<f4", "shape": [3]}], b"1234"),
    "bytes left over": ([{"name": "x", "dtype": "<f4", "shape": [1]}], b"12345678"),
    "negative extent": ([{"name": "x", "dtype": "<f4", "shape": [-1]}], b"1234"),
    "objects": ([{"name": "x", "dtype": "O", "shape": [1]}], b"12345678"),
    "no such dtype": ([{"name": "x", "dtype": "nope", "shape": [1]}], b"1234"),
    "no shape": ([{"name": "x", "dtype": "<f4"}], b"1234"),
    "no list": (None, b""),
    "a list of numbers": ([1, 2], b""),
    "infinite extent": (json.loads('[{"name": "x", "dtype": "<f4", "shape": [1e999]}]'), b""),
}


@pytest.mark.parametrize("name", BAD_ARRAYS)
def test_an_inconsistent_array_description_is_rejected(name):
    with pytest.raises(frames.ProtocolError):
        frames.unpack(*BAD_ARRAYS[name])
