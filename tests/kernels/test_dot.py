"""Dot product: shared-memory tree and warp shuffles."""

import functools
import math

import numpy as np
import pytest

import gpukit
from gpukit import cuda, launch
from gpukit.kernels import dot
from tests.kernels.counts import cost_of

BLOCK = dot.BLOCK
SIZES = [1, 2, 31, 33, BLOCK - 1, BLOCK, BLOCK + 1, 1009, 4 * BLOCK]
NAMES = [variant.name for variant in dot.VARIANTS]
ALL = {variant.name: variant for variant in dot.VARIANTS}

sizes = pytest.mark.parametrize("n", SIZES)
variants = pytest.mark.parametrize("variant", NAMES)
dtypes = pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])


@variants
@sizes
def test_kernel_adds_the_dot_product_to_out(variant, n, signed, assert_close):
    x, y, out = signed(n), signed(n)[::-1].copy(), np.zeros(1, np.float32)
    ALL[variant].kernel[launch.ceil_div(n, BLOCK), BLOCK](x, y, out)
    products = [float(a) * float(b) for a, b in zip(x, y, strict=True)]
    size = math.fsum(map(abs, products))
    assert_close(out, [math.fsum(products)], magnitude=[size], length=n)


@variants
def test_kernel_adds_the_float64_dot_product_to_out(variant, signed, assert_close):
    x, y, out = signed(1009, dtype=np.float64), signed(1009, dtype=np.float64), np.zeros(1)
    ALL[variant].kernel[launch.ceil_div(1009, BLOCK), BLOCK](x, y, out)
    products = (x * y).tolist()
    size = math.fsum(map(abs, products))
    assert_close(out, [math.fsum(products)], magnitude=[size], length=1009)


@pytest.mark.parametrize("blocks", [1, 2, 5])
def test_dot_shuffle_kernel_is_right_for_any_grid(blocks, signed, assert_close):
    x, y, out = signed(1009), signed(1009), np.zeros(1, np.float32)
    dot.dot_shuffle_kernel[blocks, BLOCK](x, y, out)
    size = [dot.dot_reference(np.abs(x), np.abs(y))]
    assert_close(out, [dot.dot_reference(x, y)], magnitude=size, length=1009)


@variants
@sizes
def test_dot_matches_the_reference(variant, n, signed, assert_close):
    x, y = signed(n), signed(n)
    size = dot.dot_reference(np.abs(x), np.abs(y))
    actual = dot.dot(x, y, variant=variant)
    assert_close(actual, dot.dot_reference(x, y), magnitude=size, length=n)


def test_dot_reference_is_the_sum_in_its_definition(signed):
    x, y = signed(37), signed(37)
    expected = math.fsum(float(a) * float(b) for a, b in zip(x, y, strict=True))
    assert math.isclose(dot.dot_reference(x, y), expected, rel_tol=1e-12)


@variants
def test_dot_is_exact_for_small_whole_numbers(variant):
    x, y = (np.arange(1500, dtype=np.float32) % k - 3 for k in (7, 11))
    assert dot.dot(x, y, variant=variant) == int((x * y).sum(dtype=np.int64))


@variants
def test_dot_of_float64_keeps_bits_that_float32_cannot_hold(variant):
    x, y = np.zeros(1009), np.ones(1009)
    x[[3, 40, 200, 1008]] = 2**26, 1, 2, 4  # three warps of one block, and another block
    y[3] = 2**26
    assert dot.dot(x, y, variant=variant) == 2**52 + 7


@variants
def test_dot_multiplies_elements_of_the_same_index(variant):
    n = 2 * BLOCK + 9
    x, y = np.zeros(n, np.float32), np.zeros(n, np.float32)
    x[[3, BLOCK, n - 1]] = 2, 3, 5
    y[[3, BLOCK + 1, n - 1]] = 7, 100, 11
    assert dot.dot(x, y, variant=variant) == 2 * 7 + 5 * 11


@variants
def test_dot_with_more_elements_than_threads_is_right(variant):
    n = launch.resident_blocks(BLOCK) * BLOCK + 3
    x, y = np.zeros(n, np.float32), np.ones(n, np.float32)
    x[[0, n - 3, n - 1]] = 1, 2, 4
    assert dot.dot(x, y, variant=variant) == 7


@variants
@dtypes
def test_dot_returns_the_dtype_of_its_inputs(variant, dtype):
    assert dot.dot(np.ones(3, dtype), np.ones(3, dtype), variant=variant).dtype == dtype


@variants
def test_dot_accepts_the_same_vector_twice(variant):
    x = np.arange(300, dtype=np.float32) % 5
    assert dot.dot(x, x, variant=variant) == int(np.dot(x.astype(int), x.astype(int)))


@variants
@pytest.mark.parametrize("move", [np.asarray, cuda.to_device], ids=["host", "device"])
def test_dot_of_non_contiguous_vectors_is_right(variant, move):
    x = np.arange(700, dtype=np.float32) % 9
    expected = int(np.dot(x[::2].astype(int), x[349::-1].astype(int)))
    backwards = move(x[349::-1].copy()) if move is cuda.to_device else x[349::-1]
    assert dot.dot(move(x)[::2], backwards, variant=variant) == expected


@variants
def test_dot_leaves_its_inputs_unchanged(variant, signed):
    x, y = signed(700), signed(700)
    before = x.copy(), y.copy()
    dot.dot(x, y, variant=variant)
    np.testing.assert_array_equal((x, y), before)


@pytest.mark.parametrize("m", [0, 2, 4])
def test_dot_rejects_unequal_lengths(m):
    expected = rf"dot: expected y\.shape == \(3,\), got \({m},\)\. The axes are x \(n,\), y \("
    with pytest.raises(ValueError, match=expected):
        dot.dot(np.ones(3, np.float32), np.ones(m, np.float32))


# ---- checker findings and profile counters --------------------------------------------------


@pytest.mark.watched
@variants
@pytest.mark.parametrize("n", [1, 300, 1009])
def test_checker_reports_no_findings(variant, n, signed):
    x, y, out = signed(n), signed(n), np.zeros(1, np.float32)
    report = gpukit.check(ALL[variant].kernel)[launch.ceil_div(n, BLOCK), BLOCK](x, y, out)
    assert [f for f in report.findings if f.severity in ("error", "warning")] == []


@pytest.mark.watched
@pytest.mark.parametrize("n", [BLOCK, 2 * BLOCK])
def test_cost_of_the_tree_equals_the_profile_counters(n):
    assert dot.dot_tree_cost(n) == cost_of(counters("tree", n, launch.ceil_div(n, BLOCK)))


@pytest.mark.watched
@pytest.mark.parametrize(("n", "blocks"), [(1, 1), (300, 2), (1009, 2)])
def test_cost_of_the_shuffles_equals_the_profile_counters(n, blocks):
    assert dot.dot_shuffle_cost(n, blocks) == cost_of(counters("shuffle", n, blocks))


@pytest.mark.watched
@variants
@dtypes
def test_products_and_sums_use_the_dtype_of_the_vectors(variant, dtype):
    found = counters(variant, 2 * BLOCK, 2, dtype)
    assert found.flops == found[f"flops_{np.dtype(dtype).name}"]


@pytest.mark.watched
def test_shuffles_access_shared_memory_once_per_warp():
    found = counters("shuffle", 700, 2)
    assert found["shared_store_requests"] == 2 * dot.WARPS
    assert found["barriers"] == 2 * dot.WARPS


@functools.cache
def counters(variant, n, blocks, dtype=np.float32):
    x = np.ones(n, dtype)
    kernel = gpukit.profile(ALL[variant].kernel)
    return kernel[blocks, BLOCK](x, x.copy(), np.zeros(1, dtype)).total
