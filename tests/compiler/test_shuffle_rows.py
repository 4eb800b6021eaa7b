"""Shuffles by one offset for all threads: what each lane gets, against the oracle's lookup."""

import numpy as np
import pytest

from gpukit import cuda
from tests import oracle

FULL = 0xFFFFFFFF
OFFSETS = [0, 1, 5, 16, 31, 32, 33, -1]
BLOCKS = [32, 64, 160, 20, 70, (16, 16), (16, 5), (8, 4, 3)]


def shuffling(shuffle):
    """Return a kernel in which every thread adds what a shuffle gives it."""

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
    """Warps 0, 2 and 4 add up in steps, the others leave out as it is."""
    t = cuda.threadIdx.x
    if t // 32 % 2 == 0:
        value = x[t]
        while offset > 0:
            value += cuda.shfl_down_sync(FULL, value, offset)
            offset //= 2
        out[t] = value


@cuda.jit
def rounds_kernel(x, out, rounds):
    """Offsets that differ from round to round, and not from thread to thread."""
    t = cuda.threadIdx.x
    value = x[t]
    for k in range(rounds):
        value += 2 * cuda.shfl_up_sync(FULL, value, 3 * k)
    out[t] = value


def threads(block):
    return int(np.prod(block))


def agree(kernel, block, x, number):
    """Compare a launch with the oracle's; the oracle must give every lane a defined value."""
    out, expected = np.zeros_like(x), np.zeros_like(x)
    kernel[1, block](x, out, number)
    oracle.launch(kernel, 1, block, x, expected, number)
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("block", [b for b in BLOCKS if threads(b) % 32 == 0], ids=str)
@pytest.mark.parametrize("offset", OFFSETS)
def test_whole_warps_get_what_the_oracle_says(name, block, offset):
    agree(KERNELS[name], block, np.arange(1, threads(block) + 1, dtype=np.float32), offset)


@pytest.mark.parametrize("name", ["down", "up"])
@pytest.mark.parametrize("block", [b for b in BLOCKS if threads(b) % 32], ids=str)
def test_a_part_of_a_warp_reads_only_its_own_threads(name, block):
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
def test_every_kind_of_number_is_handed_on(name, dtype):
    agree(KERNELS[name], 96, np.arange(1, 97).astype(dtype), 7)


def test_warps_that_take_no_part_are_left_alone():
    agree(some_warps_kernel, 160, np.arange(1, 161, dtype=np.float32), 16)


def test_an_offset_that_changes_in_a_loop_is_taken_anew():
    agree(rounds_kernel, 64, np.arange(1, 65, dtype=np.float32), 9)
