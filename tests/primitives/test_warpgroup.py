"""wgmma, the warpgroup MMA of Hopper's tensor cores: results on a CPU, and machine code."""

import numpy as np
import pytest

import gpukit
from gpukit import cuda, gpu_code
from gpukit.gpu_code import sass
from gpukit.primitives import tensor
from gpukit.primitives.warpgroup import begin, fence_shared, finish, wgmma

ROWS, COLS, INNER = 64, 128, 32


@cuda.jit
def product_kernel(a, b, c):
    """Add the product of the second halves of (64, 32) and (32, 128) to c, with 128 threads."""
    t = cuda.threadIdx.x
    a_tile = cuda.shared.array((8, 4, 8, 8), np.uint16, 16)
    b_tile = cuda.shared.array((4, 16, 8, 8), np.uint16, 16)
    for n in range(t, 64 * 32, 128):
        row, col = n // 32, n % 32
        a_tile[row // 8, col // 8, row % 8, col % 8] = a[row, col]
    for n in range(t, 32 * 128, 128):
        row, col = n // 128, n % 128
        b_tile[row // 8, col // 8, row % 8, col % 8] = b[row, col]
    row, col = t // 32 * 16 + t % 32 // 4, t % 4 * 2
    acc = cuda.local.array(64, np.float32)
    for n in range(16):
        for half in range(2):
            acc[4 * n + 2 * half] = c[row + 8 * half, 8 * n + col]
            acc[4 * n + 2 * half + 1] = c[row + 8 * half, 8 * n + col + 1]
    fence_shared()
    cuda.syncthreads()  # both tiles are full
    begin()
    wgmma(acc, a_tile, 0, b_tile, 0, 2)
    finish()
    for n in range(16):
        for half in range(2):
            c[row + 8 * half, 8 * n + col] = acc[4 * n + 2 * half]
            c[row + 8 * half, 8 * n + col + 1] = acc[4 * n + 2 * half + 1]


def operands():
    rng = np.random.default_rng(3)
    a, b, c = (
        rng.standard_normal(shape, dtype=np.float32)
        for shape in ((ROWS, INNER), (INNER, COLS), (ROWS, COLS))
    )
    return tensor.bf16(a), tensor.bf16(b), c


@pytest.mark.slow
def test_a_warpgroup_multiplies_and_accumulates():
    a, b, c = operands()
    left, right = (tensor.from_bf16(x).astype(np.float64) for x in (a, b))
    expected = c + left[:, 16:] @ right[16:]
    product_kernel[1, 128](a, b, c)
    np.testing.assert_allclose(c, expected, rtol=0, atol=1e-5)


def test_each_element_of_the_result_has_its_row_and_column():
    a = np.zeros((ROWS, INNER), np.float32)
    a[:, 16] = np.arange(1, ROWS + 1)
    b = np.zeros((INNER, COLS), np.float32)
    b[16] = np.arange(COLS)
    c = np.zeros((ROWS, COLS), np.float32)
    product_kernel[1, 128](tensor.bf16(a), tensor.bf16(b), c)
    np.testing.assert_array_equal(c, np.outer(np.arange(1, ROWS + 1), np.arange(COLS)))


@pytest.mark.slow
def test_the_checker_finds_nothing_in_correct_use():
    assert gpukit.check(product_kernel)[1, 128](*operands()).findings == []


@pytest.mark.slow
def test_a_wgmma_counts_two_flops_per_multiply_add():
    total = gpukit.profile(product_kernel)[1, 128](*operands()).total
    assert total["flops_float32"] == 2 * ROWS * COLS * 16


@pytest.mark.compilers
def test_a_wgmma_compiles_to_one_hgmma_instruction():
    (code,) = gpu_code.build(product_kernel, operands(), [(9, 0)]).values()
    assert code.reason == ""
    products = [one for one in sass.parse(code.sass) if one.opcode.startswith("HGMMA")]
    assert [one.opcode for one in products] == ["HGMMA.64x128x16.F32.BF16"]
    assert ".tnspB" in products[0].text


@pytest.mark.compilers
def test_gpus_other_than_hopper_refuse_wgmma():
    (code,) = gpu_code.build(product_kernel, operands(), [(8, 0)]).values()
    assert "the GPU compiler refused" in code.reason
