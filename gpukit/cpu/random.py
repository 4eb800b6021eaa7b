"""Random numbers in kernels: one xoroshiro128+ generator per thread, as in `numba.cuda.random`.

Algorithms: xoroshiro128+ and SplitMix64 by David Blackman and Sebastiano Vigna (public domain,
https://prng.di.unimi.it). States lie 2**64 steps apart, so threads never share numbers. The
same seed gives the same numbers as Numba's CUDA target.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gpukit.cpu import scalar
from gpukit.cpu.dispatcher import jit
from gpukit.cpu.memory.arrays import device_array
from gpukit.cpu.memory.ndarray import DeviceNDArray

xoroshiro128p_dtype = np.dtype([("s0", np.uint64), ("s1", np.uint64)], align=True)

TWO_PI_FLOAT32 = np.float32(2 * math.pi)
TWO_PI_FLOAT64 = np.float64(2 * math.pi)
# The distance of consecutive 53-bit fractions in [0, 1).
UNIT_53_BITS = np.float64(2.0**-53)


def __getattr__(name: str) -> Any:
    if name == "xoroshiro128p_type":
        from numba.np.numpy_support import from_dtype

        return from_dtype(xoroshiro128p_dtype)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@jit(device=True)
def splitmix64(seed):  # type: ignore[no-untyped-def]
    """Return a well mixed 64-bit number derived from a seed, however small."""
    z = np.uint64(seed) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@jit(device=True)
def init_xoroshiro128p_state(states, index, seed):  # type: ignore[no-untyped-def]
    """Set one state from a 64-bit seed."""
    index = np.int64(index)
    z = splitmix64(seed)
    states[index]["s0"] = z
    states[index]["s1"] = z


@jit(device=True)
def rotl(x, k):  # type: ignore[no-untyped-def]
    """Rotate a 64-bit number left by k bits."""
    x = np.uint64(x)
    k = np.uint64(k)
    return (x << k) | (x >> (np.uint64(64) - k))


@jit(device=True)
def xoroshiro128p_next(states, index):  # type: ignore[no-untyped-def]
    """Return the next random uint64 of one state, and advance it."""
    index = np.int64(index)
    s0 = states[index]["s0"]
    s1 = states[index]["s1"]
    result = s0 + s1
    s1 ^= s0
    states[index]["s0"] = rotl(s0, 55) ^ s1 ^ (s1 << np.uint64(14))
    states[index]["s1"] = rotl(s1, 36)
    return result


@jit(device=True)
def xoroshiro128p_jump(states, index):  # type: ignore[no-untyped-def]
    """Advance one state by 2**64 steps."""
    index = np.int64(index)
    jump = (np.uint64(0xBEAC0467EBA5FACB), np.uint64(0xD86B048B86AA9922))
    s0 = np.uint64(0)
    s1 = np.uint64(0)
    for i in range(2):
        for b in range(64):
            if jump[i] & (np.uint64(1) << np.uint64(b)):
                s0 ^= states[index]["s0"]
                s1 ^= states[index]["s1"]
            xoroshiro128p_next(states, index)
    states[index]["s0"] = s0
    states[index]["s1"] = s1


@jit(device=True)
def uint64_to_unit_float64(x):  # type: ignore[no-untyped-def]
    """Turn a random uint64 into a float64 in [0, 1)."""
    return np.float64(np.uint64(x) >> np.uint64(11)) * UNIT_53_BITS


@jit(device=True)
def uint64_to_unit_float32(x):  # type: ignore[no-untyped-def]
    """Turn a random uint64 into a float32 in [0, 1]: 1 by rounding, once in 2**25."""
    return np.float32(uint64_to_unit_float64(x))


@jit(device=True)
def xoroshiro128p_uniform_float32(states, index):  # type: ignore[no-untyped-def]
    """Return a uniform float32 and advance the state."""
    return uint64_to_unit_float32(xoroshiro128p_next(states, index))


@jit(device=True)
def xoroshiro128p_uniform_float64(states, index):  # type: ignore[no-untyped-def]
    """Return a uniform float64 in [0, 1) and advance the state."""
    return uint64_to_unit_float64(xoroshiro128p_next(states, index))


@jit(device=True)
def xoroshiro128p_normal_float32(states, index):  # type: ignore[no-untyped-def]
    """Return a normal float32 (mean 0, deviation 1) by Box-Muller; advances twice."""
    u1 = xoroshiro128p_uniform_float32(states, index)
    u2 = xoroshiro128p_uniform_float32(states, index)
    return math.sqrt(np.float32(-2) * math.log(u1)) * math.cos(TWO_PI_FLOAT32 * u2)


@jit(device=True)
def xoroshiro128p_normal_float64(states, index):  # type: ignore[no-untyped-def]
    """Return a normal float64 (mean 0, deviation 1) by Box-Muller; advances twice.

    Numba draws the two uniform numbers in float32 here too; the same is done for equal results.
    """
    u1 = xoroshiro128p_uniform_float32(states, index)
    u2 = xoroshiro128p_uniform_float32(states, index)
    return math.sqrt(np.float64(-2) * math.log(u1)) * math.cos(TWO_PI_FLOAT64 * u2)


@jit(device=True)
def _init_all(states, seed, subsequence_start):  # type: ignore[no-untyped-def]
    if states.shape[0] > 0:
        init_xoroshiro128p_state(states, 0, seed)
        for _ in range(subsequence_start):
            xoroshiro128p_jump(states, 0)
        for i in range(1, states.shape[0]):
            states[i]["s0"] = states[i - 1]["s0"]
            states[i]["s1"] = states[i - 1]["s1"]
            xoroshiro128p_jump(states, i)


def init_xoroshiro128p_states_cpu(states: Any, seed: int, subsequence_start: int = 0) -> None:
    """Set all states of a host array, each 2**64 steps after the previous one."""
    # Seeds are 64-bit patterns: a negative one stands for its two's complement.
    scalar.as_njit(_init_all)(states, np.uint64(int(seed) % 2**64), int(subsequence_start))


def init_xoroshiro128p_states(
    states: DeviceNDArray, seed: int, subsequence_start: int = 0, stream: Any = 0
) -> None:
    """Set all states of a device array; `subsequence_start` jumps that many states ahead."""
    host = np.empty(states.shape, xoroshiro128p_dtype)
    init_xoroshiro128p_states_cpu(host, seed, subsequence_start)
    states.copy_to_device(host, stream=stream)


def create_xoroshiro128p_states(
    n: int, seed: int, subsequence_start: int = 0, stream: Any = 0
) -> DeviceNDArray:
    """Return a device array of n generator states, one per thread."""
    states = device_array(n, dtype=xoroshiro128p_dtype, stream=stream)
    init_xoroshiro128p_states(states, seed, subsequence_start, stream)
    return states
