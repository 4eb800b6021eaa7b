"""Histogram: global atomics, and privatized bins in shared memory."""

import numpy as np
import pytest

import gpukit
from gpukit import cuda, launch
from gpukit.kernels import histogram

BLOCK = histogram.BLOCK
MOST = histogram.MAX_PRIVATE_BINS
SIZES = [1, 31, 32, 33, BLOCK - 1, BLOCK, BLOCK + 1, 1009, 20 * BLOCK + 1]
BINS = [1, 2, 10, 31, BLOCK - 1, BLOCK, BLOCK + 1, 4096]
NAMES = [variant.name for variant in histogram.VARIANTS]

sizes = pytest.mark.parametrize("n", SIZES)
every_bins = pytest.mark.parametrize("bins", BINS)
variants = pytest.mark.parametrize("variant", NAMES)
dtypes = pytest.mark.parametrize("dtype", [np.uint8, np.int32], ids=lambda dtype: dtype.__name__)


def run(variant, x, out, blocks=None):
    """Launch the kernel of a variant."""
    kernel = launch.pick("test", histogram.VARIANTS, variant).kernel
    blocks = blocks or launch.ceil_div(len(x), BLOCK)
    shared = 4 * len(out) if variant == "privatized" else 0
    kernel[blocks, BLOCK, 0, shared](x, out)


# ---- checker findings -----------------------------------------------------------------------


@pytest.mark.watched
@dtypes
@variants
def test_checker_reports_no_findings(variant, dtype):
    x, out = (np.arange(700) % 41).astype(dtype), np.zeros(37, np.int32)
    kernel = launch.pick("test", histogram.VARIANTS, variant).kernel
    found = gpukit.check(kernel)[3, BLOCK, 0, 4 * 37](x, out).findings
    assert [finding for finding in found if finding.severity in ("error", "warning")] == []


# ---- the kernels ----------------------------------------------------------------------------


@sizes
@dtypes
@variants
def test_kernels_count_every_value(variant, dtype, n, rng):
    x, out = rng.integers(0, 37, n).astype(dtype), np.zeros(37, np.int32)
    run(variant, x, out)
    np.testing.assert_array_equal(out, np.bincount(x, minlength=37))


@variants
def test_kernels_add_to_out(variant):
    out = np.array([100, 200, 300], np.int32)
    run(variant, np.array([0, 2, 2], np.uint8), out)
    np.testing.assert_array_equal(out, [101, 200, 302])


@pytest.mark.parametrize("blocks", [1, 2, 5, 9])
def test_privatized_kernel_is_right_for_any_grid(blocks, rng):
    x, out = rng.integers(0, 37, 1009).astype(np.int32), np.zeros(37, np.int32)
    run("privatized", x, out, blocks)
    np.testing.assert_array_equal(out, np.bincount(x, minlength=37))


@variants
def test_kernels_ignore_values_outside_the_bins(variant):
    x = np.array([-(2**31), -1, 0, 36, 37, 2**31 - 1], np.int32)
    out = np.zeros(37, np.int32)
    run(variant, x, out)
    assert (out[0], out[36], out.sum()) == (1, 1, 2)


# ---- the host function ----------------------------------------------------------------------


@every_bins
@sizes
@variants
def test_bincount_matches_the_reference(variant, n, bins, rng):
    x = rng.integers(-5, bins + 5, n).astype(np.int32)
    actual = histogram.bincount(x, bins, variant=variant)
    np.testing.assert_array_equal(actual, histogram.bincount_reference(x, bins))


@every_bins
@variants
def test_bincount_of_bytes_matches_numpy(variant, bins, rng):
    x = rng.integers(0, 256, 1009).astype(np.uint8)
    actual = histogram.bincount(x, bins, variant=variant)
    np.testing.assert_array_equal(actual, np.bincount(x, minlength=bins)[:bins])


@variants
def test_bincount_of_equal_values_fills_one_bin(variant):
    actual = histogram.bincount(np.full(5000, 7, np.uint8), 256, variant=variant)
    np.testing.assert_array_equal(actual, 5000 * (np.arange(256) == 7))


@pytest.mark.parametrize("bins", [MOST - 1, MOST, MOST + 1, 100_003])
@variants
def test_bincount_takes_any_number_of_bins(variant, bins, rng):
    x = rng.integers(0, bins, 3001).astype(np.int32)
    actual = histogram.bincount(x, bins, variant=variant)
    np.testing.assert_array_equal(actual, np.bincount(x, minlength=bins))


@dtypes
@variants
def test_bincount_of_an_empty_array_is_zero(variant, dtype):
    out = np.full(5, -1, np.int32)
    histogram.bincount(np.empty(0, dtype), 5, variant=variant, out=out)
    np.testing.assert_array_equal(out, np.zeros(5))


@dtypes
@variants
def test_bincount_writes_every_bin_of_out(variant, dtype):
    out = np.full(300, -1, np.int32)
    histogram.bincount(np.array([3, 3, 1], dtype), 300, variant=variant, out=out)
    np.testing.assert_array_equal(out[:5], [0, 1, 0, 2, 0])
    assert out.sum() == 3


@variants
def test_bincount_returns_int32(variant):
    assert histogram.bincount(np.zeros(3, np.uint8), 4, variant=variant).dtype == np.int32


@variants
def test_bincount_leaves_its_input_unchanged(variant, rng):
    x = rng.integers(0, 9, 700).astype(np.int32)
    before = x.copy()
    histogram.bincount(x, 9, variant=variant)
    np.testing.assert_array_equal(x, before)


@pytest.mark.parametrize("part", [np.s_[::2], np.s_[::-1], np.s_[3:-2]], ids=str)
@variants
def test_bincount_accepts_array_slices(variant, part, rng):
    x = rng.integers(0, 9, 700).astype(np.int32)[part]
    np.testing.assert_array_equal(
        histogram.bincount(x, 9, variant=variant), np.bincount(x, minlength=9)
    )


def test_bincount_accepts_a_strided_device_array():
    x = cuda.to_device(np.arange(100, dtype=np.int32))[::2]
    np.testing.assert_array_equal(launch.to_host(histogram.bincount(x, 4)), [1, 0, 1, 0])


def test_a_block_counts_more_values_than_it_has_bins():
    assert histogram.private_blocks(2 * BLOCK, 16) == 2
    assert histogram.private_blocks(2 * 4096, 4096) == 2


@pytest.mark.parametrize("bins", [16, MOST])
def test_number_of_blocks_is_capped_at_the_resident_blocks_of_the_device(bins):
    assert histogram.private_blocks(10**9, bins) == launch.resident_blocks(BLOCK, 4 * bins)


def test_private_bins_fit_into_the_shared_memory_of_every_gpu():
    assert 4 * MOST == 48 * 1024


# ---- errors ---------------------------------------------------------------------------------


def test_bincount_rejects_floats():
    with pytest.raises(
        TypeError, match="bincount: expected x to be a uint8 or int32 array, got float32"
    ):
        histogram.bincount(np.ones(2, np.float32), 4)


def test_bincount_rejects_zero_bins():
    with pytest.raises(ValueError, match=r"bincount: expected bins >= 1, got 0\. Pass 1 or more"):
        histogram.bincount(np.ones(2, np.uint8), 0)


def test_bincount_rejects_a_fractional_number_of_bins():
    with pytest.raises(TypeError, match="bincount: expected bins to be an int, got float"):
        histogram.bincount(np.ones(2, np.uint8), 2.5)


# ---- profile counters -----------------------------------------------------------------------

N, FEW, BLOCKS = 5000, 37, 3


def counters(variant, dtype=np.int32, value=None):
    x = (np.arange(N) % FEW if value is None else np.full(N, value)).astype(dtype)
    kernel = launch.pick("test", histogram.VARIANTS, variant).kernel
    blocks = BLOCKS if variant == "privatized" else launch.ceil_div(N, BLOCK)
    return gpukit.profile(kernel)[blocks, BLOCK, 0, 4 * FEW](x, np.zeros(FEW, np.int32)).total


# Counters include the four bytes of an atomic once, the cost as a load and a store.


@pytest.mark.watched
@dtypes
def test_atomic_cost_equals_the_profile_counters(dtype):
    cost = histogram.histogram_atomic_cost(N, np.dtype(dtype).itemsize)
    assert counters("atomic", dtype)["global_bytes_asked"] == cost.bytes - 4 * N


@pytest.mark.watched
@dtypes
def test_privatized_cost_equals_the_profile_counters(dtype):
    cost = histogram.histogram_privatized_cost(N, FEW, BLOCKS, np.dtype(dtype).itemsize)
    counts = counters("privatized", dtype)
    assert counts["global_bytes_asked"] == cost.bytes - 4 * FEW * BLOCKS


@pytest.mark.watched
def test_privatisation_reduces_global_atomics_from_one_per_value_to_one_per_bin_and_block():
    assert counters("atomic")["global_atomic_requests"] == launch.ceil_div(N, 32)
    warps = launch.ceil_div(FEW, 32)
    assert counters("privatized")["global_atomic_requests"] == warps * BLOCKS


@pytest.mark.watched
def test_equal_values_contend_across_the_grid_or_only_within_a_block():
    assert counters("atomic", value=7)["atomic_contention"] == N
    busiest_block = 7 * BLOCK  # 20 steps of 256 threads, shared by 3 blocks; the last has 136
    assert counters("privatized", value=7)["atomic_contention"] == busiest_block


@pytest.mark.watched
def test_counting_twice_as_many_values_adds_no_global_atomic():
    x, kernel = np.zeros(2 * N, np.uint8), histogram.histogram_privatized_kernel
    run = gpukit.profile(kernel)[BLOCKS, BLOCK, 0, 4 * FEW]
    requests = [
        run(part, np.zeros(FEW, np.int32)).total["global_atomic_requests"] for part in (x, x[:N])
    ]
    assert requests[0] == requests[1]


@pytest.mark.watched
def test_privatized_kernel_has_two_barriers():
    assert counters("privatized")["barriers"] == 2 * BLOCKS * (BLOCK // 32)
