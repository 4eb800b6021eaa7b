"""Matrix times vector, and what its warps do to memory."""

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
    """Return grid and block of the docstring, the block of so many threads."""
    covered = {"thread_a_row": threads, "block_a_row": 1}.get(variant, threads // WARP)
    block = (WARP, threads // WARP) if variant == "warp_a_row" else threads
    return launch.ceil_div(rows, covered), block


def size_of(a, x):
    """Return for each row the sum of the absolute terms, which bounds the rounding error."""
    return matvec.matvec_reference(np.abs(a), np.abs(x))


# ---- the right numbers ----------------------------------------------------------------------


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
def test_kernel_is_right_to_float64(variant, signed, poisoned, assert_close):
    rows, cols = IN_FLOAT64[variant]
    a, x = signed(rows, cols, dtype=np.float64), signed(cols, dtype=np.float64)
    y = poisoned(rows, dtype=np.float64)
    ALL[variant].kernel[shape_of(variant, rows)](a, x, y)
    assert_close(y, matvec.matvec_reference(a, x), magnitude=size_of(a, x), length=cols)


@variants
@pytest.mark.parametrize("block", [WARP, 3 * WARP, 1024])
@pytest.mark.costly
def test_kernel_takes_blocks_of_other_sizes(variant, block, signed, poisoned, assert_close):
    a, x, y = signed(43, 1031), signed(1031), poisoned(43)
    ALL[variant].kernel[shape_of(variant, 43, block)](a, x, y)
    assert_close(y, matvec.matvec_reference(a, x), magnitude=size_of(a, x), length=1031)


def test_matvec_reference_is_the_sum_of_its_definition(signed, assert_close):
    a, x = signed(5, 7), signed(7)
    terms = [[float(a[row, col]) * float(x[col]) for col in range(7)] for row in range(5)]
    made = matvec.matvec_reference(a, x)
    assert_close(made, np.sum(terms, axis=1), magnitude=np.abs(terms).sum(axis=1), length=7)


@variants
def test_each_column_meets_its_element_of_x(variant):
    # Powers of two: the sum names its terms, and it is exact.
    a = np.eye(20, dtype=np.float32) + np.eye(20, k=1, dtype=np.float32)
    x = np.exp2(np.arange(20, dtype=np.float32))
    right = np.where(np.arange(20) < 19, 3 * x, x)
    np.testing.assert_array_equal(matvec.matvec(a, x, variant=variant), right)


@variants
def test_each_place_of_a_long_row_is_added_once(variant):
    # Whole numbers below 2^24 are added exactly, in whatever order.
    ones = np.ones((3, 5000), np.float32)
    places = np.arange(5000, dtype=np.float32) % 100
    np.testing.assert_array_equal(matvec.matvec(ones, places, variant=variant), [50 * 99 * 50] * 3)


@variants
def test_sum_is_kept_in_float32(variant):
    # 2^24 + 1 is not a float32: a float64 accumulator would keep the ones and give 2^24 + 2.
    a = np.array([[2**24, 1, 1]], np.float32)
    assert matvec.matvec(a, np.ones(3, np.float32), variant=variant)[0] == 2**24


@float64_variants
def test_sum_of_float64_is_kept_in_float64(variant):
    # 2^24 + 1 is not a float32: nothing on its way may be one.
    a = np.array([[2**24 + 1, 1, 1]], np.float64)
    y = matvec.matvec(a, np.ones(3), variant=variant)
    assert (y.dtype, y[0]) == (np.float64, 2**24 + 3)


# ---- what the host function takes -----------------------------------------------------------


@variants
@pytest.mark.parametrize(
    "view",
    [lambda a: a.T, lambda a: a[::2, 1:-1], lambda a: a[::-1, ::-3], np.asfortranarray],
    ids=["transposed", "part", "backwards", "fortran"],
)
def test_matrix_that_is_not_contiguous_is_multiplied_rightly(variant, view, signed, assert_close):
    a = view(signed(40, 37))
    x = signed(2 * a.shape[1])[::2]
    y = matvec.matvec(a, x, variant=variant)
    assert_close(y, matvec.matvec_reference(a, x), magnitude=size_of(a, x), length=len(x))


@variants
@pytest.mark.costly
def test_device_array_that_is_not_contiguous_is_multiplied_rightly(variant, signed, assert_close):
    a, x = signed(40, 37), signed(38)
    y = matvec.matvec(cuda.to_device(a)[3:, ::2], cuda.to_device(x)[::2], variant=variant)
    part, half = a[3:, ::2], x[::2]
    right = matvec.matvec_reference(part, half)
    assert_close(y.copy_to_host(), right, magnitude=size_of(part, half), length=19)


@variants
@pytest.mark.costly
def test_arrays_that_may_not_be_written_can_be_read(variant):
    a, x = np.ones((2, 3), np.float32), np.ones(3, np.float32)
    a.flags.writeable = x.flags.writeable = False
    np.testing.assert_array_equal(matvec.matvec(a, x, variant=variant), [3, 3])


@variants
def test_kernel_given_no_columns_writes_zeros(variant, poisoned):
    y = poisoned(BLOCK + 1)
    a, x = np.ones((BLOCK + 1, 0), np.float32), np.ones(0, np.float32)
    ALL[variant].kernel[shape_of(variant, BLOCK + 1)](a, x, y)
    np.testing.assert_array_equal(y, np.zeros(BLOCK + 1))


def test_matvec_uses_a_warp_for_a_row_unless_told_otherwise(signed):
    a, x = signed(9, 301), signed(301)
    same = matvec.matvec(a, x, variant="warp_a_row")
    np.testing.assert_array_equal(matvec.matvec(a, x), same)


@variants
def test_result_has_the_bits_of_the_run_before(variant, signed):
    a, x = signed(9, 301), signed(301)
    first, second = matvec.matvec(a, x, variant=variant), matvec.matvec(a, x, variant=variant)
    np.testing.assert_array_equal(first.view(np.uint32), second.view(np.uint32))


# ---- what it refuses ------------------------------------------------------------------------


def test_matvec_suggests_the_transpose_when_it_would_fit():
    expected = r"matvec: expected a\.shape\[1\] == x\.shape\[0\], got \(4, 3\) and \(4,\)\. .*a\.T"
    with pytest.raises(ValueError, match=expected):
        matvec.matvec(np.ones((4, 3), np.float32), np.ones(4, np.float32))


def test_matvec_does_not_suggest_a_transpose_that_would_not_fit():
    expected = r"got \(4, 3\) and \(5,\)\. The inner sizes must agree\."
    with pytest.raises(ValueError, match=expected):
        matvec.matvec(np.ones((4, 3), np.float32), np.ones(5, np.float32))


def test_vectorized_variant_refuses_float64_and_names_a_variant_that_takes_it():
    expected = (
        r"matvec: expected float32 arrays for variant 'vectorized', got float64\. "
        r"Pass variant='warp_a_row'\."
    )
    with pytest.raises(TypeError, match=expected):
        matvec.matvec(np.ones((2, 2)), np.ones(2), variant="vectorized")


# ---- what the checker and the counters say --------------------------------------------------


@pytest.mark.watched
@variants
@pytest.mark.parametrize(
    "shape", [(WARPS + 1, 2 * WARP + 5), (WARPS + 1, 300), (BLOCK + 1, 3)], ids=str
)
def test_checker_finds_nothing_wrong(variant, shape, signed):
    a, x, y = signed(*shape), signed(shape[1]), cuda.device_array(shape[0], np.float32)
    report = gpukit.check(ALL[variant].kernel)[shape_of(variant, shape[0])](a, x, y)
    assert report.findings == []


@functools.cache
def counted(variant, rows=WARPS, cols=BLOCK, dtype=np.float32):
    """Return what a launch is counted to do; rows of whole sectors unless said otherwise."""
    a, x, y = np.ones((rows, cols), dtype), np.ones(cols, dtype), np.empty(rows, dtype)
    return gpukit.profile(ALL[variant].kernel)[shape_of(variant, rows)](a, x, y).total


@pytest.mark.watched
@variants
@pytest.mark.parametrize("shape", [(1, 1), (WARPS + 1, WARP - 1), (37, 613), (5, 300)], ids=str)
def test_cost_is_what_is_counted(variant, shape):
    assert ALL[variant].cost(*shape) == cost_of(counted(variant, *shape))


@pytest.mark.watched
@float64_variants
def test_float64_costs_what_is_counted_without_float32_arithmetic(variant):
    found = counted(variant, *IN_FLOAT64[variant], np.float64)
    assert ALL[variant].cost(*IN_FLOAT64[variant], itemsize=8) == cost_of(found)
    assert found["flops_float64"] == found.flops


@pytest.mark.watched
def test_block_a_row_cost_knows_other_blocks():
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
def test_warps_touch_as_many_sectors_as_the_docstring_says(variant, each):
    # Half of the loads are of a, half of x.
    found = counted(variant, BLOCK, BLOCK)
    assert 2 * found["global_load_sectors"] == each * found["global_load_requests"]


@pytest.mark.watched
@with_shuffles
def test_kernel_with_neighbouring_lanes_moves_only_what_it_asks_of_the_matrix(variant):
    found = counted(variant, BLOCK, BLOCK)
    stored = BLOCK * 32  # a row's sum is stored alone: a sector for four bytes
    assert found["global_bytes_moved"] == 2 * 4 * BLOCK * BLOCK + stored


@pytest.mark.watched
def test_thread_a_row_moves_four_times_what_its_neighbours_move():
    slow, fast = (counted(variant, BLOCK, BLOCK) for variant in ("thread_a_row", "warp_a_row"))
    assert slow["global_load_sectors"] > 4 * fast["global_load_sectors"]


@pytest.mark.watched
def test_a_row_takes_a_quarter_of_the_loads_when_four_elements_are_loaded_at_once():
    narrow, wide = (counted(variant, BLOCK, BLOCK) for variant in ("warp_a_row", "vectorized"))
    assert narrow["global_load_requests"] == 4 * wide["global_load_requests"]
    assert narrow["global_load_sectors"] == wide["global_load_sectors"]


@pytest.mark.parametrize("cut", [lambda v: v[1:], lambda v: v[::2]], ids=["misaligned", "apart"])
def test_vectorized_variant_takes_a_vector_that_cannot_be_loaded_so(cut, signed, assert_close):
    x = cut(signed(81))
    a = signed(7, len(x))
    y = matvec.matvec(a, x, variant="vectorized")
    assert_close(y, matvec.matvec_reference(a, x), magnitude=size_of(a, x), length=len(x))


@pytest.mark.watched
@variants
def test_kernel_does_no_float64_arithmetic(variant):
    assert counted(variant)["flops_float64"] == 0


@pytest.mark.watched
@pytest.mark.parametrize("variant", ["thread_a_row", "warp_a_row", "vectorized"])
def test_kernel_without_partial_sums_uses_no_shared_memory(variant):
    assert counted(variant)["shared_load_requests"] + counted(variant)["shared_store_requests"] == 0


@pytest.mark.watched
@pytest.mark.parametrize(
    ("variant", "barriers"),
    [("thread_a_row", 0), ("warp_a_row", 0), ("block_a_row", 1), ("vectorized", 0)],
)
def test_every_warp_waits_as_often_as_the_docstring_says(variant, barriers):
    assert counted(variant)["barriers"] == barriers * WARPS * shape_of(variant, WARPS)[0]


@pytest.mark.watched
def test_partial_sums_have_no_bank_conflicts():
    found = counted("block_a_row")
    assert found["shared_load_conflicts"] + found["shared_store_conflicts"] == 0
