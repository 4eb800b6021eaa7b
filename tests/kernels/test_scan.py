"""Scan: in blocks by four ways, over whole arrays, and the compaction that is made of it."""

import numpy as np
import pytest

import gpukit
from gpukit import cuda, launch
from gpukit.kernels import scan
from gpukit.kernels.scan import blocks as three_launches
from gpukit.kernels.scan import compaction, one_pass

BLOCK = three_launches.BLOCK
TILE = one_pass.TILE
SIZES = [1, 2, 31, 32, 33, BLOCK - 1, BLOCK, BLOCK + 1, 1009]
LARGE = [TILE - 1, TILE, TILE + 1, BLOCK * BLOCK - 1, BLOCK * BLOCK, BLOCK * BLOCK + 1, 100_003]
NAMES = [variant.name for variant in scan.SCAN_VARIANTS]
DTYPES = [np.float32, np.int32]
MOST = np.iinfo(np.int32).max

sizes = pytest.mark.parametrize("n", SIZES)
variants = pytest.mark.parametrize("variant", NAMES)
block_variants = pytest.mark.parametrize(
    "variant", [variant.name for variant in three_launches.VARIANTS[:-1]]
)
dtypes = pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.__name__)
shifts = pytest.mark.parametrize("shift", [0, 1], ids=["inclusive", "exclusive"])


def kernel_of(variant):
    return launch.pick("test", scan.SCAN_VARIANTS, variant).kernel


def depth(n):
    """The most additions that one element passes through on its way into a sum."""
    levels = 1 if n <= BLOCK else 2 if n <= BLOCK * BLOCK else 3
    return 20 * levels


def in_blocks(x, shift):
    """The scan of each block of x, and the blocks' totals, as NumPy has them."""
    blocks = launch.ceil_div(len(x), BLOCK)
    moved = np.pad(x.astype(np.float64), (shift, BLOCK))[: blocks * BLOCK]
    sums = moved.reshape(blocks, BLOCK).cumsum(axis=1)
    return sums.ravel()[: len(x)], sums[:, -1]


def whole(rng, n, dtype):
    """Small whole numbers of both signs: their sums are exact in float32 too."""
    return rng.integers(-9, 10, n).astype(dtype)


def sentinel(n, dtype):
    """An output that tells what no thread wrote: NaN, or a number that no sum reaches."""
    return np.full(n, np.nan if dtype is np.float32 else -MOST, dtype)


# ---- the kernels, a block at a time ---------------------------------------------------------


@sizes
@block_variants
@shifts
def test_scan_kernels_scan_each_block(variant, n, shift, signed, poisoned, assert_close):
    x, blocks = signed(n), launch.ceil_div(n, BLOCK)
    out, sums = poisoned(n), poisoned(blocks)
    kernel_of(variant)[blocks, BLOCK](x, shift, out, sums)
    expected, _ = in_blocks(x, shift)
    size, _ = in_blocks(np.abs(x), shift)
    assert_close(out, expected, magnitude=size, length=depth(BLOCK))


@sizes
@block_variants
@shifts
def test_scan_kernels_write_the_total_of_each_block(
    variant, n, shift, signed, poisoned, assert_close
):
    x, blocks = signed(n), launch.ceil_div(n, BLOCK)
    out, sums = poisoned(n), poisoned(blocks)
    kernel_of(variant)[blocks, BLOCK](x, shift, out, sums)
    _, expected = in_blocks(x, shift)
    _, size = in_blocks(np.abs(x), shift)
    assert_close(sums, expected, magnitude=size, length=depth(BLOCK))


@sizes
@block_variants
@shifts
@pytest.mark.costly
def test_scan_kernels_are_exact_for_int32(variant, n, shift, rng):
    x, blocks = whole(rng, n, np.int32), launch.ceil_div(n, BLOCK)
    out, sums = sentinel(n, np.int32), sentinel(blocks, np.int32)
    kernel_of(variant)[blocks, BLOCK](x, shift, out, sums)
    np.testing.assert_array_equal(out, in_blocks(x, shift)[0])


@block_variants
def test_scan_kernels_write_one_place_more_when_out_is_longer(variant):
    out, sums = sentinel(BLOCK + 1, np.int32), sentinel(2, np.int32)
    kernel_of(variant)[2, BLOCK](np.ones(BLOCK, np.int32), 1, out, sums)
    assert out[BLOCK - 1] == BLOCK - 1
    assert out[BLOCK] == 1  # the second block begins anew, with the last element of x


def test_add_offsets_kernel_adds_to_each_block_its_own_offset(poisoned):
    out = np.arange(2 * BLOCK + 3, dtype=np.int32)
    three_launches.add_offsets_kernel[3, BLOCK](np.array([0, 1000, 5000], np.int32), out)
    offsets = np.repeat([0, 1000, 5000], BLOCK)[: len(out)]
    np.testing.assert_array_equal(out, np.arange(2 * BLOCK + 3) + offsets)


def test_compact_scatter_kernel_copies_what_is_kept_to_its_place(poisoned):
    x, keep = np.array([5, 6, 7, 8], np.float32), np.array([True, False, True, True])
    out = poisoned(3)
    compaction.compact_scatter_kernel[1, BLOCK](x, keep, np.array([2, 0, 0, 1], np.int32), out)
    np.testing.assert_array_equal(out, [7, 8, 5])


# ---- the kernel that scans all blocks in one launch -----------------------------------------


@pytest.mark.parametrize("blocks", [1, 2, 33, 80])
@pytest.mark.costly
def test_the_one_pass_kernel_publishes_the_total_and_the_prefix_of_each_block(blocks, rng):
    n = blocks * TILE - 5
    x, out = whole(rng, n, np.int32), sentinel(n, np.int32)
    flags, sums = np.zeros(blocks + 1, np.int32), sentinel((2, blocks), np.int32)
    one_pass.scan_one_pass_kernel[blocks, BLOCK](x, 0, out, flags, sums)
    totals = np.add.reduceat(x, range(0, n, TILE))
    np.testing.assert_array_equal(sums, [totals, totals.cumsum()])


def test_the_one_pass_kernel_counts_the_blocks_that_began():
    blocks = 3
    out, flags = np.zeros(blocks * TILE, np.int32), np.zeros(blocks + 1, np.int32)
    x, sums = np.ones(blocks * TILE, np.int32), np.zeros((2, blocks), np.int32)
    one_pass.scan_one_pass_kernel[blocks, BLOCK](x, 0, out, flags, sums)
    np.testing.assert_array_equal(flags, [*[one_pass.PREFIX] * blocks, blocks])


def test_looking_back_over_aggregates_alone_adds_them_up():
    """Block 70 of a grid whose other blocks have published no prefix but that of block 3."""

    @cuda.jit
    def ask(flags, sums, out):
        lane = cuda.grid(1)
        out[lane] = one_pass.look_back(flags, sums, 70, lane, out)

    flags, out = np.full(71, one_pass.AGGREGATE, np.int32), np.zeros(32, np.int32)
    sums = np.vstack([np.arange(71), np.full(71, -MOST)]).astype(np.int32)
    flags[3], sums[1, 3] = one_pass.PREFIX, 1000
    ask[1, 32](flags, sums, out)
    np.testing.assert_array_equal(out, np.full(32, 1000 + sum(range(4, 70))))


# ---- whole arrays ---------------------------------------------------------------------------


@sizes
@variants
def test_inclusive_scan_matches_the_reference(variant, n, signed, assert_close):
    x = signed(n)
    size = scan.inclusive_scan_reference(np.abs(x))
    made = scan.inclusive_scan(x, variant=variant)
    assert_close(made, scan.inclusive_scan_reference(x), magnitude=size, length=depth(n))


@sizes
@variants
def test_exclusive_scan_matches_the_reference(variant, n, signed, assert_close):
    x = signed(n)
    size = scan.exclusive_scan_reference(np.abs(x))
    made = scan.exclusive_scan(x, variant=variant)
    assert_close(made, scan.exclusive_scan_reference(x), magnitude=size, length=depth(n))


@pytest.mark.parametrize("n", LARGE)
@variants
def test_scans_take_as_many_levels_as_they_need(variant, n, rng):
    x, out = whole(rng, n, np.int32), sentinel(n, np.int32)
    scan.inclusive_scan(x, variant=variant, out=out)
    np.testing.assert_array_equal(out, np.cumsum(x))
    scan.exclusive_scan(x, variant=variant, out=out)
    np.testing.assert_array_equal(out, scan.exclusive_scan_reference(x))


@variants
def test_rounding_grows_with_the_levels_and_not_with_the_length(variant, signed, assert_close):
    n = BLOCK * BLOCK + 1
    x = signed(n)
    size = scan.inclusive_scan_reference(np.abs(x))
    made = scan.inclusive_scan(x, variant=variant)
    assert_close(made, scan.inclusive_scan_reference(x), magnitude=size, length=depth(n))


@sizes
@dtypes
@variants
def test_scans_write_every_element_of_out(variant, dtype, n, rng):
    x, out = whole(rng, n, dtype), sentinel(n, dtype)
    scan.inclusive_scan(x, variant=variant, out=out)
    np.testing.assert_array_equal(out, scan.inclusive_scan_reference(x))
    out = sentinel(n, dtype)
    scan.exclusive_scan(x, variant=variant, out=out)
    np.testing.assert_array_equal(out, scan.exclusive_scan_reference(x))


@dtypes
@variants
def test_scans_keep_the_dtype(variant, dtype):
    x = np.ones(3, dtype)
    assert scan.inclusive_scan(x, variant=variant).dtype == dtype
    assert scan.exclusive_scan(x, variant=variant).dtype == dtype


@variants
def test_scan_of_int32_wraps(variant):
    x = np.array([MOST, 1, 5], np.int32)
    np.testing.assert_array_equal(
        scan.inclusive_scan(x, variant=variant), [MOST, -MOST - 1, -MOST + 4]
    )


@variants
def test_a_nan_spoils_no_sum_before_it(variant):
    x = np.ones(2 * BLOCK + 9, np.float32)
    x[BLOCK + 40] = np.nan
    made = scan.inclusive_scan(x, variant=variant)
    np.testing.assert_array_equal(made[: BLOCK + 40], np.arange(1, BLOCK + 41))


@variants
def test_a_nan_spoils_every_sum_from_it_on(variant):
    x = np.ones(2 * BLOCK + 9, np.float32)
    x[BLOCK + 40] = np.nan
    assert np.isnan(scan.inclusive_scan(x, variant=variant)[BLOCK + 40 :]).all()


@variants
def test_infinities_make_no_nan_before_they_meet(variant):
    x = np.zeros(BLOCK + 3, np.float32)
    x[7], x[BLOCK] = np.inf, np.inf
    assert (scan.inclusive_scan(x, variant=variant)[7:] == np.inf).all()


@variants
def test_scans_leave_their_input_as_it_was(variant, signed):
    x = signed(700)
    before = x.copy()
    scan.inclusive_scan(x, variant=variant)
    scan.exclusive_scan(x, variant=variant)
    np.testing.assert_array_equal(x, before)


@variants
@pytest.mark.costly
def test_inclusive_scan_may_write_over_its_input(variant, rng):
    x = whole(rng, 1009, np.int32)
    expected = np.cumsum(x)
    assert scan.inclusive_scan(x, variant=variant, out=x) is x
    np.testing.assert_array_equal(x, expected)


@pytest.mark.parametrize("part", [np.s_[::2], np.s_[::-1], np.s_[3:-2]], ids=str)
def test_scans_take_parts_of_an_array(part):
    x = np.arange(1500, dtype=np.int32)[part]
    np.testing.assert_array_equal(scan.inclusive_scan(x), np.cumsum(x))


def test_scans_take_every_second_element_of_a_device_array():
    x = cuda.to_device(np.arange(1000, dtype=np.int32))[::2]
    made = launch.to_host(scan.exclusive_scan(x))
    np.testing.assert_array_equal(made, np.cumsum(np.arange(0, 1000, 2)) - np.arange(0, 1000, 2))


def test_cumsum_is_another_name_of_the_inclusive_scan():
    np.testing.assert_array_equal(scan.cumsum(np.array([1, 2, 3], np.int32)), [1, 3, 6])


# ---- compaction -----------------------------------------------------------------------------


@pytest.mark.parametrize("n", [*SIZES, BLOCK * BLOCK + 1])
@dtypes
def test_compact_keeps_what_is_flagged_in_order(n, dtype, rng):
    x, keep = np.arange(n).astype(dtype), rng.random(n) < 0.4
    np.testing.assert_array_equal(scan.compact(x, keep), scan.compact_reference(x, keep))


@sizes
def test_compact_of_all_is_all(n, signed):
    x = signed(n)
    np.testing.assert_array_equal(scan.compact(x, np.ones(n, np.bool_)), x)


@sizes
def test_compact_of_none_is_empty(n, signed):
    made = scan.compact(signed(n), np.zeros(n, np.bool_))
    assert (made.shape, made.dtype) == ((0,), np.float32)


def test_compact_of_nothing_is_empty():
    made = scan.compact(np.empty(0, np.int32), np.empty(0, np.bool_))
    assert (made.shape, made.dtype) == ((0,), np.int32)


def test_compact_keeps_the_last_element_alone():
    keep = np.zeros(BLOCK + 1, np.bool_)
    keep[-1] = True
    np.testing.assert_array_equal(scan.compact(np.arange(BLOCK + 1, dtype=np.int32), keep), [BLOCK])


def test_compact_keeps_a_nan():
    x = np.array([1, np.nan, 3], np.float32)
    np.testing.assert_array_equal(scan.compact(x, np.isnan(x)), [np.nan])


def test_compact_takes_parts_of_arrays(rng):
    x, keep = np.arange(1000, dtype=np.float32)[::-3], (rng.random(1000) < 0.5)[::3]
    np.testing.assert_array_equal(scan.compact(x, keep), x[keep])


# ---- what is refused ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["inclusive_scan", "exclusive_scan"])
def test_scans_reject_float64(name):
    with pytest.raises(
        TypeError, match=f"{name}: expected x to be a float32 or int32 array, got float64. Convert"
    ):
        getattr(scan, name)(np.ones(2))


def test_compact_rejects_flags_that_are_not_bool():
    with pytest.raises(TypeError, match="compact: expected keep to be a bool array, got int64"):
        scan.compact(np.ones(2, np.float32), np.ones(2, np.int64))


def test_compact_rejects_another_number_of_flags():
    words = r"compact: expected keep\.shape == \(3,\), got \(2,\)\. The axes are x \(n,\), keep \(n"
    with pytest.raises(ValueError, match=words):
        scan.compact(np.ones(3, np.float32), np.ones(2, np.bool_))


# ---- checked: what is found, and what is counted --------------------------------------------

N = 2 * BLOCK + 37


def arguments(dtype, shift=0):
    """Three blocks, the last one partial; the outputs are empty, which checked mode remembers."""
    x = (np.arange(N) % 7 - 3).astype(dtype)
    return x, shift, cuda.device_array(N, dtype), cuda.device_array(3, dtype)


def faults(kernel, *args):
    found = gpukit.check(kernel)[3, BLOCK](*args).findings
    return [finding for finding in found if finding.severity in ("error", "warning")]


@pytest.mark.watched
@dtypes
@shifts
@block_variants
def test_checked_mode_finds_nothing_wrong_with_a_scan(variant, shift, dtype):
    assert faults(kernel_of(variant), *arguments(dtype, shift)) == []


@pytest.mark.watched
@dtypes
def test_checked_mode_finds_nothing_wrong_with_add_offsets(dtype):
    out = cuda.to_device(np.ones(N, dtype))
    assert faults(three_launches.add_offsets_kernel, np.arange(3).astype(dtype), out) == []


@pytest.mark.watched
@dtypes
def test_checked_mode_finds_nothing_wrong_with_compact_scatter(dtype):
    keep = np.arange(N) % 3 == 0
    places, kept = np.cumsum(keep, dtype=np.int32) - keep.astype(np.int32), int(keep.sum())
    out = cuda.device_array(kept, dtype)
    assert faults(compaction.compact_scatter_kernel, np.ones(N, dtype), keep, places, out) == []


def one_pass_arguments(blocks, dtype, shift=0):
    n = blocks * TILE - 37
    x, out = (np.arange(n) % 7 - 3).astype(dtype), cuda.device_array(n, dtype)
    return x, shift, out, np.zeros(blocks + 1, np.int32), cuda.device_array((2, blocks), dtype)


@pytest.mark.watched
@dtypes
@shifts
def test_checked_mode_finds_nothing_wrong_with_a_scan_in_one_pass(shift, dtype):
    arrays = one_pass_arguments(3, dtype, shift)
    found = gpukit.check(one_pass.scan_one_pass_kernel)[3, BLOCK](*arrays).findings
    assert [finding for finding in found if finding.severity in ("error", "warning")] == []


@pytest.mark.watched
def test_one_pass_cost_is_what_checked_mode_counts():
    blocks = 35
    arrays = one_pass_arguments(blocks, np.float32)
    total = gpukit.profile(one_pass.scan_one_pass_kernel)[blocks, BLOCK](*arrays).total
    cost = one_pass.scan_one_pass_cost(arrays[0].size)
    assert (total["global_bytes_asked"], total.flops) == (cost.bytes, cost.flops)
    assert (total["flops_float64"], total["barriers"]) == (0, 3 * blocks * (BLOCK // 32))


def counted(variant):
    return gpukit.profile(kernel_of(variant))[3, BLOCK](*arguments(np.float32)).total


@pytest.mark.watched
@block_variants
def test_scan_cost_is_what_checked_mode_counts(variant):
    total, cost = counted(variant), launch.pick("test", scan.SCAN_VARIANTS, variant).cost(N)
    assert (total["global_bytes_asked"], total.flops) == (cost.bytes, cost.flops)


@pytest.mark.watched
@block_variants
def test_scan_does_no_float64_arithmetic(variant):
    assert counted(variant)["flops_float64"] == 0


@pytest.mark.watched
def test_add_offsets_cost_is_what_checked_mode_counts():
    args = np.ones(3, np.float32), np.ones(N, np.float32)
    total = gpukit.profile(three_launches.add_offsets_kernel)[3, BLOCK](*args).total
    cost = three_launches.add_offsets_cost(N)
    assert (total["global_bytes_asked"], total.flops) == (cost.bytes, cost.flops)


@pytest.mark.watched
def test_compact_scatter_cost_is_what_checked_mode_counts():
    keep = np.arange(N) % 3 == 0
    places, kept = np.cumsum(keep, dtype=np.int32) - 1, int(keep.sum())
    args = np.ones(N, np.float32), keep, places, np.ones(kept, np.float32)
    total = gpukit.profile(compaction.compact_scatter_kernel)[3, BLOCK](*args).total
    assert total["global_bytes_asked"] == compaction.compact_scatter_cost(N, kept).bytes


@pytest.mark.watched
@pytest.mark.parametrize(
    ("variant", "barriers"), [("block", 8), ("blelloch", 17), ("padded", 17), ("warp", 1)]
)
def test_scan_waits_as_often_as_its_docstring_says(variant, barriers):
    assert counted(variant)["barriers"] == barriers * 3 * (BLOCK // 32)


def conflicts(variant):
    total = counted(variant)
    return total["shared_load_conflicts"] + total["shared_store_conflicts"]


def passes(variant):
    total = counted(variant)
    return total["shared_load_wavefronts"] + total["shared_store_wavefronts"]


@pytest.mark.watched
def test_blelloch_has_bank_conflicts():
    assert conflicts("blelloch") == 3 * 280


@pytest.mark.watched
@pytest.mark.parametrize("variant", ["block", "padded", "warp"])
def test_other_scans_have_no_bank_conflicts(variant):
    assert conflicts(variant) == 0


@pytest.mark.watched
def test_passes_through_shared_memory_fall_when_the_tree_is_padded():
    assert passes("padded") < passes("block") < passes("blelloch")


@pytest.mark.watched
def test_shuffles_need_a_third_of_the_passes_of_the_padded_tree():
    assert 3 * passes("warp") < passes("padded")


@pytest.mark.watched
def test_additions_fall_to_less_than_half_from_doubling_steps_to_the_tree():
    assert 2 * counted("blelloch").flops < counted("block").flops
