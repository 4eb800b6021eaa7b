"""Races in global memory: results computed in place, and two threads that own one element."""

import numpy as np

from gpukit import cuda
from tests.bugs.case import Launch, blank, case, reals

TILE = 8
HALF = 32
N = 2 * HALF
TWO = Launch(2, HALF)


@cuda.jit
def smooth_in_place_kernel(x):
    """Overwrites an element that its neighbours still need."""
    i = cuda.grid(1)
    if 0 < i < x.shape[0] - 1:
        x[i] = (x[i - 1] + x[i] + x[i + 1]) / np.float32(3)  # BUG


@cuda.jit
def smooth_kernel(x, out):
    """Writes another array than it reads."""
    i = cuda.grid(1)
    if 0 < i < x.shape[0] - 1:
        out[i] = (x[i - 1] + x[i] + x[i + 1]) / np.float32(3)
    else:
        out[i] = x[i]


case(
    smooth_in_place_kernel, smooth_kernel, "global-race", TWO,
    arguments=lambda: (reals(N),),
    fixed_arguments=lambda: (reals(N), blank(N)),
    expected=lambda x, out: np.r_[x[0], np.convolve(x, np.ones(3) / 3, "valid"), x[-1]],
)  # fmt: skip


@cuda.jit
def reverse_in_place_kernel(x):
    """Lets every thread copy its mirror image, which another thread overwrites."""
    i = cuda.grid(1)
    x[i] = x[x.shape[0] - 1 - i]  # BUG


@cuda.jit
def reverse_pairs_kernel(x):
    """Lets the lower half of the threads swap pairs."""
    i = cuda.grid(1)
    j = x.shape[0] - 1 - i
    if i < j:
        low = x[i]
        x[i] = x[j]
        x[j] = low


case(
    reverse_in_place_kernel, reverse_pairs_kernel, "global-race", TWO,
    fixed_launch=Launch(1, HALF),
    arguments=lambda: (reals(N),),
    expected=lambda x: x[::-1],
)  # fmt: skip


@cuda.jit
def transpose_in_place_kernel(a):
    """Writes a[col, row] while another thread reads it."""
    col, row = cuda.grid(2)
    a[col, row] = a[row, col]  # BUG


@cuda.jit
def transpose_pairs_kernel(a):
    """Lets the threads below the diagonal swap pairs."""
    col, row = cuda.grid(2)
    if col < row:
        above = a[col, row]
        a[col, row] = a[row, col]
        a[row, col] = above


case(
    transpose_in_place_kernel, transpose_pairs_kernel, "global-race", Launch(1, (TILE, TILE)),
    arguments=lambda: (reals(TILE, TILE),),
    expected=lambda a: a.T,
)  # fmt: skip


@cuda.jit
def life_in_place_kernel(world):
    """Plays the game of life in the one array that it reads the neighbours from."""
    col, row = cuda.grid(2)
    alive = 0
    for m in range(-1, 2):
        for n in range(-1, 2):
            if m != 0 or n != 0:
                alive += world[(row + m) % TILE, (col + n) % TILE]  # BUG
    world[row, col] = 1 if alive == 3 or (alive == 2 and world[row, col] == 1) else 0


@cuda.jit
def life_kernel(world, after):
    """Writes the next generation to an array of its own."""
    col, row = cuda.grid(2)
    alive = 0
    for m in range(-1, 2):
        for n in range(-1, 2):
            if m != 0 or n != 0:
                alive += world[(row + m) % TILE, (col + n) % TILE]
    after[row, col] = 1 if alive == 3 or (alive == 2 and world[row, col] == 1) else 0


def world():
    return (reals(TILE, TILE) > 0.3).astype(np.int32)


def next_generation(old, after):
    around = [np.roll(old, (m, n), (0, 1)) for m in (-1, 0, 1) for n in (-1, 0, 1)]
    alive = sum(around) - old
    return ((alive == 3) | ((alive == 2) & (old == 1))).astype(np.int32)


case(
    life_in_place_kernel, life_kernel, "global-race", Launch(1, (TILE, TILE)),
    arguments=lambda: (world(),),
    fixed_arguments=lambda: (world(), np.full((TILE, TILE), -1, np.int32)),
    expected=next_generation,
)  # fmt: skip


@cuda.jit
def relu_local_index_kernel(x, out):
    """Writes with the index in the block, so all blocks write the same elements."""
    i = cuda.grid(1)
    out[cuda.threadIdx.x] = max(x[i], np.float32(0))  # BUG


@cuda.jit
def relu_kernel(x, out):
    """Writes with the index in the grid."""
    i = cuda.grid(1)
    out[i] = max(x[i], np.float32(0))


case(
    relu_local_index_kernel, relu_kernel, "global-race", TWO,
    arguments=lambda: (np.abs(reals(N)) + np.float32(1), blank(N)),
    expected=lambda x, out: x,
)  # fmt: skip


@cuda.jit
def add_one_short_stride_kernel(x):
    """Strides by the block instead of the grid: the blocks do the same elements again."""
    for i in range(cuda.grid(1), x.shape[0], cuda.blockDim.x):
        x[i] += np.float32(1)  # BUG


@cuda.jit
def add_one_kernel(x):
    """Strides by the grid."""
    for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
        x[i] += np.float32(1)


case(
    add_one_short_stride_kernel, add_one_kernel, "global-race", TWO,
    arguments=lambda: (reals(3 * N),),
    expected=lambda x: x + 1,
)  # fmt: skip


@cuda.jit
def sums_overlapping_parts_kernel(x, part, sums):
    """Gives each thread a part, and the first element of the next one too."""
    thread = cuda.grid(1)
    first = thread * part
    acc = np.float32(0)
    for k in range(first, min(first + part + 1, x.shape[0])):
        acc += x[k]
        x[k] = acc  # BUG
    sums[thread] = acc


@cuda.jit
def sums_of_parts_kernel(x, part, sums):
    """Ends each part where the next one begins."""
    thread = cuda.grid(1)
    first = thread * part
    acc = np.float32(0)
    for k in range(first, min(first + part, x.shape[0])):
        acc += x[k]
        x[k] = acc
    sums[thread] = acc


case(
    sums_overlapping_parts_kernel, sums_of_parts_kernel, "global-race", TWO,
    arguments=lambda: (reals(3 * N), 3, blank(N)),
    expected=lambda x, part, sums: x.reshape(N, 3).sum(1),
)  # fmt: skip


@cuda.jit
def flatten_wrong_pitch_kernel(image, flat):
    """Starts the rows of the flat copy half a row apart, so they overlap."""
    col, row = cuda.grid(2)
    flat[row * (image.shape[1] // 2) + col] = image[row, col]  # BUG


@cuda.jit
def flatten_kernel(image, flat):
    """Starts them a row apart."""
    col, row = cuda.grid(2)
    flat[row * image.shape[1] + col] = image[row, col]


case(
    flatten_wrong_pitch_kernel, flatten_kernel, "global-race", Launch((1, 2), (TILE, TILE // 2)),
    arguments=lambda: (reals(TILE, TILE), blank(TILE * TILE)),
    expected=lambda image, flat: image.ravel(),
)  # fmt: skip
