"""Scans: checker findings and profile counters."""

import numpy as np
import pytest

import gpukit
from gpukit import cuda, launch
from gpukit.kernels import scan
from gpukit.kernels.scan import blocks as three_launches
from gpukit.kernels.scan import one_pass

BLOCK, TILE = three_launches.BLOCK, one_pass.TILE
N = 2 * BLOCK + 37

block_variants = pytest.mark.parametrize(
    "variant", [variant.name for variant in three_launches.VARIANTS[:-1]]
)
dtypes = pytest.mark.parametrize("dtype", [np.float32, np.int32], ids=["float32", "int32"])
shifts = pytest.mark.parametrize("shift", [0, 1], ids=["inclusive", "exclusive"])


def kernel_of(variant):
    return launch.pick("test", scan.SCAN_VARIANTS, variant).kernel


def arguments(dtype, shift=0):
    """Return arguments for three blocks, the last one partial, with uninitialised outputs."""
    x = (np.arange(N) % 7 - 3).astype(dtype)
    return x, shift, cuda.device_array(N, dtype), cuda.device_array(3, dtype)


def faults(kernel, *args):
    found = gpukit.check(kernel)[3, BLOCK](*args).findings
    return [finding for finding in found if finding.severity in ("error", "warning")]


@pytest.mark.watched
@dtypes
@shifts
@block_variants
def test_checker_reports_no_findings_in_a_scan(variant, shift, dtype):
    assert faults(kernel_of(variant), *arguments(dtype, shift)) == []


@pytest.mark.watched
@dtypes
def test_checker_reports_no_findings_in_add_offsets(dtype):
    out = cuda.to_device(np.ones(N, dtype))
    assert faults(three_launches.add_offsets_kernel, np.arange(3).astype(dtype), out) == []


def one_pass_arguments(blocks, dtype, shift=0):
    n = blocks * TILE - 37
    x, out = (np.arange(n) % 7 - 3).astype(dtype), cuda.device_array(n, dtype)
    return x, shift, out, np.zeros(blocks + 1, np.int32), cuda.device_array((2, blocks), dtype)


@pytest.mark.watched
@dtypes
@shifts
def test_checker_reports_no_findings_in_a_one_pass_scan(shift, dtype):
    arrays = one_pass_arguments(3, dtype, shift)
    found = gpukit.check(one_pass.scan_one_pass_kernel)[3, BLOCK](*arrays).findings
    assert [finding for finding in found if finding.severity in ("error", "warning")] == []


@pytest.mark.watched
def test_one_pass_cost_equals_the_profile_counters():
    blocks = 35
    arrays = one_pass_arguments(blocks, np.float32)
    total = gpukit.profile(one_pass.scan_one_pass_kernel)[blocks, BLOCK](*arrays).total
    cost = one_pass.scan_one_pass_cost(arrays[0].size)
    assert (total["global_bytes_asked"], total.flops) == (cost.bytes, cost.flops)
    assert (total["flops_float64"], total["barriers"]) == (0, 3 * blocks * (BLOCK // 32))


def counters(variant):
    return gpukit.profile(kernel_of(variant))[3, BLOCK](*arguments(np.float32)).total


@pytest.mark.watched
@block_variants
def test_scan_cost_equals_the_profile_counters(variant):
    total, cost = counters(variant), launch.pick("test", scan.SCAN_VARIANTS, variant).cost(N)
    assert (total["global_bytes_asked"], total.flops) == (cost.bytes, cost.flops)


@pytest.mark.watched
@block_variants
def test_scan_does_no_float64_arithmetic(variant):
    assert counters(variant)["flops_float64"] == 0


@pytest.mark.watched
def test_add_offsets_cost_equals_the_profile_counters():
    args = np.ones(3, np.float32), np.ones(N, np.float32)
    total = gpukit.profile(three_launches.add_offsets_kernel)[3, BLOCK](*args).total
    cost = three_launches.add_offsets_cost(N)
    assert (total["global_bytes_asked"], total.flops) == (cost.bytes, cost.flops)


@pytest.mark.watched
@pytest.mark.parametrize(
    ("variant", "barriers"), [("block", 8), ("blelloch", 17), ("padded", 17), ("warp", 1)]
)
def test_barriers_of_a_scan_are_as_documented(variant, barriers):
    assert counters(variant)["barriers"] == barriers * 3 * (BLOCK // 32)


def conflicts(variant):
    total = counters(variant)
    return total["shared_load_conflicts"] + total["shared_store_conflicts"]


def wavefronts(variant):
    total = counters(variant)
    return total["shared_load_wavefronts"] + total["shared_store_wavefronts"]


@pytest.mark.watched
def test_blelloch_has_bank_conflicts():
    assert conflicts("blelloch") == 3 * 280


@pytest.mark.watched
@pytest.mark.parametrize("variant", ["block", "padded", "warp"])
def test_other_scans_have_no_bank_conflicts(variant):
    assert conflicts(variant) == 0


@pytest.mark.watched
def test_padding_the_tree_reduces_shared_memory_wavefronts():
    assert wavefronts("padded") < wavefronts("block") < wavefronts("blelloch")


@pytest.mark.watched
def test_shuffles_need_a_third_of_the_wavefronts_of_the_padded_tree():
    assert 3 * wavefronts("warp") < wavefronts("padded")


@pytest.mark.watched
def test_the_tree_needs_less_than_half_of_the_additions_of_doubling_steps():
    assert 2 * counters("blelloch").flops < counters("block").flops
