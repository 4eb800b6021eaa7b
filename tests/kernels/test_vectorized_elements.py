"""Vectorized elementwise variants: bit-identical to the scalar ones, with a scalar fallback."""

import functools

import numpy as np
import pytest

import gpukit
from gpukit import cuda, launch
from gpukit.kernels import activations, activations_grad, transpose, vector

BLOCK = vector.BLOCK
SIZES = [1, 2, 3, 4, 5, 4 * BLOCK - 1, 4 * BLOCK, 4 * BLOCK + 1, 5003]
VARIANTS = [
    variant
    for module in (vector, activations, activations_grad)
    for variant in module.VARIANTS
    if variant.name.endswith("_vectorized")
]
every_variant = pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)


def called(variant):
    """Return the host function of a variant as a function of arrays, and their number."""
    name = variant.instead
    module = activations_grad if name.endswith("_grad") else activations
    return {
        "fill": (lambda x, **o: vector.fill(x.size, 2.5, dtype=x.dtype, **o), 1),
        "vector_add": (vector.vector_add, 2),
        "saxpy": (functools.partial(vector.saxpy, 2.5), 2),
    }.get(name) or (getattr(module, name), 2 if module is activations_grad else 1)


def numbers(n, count, dtype=np.float32):
    return [np.random.default_rng((n, k)).standard_normal(n).astype(dtype) for k in range(count)]


def test_every_elementwise_kernel_has_a_vectorized_variant():
    modules = vector, activations, activations_grad
    every = [variant for module in modules for variant in module.VARIANTS]
    of_one = [each.name for each in every if not each.instead and not each.grid_stride]
    assert [variant.instead for variant in VARIANTS] == of_one != []


@every_variant
@pytest.mark.parametrize("n", SIZES)
def test_vectorized_variant_is_bit_identical_to_the_scalar_one(variant, n):
    function, count = called(variant)
    arrays, out = numbers(n, count), np.full(n, np.nan, np.float32)
    arrays[0][3::5] = np.nan
    assert function(*arrays, variant=variant.name, out=out) is out
    np.testing.assert_array_equal(out, function(*arrays, variant=variant.instead))


@every_variant
@pytest.mark.parametrize("case", ["float64", "misaligned", "out apart", "out misaligned"])
@pytest.mark.costly
def test_vectorized_variant_falls_back_to_the_scalar_one(variant, case):
    function, count = called(variant)
    arrays = numbers(1009, count, np.float64 if case == "float64" else np.float32)
    if case == "misaligned":
        arrays = [x[1:] for x in arrays]
    n, dtype = arrays[0].size, arrays[0].dtype
    whole = np.full(2 * n, np.nan, dtype)
    out = {"out apart": whole[::2], "out misaligned": whole[1 : n + 1]}.get(case)
    actual = function(*arrays, variant=variant.name, out=out)
    np.testing.assert_array_equal(actual, function(*arrays, variant=variant.instead))


def test_vectorized_fill_leaves_memory_around_out_unchanged():
    whole = np.full(1200, 7, np.float32)
    vector.fill(1009, 2.5, variant="fill_vectorized", out=whole[64:1073])
    assert (whole[:64] == 7).all()
    assert (whole[1073:] == 7).all()


@pytest.mark.parametrize("shape", [(1, 4), (7, 128), (9, 132), (33, 1000), (5, 3), (4, 130)])
def test_vectorized_copy_copies_every_element(shape):
    x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    out = np.full(shape, np.nan, np.float32)
    transpose.copy(x, variant="vectorized", out=out)
    np.testing.assert_array_equal(out, x)


@pytest.mark.parametrize("case", ["float64", "misaligned", "columns"])
def test_vectorized_copy_falls_back_to_the_scalar_kernel(case):
    x = np.arange(9 * 64, dtype=np.float64 if case == "float64" else np.float32)
    x = {"misaligned": x[1:513].reshape(8, 64), "columns": x.reshape(9, 64)[:, ::2]}.get(
        case, x.reshape(9, 64)
    )
    np.testing.assert_array_equal(transpose.copy(x, variant="vectorized"), x)


# ---- checker findings and profile counters --------------------------------------------------


def launch_under(watch, variant):
    """Launch a vectorized kernel with a partial last block and three leftover elements."""
    n = 4 * BLOCK + 7
    _, count = called(variant)
    first = (np.float32(2.5),) if variant.instead in ("fill", "saxpy") else ()
    arrays = [] if variant.instead == "fill" else numbers(n, count)
    out = cuda.device_array(n, np.float32)
    return watch(variant.kernel)[variant.grid("test", n), BLOCK](*first, *arrays, out), n


@pytest.mark.watched
@every_variant
def test_checker_reports_no_findings(variant):
    assert launch_under(gpukit.check, variant)[0].findings == []


@pytest.mark.watched
@every_variant
def test_cost_equals_the_profile_counters(variant):
    report, n = launch_under(gpukit.profile, variant)
    found = report.total
    assert variant.cost(n) == launch.Cost(found["global_bytes_asked"], found.flops)
    assert found["flops_float32"] == found.flops


@pytest.mark.watched
def test_cost_of_copy_equals_the_profile_counters_and_checker_reports_no_findings():
    variant = launch.pick("test", transpose.COPY_VARIANTS, "vectorized")
    x, out = np.ones((9, 132), np.float32), np.zeros((9, 132), np.float32)
    shape = variant.grid("test", 132, 9), variant.block
    assert gpukit.check(variant.kernel)[shape](x, out).findings == []
    found = gpukit.profile(variant.kernel)[shape](x, out).total
    assert variant.cost(9, 132) == launch.Cost(found["global_bytes_asked"], found.flops)
