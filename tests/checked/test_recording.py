"""Recordings of real launches: replayed, they give the arrays that the launch left."""

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
def test_replayed_writes_give_what_the_launch_left(n):
    x, y = np.arange(n, dtype=np.float32) / 3, np.full(n, 0.1, np.float32)
    out = np.zeros(n, np.float32)
    made = record(add_kernel, (2, BLOCK), x, y, out)
    np.testing.assert_array_equal(out, x + y)
    assert after(made, "out") == [out.tolist()]


@pytest.mark.parametrize(
    "dtype", ["i1", "u1", "?", "i2", "f2", "i4", "f4", "u8", "i8", "f8", "c8", "c16"]
)
@pytest.mark.costly
def test_values_of_every_type_are_those_of_the_array(dtype):
    x = np.array([1, 0, 3, 100, 7]).astype(dtype)
    out = np.zeros_like(x)
    made = record(copy_kernel, (1, 8), x, out)
    plain = [str(v) if isinstance(v, complex) else v for v in out.tolist()]
    np.testing.assert_array_equal(out, x)
    assert after(made, "out") == [plain]


def test_values_that_json_does_not_have_are_text():
    x = np.array([np.nan, np.inf, -np.inf], np.float32)
    made = record(copy_kernel, (1, 8), x, np.zeros(3, np.float32))
    assert after(made, "out") == [["nan", "inf", "-inf"]]
    json.dumps(made, allow_nan=False)


def test_arguments_are_left_as_one_launch_leaves_them():
    total = np.full(1, 5, np.float32)
    record(reduce_kernel, (2, BLOCK), np.ones(100, np.float32), total)
    assert total[0] == 105


def test_a_device_array_is_left_as_one_launch_leaves_it():
    counts = cuda.to_device(np.zeros(3, np.int32))
    made = record(count_kernel, (2, BLOCK), np.arange(100, dtype=np.int32) % 3, counts)
    assert counts.copy_to_host().tolist() == [34, 33, 33]
    assert after(made, "counts") == [[34, 33, 33]]


def test_arrays_hold_their_values_from_before_the_launch():
    x, out = np.arange(5, dtype=np.float32), np.full(5, 9, np.float32)
    made = record(copy_kernel, (1, 8), x, out)
    instrumentation = {a["name"]: a for a in made["arrays"]}
    assert instrumentation["out"]["before"] == [9.0] * 5
    assert instrumentation["x"]["before"] == x.tolist()
    assert (instrumentation["x"]["shape"], instrumentation["x"]["dtype"]) == ([5], "float32")
    assert (instrumentation["x"]["space"], instrumentation["x"]["owner"]) == ("global", None)


def test_device_memory_that_was_never_written_holds_nothing_before():
    made = record(copy_kernel, (1, 8), np.ones(5, np.float32), cuda.device_array(5, np.float32))
    assert next(a["before"] for a in made["arrays"] if a["name"] == "out") == [None] * 5


@pytest.mark.parametrize(
    "view",
    [lambda a: a[1::2], lambda a: a[::-1], lambda a: a.reshape(5, 14)[:, 3], lambda a: a[60:]],
    ids=["steps", "reversed", "column", "slice"],
)
@pytest.mark.costly
def test_views_are_replayed_element_by_element(view):
    out = view(np.zeros(70, np.float32))
    x = np.arange(1, len(out) + 1, dtype=np.float32)
    made = record(copy_kernel, (2, BLOCK), x, out)
    assert after(made, "out") == [x.tolist()]


def test_an_array_of_two_axes_is_replayed_row_by_row():
    out = np.zeros((5, 7), np.int32, order="F")
    made = record(places_kernel, ((2, 2), (4, 4)), out)
    wanted = 10 * np.arange(5)[:, None] + np.arange(7)
    np.testing.assert_array_equal(out, wanted)
    assert after(made, "out") == [wanted.ravel().tolist()]


def test_an_array_passed_twice_shows_its_writes_under_both_names():
    x = np.arange(5, dtype=np.float32)
    made = record(add_kernel, (1, 8), x, np.ones(5, np.float32), x)
    assert after(made, "out") == [[1.0, 2.0, 3.0, 4.0, 5.0]]
    assert after(made, "x") in ([], after(made, "out"))


def test_an_array_too_long_to_show_names_no_element_that_is_left_out(monkeypatch):
    monkeypatch.setattr(recording, "MOST_ELEMENTS", 8)
    x = np.arange(70, dtype=np.float32)
    made = record(copy_kernel, (2, BLOCK), x, np.zeros_like(x))
    assert after(made, "out") == [x[:8].tolist()]
    assert [(a["shape"], a["whole"]) for a in made["arrays"]] == [([8], [70])] * 2
    assert made["truncated"].startswith("Of the 70 elements of x, out the first 8 are shown.")


def test_each_block_has_a_shared_array_of_its_own():
    x = np.arange(100, dtype=np.float32)
    made = record(reduce_kernel, (2, BLOCK), x, np.zeros(1, np.float32))
    tiles = [a for a in made["arrays"] if a["name"] == "tile"]
    assert [(a["space"], a["owner"], a["shape"]) for a in tiles] == [
        ("shared", 0, [BLOCK]),
        ("shared", 1, [BLOCK]),
    ]
    assert tiles[0]["before"] == [None] * BLOCK
    assert [values[0] for values in after(made, "tile")] == [x[:64].sum(), x[64:].sum()]


def test_each_thread_has_a_local_array_of_its_own():
    x = np.arange(15, dtype=np.float32).reshape(5, 3)
    made = record(rows_kernel, (1, 5), x, np.zeros(5, np.float32))
    rows = [a for a in made["arrays"] if a["name"] == "row"]
    assert [(a["space"], a["owner"]) for a in rows] == [("local", [0, t]) for t in range(5)]
    assert after(made, "row") == x.tolist()
