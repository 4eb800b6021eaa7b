"""max, min and argmax: NaN, ties, zeros, infinities, and the cost of launches."""

import numpy as np
import pytest

import gpukit
from gpukit import cuda, launch
from gpukit.kernels import extremes

BLOCK, WARP = extremes.BLOCK, extremes.WARP
SIZES = [1, 2, WARP - 1, WARP, WARP + 1, BLOCK - 1, BLOCK, BLOCK + 1, 1009, 4 * BLOCK]
# One element more than the threads of the largest grid: one thread processes two elements.
MOST = launch.resident_blocks(BLOCK)
MANY = MOST * BLOCK + 1
NAMES = ["max", "min", "argmax"]

sizes = pytest.mark.parametrize("n", SIZES)
functions = pytest.mark.parametrize("name", NAMES)
values = pytest.mark.parametrize("name", ["max", "min"])
dtypes = pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
place_dtypes = pytest.mark.parametrize("place", [np.int32, np.int64], ids=["int32", "int64"])


def call(name, x):
    return getattr(extremes, name)(x)


def kernel(name):
    return getattr(extremes, f"{name}_kernel")


def elements_of_blocks(n, blocks):
    """Return the indices of the elements that each block processes."""
    block = np.arange(n) // BLOCK % blocks
    return [np.flatnonzero(block == number) for number in range(blocks)]


# ---- kernels --------------------------------------------------------------------------------


@values
@sizes
def test_kernel_finds_the_extreme_of_each_block(name, n, signed, poisoned):
    x, blocks = signed(n), launch.ceil_div(n, BLOCK)
    found = poisoned(blocks)
    kernel(name)[blocks, BLOCK](x, found)
    expected = [getattr(np, name)(x[share]) for share in elements_of_blocks(n, blocks)]
    np.testing.assert_array_equal(found, expected)


@values
@dtypes
@pytest.mark.parametrize("blocks", [1, 2, 3])
def test_kernel_finds_the_extremes_of_grid_strided_elements(name, dtype, blocks, signed, poisoned):
    x, found = signed(1009, dtype=dtype), poisoned(blocks, dtype=dtype)
    kernel(name)[blocks, BLOCK](x, found)
    expected = [getattr(np, name)(x[share]) for share in elements_of_blocks(1009, blocks)]
    np.testing.assert_array_equal(found, expected)


@dtypes
@pytest.mark.parametrize(("name", "rest"), [("max", -np.inf), ("min", np.inf)])
def test_kernel_returns_the_identity_for_a_block_without_elements(name, rest, dtype, poisoned):
    found = poisoned(3, dtype=dtype)
    kernel(name)[3, BLOCK](np.array([7], dtype), found)
    np.testing.assert_array_equal(found, [7, rest, rest])


@dtypes
@place_dtypes
@pytest.mark.parametrize("blocks", [1, 2, 3])
def test_argmax_kernel_finds_the_index_in_each_block(dtype, place, blocks, signed):
    x, places = signed(1009, dtype=dtype), np.full(blocks, -1, place)
    extremes.argmax_kernel[blocks, BLOCK](x, places)
    expected = [share[np.argmax(x[share])] for share in elements_of_blocks(1009, blocks)]
    np.testing.assert_array_equal(places, expected)


@place_dtypes
@pytest.mark.parametrize("m", [1, 2, WARP + 1, BLOCK - 1, BLOCK, BLOCK + 1, 700])
def test_argmax_finish_kernel_finds_the_best_of_the_candidate_indices(m, place, rng):
    x = rng.integers(0, 9, 1009).astype(np.float32)  # many are equal
    places, out = rng.permutation(1009)[:m].astype(place), np.full(1, -1)
    extremes.argmax_finish_kernel[1, BLOCK](x, places, out)
    expected = max(places, key=lambda i: (x[i], -i))
    np.testing.assert_array_equal(out, [expected])


@pytest.mark.parametrize("at", range(0, BLOCK, 5))
def test_maximum_is_found_in_every_lane_and_warp(at):
    x = np.zeros(BLOCK, np.float32)
    x[at] = 1
    assert (extremes.max(x), extremes.min(-x), extremes.argmax(x)) == (1, -1, at)


# ---- host functions -------------------------------------------------------------------------


@functions
@sizes
def test_result_matches_numpy(name, n, signed):
    x = signed(n)
    assert call(name, x) == getattr(np, name)(x)


@functions
def test_result_matches_numpy_with_more_elements_than_threads(name, signed):
    x = signed(MANY)
    x[-1] = -1e6 if name == "min" else 1e6
    assert call(name, x) == getattr(np, name)(x)


@functions
@dtypes
def test_result_matches_the_reference(name, dtype, signed):
    x = signed(1009, dtype=dtype)
    assert call(name, x) == getattr(extremes, f"{name}_reference")(x)


@functions
@pytest.mark.parametrize("base", [1.0, -1e300])
def test_float64_values_that_round_to_one_float32_are_distinguished(name, base):
    x = np.full(1009, base)
    x[700] = np.nextafter(base, -np.inf if name == "min" else np.inf)
    assert call(name, x) == getattr(np, name)(x)


@values
@sizes
@pytest.mark.parametrize("part", [0, 0.5, 1])
def test_extreme_is_nan_wherever_the_nan_is(name, n, part, signed):
    x = signed(n)
    x[int(part * (n - 1))] = np.nan
    assert np.isnan(call(name, x))


@values
@dtypes
def test_extreme_is_nan_beside_infinities(name, dtype):
    assert np.isnan(call(name, np.array([np.inf, np.nan, -np.inf], dtype)))


@functions
def test_negative_nan_is_treated_as_any_nan(name):
    x = np.array([1, -np.nan, 2], np.float32)
    np.testing.assert_array_equal(call(name, x), getattr(np, name)(x))


@pytest.mark.parametrize("places", [(0,), (5, 3), (900, 40), (1008, 700, 699), (BLOCK, WARP)])
def test_argmax_returns_the_first_nan(places):
    x = np.linspace(-1, 1, 1009, dtype=np.float32)
    x[list(places)] = np.nan
    assert extremes.argmax(x) == min(places) == np.argmax(x)


def test_argmax_prefers_nan_to_infinity():
    assert extremes.argmax(np.array([1, np.inf, np.nan, np.inf], np.float32)) == 2


@pytest.mark.parametrize(
    "places",
    [(0, 1), (3, WARP + 2), (200, 3 + 4 * BLOCK), (BLOCK + 1, 2 * BLOCK), (1100, 1101)],
    ids=str,
)
def test_argmax_returns_the_first_of_equal_elements(places):
    x = np.zeros(1200, np.float32)
    x[list(places)] = 5
    assert extremes.argmax(x) == places[0]


@pytest.mark.parametrize("value", [0, -3, np.inf, -np.inf, np.nan])
@sizes
def test_argmax_is_0_when_all_are_equal(value, n):
    assert extremes.argmax(np.full(n, value, np.float32)) == 0


def test_argmax_of_few_distinct_values_matches_numpy(rng):
    for _ in range(20):
        x = rng.choice(np.array([-np.inf, -1, 0, 2, np.inf], np.float32), 700)
        assert extremes.argmax(x) == np.argmax(x)


@pytest.mark.parametrize("zeros", [(0.0, -0.0), (-0.0, 0.0)])
def test_argmax_treats_zeros_of_both_signs_as_equal(zeros):
    x = np.array([-1, *zeros, -2], np.float32)
    assert (extremes.max(x), extremes.argmax(x), extremes.min(-x)) == (0, 1, 0)


@pytest.mark.parametrize("value", [0.0, -0.0, np.inf, -np.inf, 1e-45, -1e-45, 3.4e38])
@values
@dtypes
def test_extreme_of_one_value_keeps_its_bits(name, value, dtype):
    x = np.full(300, value, dtype)
    assert call(name, x).tobytes() == x[:1].tobytes()


@values
def test_infinities_are_the_extremes(name):
    x = np.array([1, np.inf, -np.inf, 2], np.float32)
    assert call(name, x) == {"max": np.inf, "min": -np.inf}[name]


@functions
def test_second_call_gives_bit_identical_results(name, signed):
    x = np.where(signed(5000) > 0, np.float32(0), np.float32(-0.0))
    assert {call(name, x).tobytes() for _ in range(5)} == {call(name, x).tobytes()}


@values
@dtypes
def test_extreme_has_the_dtype_of_the_input(name, dtype):
    assert call(name, np.ones(3, dtype)).dtype == dtype


def test_argmax_is_an_int64():
    assert extremes.argmax(np.ones(3, np.float32)).dtype == np.int64


@functions
@pytest.mark.parametrize(
    "view",
    [lambda x: x[::2], lambda x: x[::-1], lambda x: x[5:-7]],
    ids=["strided", "reversed", "slice"],
)
def test_non_contiguous_vector_is_read_correctly(name, view, signed):
    x = view(signed(1009))
    assert call(name, x) == getattr(np, name)(x)


@functions
@pytest.mark.costly
def test_non_contiguous_device_array_is_read_correctly(name, signed):
    x = signed(1009)
    assert call(name, cuda.to_device(x)[1::2]) == getattr(np, name)(x[1::2])


@functions
def test_input_is_unchanged(name, signed):
    x = signed(700)
    before = x.copy()
    call(name, x)
    np.testing.assert_array_equal(x, before)


@functions
@pytest.mark.costly
def test_read_only_vector_is_accepted(name):
    x = np.ones(5, np.float32)
    x.flags.writeable = False
    assert call(name, x) == getattr(np, name)(x)


@functions
def test_empty_vector_is_rejected(name):
    expected = rf"{name}: expected x\.shape\[0\] >= 1, got shape \(0,\)\. Pass one element or more"
    with pytest.raises(ValueError, match=expected):
        call(name, np.empty(0, np.float32))


# ---- checker findings and profile counters --------------------------------------------------


def launch_of(variant, n, blocks):
    """Return a launch configuration and the arguments, the output last."""
    x = np.linspace(1, 2, n, dtype=np.float32)
    if variant.name == "argmax_finish":
        return (1, BLOCK), (x, np.arange(0, n, 3, np.int32), cuda.device_array(1, np.int64))
    found = np.int32 if variant.name == "argmax" else np.float32
    return (blocks, BLOCK), (x, cuda.device_array(blocks, found))


def work_of(variant, n, blocks):
    """Return the counted cost of a launch, and the cost that its cost function states."""
    shape, arguments = launch_of(variant, n, blocks)
    found = gpukit.profile(variant.kernel)[shape](*arguments).total
    inputs = (len(arguments[1]),) if variant.name == "argmax_finish" else (n, blocks)
    counted = launch.Cost(found["global_bytes_asked"], found.flops)
    return counted, variant.cost(*inputs)


every_variant = pytest.mark.parametrize(
    "variant", extremes.VARIANTS, ids=lambda variant: variant.name
)
launches = pytest.mark.parametrize(("n", "blocks"), [(1, 1), (300, 2), (1009, 2)])


@pytest.mark.watched
@every_variant
@launches
def test_checker_reports_no_findings(variant, n, blocks):
    shape, arguments = launch_of(variant, n, blocks)
    report = gpukit.check(variant.kernel)[shape](*arguments)
    assert [f for f in report.findings if f.severity in ("error", "warning")] == []


@pytest.mark.watched
@every_variant
@launches
def test_cost_equals_the_profile_counters(variant, n, blocks):
    counted, expected = work_of(variant, n, blocks)
    assert counted == expected


@pytest.mark.parametrize(("n", "place"), [(1, np.int32), (2**31 - 1, np.int32), (2**31, np.int64)])
def test_indices_are_int32_while_they_fit(n, place):
    assert extremes.place_dtype(n) is place


@pytest.mark.watched
@every_variant
def test_every_warp_reaches_one_barrier(variant):
    shape, arguments = launch_of(variant, 300, 2)
    found = gpukit.profile(variant.kernel)[shape](*arguments).total
    assert found["barriers"] == shape[0] * extremes.WARPS


@functions
def test_cost_does_not_count_more_blocks_than_are_launched(name):
    n, variant = 10**7, next(variant for variant in extremes.VARIANTS if variant.name == name)
    assert variant.cost(n).bytes == 4 * n + MOST * 4
