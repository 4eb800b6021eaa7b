"""The generators give the numbers of the published algorithms, as Numba's do."""

import math

import numpy as np
import pytest

from gpukit import cuda
from gpukit.cpu import random

MASK = 2**64 - 1


def rotated(x, k):
    return (x << k | x >> (64 - k)) & MASK


class Reference:
    """xoroshiro128+ and SplitMix64 in Python integers."""

    def __init__(self, seed):
        z = (seed + 0x9E3779B97F4A7C15) & MASK
        z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MASK
        self.s0 = self.s1 = z ^ z >> 31

    def next(self):
        result, t = (self.s0 + self.s1) & MASK, self.s1 ^ self.s0
        self.s0 = rotated(self.s0, 55) ^ t ^ (t << 14 & MASK)
        self.s1 = rotated(t, 36)
        return result

    def jump(self):
        s0 = s1 = 0
        for word in (0xBEAC0467EBA5FACB, 0xD86B048B86AA9922):
            for bit in range(64):
                if word >> bit & 1:
                    s0, s1 = s0 ^ self.s0, s1 ^ self.s1
                self.next()
        self.s0, self.s1 = s0, s1


def drawing(function):
    """Return a kernel that fills one row per state with random numbers."""

    @cuda.jit
    def draw_kernel(states, out):
        i = cuda.grid(1)
        if i < out.shape[0]:
            for k in range(out.shape[1]):
                out[i, k] = function(states, i)

    return draw_kernel


next_kernel = drawing(random.xoroshiro128p_next)
uniform_kernel = drawing(random.xoroshiro128p_uniform_float64)
normal_kernel = drawing(random.xoroshiro128p_normal_float32)


@pytest.mark.parametrize("seed", [0, 1, 12345, 2**63 + 5, 2**64 - 7])
def test_states_are_one_jump_apart(seed):
    states = random.create_xoroshiro128p_states(3, seed).copy_to_host()
    reference = Reference(seed)
    for state in states:
        assert (int(state["s0"]), int(state["s1"])) == (reference.s0, reference.s1)
        reference.jump()


def test_a_negative_seed_is_taken_modulo_64_bits():
    states = random.create_xoroshiro128p_states(1, -7).copy_to_host()
    assert states == random.create_xoroshiro128p_states(1, 2**64 - 7).copy_to_host()


def test_subsequence_start_skips_states():
    all_states = random.create_xoroshiro128p_states(7, seed=1).copy_to_host()
    later = random.create_xoroshiro128p_states(4, seed=1, subsequence_start=3).copy_to_host()
    np.testing.assert_array_equal(later, all_states[3:])


def test_zero_states_are_an_empty_array():
    assert random.create_xoroshiro128p_states(0, seed=1).shape == (0,)


def test_numbers_in_a_kernel_are_those_of_the_reference():
    states = random.create_xoroshiro128p_states(5, seed=9)
    out = np.zeros((5, 7), np.uint64)
    next_kernel[2, 4](states, out)
    reference = Reference(9)
    for row in out:
        start = Reference(9)
        start.s0, start.s1 = reference.s0, reference.s1
        assert row.tolist() == [start.next() for _ in row]
        reference.jump()


def test_uniform_numbers_fill_the_unit_interval_evenly():
    out = np.full((64, 320), np.nan)
    uniform_kernel[2, 32](random.create_xoroshiro128p_states(64, seed=1), out)
    assert 0 <= out.min() < 1e-3
    assert 1 - 1e-3 < out.max() < 1
    assert abs(out.mean() - 0.5) < 0.01
    assert abs(out.std() - 1 / math.sqrt(12)) < 0.01


def test_normal_numbers_have_mean_0_and_deviation_1():
    out = np.full((64, 320), np.nan, np.float32)
    normal_kernel[2, 32](random.create_xoroshiro128p_states(64, seed=1), out)
    assert abs(out.mean()) < 0.03
    assert abs(out.std() - 1) < 0.03


def test_the_numba_type_of_a_state_is_a_record():
    assert {"s0", "s1"} == set(random.xoroshiro128p_type.fields)
