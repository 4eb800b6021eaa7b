"""bfloat16 matrix product on tensor cores: sizes, cost and the layout of tiles."""

import functools

import numpy as np
import pytest

import gpukit
from gpukit import cuda, launch
from gpukit.kernels import matmul
from gpukit.kernels.matmul import bf16
from gpukit.kernels.matmul.bf16 import DEPTH, EIGHT, SIDE, TALL
from gpukit.primitives import tensor

ROUND = bf16.VARIANTS[0]
VARIANTS = {variant.name: variant for variant in bf16.MATMUL_VARIANTS}
HEIGHT = {"tensor_bf16": SIDE, "warpgroup_bf16": TALL}
# (M, N, K): the smallest; around 16 bytes, a tile and a block; all different.
SHAPES = [
    (1, 1, 1),
    (3, 8, 7),
    (31, 67, 37),
    (1, 36, 53),
    (41, 1, 20),
    (SIDE, SIDE, DEPTH),
    (SIDE - 1, SIDE + 1, DEPTH - 1),
    (SIDE + 1, SIDE - 1, DEPTH + 1),
    (TALL + 3, 9, 2 * DEPTH + 5),
    (5, 2 * SIDE + 11, 4 * DEPTH),
]

variants = pytest.mark.parametrize("variant", VARIANTS)
shapes = pytest.mark.parametrize(("m", "n", "k"), SHAPES, ids=str)


def run(variant, a, b, out):
    """Launch a kernel on float32 matrices, rounded to bfloat16 and padded for it."""
    inputs = bf16.as_bf16("a", a, 0), bf16.as_bf16("b", b, 0)
    grid = VARIANTS[variant].grid("test", *out.shape[::-1])
    VARIANTS[variant].kernel[grid, VARIANTS[variant].block](*inputs, out)


@variants
@shapes
def test_kernels_match_the_reference(variant, m, n, k, signed, poisoned, assert_close):
    a, b, out = signed(m, k), signed(k, n), poisoned(m, n)
    run(variant, a, b, out)
    size = matmul.matmul_reference(np.abs(a), np.abs(b)) * (1 + 2**-7)
    assert_close(out, bf16.matmul_bf16_reference(a, b), magnitude=size, length=k)


@shapes
def test_mma_and_wgmma_variants_are_bit_identical(m, n, k, signed):
    a, b = signed(m, k), signed(k, n)
    first, second = (matmul.matmul(a, b, variant=variant) for variant in VARIANTS)
    np.testing.assert_array_equal(first, second)


# ---- inputs of the host function ------------------------------------------------------------


@variants
@pytest.mark.parametrize(("m", "n", "k"), [(5, 16, 8), (5, 13, 7)])
def test_bfloat16_bits_are_used_without_rounding(variant, m, n, k, signed):
    a, b = signed(m, k), signed(k, n)
    out = matmul.matmul(tensor.bf16(a), tensor.bf16(b), variant=variant)
    np.testing.assert_array_equal(out, matmul.matmul(a, b, variant=variant))


@variants
def test_non_contiguous_operands_are_copied(variant, signed):
    a, b = signed(18, 10)[::2].T, signed(9, 24)[:, ::2]
    expected = matmul.matmul(np.ascontiguousarray(a), np.ascontiguousarray(b), variant=variant)
    np.testing.assert_array_equal(matmul.matmul(a, b, variant=variant), expected)
    bits = tensor.bf16(a), tensor.bf16(signed(9, 24))[:, ::2]
    right = bf16.matmul_bf16_reference(*bits)
    np.testing.assert_allclose(matmul.matmul(*bits, variant=variant), right, rtol=1e-4)


@variants
def test_device_arrays_return_a_device_array(variant, signed):
    a, b = signed(9, 16), signed(16, 24)
    out = matmul.matmul(
        cuda.to_device(a), cuda.to_device(tensor.from_bf16(tensor.bf16(b))), variant=variant
    )
    np.testing.assert_array_equal(out.copy_to_host(), matmul.matmul(a, b, variant=variant))


def test_unaligned_bfloat16_device_arrays_are_rejected_with_advice(signed):
    a, b = (cuda.to_device(tensor.bf16(signed(*shape))) for shape in ((5, 7), (7, 8)))
    with pytest.raises(
        ValueError, match=r"expected a of uint16 .* multiple of 8 .*got shape \(5, 7\)"
    ):
        matmul.matmul(a, b, variant="tensor_bf16")


def test_bfloat16_bits_for_a_float32_variant_are_rejected():
    bits = np.ones((8, 8), np.uint16)
    with pytest.raises(TypeError, match="float32 or float64 array, got uint16"):
        matmul.matmul(bits, bits, variant="tiled")


def test_mixing_bfloat16_bits_and_float32_is_rejected():
    with pytest.raises(TypeError, match="one dtype, got uint16, float32"):
        matmul.matmul(
            np.ones((8, 8), np.uint16), np.ones((8, 8), np.float32), variant="tensor_bf16"
        )


# ---- rounding -------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(1, 1), (7, 33), (32, 8), (65, 129)], ids=str)
def test_a_matrix_is_rounded_and_its_rows_are_padded_with_zeros(shape, signed):
    x = signed(*shape)
    bits = bf16.as_bf16("x", x, 0)
    assert bits.shape[1] % EIGHT == 0
    np.testing.assert_array_equal(bits[:, : shape[1]], bf16.round_bf16_reference(x))
    assert not bits[:, shape[1] :].any()


@pytest.mark.watched
@pytest.mark.parametrize("shape", [(1, 1), (7, 33), (9, 64)], ids=str)
def test_cost_of_rounding_equals_the_profile_counters(shape):
    rows, cols, wide = *shape, bf16.padded(shape[1])
    grid = ROUND.grid("test", wide, rows)
    arguments = np.ones(shape, np.float32), np.empty((rows, wide), np.uint16)
    found = gpukit.profile(ROUND.kernel)[grid, ROUND.block](*arguments).total
    expected = ROUND.cost(rows, cols, wide)
    assert expected == launch.Cost(found["global_bytes_asked"], found.flops)


@pytest.mark.watched
def test_checker_reports_no_findings_in_rounding(signed):
    arguments = signed(9, 33), cuda.device_array((9, 40), np.uint16)
    report = gpukit.check(ROUND.kernel)[ROUND.grid("test", 40, 9), ROUND.block]
    assert report(*arguments).findings == []


# ---- checker findings and profile counters --------------------------------------------------


@pytest.mark.watched
@variants
@pytest.mark.parametrize(("m", "n", "k"), [(SIDE + 3, 20, DEPTH + 8), (9, SIDE + 1, 5)])
def test_checker_reports_no_findings(variant, m, n, k, signed):
    inputs = bf16.as_bf16("a", signed(m, k), 0), bf16.as_bf16("b", signed(k, n), 0)
    out = cuda.device_array((m, n), np.float32)
    report = gpukit.check(VARIANTS[variant].kernel)[
        VARIANTS[variant].grid("test", n, m), VARIANTS[variant].block
    ](*inputs, out)
    assert report.findings == []


@functools.cache
def counters(variant, m, n, k):
    """Return the counters of a launch."""
    ones = (np.ones(shape, np.float32) for shape in ((m, k), (k, n)))
    inputs = [bf16.as_bf16("x", x, 0) for x in ones]
    grid = VARIANTS[variant].grid("test", n, m)
    out = np.ones((m, n), np.float32)
    return gpukit.profile(VARIANTS[variant].kernel)[grid, VARIANTS[variant].block](
        *inputs, out
    ).total


@pytest.mark.watched
@variants
@pytest.mark.parametrize("shape", [(1, 1, 1), (SIDE + 1, 67, 9), (TALL + 1, 136, 20)], ids=str)
def test_cost_equals_the_profile_counters(variant, shape):
    found = counters(variant, *shape)
    assert VARIANTS[variant].cost(*shape) == launch.Cost(found["global_bytes_asked"], found.flops)


@pytest.mark.watched
@variants
def test_a_warp_copies_sixteen_whole_sectors_per_request(variant):
    found = counters(variant, HEIGHT[variant], SIDE, 2 * DEPTH)
    assert found["global_load_sectors"] == 16 * found["global_load_requests"]


@pytest.mark.watched
@variants
def test_stores_to_the_tiles_have_no_bank_conflicts(variant):
    assert counters(variant, HEIGHT[variant], SIDE, 2 * DEPTH)["shared_store_conflicts"] == 0


@pytest.mark.watched
@variants
def test_every_warp_reaches_one_barrier_per_pair_of_tiles(variant):
    assert counters(variant, HEIGHT[variant], SIDE, 3 * DEPTH)["barriers"] == 3 * 8
