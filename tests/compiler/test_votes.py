"""Votes take an integer mask and predicate; other types are refused at type inference."""

import numpy as np
import pytest

from gpukit import KernelTypeError, cuda


def vote_kernel(mask, condition, out):
    i = cuda.grid(1)
    out[i] = cuda.all_sync(mask[i], condition[i])


@pytest.mark.parametrize(
    ("signature", "message"),
    [
        ("void(float32[:], int32[:], int32[:])", "Mask type must be an integer"),
        ("void(int32[:], float32[:], int32[:])", "Predicate must be an integer or boolean"),
    ],
)
def test_vote_with_a_float_is_refused_at_the_declaration_of_the_kernel(signature, message):
    with pytest.raises(KernelTypeError, match=message):
        cuda.jit(signature)(vote_kernel)


def test_a_vote_considers_only_existing_lanes():
    condition = np.array([1, 1, 1, 1, 1], np.int32)
    out = np.full(5, -7, np.int32)
    cuda.jit(vote_kernel)[1, 5](np.full(5, -1, np.int32), condition, out)
    np.testing.assert_array_equal(out, 1)


@cuda.jit
def match_in_a_branch(values, out):
    t = cuda.threadIdx.x
    if t < 5:
        out[t] = cuda.match_any_sync(0x1F, values[t])


def test_match_in_a_branch_considers_only_the_lanes_in_that_branch():
    out = np.full(8, -7)
    match_in_a_branch[1, 8](np.array([3, 4, 3, 4, 9, 3, 3, 3]), out)
    assert out.tolist() == [0b101, 0b1010, 0b101, 0b1010, 0b10000, -7, -7, -7]
