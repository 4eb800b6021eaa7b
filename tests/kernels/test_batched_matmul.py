"""Batched matrix product."""

import numpy as np
import pytest

import gpukit
from gpukit import cuda, launch
from gpukit.kernels import matmul
from gpukit.kernels.matmul import batched, tiled

TILE = batched.TILE
KERNEL = batched.matmul_batched_kernel
# (B, M, N, K): all ones; around a tile; primes; all different; one pair; a row or a column.
SHAPES = [
    (1, 1, 1, 1),
    (2, TILE - 1, TILE + 1, TILE),
    (3, TILE, TILE, TILE),
    (2, TILE + 1, TILE - 1, 2 * TILE + 1),
    (5, 31, 65, 33),
    (1, 17, 19, 23),
    (7, 1, 37, 3),
    (4, 41, 1, 19),
]

IN_FLOAT64 = (2, TILE + 1, TILE + 3, 2 * TILE + 5)

shapes = pytest.mark.parametrize(("batches", "m", "n", "k"), SHAPES, ids=lambda size: str(size))


def grid_of(batches, m, n):
    """Return the grid as in the docstring."""
    return launch.ceil_div(n, TILE), launch.ceil_div(m, TILE), batches


def pairs(a, b):
    """Return the products, computed one pair at a time."""
    return np.stack([matmul.matmul_reference(x, y) for x, y in zip(a, b, strict=True)])


@shapes
def test_kernel_matches_the_product_of_each_pair(batches, m, n, k, signed, poisoned, assert_close):
    a, b, out = signed(batches, m, k), signed(batches, k, n), poisoned(batches, m, n)
    KERNEL[grid_of(batches, m, n), (TILE, TILE, 1)](a, b, out)
    assert_close(out, pairs(a, b), magnitude=pairs(np.abs(a), np.abs(b)), length=k)


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(lambda kernel: kernel, id="cpu"),
        pytest.param(gpukit.check, id="checked", marks=pytest.mark.watched),
    ],
)
def test_kernel_is_accurate_to_float64(run, signed, poisoned, assert_close):
    batches, m, n, k = IN_FLOAT64
    a, b = signed(batches, m, k, dtype=np.float64), signed(batches, k, n, dtype=np.float64)
    out = poisoned(batches, m, n, dtype=np.float64)
    run(KERNEL)[grid_of(batches, m, n), (TILE, TILE, 1)](a, b, out)
    assert_close(out, pairs(a, b), magnitude=pairs(np.abs(a), np.abs(b)), length=k)


@shapes
def test_host_function_matches_the_product_of_each_pair(batches, m, n, k, signed, assert_close):
    a, b = signed(batches, m, k), signed(batches, k, n)
    out = batched.batched_matmul(a, b)
    assert_close(out, pairs(a, b), magnitude=pairs(np.abs(a), np.abs(b)), length=k)


def test_reference_is_the_product_of_each_pair(signed):
    a, b = signed(3, 4, 5), signed(3, 5, 6)
    np.testing.assert_allclose(batched.batched_matmul_reference(a, b), pairs(a, b))


def test_batched_matmul_is_bit_identical_to_single_tiled_products(signed):
    a, b = signed(3, 35, 20), signed(3, 20, 18)
    one_by_one = np.stack([matmul.matmul(x, y) for x, y in zip(a, b, strict=True)])
    np.testing.assert_array_equal(batched.batched_matmul(a, b), one_by_one)


def test_batched_matmul_accumulates_in_float32():
    # 2^24 + 1 is not a float32: a float64 accumulator would keep the ones and give 2^24 + 2.
    a = np.array([[[2**24, 1, 1]]], np.float32)
    assert batched.batched_matmul(a, np.ones((1, 3, 1), np.float32)).item() == 2**24


def test_batched_matmul_accumulates_float64_in_float64():
    # 2^24 + 1 is not a float32: no intermediate result may be float32.
    a = np.array([[[2**24 + 1, 1, 1]]], np.float64)
    out = batched.batched_matmul(a, np.ones((1, 3, 1)))
    assert (out.dtype, out.item()) == (np.float64, 2**24 + 3)


def test_batched_matmul_accepts_operands_with_swapped_axes(signed, assert_close):
    a, b = signed(3, 20, 9).transpose(0, 2, 1), signed(20, 3, 17).transpose(1, 0, 2)
    out = batched.batched_matmul(a, b)
    assert_close(out, pairs(a, b), magnitude=pairs(np.abs(a), np.abs(b)), length=20)


# ---- errors ---------------------------------------------------------------------------------


def ones(*shape, dtype=np.float32):
    return np.ones(shape, dtype)


def test_batched_matmul_rejects_unequal_batch_sizes():
    expected = (
        r"batched_matmul: expected b\.shape == \(2, 4, 5\), got \(3, 4, 5\)\. "
        r"The axes are a \(batch, m, k\), b \(batch, k, n\)\."
    )
    with pytest.raises(ValueError, match=expected):
        batched.batched_matmul(ones(2, 3, 4), ones(3, 4, 5))


def test_batched_matmul_suggests_the_transpose_when_it_would_fit():
    expected = (
        r"batched_matmul: expected a\.shape\[2\] == b\.shape\[1\], "
        r"got \(2, 3, 4\) and \(2, 5, 4\)\. Did you mean b\.transpose\(0, 2, 1\)\?"
    )
    with pytest.raises(ValueError, match=expected):
        batched.batched_matmul(ones(2, 3, 4), ones(2, 5, 4))


def test_batched_matmul_does_not_suggest_a_transpose_that_would_not_fit():
    expected = r"got \(2, 3, 4\) and \(2, 5, 6\)\. The inner sizes must agree\."
    with pytest.raises(ValueError, match=expected):
        batched.batched_matmul(ones(2, 3, 4), ones(2, 5, 6))


def test_batched_matmul_rejects_more_pairs_than_the_grid_limit():
    many = np.broadcast_to(np.float32(1), (65536, 1, 1))
    expected = r"batched_matmul: expected a grid of at most .* got \(1, 1, 65536\)\. Split"
    with pytest.raises(gpukit.errors.LaunchError, match=expected):
        batched.batched_matmul(many, many)


def test_batched_matmul_accepts_as_many_pairs_as_the_grid_limit():
    many = np.broadcast_to(np.float32(3), (65535, 1, 1))
    out = batched.batched_matmul(many, many)
    np.testing.assert_array_equal(out, np.full((65535, 1, 1), 9))


def test_batched_matmul_rejects_more_rows_than_the_grid_limit():
    tall = np.broadcast_to(np.float32(1), (1, 65535 * TILE + 1, 1))
    expected = r"batched_matmul: expected a grid of at most .* got \(1, 65536, 1\)\. Split"
    with pytest.raises(gpukit.errors.LaunchError, match=expected):
        batched.batched_matmul(tall, ones(1, 1, 1))


# ---- cost and checker findings --------------------------------------------------------------


def test_cost_of_a_batch_is_the_sum_of_its_products():
    one, five = (batched.matmul_batched_cost(count, 33, 20, 17) for count in (1, 5))
    assert one == tiled.matmul_tiled_cost(33, 20, 17)
    assert five == launch.Cost(5 * one.bytes, 5 * one.flops)


def counters(batches, m, n, k, dtype):
    """Return the counters of a launch."""
    a, b = ones(batches, m, k, dtype=dtype), ones(batches, k, n, dtype=dtype)
    out = np.empty((batches, m, n), dtype)
    return gpukit.profile(KERNEL)[grid_of(batches, m, n), (TILE, TILE, 1)](a, b, out).total


@pytest.mark.watched
@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
@pytest.mark.parametrize("shape", [(1, 1, 1, 1), (3, TILE + 1, TILE - 1, 2 * TILE + 1)], ids=str)
def test_cost_equals_the_profile_counters(shape, dtype):
    found = counters(*shape, dtype)
    expected = launch.Cost(found["global_bytes_asked"], found.flops)
    assert batched.matmul_batched_cost(*shape, itemsize=np.dtype(dtype).itemsize) == expected


@pytest.mark.watched
def test_kernel_does_no_float64_arithmetic():
    assert counters(*IN_FLOAT64, np.float32)["flops_float64"] == 0


@pytest.mark.watched
def test_kernel_given_float64_does_no_float32_arithmetic():
    found = counters(*IN_FLOAT64, np.float64)
    assert found["flops_float64"] == found.flops


@pytest.mark.watched
@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
def test_checker_reports_no_findings(dtype, signed):
    a, b = signed(2, TILE + 3, TILE + 7, dtype=dtype), signed(2, TILE + 7, TILE + 5, dtype=dtype)
    out = cuda.device_array((2, TILE + 3, TILE + 5), dtype)
    kernel = gpukit.check(KERNEL)[grid_of(2, TILE + 3, TILE + 5), (TILE, TILE, 1)]
    assert kernel(a, b, out).findings == []
