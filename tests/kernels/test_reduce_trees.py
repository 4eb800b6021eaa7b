"""Multi-pass sum: four reduction trees with partial sums, and the savings of each step."""

import functools

import numpy as np
import pytest

import gpukit
from gpukit import cuda, launch
from gpukit.kernels import reduce, reduce_trees

BLOCK = reduce_trees.BLOCK
WARPS = BLOCK // reduce_trees.WARP
ALL = {variant.name: variant for variant in reduce_trees.VARIANTS}
SIZES = [1, 2, BLOCK - 1, BLOCK, BLOCK + 1, 1009, 2 * BLOCK - 1, 2 * BLOCK + 1, 4 * BLOCK]
FULL = 4 * BLOCK  # elements that fill every block of every variant

sizes = pytest.mark.parametrize("n", SIZES)
variants = pytest.mark.parametrize("variant", ALL)
dtypes = pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])


def elements_per_block(variant):
    return ALL[variant].tile or ALL[variant].block


def blocks_of(variant, n):
    return ALL[variant].grid("test", n)[0]


@functools.cache
def counters(variant, n=FULL, dtype=np.float32):
    x, partials = np.ones(n, dtype), np.full(blocks_of(variant, n), np.nan, dtype)
    return gpukit.profile(ALL[variant].kernel)[len(partials), BLOCK](x, partials).total


# ---- results --------------------------------------------------------------------------------


@variants
@sizes
def test_kernel_writes_the_sum_of_each_block(variant, n, signed, poisoned, assert_close):
    x, blocks, share = signed(n), blocks_of(variant, n), elements_per_block(variant)
    partials = poisoned(blocks)
    ALL[variant].kernel[blocks, BLOCK](x, partials)
    padded = np.pad(x.astype(np.float64), (0, blocks * share - n)).reshape(blocks, share)
    assert_close(partials, padded.sum(axis=1), magnitude=np.abs(padded).sum(axis=1), length=share)


@variants
def test_kernel_writes_the_float64_sum_of_each_block(variant, signed, poisoned, assert_close):
    n, share = 1009, elements_per_block(variant)
    x, partials = signed(n, dtype=np.float64), poisoned(blocks_of(variant, n), dtype=np.float64)
    ALL[variant].kernel[len(partials), BLOCK](x, partials)
    size = reduce_trees.partials_reference(np.abs(x), share)
    expected = reduce_trees.partials_reference(x, share)
    assert_close(partials, expected, magnitude=size, length=share)


@variants
def test_kernel_keeps_float64_bits_that_float32_cannot_hold(variant):
    x, partials = np.zeros(BLOCK + 9), np.full(blocks_of(variant, BLOCK + 9), np.nan)
    x[[3, 40, 200]] = 2**52, 1, 2
    ALL[variant].kernel[len(partials), BLOCK](x, partials)
    assert partials[0] == 2**52 + 3


@variants
def test_kernel_adds_every_element_once(variant):
    # Each position in the block in turn, so that a lost or repeated element shows.
    share = elements_per_block(variant)
    x, partials = np.eye(share, dtype=np.float32).ravel(), np.empty(share, np.float32)
    ALL[variant].kernel[share, BLOCK](x, partials)
    np.testing.assert_array_equal(partials, 1)


@variants
def test_kernel_confines_a_nan_to_its_block(variant):
    share = elements_per_block(variant)
    x, partials = np.ones(2 * share + 1, np.float32), np.zeros(3, np.float32)
    x[share] = np.nan
    ALL[variant].kernel[3, BLOCK](x, partials)
    np.testing.assert_array_equal(partials, [share, np.nan, 1])


@variants
def test_sum_takes_as_many_launches_as_it_needs(variant):
    share = elements_per_block(variant)
    n = share * share + 1  # share + 1 partial sums, then 2, then 1
    x = np.zeros(n, np.float32)
    x[[0, share, n - 1]] = 1, 2, 4
    assert reduce.sum(x, variant=variant) == 7


@sizes
@pytest.mark.parametrize("share", [BLOCK, 2 * BLOCK])
def test_reference_adds_up_to_the_sum_of_all(share, n):
    parts = reduce_trees.partials_reference(np.arange(n), share)
    assert len(parts) == launch.ceil_div(n, share)
    assert parts.sum() == n * (n - 1) / 2


# ---- memory accesses ------------------------------------------------------------------------


def test_costs_of_a_thousand_elements():
    # 1000 loads; 4 blocks, or 2 where each takes twice as many, store a partial sum each.
    costs = [variant.cost(1000) for variant in reduce_trees.VARIANTS]
    assert [cost.bytes for cost in costs] == [4 * 1004, 4 * 1004, 4 * 1002, 4 * 1002]
    # 255 additions; 511 with 256 during the load; 448 down to 64 elements, then 6 steps of a warp.
    assert [cost.flops for cost in costs] == [4 * 255, 4 * 255, 2 * 511, 2 * (448 + 6 * 32)]


@pytest.mark.watched
@variants
@pytest.mark.parametrize("n", [1, 300, 1009])
def test_cost_equals_the_profile_counters(variant, n):
    found = counters(variant, n)
    assert ALL[variant].cost(n) == launch.Cost(found["global_bytes_asked"], found.flops)


@pytest.mark.watched
@variants
@dtypes
def test_sums_are_accumulated_in_the_dtype_of_the_vector(variant, dtype):
    found = counters(variant, 1009, dtype)
    assert found.flops == found[f"flops_{np.dtype(dtype).name}"]


@pytest.mark.watched
@variants
def test_loads_are_coalesced(variant):
    found = counters(variant)
    assert found["global_load_sectors"] == 4 * found["global_load_requests"]


@pytest.mark.watched
@variants
def test_kernel_has_no_bank_conflicts(variant):
    found = counters(variant)
    assert found["shared_load_conflicts"] + found["shared_store_conflicts"] == 0


# ---- savings of each variant ----------------------------------------------------------------


@pytest.mark.watched
@pytest.mark.parametrize(
    ("variant", "divergent", "branches"),
    [("interleaved", 48, 144), ("sequential", 6, 144), ("first_add", 6, 144), ("unrolled", 1, 49)],
)
def test_divergent_branches_are_as_documented(variant, divergent, branches):
    found, blocks = counters(variant), blocks_of(variant, FULL)
    assert found["divergent_branches"] == divergent * blocks
    assert found["branches"] == branches * blocks


@pytest.mark.watched
def test_interleaved_addressing_issues_four_times_as_many_warp_additions():
    # All warps fill the tile; every other store of a warp writes a sum.
    stores = [
        counters(variant)["shared_store_requests"] for variant in ("interleaved", "sequential")
    ]
    assert [count // 4 - WARPS for count in stores] == [47, 12]


@pytest.mark.watched
def test_sequential_addressing_saves_no_additions():
    assert counters("interleaved").flops == counters("sequential").flops


@pytest.mark.watched
@pytest.mark.parametrize(
    ("variant", "barriers"),
    [("interleaved", 9), ("sequential", 9), ("first_add", 9), ("unrolled", 3)],
)
def test_barriers_per_warp_are_as_documented(variant, barriers):
    assert counters(variant)["barriers"] == barriers * WARPS * blocks_of(variant, FULL)


@pytest.mark.watched
def test_adding_during_the_load_halves_the_barriers_and_branches():
    before, after = counters("sequential"), counters("first_add")
    assert before["barriers"] == 2 * after["barriers"]
    assert before["branches"] == 2 * after["branches"]


@pytest.mark.watched
def test_warps_execute_fewer_statements_from_variant_to_variant():
    steps = [counters(variant)["warp_steps"] for variant in ALL]
    assert steps == sorted(set(steps), reverse=True)


# ---- checked mode ---------------------------------------------------------------------------


@pytest.mark.watched
@variants
@pytest.mark.parametrize("n", [1, 300, 1009])
def test_checker_reports_no_findings(variant, n, signed):
    partials = cuda.device_array(blocks_of(variant, n), np.float32)
    report = gpukit.check(ALL[variant].kernel)[len(partials), BLOCK](signed(n), partials)
    assert [f for f in report.findings if f.severity in ("error", "warning")] == []


@cuda.jit
def last_warp_of_2007_kernel(x, out):
    tid = cuda.threadIdx.x
    tile = cuda.shared.array(64, np.float32)
    tile[tid] = x[tid]
    tile[tid + 32] = x[tid + 32]
    cuda.syncwarp()
    tile[tid] += tile[tid + 32]
    tile[tid] += tile[tid + 16]
    if tid == 0:
        out[0] = tile[0]


@cuda.jit
def last_warp_with_one_syncwarp_a_step_kernel(x, out):
    tid = cuda.threadIdx.x
    tile = cuda.shared.array(64, np.float32)
    tile[tid] = x[tid]
    tile[tid + 32] = x[tid + 32]
    cuda.syncwarp()
    tile[tid] += tile[tid + 32]
    cuda.syncwarp()
    tile[tid] += tile[tid + 16]
    if tid == 0:
        out[0] = tile[0]


@pytest.mark.watched
@pytest.mark.parametrize(
    "kernel", [last_warp_of_2007_kernel, last_warp_with_one_syncwarp_a_step_kernel]
)
def test_checker_finds_the_race_in_a_last_warp_that_relies_on_lockstep(kernel):
    report = gpukit.check(kernel)[1, 32](np.ones(64, np.float32), np.zeros(1, np.float32))
    assert "warp-race" in {finding.kind for finding in report.findings}
