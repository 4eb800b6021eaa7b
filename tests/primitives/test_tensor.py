"""Tensor cores: rounding to TF32 and BF16, warp-level MMA, counters, findings and errors."""

import types

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gpukit
from gpukit import cuda, errors, gpu_code, launch, target
from gpukit.gpu_code import sass
from gpukit.kernels.matmul import bf16, tensor_tf32
from gpukit.primitives import tensor
from gpukit.primitives.tensor import (
    load_square,
    load_square_transposed,
    mma_bf16,
    mma_tf32,
    to_bf16,
    to_tf32,
)
from tests import oracle


def rounding(convert):
    @cuda.jit
    def round_kernel(x, out):
        i = cuda.grid(1)
        if i < x.shape[0]:
            out[i] = convert(x[i])

    return round_kernel


round_tf32_kernel, round_bf16_kernel = rounding(to_tf32), rounding(to_bf16)


@cuda.jit
def product_kernel(a, b, c, out):
    """Compute c + a b with one warp, in the fragment layout of `primitives.tensor`."""
    group, member = cuda.laneid // 4, cuda.laneid % 4
    c0, c1, c2, c3 = mma_tf32(
        a[group, member],
        a[group + 8, member],
        a[group, member + 4],
        a[group + 8, member + 4],
        b[member, group],
        b[member + 4, group],
        c[group, 2 * member],
        c[group, 2 * member + 1],
        c[group + 8, 2 * member],
        c[group + 8, 2 * member + 1],
    )
    out[group, 2 * member], out[group, 2 * member + 1] = c0, c1
    out[group + 8, 2 * member], out[group + 8, 2 * member + 1] = c2, c3


@cuda.jit
def half_warp_kernel(x, out):
    i = cuda.threadIdx.x
    if i < 16:
        out[i], _, _, _ = mma_tf32(x[i], x[i], x[i], x[i], x[i], x[i], x[i], x[i], x[i], x[i])


@cuda.jit
def product_bf16_kernel(a, b, c, out):
    """Compute c + a b of (16, 16) and (16, 8) with one warp, loading 8 x 8 matrices (ldmatrix)."""
    lane = cuda.laneid
    a_tile = cuda.shared.array((2, 2, 8, 8), np.uint16, 16)
    b_tile = cuda.shared.array((2, 2, 8, 8), np.uint16, 16)
    for n in range(lane, 256, 32):
        r, col = n // 16, n % 16
        a_tile[r // 8, col // 8, r % 8, col % 8] = a[r, col]
        b_tile[r // 8, col // 8, r % 8, col % 8] = b[r, col % 8] if col < 8 else np.uint16(0)
    cuda.syncwarp()
    a0, a1, a2, a3 = load_square(a_tile, 0, 0)
    b0, b1, _, _ = load_square_transposed(b_tile, 0, 0)
    group, col = lane // 4, lane % 4 * 2
    c0, c1, c2, c3 = mma_bf16(
        a0,
        a1,
        a2,
        a3,
        b0,
        b1,
        c[group, col],
        c[group, col + 1],
        c[group + 8, col],
        c[group + 8, col + 1],
    )
    out[group, col], out[group, col + 1] = c0, c1
    out[group + 8, col], out[group + 8, col + 1] = c2, c3


def matrices():
    rng = np.random.default_rng(7)
    a, b, c = (rng.standard_normal(s, dtype=np.float32) for s in ((16, 8), (8, 8), (16, 8)))
    return tensor.tf32(a), tensor.tf32(b), c


def rounded(x):
    out = np.full(len(x), 7, np.float32)
    round_tf32_kernel[-(-len(x) // 64), 64](np.asarray(x, np.float32), out)
    return out


def test_tf32_keeps_ten_fraction_bits_and_rounds_ties_away_from_zero():
    step = np.float32(2**-10)
    x = [1, 1 + step, 1 + step / 4, 1 + step / 2, 1 + 3 * step / 4, -1 - step / 2, 0.0, -0.0]
    expected = [1, 1 + step, 1, 1 + step, 1 + step, -1 - step, 0.0, -0.0]
    out = rounded(np.array(x, np.float32))
    assert out.tolist() == expected
    assert np.signbit(out[-1])


def test_tf32_keeps_infinities_and_nan():
    out = rounded(np.array([np.inf, -np.inf, np.nan], np.float32))
    assert out[0] == np.inf
    assert out[1] == -np.inf
    assert np.isnan(out[2])


@given(st.lists(st.floats(width=32, allow_nan=False), min_size=1, max_size=64))
def test_rounding_to_tf32_is_to_nearest(values):
    x = np.array(values, np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        fraction, exponent = np.frexp(x.astype(np.float64))
        spacing = np.ldexp(1.0, np.maximum(exponent, -125) - 11)  # the spacing of TF32
        away = np.copysign(np.floor(np.abs(x.astype(np.float64)) / spacing + 0.5) * spacing, x)
        expected = np.where(np.isinf(x), x, away).astype(np.float32)
    np.testing.assert_array_equal(rounded(x), expected)
    np.testing.assert_array_equal(tensor.tf32(x), expected)


@pytest.mark.slow
def test_a_tf32_mma_multiplies_and_accumulates():
    a, b, c = matrices()
    out = np.full((16, 8), np.nan, np.float32)
    product_kernel[1, 32](a, b, c, out)
    np.testing.assert_allclose(out, c + a.astype(np.float64) @ b, rtol=0, atol=2e-6)


def assert_agree(out, expected, a, b, c):
    """Assert that results are equal on the CPU, and within the error bound of tensor cores.

    Tensor cores add in unspecified order and truncate instead of rounding: each addition has an
    error of up to 2^-23 of the sum of the magnitudes, here and in `expected`.
    """
    if target.active().name != "cuda":
        np.testing.assert_array_equal(out, expected)
    additions = a.shape[1] + 1
    magnitudes = np.abs(a) @ np.abs(b) + np.abs(c)
    assert (np.abs(out - expected) <= 2 * additions * 2.0**-23 * magnitudes).all()


def test_the_oracle_agrees_on_a_tf32_mma():
    a, b, c = matrices()
    out, expected = np.empty((16, 8), np.float32), np.empty((16, 8), np.float32)
    product_kernel[1, 32](a, b, c, out)
    oracle.launch(product_kernel, 1, 32, a, b, c, expected)
    assert_agree(out, expected, a, b, c)


def test_each_element_of_a_tf32_mma_has_its_row_and_column():
    one, zero = np.zeros((16, 8), np.float32), np.zeros((16, 8), np.float32)
    one[np.arange(16), np.arange(16) % 8] = np.arange(1, 17)
    out = np.full((16, 8), np.nan, np.float32)
    product_kernel[1, 32](one, np.eye(8, dtype=np.float32), zero, out)
    np.testing.assert_array_equal(out, one)


@pytest.mark.slow
def test_a_tf32_mma_counts_two_flops_per_multiply_add():
    total = gpukit.profile(product_kernel)[1, 32](*matrices(), np.empty((16, 8), np.float32)).total
    assert total["flops_float32"] == 2 * 16 * 8 * 8


# ---- bfloat16 -------------------------------------------------------------------------------


def matrices_bf16():
    rng = np.random.default_rng(8)
    a, b, c = (rng.standard_normal(s, dtype=np.float32) for s in ((16, 16), (16, 8), (16, 8)))
    return tensor.bf16(a), tensor.bf16(b), c


def rounded_bf16(x):
    out = np.full(len(x), 7, np.uint16)
    round_bf16_kernel[-(-len(x) // 64), 64](np.asarray(x, np.float32), out)
    return out


def test_bfloat16_keeps_seven_fraction_bits_and_rounds_ties_to_even():
    step = np.float32(2**-7)
    x = [1, 1 + step, 1 + step / 4, 1 + step / 2, 1 + 3 * step / 2, -1 - 3 * step / 4, -0.0]
    expected = [1, 1 + step, 1, 1, 1 + 2 * step, -1 - step, -0.0]
    out = tensor.from_bf16(rounded_bf16(np.array(x, np.float32)))
    assert out.tolist() == expected
    assert np.signbit(out[-1])


def test_bfloat16_keeps_infinities_and_nan_and_overflows_to_infinity():
    out = tensor.from_bf16(rounded_bf16([np.inf, -np.inf, np.nan, np.finfo(np.float32).max]))
    np.testing.assert_array_equal(out, [np.inf, -np.inf, np.nan, np.inf])


@given(st.lists(st.floats(width=32, allow_nan=False), min_size=1, max_size=64))
def test_rounding_to_bfloat16_is_to_nearest_even(values):
    x = np.array(values, np.float32)
    # The neighbours are the numbers whose lower 16 bits are zero, one below and one above.
    lower = x.view(np.uint32) & np.uint32(0xFFFF0000)
    with np.errstate(invalid="ignore"):  # above an infinity lies a NaN
        below, above = (
            bits.view(np.float32).astype(np.float64) for bits in (lower, lower + np.uint32(0x10000))
        )
    beyond = np.where(np.isinf(above), np.copysign(2.0**128, above), above)
    exact = x.astype(np.float64)
    finite = np.where(np.isinf(x), 0.0, exact)
    down, up = np.abs(finite - below), np.abs(beyond - finite)
    even = lower >> np.uint32(16) & np.uint32(1) == 0
    nearest = np.where((down < up) | ((down == up) & even), below, above)
    expected = np.where(np.isinf(x), exact, nearest)
    np.testing.assert_array_equal(tensor.from_bf16(rounded_bf16(x)), expected)
    np.testing.assert_array_equal(tensor.from_bf16(tensor.bf16(x)), expected)


@pytest.mark.slow
def test_a_bfloat16_mma_multiplies_and_accumulates():
    a, b, c = matrices_bf16()
    left, right = (tensor.from_bf16(x).astype(np.float64) for x in (a, b))
    out = np.full((16, 8), np.nan, np.float32)
    product_bf16_kernel[1, 32](a, b, c, out)
    np.testing.assert_allclose(out, c + left @ right, rtol=0, atol=4e-6)


def test_each_element_of_a_bfloat16_mma_has_its_row_and_column():
    a = tensor.bf16(np.arange(256, dtype=np.float32).reshape(16, 16))
    b = tensor.bf16(np.eye(16, 8, -5, dtype=np.float32))
    out = np.full((16, 8), np.nan, np.float32)
    product_bf16_kernel[1, 32](a, b, np.zeros((16, 8), np.float32), out)
    np.testing.assert_array_equal(out, np.arange(256).reshape(16, 16)[:, 5:13])


def test_the_oracle_agrees_on_a_bfloat16_mma():
    a, b, c = matrices_bf16()
    out, expected = np.empty((16, 8), np.float32), np.empty((16, 8), np.float32)
    product_bf16_kernel[1, 32](a, b, c, out)
    oracle.launch(product_bf16_kernel, 1, 32, a, b, c, expected)
    assert_agree(out, expected, tensor.from_bf16(a), tensor.from_bf16(b), c)


@pytest.mark.slow
def test_a_bfloat16_mma_counts_two_flops_per_multiply_add():
    arguments = (*matrices_bf16(), np.empty((16, 8), np.float32))
    total = gpukit.profile(product_bf16_kernel)[1, 32](*arguments).total
    assert total["flops_float32"] == 2 * 16 * 8 * 16


@pytest.mark.slow
def test_the_checker_finds_nothing_in_correct_ldmatrix_use():
    arguments = (*matrices_bf16(), cuda.device_array((16, 8), np.float32))
    assert gpukit.check(product_bf16_kernel)[1, 32](*arguments).findings == []


# ---- findings, errors and GPUs --------------------------------------------------------------


@pytest.mark.slow
def test_an_mma_by_a_partial_warp_is_a_finding():
    report = gpukit.check(half_warp_kernel)[1, 32](np.ones(32, np.float32), np.zeros(32, "f4"))
    assert "warp-mask" in {found.kind for found in report.errors}


@pytest.mark.cpu
def test_rounding_to_tf32_refuses_float64():
    with pytest.raises(errors.CompileError, match="TF32 is rounded from float32"):
        round_tf32_kernel[1, 1](np.ones(1), np.ones(1, np.float32))


@pytest.mark.parametrize("capability", [(7, 0), (7, 5)])
def test_a_gpu_without_tf32_tensor_cores_is_refused(capability, monkeypatch):
    device = types.SimpleNamespace(compute_capability=capability)
    monkeypatch.setattr(target, "active", lambda: types.SimpleNamespace(name="cuda"))
    monkeypatch.setattr(cuda, "get_current_device", lambda: device)
    expected = rf"compute capability 8.0 or more for variant 'tensor_tf32', got 7\.{capability[1]}"
    with pytest.raises(errors.LaunchError, match=expected):
        launch.check_gpu("matmul", tensor_tf32.VARIANTS[0])


@pytest.mark.parametrize("capability", [(8, 9), (10, 0)])
def test_a_variant_for_hopper_is_refused_on_other_gpus(capability, monkeypatch):
    device = types.SimpleNamespace(compute_capability=capability)
    monkeypatch.setattr(target, "active", lambda: types.SimpleNamespace(name="cuda"))
    monkeypatch.setattr(cuda, "get_current_device", lambda: device)
    with pytest.raises(errors.LaunchError, match=r"9\.0 and no other for variant 'warpgroup_bf16'"):
        launch.check_gpu("matmul", bf16.MATMUL_VARIANTS[1])
    device.compute_capability = (9, 0)
    launch.check_gpu("matmul", bf16.MATMUL_VARIANTS[1])


@pytest.mark.compilers
def test_a_tf32_mma_compiles_to_one_or_two_hmma_instructions():
    arguments = (*matrices(), np.empty((16, 8), np.float32))
    (codes,) = gpu_code.build_many([(product_kernel, arguments)], [(8, 0), (9, 0)])
    for code in codes.values():
        assert sum(one.opcode.startswith("HMMA") for one in sass.parse(code.sass)) in (1, 2)


@pytest.mark.compilers
def test_bfloat16_mma_and_ldmatrix_compile_to_one_instruction_each():
    arguments = (*matrices_bf16(), np.empty((16, 8), np.float32))
    (codes,) = gpu_code.build_many([(product_bf16_kernel, arguments)], [(8, 0), (9, 0)])
    for code in codes.values():
        opcodes = [one.opcode for one in sass.parse(code.sass)]
        assert opcodes.count("HMMA.16816.F32.BF16") == 1
        assert opcodes.count("LDSM.16.M88.4") == 1
        assert sum(opcode.startswith("LDSM.16.MT88") for opcode in opcodes) == 1
