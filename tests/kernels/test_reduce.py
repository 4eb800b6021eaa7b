"""Sum: every variant through its host function, and the single-launch kernels."""

import functools
import math

import numpy as np
import pytest

import gpukit
from gpukit import cuda, launch
from gpukit.kernels import reduce
from tests.kernels.counts import cost_of

BLOCK = reduce.BLOCK
SIZES = [1, 2, BLOCK - 1, BLOCK, BLOCK + 1, 1009, 4 * BLOCK]
NAMES = [variant.name for variant in reduce.SUM_VARIANTS]
STRIDED = [reduce.sum_grid_stride_kernel, reduce.sum_shuffle_kernel, reduce.sum_vectorized_kernel]
FINISHED = [reduce.sum_atomic_kernel, *STRIDED]
# The vectorized variant loads float4; all others also accept float64.
PLAIN = [kernel for kernel in FINISHED if kernel is not reduce.sum_vectorized_kernel]

sizes = pytest.mark.parametrize("n", SIZES)
variants = pytest.mark.parametrize("variant", NAMES)
plain_variants = pytest.mark.parametrize(
    "variant", [name for name in NAMES if name != "vectorized"]
)
plain_kernels = pytest.mark.parametrize("kernel", PLAIN, ids=["atomic", "grid_stride", "shuffle"])
dtypes = pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
finished_kernels = pytest.mark.parametrize(
    "kernel", FINISHED, ids=["atomic", "grid_stride", "shuffle", "vectorized"]
)
strided_kernels = pytest.mark.parametrize(
    "kernel", STRIDED, ids=["grid_stride", "shuffle", "vectorized"]
)


@sizes
@finished_kernels
def test_single_launch_kernels_add_the_sum_to_out(kernel, n, signed, assert_close):
    x, out = signed(n), np.zeros(1, np.float32)
    kernel[launch.ceil_div(n, BLOCK), BLOCK](x, out)
    expected, size = [math.fsum(x.tolist())], [math.fsum(np.abs(x).tolist())]
    assert_close(out, expected, magnitude=size, length=n)


@plain_kernels
@pytest.mark.costly
def test_single_launch_kernels_add_float64_to_out(kernel, signed, assert_close):
    x, out = signed(1009, dtype=np.float64), np.zeros(1)
    kernel[launch.ceil_div(1009, BLOCK), BLOCK](x, out)
    expected, size = [math.fsum(x.tolist())], [math.fsum(np.abs(x).tolist())]
    assert_close(out, expected, magnitude=size, length=1009)


@strided_kernels
@pytest.mark.parametrize("blocks", [1, 2, 5])
def test_grid_stride_kernels_are_right_for_any_grid(kernel, blocks, signed, assert_close):
    x, out = signed(1009), np.zeros(1, np.float32)
    kernel[blocks, BLOCK](x, out)
    size = [reduce.sum_reference(np.abs(x))]
    assert_close(out, [reduce.sum_reference(x)], magnitude=size, length=1009)


@variants
@sizes
def test_sum_matches_the_reference(variant, n, signed, assert_close):
    x = signed(n)
    size = reduce.sum_reference(np.abs(x))
    assert_close(reduce.sum(x, variant=variant), reduce.sum_reference(x), magnitude=size, length=n)


@variants
def test_sum_is_exact_for_small_whole_numbers(variant):
    x = np.arange(1500, dtype=np.float32) % 7 - 3
    assert reduce.sum(x, variant=variant) == int(x.sum(dtype=np.int64))


@plain_variants
@pytest.mark.costly
def test_sum_of_float64_keeps_bits_that_float32_cannot_hold(variant):
    x = np.zeros(1009)
    x[[3, 40, 200, 1008]] = 2**52, 1, 2, 4  # three warps of one block, and another block
    assert reduce.sum(x, variant=variant) == 2**52 + 7


@variants
def test_sum_returns_a_float32(variant):
    assert reduce.sum(np.ones(3, np.float32), variant=variant).dtype == np.float32


@plain_variants
def test_sum_of_float64_returns_a_float64(variant):
    assert reduce.sum(np.ones(3), variant=variant).dtype == np.float64


def test_vectorized_sum_rejects_float64_and_names_a_variant_that_accepts_it():
    expected = (
        r"sum: expected float32 arrays for variant 'vectorized', got float64\. "
        r"Pass variant='shuffle'\."
    )
    with pytest.raises(TypeError, match=expected):
        reduce.sum(np.ones(2), variant="vectorized")


@variants
def test_sum_leaves_its_input_unchanged(variant, signed):
    x = signed(700)
    before = x.copy()
    reduce.sum(x, variant=variant)
    np.testing.assert_array_equal(x, before)


@variants
def test_sum_accepts_device_arrays(variant):
    from gpukit import cuda

    assert reduce.sum(cuda.to_device(np.ones(300, np.float32)), variant=variant) == 300


def test_sum_accepts_a_strided_view():
    assert reduce.sum(np.arange(10, dtype=np.float32)[::2]) == 20


def test_costs_of_a_thousand_elements():
    # 1000 loads, and 4 blocks that load and store out once.
    costs = [variant.cost(1000) for variant in reduce.VARIANTS]
    assert [cost.bytes for cost in costs] == [4 * 1008, 4 * 1008, 4 * 1008, 4 * 1002]
    # 4 trees of 255 additions, 4 atomics; 1000 additions first; 5 shuffles of 256 threads, then 8.
    assert [cost.flops for cost in costs] == [1024, 2024, 1000 + 4 * 1288, 1000 + 1288]


@pytest.mark.watched
@pytest.mark.parametrize(("n", "blocks"), [(1, 1), (300, 2), (1009, 2)])
def test_shuffle_cost_equals_the_profile_counters(n, blocks):
    found = counters(reduce.sum_shuffle_kernel, n, blocks)
    assert reduce.sum_shuffle_cost(n, blocks) == cost_of(found)


@pytest.mark.watched
@pytest.mark.parametrize(("n", "blocks"), [(1, 1), (300, 2), (1009, 2), (1024, 1)])
def test_vectorized_cost_equals_the_profile_counters(n, blocks):
    found = counters(reduce.sum_vectorized_kernel, n, blocks)
    assert reduce.VARIANTS[-1].cost(n, blocks) == cost_of(found)


@pytest.mark.watched
@plain_kernels
@dtypes
def test_sums_are_accumulated_in_the_dtype_of_the_vector(kernel, dtype):
    found = counters(kernel, 2 * BLOCK, 2, dtype)
    assert found.flops == found[f"flops_{np.dtype(dtype).name}"]


@pytest.mark.watched
def test_a_vectorized_load_requests_four_times_the_bytes():
    n = 4 * BLOCK
    narrow, wide = (
        counters(kernel, n, 1)
        for kernel in (reduce.sum_shuffle_kernel, reduce.sum_vectorized_kernel)
    )
    assert narrow["global_load_requests"] == 4 * wide["global_load_requests"]
    assert narrow["global_load_sectors"] == wide["global_load_sectors"]


@pytest.mark.parametrize("first", [1, 2, 3, 4])
def test_vectorized_sum_accepts_a_misaligned_vector(first, signed, assert_close):
    x = signed(1009)[first:]
    assert_close(
        reduce.sum(x, variant="vectorized"), x.sum(dtype=float), magnitude=abs(x).sum(), length=1009
    )


@pytest.mark.slow
def test_vectorized_sum_accepts_a_strided_device_array():
    x = cuda.to_device(np.arange(10, dtype=np.float32))[::2]
    assert reduce.sum(x, variant="vectorized") == 20


@pytest.mark.watched
def test_shuffles_need_at_most_an_eighth_of_the_barriers():
    tree, shuffle, _ = (counters(kernel, 700, 2)["barriers"] for kernel in STRIDED)
    assert (tree, shuffle) == (9 * 2 * reduce.WARPS, 2 * reduce.WARPS)


@pytest.mark.watched
def test_shuffles_store_one_shared_word_per_warp():
    found = counters(reduce.sum_shuffle_kernel, 700, 2)
    assert found["shared_store_requests"] == 2 * reduce.WARPS


@pytest.mark.watched
@strided_kernels
@pytest.mark.parametrize("n", [1, 300, 1009])
def test_checker_reports_no_findings(kernel, n, signed):
    report = gpukit.check(kernel)[2, BLOCK](signed(n), np.zeros(1, np.float32))
    assert [f for f in report.findings if f.severity in ("error", "warning")] == []


@functools.cache
def counters(kernel, n, blocks, dtype=np.float32):
    arguments = np.ones(n, dtype), np.zeros(1, dtype)
    return gpukit.profile(kernel)[blocks, BLOCK](*arguments).total


def test_grid_stride_cost_does_not_count_more_blocks_than_are_launched():
    n, most = 10**7, launch.resident_blocks(BLOCK)
    expected = launch.Cost(bytes=4 * n + 8 * most, flops=n + 256 * most)
    assert reduce.sum_grid_stride_cost(n) == expected


def test_shuffle_cost_does_not_count_more_blocks_than_are_launched():
    n, most = 10**7, launch.resident_blocks(BLOCK)
    expected = launch.Cost(bytes=4 * n + 8 * most, flops=n + 1288 * most)
    assert reduce.sum_shuffle_cost(n) == expected
