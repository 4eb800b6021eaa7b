"""Compaction: the elements whose flag is true, in order."""

import numpy as np
import pytest

import gpukit
from gpukit import cuda
from gpukit.kernels import scan
from gpukit.kernels.scan import compaction
from gpukit.kernels.scan.blocks import BLOCK

SIZES = [1, 2, 31, 32, 33, BLOCK - 1, BLOCK, BLOCK + 1, 1009]
N = 2 * BLOCK + 37

sizes = pytest.mark.parametrize("n", SIZES)
dtypes = pytest.mark.parametrize("dtype", [np.float32, np.int32], ids=["float32", "int32"])


def test_compact_scatter_kernel_copies_flagged_elements_to_their_positions(poisoned):
    x, keep = np.array([5, 6, 7, 8], np.float32), np.array([True, False, True, True])
    out = poisoned(3)
    compaction.compact_scatter_kernel[1, BLOCK](x, keep, np.array([2, 0, 0, 1], np.int32), out)
    np.testing.assert_array_equal(out, [7, 8, 5])


@pytest.mark.parametrize("n", [*SIZES, BLOCK * BLOCK + 1])
@dtypes
def test_compact_keeps_flagged_elements_in_order(n, dtype, rng):
    x, keep = np.arange(n).astype(dtype), rng.random(n) < 0.4
    np.testing.assert_array_equal(scan.compact(x, keep), scan.compact_reference(x, keep))


@sizes
def test_compact_with_all_flags_set_returns_the_input(n, signed):
    x = signed(n)
    np.testing.assert_array_equal(scan.compact(x, np.ones(n, np.bool_)), x)


@sizes
def test_compact_with_no_flag_set_is_empty(n, signed):
    actual = scan.compact(signed(n), np.zeros(n, np.bool_))
    assert (actual.shape, actual.dtype) == ((0,), np.float32)


def test_compact_of_an_empty_array_is_empty():
    actual = scan.compact(np.empty(0, np.int32), np.empty(0, np.bool_))
    assert (actual.shape, actual.dtype) == ((0,), np.int32)


def test_compact_keeps_only_the_last_element():
    keep = np.zeros(BLOCK + 1, np.bool_)
    keep[-1] = True
    np.testing.assert_array_equal(scan.compact(np.arange(BLOCK + 1, dtype=np.int32), keep), [BLOCK])


def test_compact_keeps_a_nan():
    x = np.array([1, np.nan, 3], np.float32)
    np.testing.assert_array_equal(scan.compact(x, np.isnan(x)), [np.nan])


def test_compact_accepts_array_slices(rng):
    x, keep = np.arange(1000, dtype=np.float32)[::-3], (rng.random(1000) < 0.5)[::3]
    np.testing.assert_array_equal(scan.compact(x, keep), x[keep])


def test_compact_rejects_flags_that_are_not_bool():
    with pytest.raises(TypeError, match="compact: expected keep to be a bool array, got int64"):
        scan.compact(np.ones(2, np.float32), np.ones(2, np.int64))


def test_compact_rejects_another_number_of_flags():
    words = r"compact: expected keep\.shape == \(3,\), got \(2,\)\. The axes are x \(n,\), keep \(n"
    with pytest.raises(ValueError, match=words):
        scan.compact(np.ones(3, np.float32), np.ones(2, np.bool_))


# ---- checker findings and profile counters ------------------------------------------------


@pytest.mark.watched
@dtypes
def test_checker_reports_no_findings_in_compact_scatter(dtype):
    keep = np.arange(N) % 3 == 0
    places, kept = np.cumsum(keep, dtype=np.int32) - keep.astype(np.int32), int(keep.sum())
    out = cuda.device_array(kept, dtype)
    checked = gpukit.check(compaction.compact_scatter_kernel)[3, BLOCK]
    assert checked(np.ones(N, dtype), keep, places, out).findings == []


@pytest.mark.watched
def test_compact_scatter_cost_equals_the_profile_counters():
    keep = np.arange(N) % 3 == 0
    places, kept = np.cumsum(keep, dtype=np.int32) - 1, int(keep.sum())
    args = np.ones(N, np.float32), keep, places, np.ones(kept, np.float32)
    total = gpukit.profile(compaction.compact_scatter_kernel)[3, BLOCK](*args).total
    assert total["global_bytes_asked"] == compaction.compact_scatter_cost(N, kept).bytes
