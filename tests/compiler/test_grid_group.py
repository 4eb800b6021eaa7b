"""`cuda.cg.this_grid()` may stand alone in a branch: it is only a name for all threads."""

import numpy as np
import pytest

from gpukit import cuda


@cuda.jit
def named(out, after, choose):
    if choose:
        grid = cuda.cg.this_grid()
    else:
        grid = cuda.cg.this_grid()
    i = cuda.grid(1)
    out[i] = i
    grid.sync()
    after[i] = out[out.size - 1 - i]


@cuda.jit
def unnamed(out, after, choose):
    if choose:
        cuda.cg.this_grid()
    i = cuda.grid(1)
    out[i] = i
    cuda.cg.this_grid().sync()
    after[i] = out[out.size - 1 - i]


@pytest.mark.parametrize("kernel", [named, unnamed])
def test_a_branch_may_hold_nothing_but_the_grid_group(kernel):
    out, after = np.full((2, 7), np.nan)
    kernel[1, 7](out, after, True)
    assert after.tolist() == [6, 5, 4, 3, 2, 1, 0]
