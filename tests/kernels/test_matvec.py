"""Matrix-vector product: results and memory accesses."""

import functools

import numpy as np
import pytest

import gpukit
from gpukit import cuda, launch
from gpukit.kernels import matvec
from tests.kernels.counts import cost_of

BLOCK, WARP, WARPS = matvec.BLOCK, matvec.WARP, matvec.WARPS
# (rows, cols): one; around a warp, its rows and a block, both ways; primes; one row or column.
SHAPES = [
    (1, 1),
    (WARPS - 1, WARP + 1),
    (WARPS, WARP),
    (WARPS + 1, WARP - 1),
    (BLOCK - 1, 3),
    (BLOCK, 2),
    (BLOCK + 1, 5),
    (3, BLOCK - 1),
    (2, BLOCK),
    (5, BLOCK + 1),
    (1, 997),
    (541, 1),
    (37, 613),
    (37, 612),
    (9, 4 * WARP),
]
ALL = {variant.name: variant for variant in matvec.VARIANTS}
# For each variant that takes float64: several blocks, no size a multiple of anything.
IN_FLOAT64 = {
    "thread_a_row": (BLOCK + 1, 7),
    "warp_a_row": (WARPS + 1, 2 * WARP + 5),
    "block_a_row": (3, BLOCK + 5),
}

variants = pytest.mark.parametrize("variant", ALL)
shapes = pytest.mark.parametrize(("rows", "cols"), SHAPES, ids=lambda size: str(size))
float64_variants = pytest.mark.parametrize("variant", IN_FLOAT64)
with_shuffles = pytest.mark.parametrize("variant", ["warp_a_row", "block_a_row", "vectorized"])


def shape_of(variant, rows, threads=BLOCK):
    """Return grid and block as in the docstring, for blocks of `threads` threads."""
    covered = {"thread_a_row": threads, "block_a_row": 1}.get(variant, threads // WARP)
    block = (WARP, threads // WARP) if variant == "warp_a_row" else threads
    return launch.ceil_div(rows, covered), block


def size_of(a, x):
    """Return the sum of the absolute terms of each row, which bounds the rounding error."""
    return matvec.matvec_reference(np.abs(a), np.abs(x))


# ---- results --------------------------------------------------------------------------------


@variants
@shapes
def test_kernel_matches_the_reference(variant, rows, cols, signed, poisoned, assert_close):
    a, x, y = signed(rows, cols), signed(cols), poisoned(rows)
    ALL[variant].kernel[shape_of(variant, rows)](a, x, y)
    assert_close(y, matvec.matvec_reference(a, x), magnitude=size_of(a, x), length=cols)


@variants
@shapes
def test_host_function_matches_the_reference(variant, rows, cols, signed, assert_close):
    a, x = signed(rows, cols), signed(cols)
    y = matvec.matvec(a, x, variant=variant)
    assert_close(y, matvec.matvec_reference(a, x), magnitude=size_of(a, x), length=cols)


@float64_variants
@pytest.mark.costly
def test_kernel_is_accurate_to_float64(variant, signed, poisoned, assert_close):
    rows, cols = IN_FLOAT64[variant]
    a, x = signed(rows, cols, dtype=np.float64), signed(cols, dtype=np.float64)
    y = poisoned(rows, dtype=np.float64)
    ALL[variant].kernel[shape_of(variant, rows)](a, x, y)
    assert_close(y, matvec.matvec_reference(a, x), magnitude=size_of(a, x), length=cols)


@variants
@pytest.mark.parametrize("block", [WARP, 3 * WARP, 1024])
@pytest.mark.costly
def test_kernel_accepts_other_block_sizes(variant, block, signed, poisoned, assert_close):
    a, x, y = signed(43, 1031), signed(1031), poisoned(43)
    ALL[variant].kernel[shape_of(variant, 43, block)](a, x, y)
    assert_close(y, matvec.matvec_reference(a, x), magnitude=size_of(a, x), length=1031)


def test_matvec_reference_is_the_sum_in_its_definition(signed, assert_close):
    a, x = signed(5, 7), signed(7)
    terms = [[float(a[row, col]) * float(x[col]) for col in range(7)] for row in range(5)]
    actual = matvec.matvec_reference(a, x)
    assert_close(actual, np.sum(terms, axis=1), magnitude=np.abs(terms).sum(axis=1), length=7)


@variants
def test_each_column_is_multiplied_by_its_element_of_x(variant):
    # Powers of two: the sum is exact and identifies its terms.
    a = np.eye(20, dtype=np.float32) + np.eye(20, k=1, dtype=np.float32)
    x = np.exp2(np.arange(20, dtype=np.float32))
    expected = np.where(np.arange(20) < 19, 3 * x, x)
    np.testing.assert_array_equal(matvec.matvec(a, x, variant=variant), expected)


@variants
def test_each_element_of_a_long_row_is_added_once(variant):
    # Whole numbers below 2^24 are added exactly, in whatever order.
    ones = np.ones((3, 5000), np.float32)
    places = np.arange(5000, dtype=np.float32) % 100
    np.testing.assert_array_equal(matvec.matvec(ones, places, variant=variant), [50 * 99 * 50] * 3)


@variants
def test_sum_is_accumulated_in_float32(variant):
    # 2^24 + 1 is not a float32: a float64 accumulator would keep the ones and give 2^24 + 2.
    a = np.array([[2**24, 1, 1]], np.float32)
    assert matvec.matvec(a, np.ones(3, np.float32), variant=variant)[0] == 2**24


@float64_variants
def test_sum_of_float64_is_accumulated_in_float64(variant):
    # 2^24 + 1 is not a float32: no intermediate result may be float32.
    a = np.array([[2**24 + 1, 1, 1]], np.float64)
    y = matvec.matvec(a, np.ones(3), variant=variant)
    assert (y.dtype, y[0]) == (np.float64, 2**24 + 3)


# ---- layouts and device arrays --------------------------------------------------------------


@variants
@pytest.mark.parametrize(
    "view",
    [lambda a: a.T, lambda a: a[::2, 1:-1], lambda a: a[::-1, ::-3], np.asfortranarray],
    ids=["transposed", "slice", "reversed", "fortran"],
)
def test_non_contiguous_matrix_is_multiplied_correctly(variant, view, signed, assert_close):
    a = view(signed(40, 37))
    x = signed(2 * a.shape[1])[::2]
    y = matvec.matvec(a, x, variant=variant)
    assert_close(y, matvec.matvec_reference(a, x), magnitude=size_of(a, x), length=len(x))


@variants
@pytest.mark.costly
def test_non_contiguous_device_array_is_multiplied_correctly(variant, signed, assert_close):
    a, x = signed(40, 37), signed(38)
    y = matvec.matvec(cuda.to_device(a)[3:, ::2], cuda.to_device(x)[::2], variant=variant)
    part, half = a[3:, ::2], x[::2]
    expected = matvec.matvec_reference(part, half)
    assert_close(y.copy_to_host(), expected, magnitude=size_of(part, half), length=19)


@variants
@pytest.mark.costly
def test_read_only_arrays_are_accepted(variant):
    a, x = np.ones((2, 3), np.float32), np.ones(3, np.float32)
    a.flags.writeable = x.flags.writeable = False
    np.testing.assert_array_equal(matvec.matvec(a, x, variant=variant), [3, 3])


@variants
def test_kernel_writes_zeros_for_a_matrix_without_columns(variant, poisoned):
    y = poisoned(BLOCK + 1)
    a, x = np.ones((BLOCK + 1, 0), np.float32), np.ones(0, np.float32)
    ALL[variant].kernel[shape_of(variant, BLOCK + 1)](a, x, y)
    np.testing.assert_array_equal(y, np.zeros(BLOCK + 1))


def test_matvec_uses_one_warp_per_row_by_default(signed):
    a, x = signed(9, 301), signed(301)
    same = matvec.matvec(a, x, variant="warp_a_row")
    np.testing.assert_array_equal(matvec.matvec(a, x), same)


@variants
def test_result_is_bit_identical_from_run_to_run(variant, signed):
    a, x = signed(9, 301), signed(301)
    first, second = matvec.matvec(a, x, variant=variant), matvec.matvec(a, x, variant=variant)
    np.testing.assert_array_equal(first.view(np.uint32), second.view(np.uint32))


# ---- errors ---------------------------------------------------------------------------------


def test_matvec_suggests_the_transpose_when_it_would_fit():
    expected = r"matvec: expected a\.shape\[1\] == x\.shape\[0\], got \(4, 3\) and \(4,\)\. .*a\.T"
    with pytest.raises(ValueError, match=expected):
        matvec.matvec(np.ones((4, 3), np.float32), np.ones(4, np.float32))


def test_matvec_does_not_suggest_a_transpose_that_would_not_fit():
    expected = r"got \(4, 3\) and \(5,\)\. The inner sizes must agree\."
    with pytest.raises(ValueError, match=expected):
        matvec.matvec(np.ones((4, 3), np.float32), np.ones(5, np.float32))


def test_vectorized_variant_rejects_float64_and_names_one_that_accepts_it():
    expected = (
        r"matvec: expected float32 arrays for variant 'vectorized', got float64\. "
        r"Pass variant='warp_a_row'\."
    )
    with pytest.raises(TypeError, match=expected):
        matvec.matvec(np.ones((2, 2)), np.ones(2), variant="vectorized")


# ---- checker findings and profile counters --------------------------------------------------


@pytest.mark.watched
@variants
@pytest.mark.parametrize(
    "shape", [(WARPS + 1, 2 * WARP + 5), (WARPS + 1, 300), (BLOCK + 1, 3)], ids=str
)
def test_checker_reports_no_findings(variant, shape, signed):
    a, x, y = signed(*shape), signed(shape[1]), cuda.device_array(shape[0], np.float32)
    report = gpukit.check(ALL[variant].kernel)[shape_of(variant, shape[0])](a, x, y)
    assert report.findings == []


@functools.cache
def counters(variant, rows=WARPS, cols=BLOCK, dtype=np.float32):
    """Return the counters of a launch; rows are whole sectors by default."""
    a, x, y = np.ones((rows, cols), dtype), np.ones(cols, dtype), np.empty(rows, dtype)
    return gpukit.profile(ALL[variant].kernel)[shape_of(variant, rows)](a, x, y).total


@pytest.mark.watched
@variants
@pytest.mark.parametrize("shape", [(1, 1), (WARPS + 1, WARP - 1), (37, 613), (5, 300)], ids=str)
def test_cost_equals_the_profile_counters(variant, shape):
    assert ALL[variant].cost(*shape) == cost_of(counters(variant, *shape))


@pytest.mark.watched
@float64_variants
def test_float64_cost_equals_the_profile_counters_without_float32_arithmetic(variant):
    found = counters(variant, *IN_FLOAT64[variant], np.float64)
    assert ALL[variant].cost(*IN_FLOAT64[variant], itemsize=8) == cost_of(found)
    assert found["flops_float64"] == found.flops


@pytest.mark.watched
def test_block_a_row_cost_depends_on_the_block_size():
    a, x, y = np.ones((3, 70), np.float32), np.ones(70, np.float32), np.empty(3, np.float32)
    found = gpukit.profile(matvec.matvec_block_a_row_kernel)[3, 64](a, x, y).total
    assert matvec.matvec_block_a_row_cost(3, 70, 64) == cost_of(found)


def test_thread_a_row_cost_of_two_rows_of_three():
    # Each row: 3 + 3 loads and 1 store of 4 bytes, 3 multiplications and 3 additions.
    assert matvec.matvec_thread_a_row_cost(2, 3) == launch.Cost(bytes=2 * 7 * 4, flops=2 * 6)


@pytest.mark.watched
@pytest.mark.parametrize(
    ("variant", "each"),
    [
        ("thread_a_row", 32 + 1),
        ("warp_a_row", 4 + 4),
        ("block_a_row", 4 + 4),
        ("vectorized", 16 + 16),
    ],
)
def test_sectors_per_request_are_as_documented(variant, each):
    # Half of the loads are of a, half of x.
    found = counters(variant, BLOCK, BLOCK)
    assert 2 * found["global_load_sectors"] == each * found["global_load_requests"]


@pytest.mark.watched
@with_shuffles
def test_coalesced_kernel_moves_only_the_bytes_of_the_matrix_that_it_requests(variant):
    found = counters(variant, BLOCK, BLOCK)
    stored = BLOCK * 32  # each row's sum is a store of its own: one sector for four bytes
    assert found["global_bytes_moved"] == 2 * 4 * BLOCK * BLOCK + stored


@pytest.mark.watched
def test_thread_a_row_moves_four_times_the_bytes_of_coalesced_variants():
    slow, fast = (counters(variant, BLOCK, BLOCK) for variant in ("thread_a_row", "warp_a_row"))
    assert slow["global_load_sectors"] > 4 * fast["global_load_sectors"]


@pytest.mark.watched
def test_vectorized_loads_need_a_quarter_of_the_requests():
    narrow, wide = (counters(variant, BLOCK, BLOCK) for variant in ("warp_a_row", "vectorized"))
    assert narrow["global_load_requests"] == 4 * wide["global_load_requests"]
    assert narrow["global_load_sectors"] == wide["global_load_sectors"]


@pytest.mark.parametrize("cut", [lambda v: v[1:], lambda v: v[::2]], ids=["misaligned", "strided"])
def test_vectorized_variant_accepts_a_misaligned_or_strided_vector(cut, signed, assert_close):
    x = cut(signed(81))
    a = signed(7, len(x))
    y = matvec.matvec(a, x, variant="vectorized")
    assert_close(y, matvec.matvec_reference(a, x), magnitude=size_of(a, x), length=len(x))


@pytest.mark.watched
@variants
def test_kernel_does_no_float64_arithmetic(variant):
    assert counters(variant)["flops_float64"] == 0


@pytest.mark.watched
@pytest.mark.parametrize("variant", ["thread_a_row", "warp_a_row", "vectorized"])
def test_kernel_without_partial_sums_uses_no_shared_memory(variant):
    assert (
        counters(variant)["shared_load_requests"] + counters(variant)["shared_store_requests"] == 0
    )


@pytest.mark.watched
@pytest.mark.parametrize(
    ("variant", "barriers"),
    [("thread_a_row", 0), ("warp_a_row", 0), ("block_a_row", 1), ("vectorized", 0)],
)
def test_barriers_per_warp_are_as_documented(variant, barriers):
    assert counters(variant)["barriers"] == barriers * WARPS * shape_of(variant, WARPS)[0]


@pytest.mark.watched
def test_partial_sums_have_no_bank_conflicts():
    found = counters("block_a_row")
    assert found["shared_load_conflicts"] + found["shared_store_conflicts"] == 0
