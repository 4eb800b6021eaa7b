"""Counter-based random numbers (Philox4x32-10): word i is a function of a seed and of i.

An ordinary generator computes each number from the one before, so threads would have to wait for
one another, or each would store a state of its own. Philox encrypts a counter instead: the key and
the counter determine the number, in any order, on any device, as often as needed.

    counter   128 bits   the lower 64 count, the upper 64 are the offset
    key        64 bits   the seed
    words     4 * 32 bits per counter: element i of an array gets word i % 4 of counter i // 4

So the numbers do not depend on block or grid, and different offsets never share a counter: a
program uses one offset per array that it draws, for example the index of the training step.

Legend
    n          numbers to draw                        1000
    i          the element                            range [0, n)
    k          the counter that this thread encrypts  range [0, n / 4)
    tid        the thread in its block                range [0, BLOCK)
    a, b, c, d the four words of a counter, later those of the result
    words      the block's words, in shared memory    TILE of them
    BLOCK      threads per block                      256
    WORDS      words per counter                      4
    TILE       elements per block                     1024
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch
from gpukit.launch import Cost, Variant
from gpukit.results import Result

BLOCK = 256
WORDS = 4
TILE = BLOCK * WORDS
ROUNDS = 10

# Uint64, because a product of two words has 64 bits. The constants are those of the paper.
FACTOR_0, FACTOR_1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
STEP_0, STEP_1 = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
LOW, HALF = np.uint64(0xFFFFFFFF), np.uint64(32)

# A float32 has 24 bits of significand.
DROPPED_BITS = np.uint32(8)
SPACING = np.float32(2.0**-24)


# --- Reference -------------------------------------------------------------------------------


def words_reference(n: int, seed: int, offset: int = 0) -> npt.NDArray[np.uint32]:
    """Return the first n words for a seed and an offset."""
    count = np.arange(launch.ceil_div(n, WORDS), dtype=np.uint64)
    a, b = count & LOW, count >> HALF
    c, d = (np.full_like(count, part) for part in (offset & int(LOW), offset >> 32))
    for step in range(ROUNDS):
        key_0 = np.uint64((seed + step * int(STEP_0)) & int(LOW))
        key_1 = np.uint64(((seed >> 32) + step * int(STEP_1)) & int(LOW))
        left, right = a * FACTOR_0, c * FACTOR_1
        a, b = (right >> HALF) ^ b ^ key_0, right & LOW
        c, d = (left >> HALF) ^ d ^ key_1, left & LOW
    return np.stack([a, b, c, d], axis=1).astype(np.uint32).reshape(-1)[:n]


def rand_reference(n: int, seed: int, offset: int = 0) -> npt.NDArray[np.float64]:
    """Return the first n numbers in [0, 1) for a seed and an offset."""
    made: npt.NDArray[np.float64] = (words_reference(n, seed, offset) >> 8) / 2.0**24
    return made


# --- Device functions ------------------------------------------------------------------------


@cuda.jit(device=True)
def philox(key, low, high):
    """Return the four uint32 words of the counter high * 2^64 + low; all three are uint64.

    Ten rounds: two words are multiplied by constants; the upper halves of the products are mixed
    with the other two words and the key, the lower halves replace those words. The upper halves of
    a, b, c and d hold leftovers, which the masks remove before the products.

    Source: Salmon, Moraes, Dror and Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011,
    Philox4x32-10
    """
    key_0, key_1 = key, key >> HALF
    a, b, c, d = low, low >> HALF, high, high >> HALF
    for _ in range(ROUNDS):
        left, right = (a & LOW) * FACTOR_0, (c & LOW) * FACTOR_1
        a, b = (right >> HALF) ^ b ^ key_0, right
        c, d = (left >> HALF) ^ d ^ key_1, left
        key_0, key_1 = key_0 + STEP_0, key_1 + STEP_1
    return np.uint32(a), np.uint32(b), np.uint32(c), np.uint32(d)


@cuda.jit(device=True)
def uniform(word):
    """Return a float32 in [0, 1) from the upper 24 bits of a word.

    Every multiple of 2^-24 below 1 is equally likely, and no rounding can produce 1.
    PyTorch does the same on a CPU with the lower 24 bits; on a GPU it draws from (0, 1].
    """
    return np.float32(word >> DROPPED_BITS) * SPACING


@cuda.jit(device=True)
def block_words(words, seed, offset):
    """Store the TILE words of the elements of this block in words; all threads call it.

    A thread computes four neighbouring words at once. After the barrier each may read those of
    any element, so that neighbouring threads can access neighbouring elements.
    """
    tid = cuda.threadIdx.x
    first = WORDS * tid
    a, b, c, d = philox(seed, np.uint64(cuda.grid(1)), offset)
    words[first] = a
    words[first + 1] = b
    words[first + 2] = c
    words[first + 3] = d
    cuda.syncthreads()  # all words are written before threads read each other's


# --- Kernel ----------------------------------------------------------------------------------


@cuda.jit
def rand_kernel(seed, offset, out):
    """Draw numbers uniformly distributed over [0, 1), four per thread.

    New here   random numbers without a state: a thread computes the numbers of its position in the
               sequence, so a launch of another shape draws the same ones
    Shapes     out (n,); any n >= 1
    Dtypes     float32 out; seed and offset uint64
    Launch     block BLOCK, grid ceil_div(n, TILE); x = group of four elements
    Shared     TILE * 4 bytes, static
    Cost       bytes: 4 n; flops: n; barriers: 1. The work is integer: 20 products per counter
    Errors     the kernel assumes its block is BLOCK
    Source     Salmon, Moraes, Dror and Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011
    """
    words = cuda.shared.array(TILE, np.uint32)
    block_words(words, seed, offset)
    first = cuda.blockIdx.x * TILE
    for j in range(cuda.threadIdx.x, TILE, BLOCK):
        if first + j < out.shape[0]:
            out[first + j] = uniform(words[j])


def rand_cost(n: int) -> Cost:
    """One product and one store per number."""
    return Cost(bytes=4 * n, flops=n)


# --- Host function ---------------------------------------------------------------------------


def rand(*size: int, seed: int, offset: int = 0, out: Any = None, stream: Any = 0) -> Any:
    """Return float32 numbers, uniformly distributed over [0, 1), of the shape `size`.

    The same seed and offset give the same bits on every target; another offset gives independent
    numbers. Seed and offset are integers from 0 to 2**64 - 1.
    """
    shape = tuple(launch.check_int("rand", "size", n, least=0) for n in size)
    chance = counted("rand", seed, offset)
    result = Result("rand", out, shape, np.float32, stream=stream)
    if n := math.prod(shape):
        (variant,) = VARIANTS
        variant.kernel[variant.grid("rand", n), variant.block, stream](*chance, result.flat())
    return result.get()


def counted(function: str, seed: int, offset: int) -> tuple[np.uint64, np.uint64]:
    """Return a seed and an offset as uint64; raise unless both fit."""
    made = []
    for name, value in (("seed", seed), ("offset", offset)):
        number = launch.check_int(function, name, value, least=0)
        if number >= 2**64:
            raise ValueError(f"{function}: expected {name} < 2**64, got {number}. Pass it % 2**64.")
        made.append(np.uint64(number))
    return made[0], made[1]


VARIANTS = (Variant("rand", rand_kernel, rand_cost, rand_reference, BLOCK, TILE, (np.float32,)),)
__all__ = launch.public_names(globals())
