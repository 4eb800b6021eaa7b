"""Rungs that move four elements a thread: the bits of those with one, and who takes what."""

import functools

import numpy as np
import pytest

import gpukit
from gpukit import cuda, launch
from gpukit.kernels import activations, activations_grad, transpose, vector

BLOCK = vector.BLOCK
SIZES = [1, 2, 3, 4, 5, 4 * BLOCK - 1, 4 * BLOCK, 4 * BLOCK + 1, 5003]
RUNGS = [
    rung
    for room in (vector, activations, activations_grad)
    for rung in room.LADDER
    if rung.name.endswith("_wide")
]
every_rung = pytest.mark.parametrize("rung", RUNGS, ids=lambda rung: rung.name)


def called(rung):
    """Return the host function of a rung as a function of arrays, and how many it takes."""
    name = rung.instead
    room = activations_grad if name.endswith("_grad") else activations
    return {
        "fill": (lambda x, **o: vector.fill(x.size, 2.5, dtype=x.dtype, **o), 1),
        "vector_add": (vector.vector_add, 2),
        "saxpy": (functools.partial(vector.saxpy, 2.5), 2),
    }.get(name) or (getattr(room, name), 2 if room is activations_grad else 1)


def numbers(n, count, dtype=np.float32):
    return [np.random.default_rng((n, k)).standard_normal(n).astype(dtype) for k in range(count)]


def test_every_kernel_of_one_element_has_one_of_four():
    assert [rung.instead for rung in RUNGS] == [
        "fill", "vector_add", "saxpy", "relu", "sigmoid", "tanh", "gelu", "relu_grad",
        "sigmoid_grad", "tanh_grad", "gelu_grad",
    ]  # fmt: skip


@every_rung
@pytest.mark.parametrize("n", SIZES)
def test_wide_rung_has_the_bits_of_the_other(rung, n):
    function, count = called(rung)
    arrays, out = numbers(n, count), np.full(n, np.nan, np.float32)
    assert function(*arrays, rung=rung.name, out=out) is out
    np.testing.assert_array_equal(out, function(*arrays, rung=rung.instead))


@every_rung
def test_wide_rung_keeps_a_nan_in_its_place(rung):
    function, count = called(rung)
    arrays = numbers(1009, count)
    arrays[0][[5, 1008]] = np.nan
    expected = function(*arrays, rung=rung.instead)
    np.testing.assert_array_equal(function(*arrays, rung=rung.name), expected)


@every_rung
@pytest.mark.parametrize("case", ["float64", "misaligned", "out apart", "out misaligned"])
def test_wide_rung_hands_over_what_it_cannot_move(rung, case):
    function, count = called(rung)
    arrays = numbers(1009, count, np.float64 if case == "float64" else np.float32)
    if case == "misaligned":
        arrays = [x[1:] for x in arrays]
    n, dtype = arrays[0].size, arrays[0].dtype
    whole = np.full(2 * n, np.nan, dtype)
    out = {"out apart": whole[::2], "out misaligned": whole[1 : n + 1]}.get(case)
    made = function(*arrays, rung=rung.name, out=out)
    np.testing.assert_array_equal(made, function(*arrays, rung=rung.instead))


@every_rung
def test_wide_rung_leaves_what_surrounds_out_alone(rung):
    function, count = called(rung)
    whole = np.full(1200, 7, np.float32)
    function(*numbers(1009, count), rung=rung.name, out=whole[64:1073])
    assert (whole[:64] == 7).all()
    assert (whole[1073:] == 7).all()


@pytest.mark.parametrize("shape", [(1, 4), (7, 128), (9, 132), (33, 1000), (5, 3), (4, 130)])
def test_wide_copy_moves_every_element_to_its_place(shape):
    x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    out = np.full(shape, np.nan, np.float32)
    transpose.copy(x, rung="wide", out=out)
    np.testing.assert_array_equal(out, x)


@pytest.mark.parametrize("case", ["float64", "misaligned", "columns"])
def test_wide_copy_hands_over_what_it_cannot_move(case):
    x = np.arange(9 * 64, dtype=np.float64 if case == "float64" else np.float32)
    x = {"misaligned": x[1:513].reshape(8, 64), "columns": x.reshape(9, 64)[:, ::2]}.get(
        case, x.reshape(9, 64)
    )
    np.testing.assert_array_equal(transpose.copy(x, rung="wide"), x)


# ---- what the checker and the counters say --------------------------------------------------


def watched(watch, rung):
    """Launch a wide kernel on a last block that is not full, and three elements left over."""
    n = 4 * BLOCK + 7
    _, count = called(rung)
    first = (np.float32(2.5),) if rung.instead in ("fill", "saxpy") else ()
    arrays = [] if rung.instead == "fill" else numbers(n, count)
    out = cuda.device_array(n, np.float32)
    return watch(rung.kernel)[rung.grid("test", n), BLOCK](*first, *arrays, out), n


@pytest.mark.watched
@every_rung
def test_checker_finds_nothing_wrong(rung):
    assert watched(gpukit.check, rung)[0].findings == []


@pytest.mark.watched
@every_rung
def test_cost_is_what_is_counted(rung):
    report, n = watched(gpukit.profile, rung)
    found = report.total
    assert rung.cost(n) == launch.Cost(found["global_bytes_asked"], found.flops)
    assert found["flops_float32"] == found.flops


@pytest.mark.watched
def test_copy_has_no_finding_and_the_cost_that_is_counted():
    rung = launch.pick("test", transpose.COPY_LADDER, "wide")
    x, out = np.ones((9, 132), np.float32), np.zeros((9, 132), np.float32)
    shape = rung.grid("test", 132, 9), rung.block
    assert gpukit.check(rung.kernel)[shape](x, out).findings == []
    found = gpukit.profile(rung.kernel)[shape](x, out).total
    assert rung.cost(9, 132) == launch.Cost(found["global_bytes_asked"], found.flops)
