"""Dot product: the tree and the shuffles of the sums, on products."""

import functools
import math

import numpy as np
import pytest

import gpukit
from gpukit import cuda, launch
from gpukit.kernels import dot

BLOCK = dot.BLOCK
SIZES = [1, 2, 31, 33, BLOCK - 1, BLOCK, BLOCK + 1, 1009, 4 * BLOCK]
NAMES = [rung.name for rung in dot.LADDER]
ALL = {rung.name: rung for rung in dot.LADDER}

sizes = pytest.mark.parametrize("n", SIZES)
rungs = pytest.mark.parametrize("rung", NAMES)
dtypes = pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])


@rungs
@sizes
def test_kernel_adds_the_dot_product_to_out(rung, n, signed, assert_close):
    x, y, out = signed(n), signed(n)[::-1].copy(), np.zeros(1, np.float32)
    ALL[rung].kernel[launch.ceil_div(n, BLOCK), BLOCK](x, y, out)
    products = [float(a) * float(b) for a, b in zip(x, y, strict=True)]
    size = math.fsum(map(abs, products))
    assert_close(out, [math.fsum(products)], magnitude=[size], length=n)


@rungs
def test_kernel_adds_the_float64_dot_product_to_out(rung, signed, assert_close):
    x, y, out = signed(1009, dtype=np.float64), signed(1009, dtype=np.float64), np.zeros(1)
    ALL[rung].kernel[launch.ceil_div(1009, BLOCK), BLOCK](x, y, out)
    products = (x * y).tolist()
    size = math.fsum(map(abs, products))
    assert_close(out, [math.fsum(products)], magnitude=[size], length=1009)


@pytest.mark.parametrize("blocks", [1, 2, 5])
def test_dot_shuffle_kernel_is_right_for_any_grid(blocks, signed, assert_close):
    x, y, out = signed(1009), signed(1009), np.zeros(1, np.float32)
    dot.dot_shuffle_kernel[blocks, BLOCK](x, y, out)
    size = [dot.dot_reference(np.abs(x), np.abs(y))]
    assert_close(out, [dot.dot_reference(x, y)], magnitude=size, length=1009)


@rungs
@sizes
def test_dot_matches_the_reference(rung, n, signed, assert_close):
    x, y = signed(n), signed(n)
    size = dot.dot_reference(np.abs(x), np.abs(y))
    made = dot.dot(x, y, rung=rung)
    assert_close(made, dot.dot_reference(x, y), magnitude=size, length=n)


def test_dot_reference_is_the_sum_of_its_definition(signed):
    x, y = signed(37), signed(37)
    expected = math.fsum(float(a) * float(b) for a, b in zip(x, y, strict=True))
    assert math.isclose(dot.dot_reference(x, y), expected, rel_tol=1e-12)


@rungs
def test_dot_is_exact_for_small_whole_numbers(rung):
    x, y = (np.arange(1500, dtype=np.float32) % k - 3 for k in (7, 11))
    assert dot.dot(x, y, rung=rung) == int((x * y).sum(dtype=np.int64))


@rungs
def test_dot_of_float64_keeps_what_a_float32_has_no_bits_for(rung):
    x, y = np.zeros(1009), np.ones(1009)
    x[[3, 40, 200, 1008]] = 2**26, 1, 2, 4  # three warps of one block, and another block
    y[3] = 2**26
    assert dot.dot(x, y, rung=rung) == 2**52 + 7


@rungs
def test_dot_pairs_each_element_with_its_own(rung):
    n = 2 * BLOCK + 9
    x, y = np.zeros(n, np.float32), np.zeros(n, np.float32)
    x[[3, BLOCK, n - 1]] = 2, 3, 5
    y[[3, BLOCK + 1, n - 1]] = 7, 100, 11
    assert dot.dot(x, y, rung=rung) == 2 * 7 + 5 * 11


@rungs
def test_dot_with_more_elements_than_threads_is_right(rung):
    n = launch.resident_blocks(BLOCK) * BLOCK + 3
    x, y = np.zeros(n, np.float32), np.ones(n, np.float32)
    x[[0, n - 3, n - 1]] = 1, 2, 4
    assert dot.dot(x, y, rung=rung) == 7


@rungs
def test_dot_of_a_nan_is_nan(rung):
    x, y = np.ones(BLOCK + 3, np.float32), np.zeros(BLOCK + 3, np.float32)
    x[-1] = np.nan
    assert np.isnan(dot.dot(x, y, rung=rung))


@rungs
def test_dot_of_nothing_is_zero(rung):
    assert dot.dot(np.empty(0, np.float32), np.empty(0, np.float32), rung=rung) == 0


@rungs
def test_dot_returns_a_float32(rung):
    x = np.ones(3, np.float32)
    assert dot.dot(x, x, rung=rung).dtype == np.float32


@rungs
@pytest.mark.parametrize("n", [0, 3])
def test_dot_of_float64_returns_a_float64(rung, n):
    assert dot.dot(np.ones(n), np.ones(n), rung=rung).dtype == np.float64


@rungs
def test_dot_takes_a_vector_with_itself(rung):
    x = np.arange(300, dtype=np.float32) % 5
    assert dot.dot(x, x, rung=rung) == int(np.dot(x.astype(int), x.astype(int)))


@rungs
@pytest.mark.parametrize("move", [np.asarray, cuda.to_device], ids=["host", "device"])
def test_dot_of_vectors_that_are_not_contiguous_is_right(rung, move):
    x = np.arange(700, dtype=np.float32) % 9
    expected = int(np.dot(x[::2].astype(int), x[349::-1].astype(int)))
    backwards = move(x[349::-1].copy()) if move is cuda.to_device else x[349::-1]
    assert dot.dot(move(x)[::2], backwards, rung=rung) == expected


@rungs
def test_dot_leaves_its_inputs_as_they_were(rung, signed):
    x, y = signed(700), signed(700)
    before = x.copy(), y.copy()
    dot.dot(x, y, rung=rung)
    np.testing.assert_array_equal((x, y), before)


@pytest.mark.parametrize("m", [0, 2, 4])
def test_dot_rejects_unequal_lengths(m):
    expected = rf"dot: expected y\.shape == \(3,\), got \({m},\)\. Pass vectors of one length"
    with pytest.raises(ValueError, match=expected):
        dot.dot(np.ones(3, np.float32), np.ones(m, np.float32))


@pytest.mark.parametrize("name", ["x", "y"])
def test_dot_rejects_a_matrix(name):
    given = {"x": np.ones(4, np.float32), "y": np.ones(4, np.float32)}
    given[name] = np.ones((2, 2), np.float32)
    expected = rf"dot: expected {name}\.ndim == 1, got shape \(2, 2\)\. Reshape"
    with pytest.raises(ValueError, match=expected):
        dot.dot(**given)


# ---- what the checker and the counters say --------------------------------------------------


@pytest.mark.watched
@rungs
@pytest.mark.parametrize("n", [1, 300, 1009])
def test_checker_finds_nothing_wrong(rung, n, signed):
    x, y, out = signed(n), signed(n), np.zeros(1, np.float32)
    report = gpukit.check(ALL[rung].kernel)[launch.ceil_div(n, BLOCK), BLOCK](x, y, out)
    assert [f for f in report.findings if f.severity in ("error", "warning")] == []


@pytest.mark.watched
@pytest.mark.parametrize("n", [BLOCK, 2 * BLOCK])
def test_cost_of_the_tree_is_what_is_counted(n):
    assert dot.dot_tree_cost(n) == work(counted("tree", n, launch.ceil_div(n, BLOCK)))


@pytest.mark.watched
@pytest.mark.parametrize(("n", "blocks"), [(1, 1), (300, 2), (1009, 2)])
def test_cost_of_the_shuffles_is_what_is_counted(n, blocks):
    assert dot.dot_shuffle_cost(n, blocks) == work(counted("shuffle", n, blocks))


@pytest.mark.watched
@rungs
@dtypes
def test_products_are_made_and_added_in_the_dtype_of_the_vectors(rung, dtype):
    found = counted(rung, 2 * BLOCK, 2, dtype)
    assert found.flops == found[f"flops_{np.dtype(dtype).name}"]


@pytest.mark.watched
def test_shuffles_touch_shared_memory_once_a_warp():
    found = counted("shuffle", 700, 2)
    assert found["shared_store_requests"] == 2 * dot.WARPS
    assert found["barriers"] == 2 * dot.WARPS


@functools.cache
def counted(rung, n, blocks, dtype=np.float32):
    x = np.ones(n, dtype)
    kernel = gpukit.profile(ALL[rung].kernel)
    return kernel[blocks, BLOCK](x, x.copy(), np.zeros(1, dtype)).total


def work(found):
    """Return the cost that was counted; each atomic is by one thread, counted as a load alone."""
    atomics = found["global_atomic_requests"]
    return launch.Cost(found["global_bytes_asked"] + 4 * atomics, found.flops + atomics)
