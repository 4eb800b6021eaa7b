"""Shuffles with a uniform offset: each lane's result against the oracle."""

import numpy as np
import pytest

from gpukit import cuda
from tests import oracle

FULL = 0xFFFFFFFF
OFFSETS = [0, 1, 5, 16, 31, 32, 33, -1]
BLOCKS = [32, 64, 160, 20, 70, (16, 16), (16, 5), (8, 4, 3)]


def shuffling(shuffle):
    """Return a kernel in which every thread adds the result of a shuffle."""

    @cuda.jit
    def shuffle_kernel(x, out, offset):
        x_size, y_size = cuda.blockDim.x, cuda.blockDim.y
        t = cuda.threadIdx.x + x_size * (cuda.threadIdx.y + y_size * cuda.threadIdx.z)
        value = shuffle(FULL, x[t], offset)
        out[t] = value + x[t]

    return shuffle_kernel


KERNELS = {
    "down": shuffling(cuda.shfl_down_sync),
    "up": shuffling(cuda.shfl_up_sync),
    "xor": shuffling(cuda.shfl_xor_sync),
    "lane": shuffling(cuda.shfl_sync),
}


@cuda.jit
def some_warps_kernel(x, out, offset):
    """Even warps reduce their values by shuffles; odd warps write nothing."""
    t = cuda.threadIdx.x
    if t // 32 % 2 == 0:
        value = x[t]
        while offset > 0:
            value += cuda.shfl_down_sync(FULL, value, offset)
            offset //= 2
        out[t] = value


@cuda.jit
def rounds_kernel(x, out, rounds):
    """Shuffle by an offset that changes per iteration and is the same for all threads."""
    t = cuda.threadIdx.x
    value = x[t]
    for k in range(rounds):
        value += 2 * cuda.shfl_up_sync(FULL, value, 3 * k)
    out[t] = value


def threads(block):
    return int(np.prod(block))


def agree(kernel, block, x, number):
    """Compare a launch with the oracle, which must define the value of every lane."""
    out, expected = np.zeros_like(x), np.zeros_like(x)
    kernel[1, block](x, out, number)
    oracle.launch(kernel, 1, block, x, expected, number)
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("block", [b for b in BLOCKS if threads(b) % 32 == 0], ids=str)
@pytest.mark.parametrize("offset", OFFSETS)
def test_shuffles_of_full_warps_agree_with_the_oracle(name, block, offset):
    agree(KERNELS[name], block, np.arange(1, threads(block) + 1, dtype=np.float32), offset)


@pytest.mark.parametrize("name", ["down", "up"])
@pytest.mark.parametrize("block", [b for b in BLOCKS if threads(b) % 32], ids=str)
def test_shuffles_of_a_partial_warp_read_only_its_own_threads(name, block):
    n = threads(block)
    x, out = np.arange(1, n + 1, dtype=np.float32), np.zeros(n, np.float32)
    KERNELS[name][1, block](x, out, 3)
    lanes, warp = np.arange(n) % 32, np.arange(n) // 32 * 32
    source = lanes + (3 if name == "down" else -3)
    inside = (source >= 0) & (source < 32) & (warp + source < n)
    np.testing.assert_array_equal(out, x + x[np.where(inside, warp + source, np.arange(n))])


@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int64, np.uint64, np.float64, np.int16])
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.costly
def test_shuffles_pass_on_every_dtype(name, dtype):
    agree(KERNELS[name], 96, np.arange(1, 97).astype(dtype), 7)


def test_warps_outside_the_branch_of_a_shuffle_are_unaffected():
    agree(some_warps_kernel, 160, np.arange(1, 161, dtype=np.float32), 16)


def test_a_shuffle_offset_may_change_in_a_loop():
    agree(rounds_kernel, 64, np.arange(1, 65, dtype=np.float32), 9)
