"""Arguments that are None: conditions on them are evaluated before the kernel is compiled."""

import numpy as np

from gpukit import cuda


def test_a_negative_constant_may_replace_an_argument_that_is_none():
    @cuda.jit
    def kernel(out, mask):
        i = cuda.grid(1)
        out[i] = -1 if mask is None else mask[i]

    out = np.full(4, np.nan)
    kernel[1, 4](out, None)
    assert out.tolist() == [-1] * 4


def test_none_is_false_in_a_condition():
    @cuda.jit
    def kernel(out, mask):
        i = cuda.grid(1)
        out[i] = 7 if not mask else 8

    out = np.full(4, np.nan)
    kernel[1, 4](out, None)
    assert out.tolist() == [7] * 4
