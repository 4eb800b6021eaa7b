"""Embedding lookup and its gradient."""

import numpy as np
import pytest

import gpukit
from gpukit import cuda, launch
from gpukit.kernels import embedding
from gpukit.launch import Cost

X, Y, BLOCK = embedding.BLOCK_X, embedding.BLOCK_Y, embedding.BLOCK
VARIANTS = [variant.name for variant in embedding.GRAD_VARIANTS]
# Indices, rows and columns.
SIZES = [(1, 1, 1), (7, 3, 31), (Y + 1, 5, X), (Y - 1, 11, X + 1), (101, 13, BLOCK + 3)]
SHAPES = [(), (5,), (0,), (2, 3), (3, 1, 5)]

sizes = pytest.mark.parametrize(("n", "rows", "cols"), SIZES)
variants = pytest.mark.parametrize("variant", VARIANTS)
shapes = pytest.mark.parametrize("shape", SHAPES, ids=str)
dtypes = pytest.mark.parametrize("dtype", [np.float32, np.float64])
indices = pytest.mark.parametrize("index_dtype", [np.int32, np.int64])


def run(variant, grad, index, out):
    """Launch the kernel of a variant."""
    chosen = launch.pick("test", embedding.GRAD_VARIANTS, variant)
    cols = out.shape[1]
    grid = chosen.grid("test", *((cols,) if variant == "column" else (cols, len(index))))
    chosen.kernel[grid, chosen.block](grad, index, out)


# ---- lookup ---------------------------------------------------------------------------------


@sizes
@dtypes
@indices
def test_kernel_copies_the_rows(n, rows, cols, dtype, index_dtype, signed, poisoned, rng):
    index, weight = rng.integers(0, rows, n).astype(index_dtype), signed(rows, cols, dtype=dtype)
    out, variant = poisoned(n, cols, dtype=dtype), embedding.VARIANTS[0]
    variant.kernel[variant.grid("test", cols, n), variant.block](index, weight, out)
    np.testing.assert_array_equal(out, weight[index])


@shapes
@dtypes
@indices
def test_embedding_matches_numpy_in_any_shape(shape, dtype, index_dtype, signed, rng):
    index, weight = rng.integers(0, 9, shape, index_dtype), signed(9, 5, dtype=dtype)
    actual = embedding.embedding(np.asarray(index), weight)
    assert actual.dtype == dtype
    np.testing.assert_array_equal(actual, weight[index])


def test_embedding_of_a_table_without_columns_is_empty():
    actual = embedding.embedding(np.array([1, 0]), np.empty((2, 0), np.float32))
    assert actual.shape == (2, 0)


@pytest.mark.parametrize("wrong", [-1, 5, 2**31 - 1, -(2**31)])
def test_embedding_rejects_an_out_of_range_index(wrong):
    words = rf"^embedding: expected input to hold indices from 0 to 4, got {wrong}\. There is no su"
    with pytest.raises(ValueError, match=words):
        embedding.embedding(np.array([0, wrong, 4]), np.ones((5, 2), np.float32))


@pytest.mark.parametrize("wrong", [-1, 5, 2**31 - 1, -(2**31)])
def test_embedding_of_an_out_of_range_device_index_is_nan(wrong):
    index, weight = cuda.to_device(np.array([0, wrong, 4])), np.ones((5, 2), np.float32)
    actual = launch.to_host(embedding.embedding(index, cuda.to_device(weight)))
    np.testing.assert_array_equal(actual, [[1, 1], [np.nan, np.nan], [1, 1]])


# ---- gradient -------------------------------------------------------------------------------


@sizes
@dtypes
@indices
@variants
def test_kernels_sum_gradient_rows_per_index(
    n, rows, cols, dtype, index_dtype, variant, signed, rng, request
):
    index, grad = rng.integers(0, rows, n).astype(index_dtype), signed(n, cols, dtype=dtype)
    out = np.zeros((rows, cols), dtype)
    run(variant, grad, index, out)
    close = request.getfixturevalue("assert_close")
    expected = embedding.embedding_backward_reference(grad, index, rows)
    magnitude = embedding.embedding_backward_reference(np.abs(grad), index, rows)
    close(out, expected, magnitude=magnitude, length=n)


@shapes
@variants
def test_gradient_matches_the_reference_in_any_shape(shape, variant, signed, rng):
    index, grad = np.asarray(rng.integers(0, 9, shape)), signed(*shape, 5, dtype=np.float64)
    actual = embedding.embedding_backward(grad, index, 9, variant=variant)
    expected = embedding.embedding_backward_reference(grad, index, 9)
    np.testing.assert_allclose(actual, expected, rtol=1e-12, atol=1e-12)


@variants
def test_gradient_of_equal_indices_is_their_sum(variant):
    grad, index = np.ones((1000, 33), np.float32), np.full(1000, 2)
    actual = embedding.embedding_backward(grad, index, 4, variant=variant)
    np.testing.assert_array_equal(actual, 1000 * np.outer(np.arange(4) == 2, np.ones(33)))


@variants
def test_gradient_overwrites_out(variant):
    out = np.full((3, 2), np.nan, np.float32)
    embedding.embedding_backward(
        np.ones((1, 2), np.float32), np.array([1]), 3, variant=variant, out=out
    )
    np.testing.assert_array_equal(out, [[0, 0], [1, 1], [0, 0]])


def test_gradient_by_columns_is_bit_identical_from_run_to_run(signed, rng):
    index, grad = rng.integers(0, 3, 1000), signed(1000, 40)
    actual = [embedding.embedding_backward(grad, index, 3, variant="column") for _ in range(3)]
    expected = np.zeros((3, 40), np.float32)
    for row, add in zip(index, grad, strict=True):
        expected[row] += add
    for each in actual:
        np.testing.assert_array_equal(each, expected)


def test_gradient_rejects_an_out_of_range_index():
    with pytest.raises(ValueError, match=r"^embedding_backward: expected input to hold indices"):
        embedding.embedding_backward(np.ones((2, 3), np.float32), np.array([0, 5]), 5)


@variants
def test_gradient_of_an_out_of_range_device_index_is_discarded(variant):
    grad, index = cuda.to_device(np.ones((3, 2))), cuda.to_device(np.array([-1, 1, 2]))
    actual = launch.to_host(embedding.embedding_backward(grad, index, 2, variant=variant))
    np.testing.assert_array_equal(actual, [[0, 0], [1, 1]])


def test_gradient_rejects_a_number_of_rows_unlike_the_number_of_indices():
    words = (
        r"^embedding_backward: expected grad_out\.shape == \(3, 2\), got \(4, 2\)\. "
        r"The axes are grad_out \(\.\.\., cols\), input \(\.\.\.,\)\."
    )
    with pytest.raises(ValueError, match=words):
        embedding.embedding_backward(np.ones((4, 2)), np.arange(3), 9)


# ---- checker --------------------------------------------------------------------------------

N, ROWS, COLS = 21, 4, 37


def arguments(variant, dtype, index_dtype):
    """Return launch configuration, arguments and cost of a variant."""
    index, wide = np.arange(N, dtype=index_dtype) % ROWS, np.ones((N, COLS), dtype)
    table = np.zeros((ROWS, COLS), dtype)
    inputs = (index, table, wide) if variant.name == "embedding" else (wide, index, table)
    sizes = (COLS,) if variant.name == "column" else (COLS, N)
    cost = variant.cost(N, COLS, table.itemsize, index.itemsize)
    return (variant.grid("test", *sizes), variant.block), inputs, cost


every_variant = pytest.mark.parametrize(
    "variant", embedding.VARIANTS, ids=lambda variant: variant.name
)


@pytest.mark.watched
@every_variant
@dtypes
@indices
def test_checker_reports_no_findings(variant, dtype, index_dtype):
    shape, inputs, _ = arguments(variant, dtype, index_dtype)
    found = gpukit.check(variant.kernel)[shape](*inputs).findings
    assert [finding for finding in found if finding.severity in ("error", "warning")] == []


@pytest.mark.watched
@every_variant
@dtypes
@indices
def test_cost_equals_the_profile_counters(variant, dtype, index_dtype):
    """Counters include the bytes of an atomic once; the cost is a load, an addition, a store."""
    shape, inputs, cost = arguments(variant, dtype, index_dtype)
    counts = gpukit.profile(variant.kernel)[shape](*inputs).total
    atomics = N * COLS if variant.name == "atomic" else 0
    flops = counts["flops_float32"] + counts["flops_float64"] + atomics
    assert Cost(counts["global_bytes_asked"] + np.dtype(dtype).itemsize * atomics, flops) == cost
