"""Recordings of real launches: replaying them reproduces the results of the launch."""

import json

import numpy as np
import pytest

from gpukit import cuda
from gpukit.checked import recording
from tests.checked.plain_kernels import copy_kernel, count_kernel
from tests.checked.recorded import (
    BLOCK,
    add_kernel,
    after,
    places_kernel,
    record,
    reduce_kernel,
    rows_kernel,
)


@pytest.mark.parametrize("n", [1, 31, 33, 70])
def test_replayed_writes_reproduce_the_results_of_the_launch(n):
    x, y = np.arange(n, dtype=np.float32) / 3, np.full(n, 0.1, np.float32)
    out = np.zeros(n, np.float32)
    recording = record(add_kernel, (2, BLOCK), x, y, out)
    np.testing.assert_array_equal(out, x + y)
    assert after(recording, "out") == [out.tolist()]


@pytest.mark.parametrize(
    "dtype", ["i1", "u1", "?", "i2", "f2", "i4", "f4", "u8", "i8", "f8", "c8", "c16"]
)
@pytest.mark.costly
def test_values_of_every_type_are_those_of_the_array(dtype):
    x = np.array([1, 0, 3, 100, 7]).astype(dtype)
    out = np.zeros_like(x)
    recording = record(copy_kernel, (1, 8), x, out)
    plain = [str(v) if isinstance(v, complex) else v for v in out.tolist()]
    np.testing.assert_array_equal(out, x)
    assert after(recording, "out") == [plain]


def test_values_not_representable_in_json_are_text():
    x = np.array([np.nan, np.inf, -np.inf], np.float32)
    recording = record(copy_kernel, (1, 8), x, np.zeros(3, np.float32))
    assert after(recording, "out") == [["nan", "inf", "-inf"]]
    json.dumps(recording, allow_nan=False)


def test_recording_modifies_arguments_as_one_launch():
    total = np.full(1, 5, np.float32)
    record(reduce_kernel, (2, BLOCK), np.ones(100, np.float32), total)
    assert total[0] == 105


def test_recording_modifies_device_arrays_as_one_launch():
    counts = cuda.to_device(np.zeros(3, np.int32))
    recording = record(count_kernel, (2, BLOCK), np.arange(100, dtype=np.int32) % 3, counts)
    assert counts.copy_to_host().tolist() == [34, 33, 33]
    assert after(recording, "counts") == [[34, 33, 33]]


def test_arrays_hold_their_values_from_before_the_launch():
    x, out = np.arange(5, dtype=np.float32), np.full(5, 9, np.float32)
    recording = record(copy_kernel, (1, 8), x, out)
    instrumentation = {a["name"]: a for a in recording["arrays"]}
    assert instrumentation["out"]["before"] == [9.0] * 5
    assert instrumentation["x"]["before"] == x.tolist()
    assert (instrumentation["x"]["shape"], instrumentation["x"]["dtype"]) == ([5], "float32")
    assert (instrumentation["x"]["space"], instrumentation["x"]["owner"]) == ("global", None)


def test_uninitialised_device_memory_has_no_initial_values():
    recording = record(
        copy_kernel, (1, 8), np.ones(5, np.float32), cuda.device_array(5, np.float32)
    )
    assert next(a["before"] for a in recording["arrays"] if a["name"] == "out") == [None] * 5


@pytest.mark.parametrize(
    "view",
    [lambda a: a[1::2], lambda a: a[::-1], lambda a: a.reshape(5, 14)[:, 3], lambda a: a[60:]],
    ids=["steps", "reversed", "column", "slice"],
)
@pytest.mark.costly
def test_views_are_replayed_element_by_element(view):
    out = view(np.zeros(70, np.float32))
    x = np.arange(1, len(out) + 1, dtype=np.float32)
    recording = record(copy_kernel, (2, BLOCK), x, out)
    assert after(recording, "out") == [x.tolist()]


def test_two_dimensional_array_is_replayed_in_row_major_order():
    out = np.zeros((5, 7), np.int32, order="F")
    recording = record(places_kernel, ((2, 2), (4, 4)), out)
    wanted = 10 * np.arange(5)[:, None] + np.arange(7)
    np.testing.assert_array_equal(out, wanted)
    assert after(recording, "out") == [wanted.ravel().tolist()]


def test_an_array_passed_twice_shows_its_writes_under_both_names():
    x = np.arange(5, dtype=np.float32)
    recording = record(add_kernel, (1, 8), x, np.ones(5, np.float32), x)
    assert after(recording, "out") == [[1.0, 2.0, 3.0, 4.0, 5.0]]
    assert after(recording, "x") in ([], after(recording, "out"))


def test_truncated_array_records_no_omitted_elements(monkeypatch):
    monkeypatch.setattr(recording, "MOST_ELEMENTS", 8)
    x = np.arange(70, dtype=np.float32)
    result = record(copy_kernel, (2, BLOCK), x, np.zeros_like(x))
    assert after(result, "out") == [x[:8].tolist()]
    assert [(a["shape"], a["whole"]) for a in result["arrays"]] == [([8], [70])] * 2
    assert result["truncated"].startswith(
        "Only the first 8 of the 70 elements of x, out are shown."
    )


def test_each_block_has_a_shared_array_of_its_own():
    x = np.arange(100, dtype=np.float32)
    recording = record(reduce_kernel, (2, BLOCK), x, np.zeros(1, np.float32))
    tiles = [a for a in recording["arrays"] if a["name"] == "tile"]
    assert [(a["space"], a["owner"], a["shape"]) for a in tiles] == [
        ("shared", 0, [BLOCK]),
        ("shared", 1, [BLOCK]),
    ]
    assert tiles[0]["before"] == [None] * BLOCK
    assert [values[0] for values in after(recording, "tile")] == [x[:64].sum(), x[64:].sum()]


def test_each_thread_has_a_local_array_of_its_own():
    x = np.arange(15, dtype=np.float32).reshape(5, 3)
    recording = record(rows_kernel, (1, 5), x, np.zeros(5, np.float32))
    rows = [a for a in recording["arrays"] if a["name"] == "row"]
    assert [(a["space"], a["owner"]) for a in rows] == [("local", [0, t]) for t in range(5)]
    assert after(recording, "row") == x.tolist()
