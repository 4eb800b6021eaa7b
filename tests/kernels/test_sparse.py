"""Masks, CSR and 2:4: what is kept, where it is, and products that skip the rest."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import gpukit
from gpukit import cuda, launch
from gpukit.kernels import sparse
from gpukit.kernels.sparse import csr, two_four
from tests.kernels.counts import cost_of

CSR = {variant.name: variant for variant in csr.VARIANTS}
csr_variants = pytest.mark.parametrize("variant", CSR)
# (rows, cols) in CSR, and (m, n, k) of products with 2:4.
MATRICES = [(1, 1), (7, 33), (8, 32), (257, 3), (3, 1000), (37, 613)]
PRODUCTS = [(1, 1, 4), (15, 17, 28), (16, 16, 32), (17, 15, 36), (37, 29, 140), (1, 50, 12)]
small = arrays.arrays(
    np.float32, st.tuples(st.integers(1, 5), st.just(12)), elements=st.integers(-3, 3)
)


@pytest.fixture
def holey(signed, rng):
    """Make matrices of which two thirds are zero, with an empty row where there are several."""

    def make(*shape, dtype=np.float32):
        a = signed(*shape, dtype=dtype) * (rng.random(shape) < 1 / 3)
        a[len(a) // 2 : len(a) // 2 + (len(a) > 1)] = 0
        return a.astype(dtype)

    return make


# ---- masks ----------------------------------------------------------------------------------


@pytest.mark.parametrize("fraction", [0, 0.1, 0.5, 0.9, 1])
def test_magnitude_mask_prunes_exactly_the_fraction_and_the_smallest(fraction, signed):
    weight = signed(13, 7)
    mask = gpukit.magnitude_mask(weight, fraction)
    assert (mask == 0).sum() == round(fraction * weight.size)
    kept, pruned = np.abs(weight[mask == 1]), np.abs(weight[mask == 0])
    assert pruned.max(initial=0) <= kept.min(initial=np.inf)


@pytest.mark.parametrize("fraction", [-0.1, 1.1, np.nan])
def test_a_fraction_that_is_none_is_refused(fraction):
    with pytest.raises(ValueError, match="magnitude_mask: expected 0 <= fraction <= 1, got"):
        gpukit.magnitude_mask(np.ones((2, 2)), fraction)


@given(small)
def test_two_of_every_four_are_kept_and_none_that_is_pruned_is_larger(weight):
    groups = np.abs(weight).reshape(-1, 4)
    mask = gpukit.mask_2_4(weight).reshape(-1, 4)
    assert (mask.sum(axis=1) == 2).all()
    largest_pruned = np.where(mask == 0, groups, 0).max(axis=1)
    assert (largest_pruned <= np.where(mask == 1, groups, np.inf).min(axis=1)).all()


def test_groups_of_four_run_over_all_axes_but_the_first():
    weight = np.arange(1, 17, dtype=np.float32).reshape(2, 2, 2, 2)
    kept = weight[gpukit.mask_2_4(weight) == 1]
    np.testing.assert_array_equal(kept, [3, 4, 7, 8, 11, 12, 15, 16])


def test_rows_of_no_multiple_of_four_are_refused():
    with pytest.raises(ValueError, match=r"mask_2_4: expected rows of a multiple of 4 .* \(2, 6\)"):
        gpukit.mask_2_4(np.ones((2, 6)))


@pytest.mark.parametrize("n", [1, 255, 256, 257, 1009])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_masked_elements_become_zero_and_the_others_stay(n, dtype, signed, rng):
    x, mask = signed(n, dtype=dtype), (rng.random(n) < 0.5).astype(np.uint8)
    right = np.where(mask == 1, x, 0)
    gpukit.apply_mask(x, mask)
    np.testing.assert_array_equal(x, right, strict=True)


def test_a_masked_infinity_becomes_zero_too():
    x = np.array([np.inf, -np.inf, np.nan, -1, 2], np.float32)
    gpukit.apply_mask(x, np.array([0, 0, 0, 0, 1], np.uint8))
    np.testing.assert_array_equal(x, [0, 0, 0, 0, 2])
    assert not np.signbit(x).any()


# ---- CSR ------------------------------------------------------------------------------------


def test_csr_of_the_docstring():
    a = np.array([[5, 0, 0, 6], [0, 0, 0, 0], [0, 7, 0, 0], [8, 0, 0, 0]], np.float32)
    values, columns, starts = gpukit.to_csr(a)
    assert values.tolist() == [5, 6, 7, 8]
    assert columns.tolist() == [0, 3, 1, 0]
    assert starts.tolist() == [0, 2, 2, 3, 4]


@csr_variants
@pytest.mark.parametrize(("rows", "cols"), MATRICES, ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_csr_product_is_that_of_the_full_matrix(
    variant, rows, cols, dtype, holey, signed, assert_close
):
    a, x = holey(rows, cols, dtype=dtype), signed(3, cols, dtype=dtype)
    out = np.full((3, rows), np.nan, dtype)
    assert gpukit.csr_matvec(*gpukit.to_csr(a), x, variant=variant, out=out) is out
    wide, of_x = a.astype(np.float64), x.astype(np.float64)
    magnitude = np.abs(of_x) @ np.abs(wide).T
    assert_close(out, of_x @ wide.T, magnitude=magnitude, length=cols)


@csr_variants
def test_a_vector_gives_a_vector_with_the_same_bits(variant, holey, signed):
    a, x = gpukit.to_csr(holey(37, 50)), signed(2, 50)
    made = gpukit.csr_matvec(*a, x[1], variant=variant)
    assert made.shape == (37,)
    np.testing.assert_array_equal(made, gpukit.csr_matvec(*a, x, variant=variant)[1])


@csr_variants
@pytest.mark.parametrize("shape", [(3, 4), (3, 0)])
def test_a_matrix_of_zeros_gives_zeros(variant, shape):
    a = gpukit.to_csr(np.zeros(shape, np.float32))
    made = gpukit.csr_matvec(*a, np.ones((2, shape[1]), np.float32), variant=variant)
    np.testing.assert_array_equal(made, np.zeros((2, 3)))


def test_csr_reference_is_the_product_of_the_full_matrix(holey, signed):
    a, x = holey(7, 9), signed(2, 9)
    made = csr.csr_matvec_reference(*gpukit.to_csr(a), x)
    np.testing.assert_allclose(made, x.astype(np.float64) @ a.astype(np.float64).T)


def test_csr_without_starts_is_refused():
    none, one = np.zeros(0, np.float32), np.zeros(0, np.int32)
    with pytest.raises(ValueError, match=r"csr_matvec: expected starts of rows \+ 1 elements"):
        gpukit.csr_matvec(none, one, one, np.ones(3, np.float32))


# ---- 2:4 ------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(1, 4), (7, 124), (8, 128), (9, 132), (37, 140)], ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_two_largest_of_every_four_are_kept_in_order(shape, dtype, signed):
    weight = signed(*shape, dtype=dtype)
    values, index = gpukit.compress_2_4(weight)
    right, places = two_four.compress_2_4_reference(weight)
    np.testing.assert_array_equal(values, right)
    np.testing.assert_array_equal(index, places)
    assert (values.dtype, index.dtype) == (dtype, np.uint8)


@given(small)
def test_a_pruned_matrix_is_compressed_without_loss(weight):
    pruned = weight * gpukit.mask_2_4(weight)
    values, index = gpukit.compress_2_4(pruned)
    full = np.zeros((*index.shape, 4), np.float32)
    for row, g in np.ndindex(index.shape):
        first, second = index[row, g] % 4, index[row, g] // 4
        assert first < second < 4
        full[row, g, [first, second]] = values[row, 2 * g : 2 * g + 2]
    np.testing.assert_array_equal(full.reshape(pruned.shape), pruned)


@pytest.mark.parametrize(("m", "n", "k"), PRODUCTS, ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_product_with_2_4_is_that_of_the_pruned_matrix(m, n, k, dtype, signed, assert_close):
    x, weight = signed(m, k, dtype=dtype), signed(n, k, dtype=dtype)
    out = np.full((m, n), np.nan, dtype)
    assert gpukit.matmul_2_4(x, *gpukit.compress_2_4(weight), out=out) is out
    pruned = (weight * gpukit.mask_2_4(weight)).astype(np.float64)
    wide = x.astype(np.float64)
    magnitude = np.abs(wide) @ np.abs(pruned).T
    assert_close(out, wide @ pruned.T, magnitude=magnitude, length=k // 2)


def test_reference_of_2_4_is_the_product_of_the_full_matrix(signed):
    x, weight = signed(3, 12), signed(5, 12)
    made = two_four.matmul_2_4_reference(x, *two_four.compress_2_4_reference(weight))
    pruned = weight.astype(np.float64) * gpukit.mask_2_4(weight)
    np.testing.assert_allclose(made, x.astype(np.float64) @ pruned.T)


def test_rows_of_no_whole_groups_cannot_be_compressed():
    with pytest.raises(
        ValueError, match=r"compress_2_4: expected rows of a multiple of 4 .*\(2, 6"
    ):
        gpukit.compress_2_4(np.ones((2, 6), np.float32))


# ---- what the checker and the counters say --------------------------------------------------


@pytest.mark.watched
@csr_variants
@pytest.mark.parametrize("itemsize", [4, 8])
def test_checker_finds_nothing_in_csr_and_counts_the_cost(variant, itemsize, holey, signed):
    dtype = {4: np.float32, 8: np.float64}[itemsize]
    rows, cols, n = 261, 70, 2
    a, x = gpukit.to_csr(holey(rows, cols, dtype=dtype)), signed(n, cols, dtype=dtype)
    kernel, shape = CSR[variant].kernel, (CSR[variant].grid("test", rows, n), CSR[variant].block)
    assert gpukit.check(kernel)[shape](*a, x, cuda.device_array((n, rows), dtype)).findings == []
    found = gpukit.profile(kernel)[shape](*a, x, np.empty((n, rows), dtype)).total
    assert cost_of(found) == CSR[variant].cost(n, rows, len(a[0]), itemsize)


@pytest.mark.watched
def test_threads_per_row_wait_for_the_longest_row_and_lanes_of_a_warp_do_not():
    a = np.zeros((32, 320), np.float32)
    a[5] = 1  # one long row
    arrays = (*gpukit.to_csr(a), np.ones((1, 320), np.float32), np.empty((1, 32), np.float32))
    counts = {}
    for name, variant in CSR.items():
        shape = variant.grid("test", 32, 1), variant.block
        counts[name] = gpukit.profile(variant.kernel)[shape](*arrays).total["global_load_requests"]
    assert counts["thread_a_row"] > 5 * counts["warp_a_row"]


@pytest.mark.watched
@pytest.mark.parametrize("itemsize", [4, 8])
def test_checker_finds_nothing_in_2_4_and_counts_the_cost(itemsize, signed):
    dtype = {4: np.float32, 8: np.float64}[itemsize]
    m, n, k = 18, 25, 36
    x, weight = signed(m, k, dtype=dtype), signed(n, k, dtype=dtype)
    values, index = gpukit.compress_2_4(weight)
    compress, product = two_four.VARIANTS
    shapes = [
        (compress.grid("test", k // 4, n), compress.block),
        (product.grid("test", n, m), product.block),
    ]
    given = [(weight, np.empty_like(values)), (x, values, index)]
    outs = [cuda.device_array(index.shape, np.uint8), cuda.device_array((m, n), dtype)]
    costs = [compress.cost(n, k, itemsize), product.cost(m, n, k, itemsize)]
    for variant, shape, inputs, out, cost in zip(
        two_four.VARIANTS, shapes, given, outs, costs, strict=True
    ):
        assert gpukit.check(variant.kernel)[shape](*inputs, out).findings == []
        assert cost_of(gpukit.profile(variant.kernel)[shape](*inputs, out).total) == cost


@pytest.mark.watched
def test_checker_finds_nothing_in_masks_and_counts_the_cost(signed):
    (variant,) = sparse.masks.VARIANTS
    arguments = np.ones(300, np.uint8), signed(300)
    grid = variant.grid("test", 300), variant.block
    assert gpukit.check(variant.kernel)[grid](*arguments).findings == []
    found = gpukit.profile(variant.kernel)[grid](*arguments).total
    assert cost_of(found) == variant.cost(300) == launch.Cost(bytes=2700, flops=0)
