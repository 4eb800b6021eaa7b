"""`cuda.cg.this_grid()` may stand alone in a branch: it is only a name for all threads."""

import numpy as np
import pytest

from gpukit import cuda, errors, target
from tests.data.bugs.cooperative import guarded_sync, returned_sync


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


@pytest.mark.skipif(target.wanted() == "cuda", reason="a GPU hangs")
def test_a_plain_launch_stops_where_only_some_threads_synchronise_the_grid():
    x, middle, out = np.full((3, 54), 2.0)
    with pytest.raises(errors.BarrierDivergence, match="threads 0-21 of block 1, but not by"):
        guarded_sync.kernel[2, 32](x, middle, out)


def test_a_guard_that_holds_for_all_threads_may_hold_the_synchronisation_of_the_grid():
    x = np.arange(64.0)
    middle, out = np.full((2, 64), np.nan)
    guarded_sync.kernel[2, 32](x, middle, out)
    assert out.tolist() == np.roll(x * x, -1).tolist()


def test_threads_that_have_returned_need_not_synchronise_the_grid():
    x = np.arange(54.0)
    middle, out = np.full((2, 54), np.nan)
    returned_sync.kernel[2, 32](x, middle, out)
    assert out.tolist() == np.roll(x * x, -1).tolist()
