"""Scan: four block-wise kernels, a one-pass kernel, and host functions on whole arrays."""

import numpy as np
import pytest

from gpukit import cuda, launch
from gpukit.kernels import scan
from gpukit.kernels.scan import blocks as three_launches
from gpukit.kernels.scan import one_pass

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
    """Return the most additions that an element undergoes until it is in a sum."""
    levels = 1 if n <= BLOCK else 2 if n <= BLOCK * BLOCK else 3
    return 20 * levels


def scanned(variant, x, shift, make):
    """Launch the kernel of a variant; return the scan of each block and the block totals."""
    blocks = launch.ceil_div(len(x), BLOCK)
    out, sums = make(len(x)), make(blocks)
    kernel_of(variant)[blocks, BLOCK](x, shift, out, sums)
    return out, sums


def in_blocks(x, shift):
    """Return the scan of each block of x and the block totals, computed by NumPy."""
    blocks = launch.ceil_div(len(x), BLOCK)
    moved = np.pad(x.astype(np.float64), (shift, BLOCK))[: blocks * BLOCK]
    sums = moved.reshape(blocks, BLOCK).cumsum(axis=1)
    return sums.ravel()[: len(x)], sums[:, -1]


def whole(rng, n, dtype):
    """Return small integers of both signs, whose sums are exact even in float32."""
    return rng.integers(-9, 10, n).astype(dtype)


def sentinel(n, dtype):
    """Return an output poisoned with NaN, or with an integer that no sum reaches."""
    return np.full(n, np.nan if dtype is np.float32 else -MOST, dtype)


# ---- block-wise kernels ---------------------------------------------------------------------


@sizes
@block_variants
@shifts
@pytest.mark.parametrize("result", [0, 1], ids=["scan", "totals"])
def test_scan_kernels_write_the_scan_of_each_block_and_its_total(
    result, variant, n, shift, signed, poisoned, assert_close
):
    x = signed(n)
    actual = scanned(variant, x, shift, poisoned)[result]
    expected, size = (in_blocks(values, shift)[result] for values in (x, np.abs(x)))
    assert_close(actual, expected, magnitude=size, length=depth(BLOCK))


@sizes
@block_variants
@shifts
@pytest.mark.costly
def test_scan_kernels_are_exact_for_int32(variant, n, shift, rng):
    x = whole(rng, n, np.int32)
    out, _ = scanned(variant, x, shift, lambda size: sentinel(size, np.int32))
    np.testing.assert_array_equal(out, in_blocks(x, shift)[0])


@block_variants
def test_exclusive_scan_kernels_write_one_element_more_when_out_is_longer(variant):
    out, sums = sentinel(BLOCK + 1, np.int32), sentinel(2, np.int32)
    kernel_of(variant)[2, BLOCK](np.ones(BLOCK, np.int32), 1, out, sums)
    assert out[BLOCK - 1] == BLOCK - 1
    assert out[BLOCK] == 1  # the second block starts again, with the last element of x


def test_add_offsets_kernel_adds_its_offset_to_each_block(poisoned):
    out = np.arange(2 * BLOCK + 3, dtype=np.int32)
    three_launches.add_offsets_kernel[3, BLOCK](np.array([0, 1000, 5000], np.int32), out)
    offsets = np.repeat([0, 1000, 5000], BLOCK)[: len(out)]
    np.testing.assert_array_equal(out, np.arange(2 * BLOCK + 3) + offsets)


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


def test_the_one_pass_kernel_numbers_blocks_in_the_order_they_start():
    blocks = 3
    out, flags = np.zeros(blocks * TILE, np.int32), np.zeros(blocks + 1, np.int32)
    x, sums = np.ones(blocks * TILE, np.int32), np.zeros((2, blocks), np.int32)
    one_pass.scan_one_pass_kernel[blocks, BLOCK](x, 0, out, flags, sums)
    np.testing.assert_array_equal(flags, [*[one_pass.PREFIX] * blocks, blocks])


def test_look_back_adds_aggregates_until_it_finds_a_prefix():
    """Block 70 looks back over blocks of which only block 3 has published its prefix."""

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
    actual = scan.inclusive_scan(x, variant=variant)
    assert_close(actual, scan.inclusive_scan_reference(x), magnitude=size, length=depth(n))


@sizes
@variants
def test_exclusive_scan_matches_the_reference(variant, n, signed, assert_close):
    x = signed(n)
    size = scan.exclusive_scan_reference(np.abs(x))
    actual = scan.exclusive_scan(x, variant=variant)
    assert_close(actual, scan.exclusive_scan_reference(x), magnitude=size, length=depth(n))


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
    actual = scan.inclusive_scan(x, variant=variant)
    assert_close(actual, scan.inclusive_scan_reference(x), magnitude=size, length=depth(n))


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
def test_scan_of_int32_wraps_around(variant):
    x = np.array([MOST, 1, 5], np.int32)
    np.testing.assert_array_equal(
        scan.inclusive_scan(x, variant=variant), [MOST, -MOST - 1, -MOST + 4]
    )


@variants
def test_a_nan_leaves_earlier_sums_finite(variant):
    x = np.ones(2 * BLOCK + 9, np.float32)
    x[BLOCK + 40] = np.nan
    actual = scan.inclusive_scan(x, variant=variant)
    np.testing.assert_array_equal(actual[: BLOCK + 40], np.arange(1, BLOCK + 41))


@variants
def test_a_nan_makes_every_later_sum_nan(variant):
    x = np.ones(2 * BLOCK + 9, np.float32)
    x[BLOCK + 40] = np.nan
    assert np.isnan(scan.inclusive_scan(x, variant=variant)[BLOCK + 40 :]).all()


@variants
def test_infinities_of_one_sign_give_no_nan(variant):
    x = np.zeros(BLOCK + 3, np.float32)
    x[7], x[BLOCK] = np.inf, np.inf
    assert (scan.inclusive_scan(x, variant=variant)[7:] == np.inf).all()


@variants
def test_scans_leave_their_input_unchanged(variant, signed):
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
def test_scans_accept_array_slices(part):
    x = np.arange(1500, dtype=np.int32)[part]
    np.testing.assert_array_equal(scan.inclusive_scan(x), np.cumsum(x))


def test_scans_accept_a_strided_device_array():
    x = cuda.to_device(np.arange(1000, dtype=np.int32))[::2]
    actual = launch.to_host(scan.exclusive_scan(x))
    np.testing.assert_array_equal(actual, np.cumsum(np.arange(0, 1000, 2)) - np.arange(0, 1000, 2))


def test_cumsum_is_an_alias_of_inclusive_scan():
    np.testing.assert_array_equal(scan.cumsum(np.array([1, 2, 3], np.int32)), [1, 3, 6])


# ---- errors ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["inclusive_scan", "exclusive_scan"])
def test_scans_reject_float64(name):
    with pytest.raises(
        TypeError, match=f"{name}: expected x to be a float32 or int32 array, got float64. Convert"
    ):
        getattr(scan, name)(np.ones(2))
