"""Grid groups: `cuda.cg.this_grid()` may be called by some threads, `sync()` only by all."""

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
def test_a_grid_group_may_be_created_in_a_branch(kernel):
    out, after = np.full((2, 7), np.nan)
    kernel[1, 7](out, after, True)
    assert after.tolist() == [6, 5, 4, 3, 2, 1, 0]


@pytest.mark.skipif(target.wanted() == "cuda", reason="a GPU hangs")
def test_a_plain_launch_stops_when_only_some_threads_call_grid_sync():
    x, middle, out = np.full((3, 54), 2.0)
    with pytest.raises(errors.BarrierDivergence, match="threads 0-21 of block 1, but not by"):
        guarded_sync.kernel[2, 32](x, middle, out)


def test_grid_sync_may_be_guarded_by_a_condition_that_holds_for_all_threads():
    x = np.arange(64.0)
    middle, out = np.full((2, 64), np.nan)
    guarded_sync.kernel[2, 32](x, middle, out)
    assert out.tolist() == np.roll(x * x, -1).tolist()


def test_grid_sync_does_not_wait_for_threads_that_have_returned():
    x = np.arange(54.0)
    middle, out = np.full((2, 54), np.nan)
    returned_sync.kernel[2, 32](x, middle, out)
    assert out.tolist() == np.roll(x * x, -1).tolist()
