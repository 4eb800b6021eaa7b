"""Cooperative grids (grid.sync), whose blocks run in lockstep: warps never span blocks.

Blocks have 70 threads, so the third warp of each has 6 lanes.
"""

import inspect

import numpy as np
import pytest

import gpukit
from gpukit import cuda
from tests.checked.recorded import record, steps_at
from tests.checked.reports import line_of

BLOCKS, THREADS = 3, 70
FULL, REST = 0xFFFFFFFF, (1 << 6) - 1


@cuda.jit
def uniform_kernel(out):
    size = cuda.blockDim.x  # the same for every thread of the grid
    out[cuda.grid(1)] = size
    cuda.cg.this_grid().sync()


@cuda.jit
def warps_kernel(out):
    i = cuda.grid(1)
    out[i] = 1
    cuda.syncwarp()
    out[i] += 1
    cuda.cg.this_grid().sync()
    out[i] += 1


def test_statement_of_all_blocks_is_recorded_for_the_warps_of_each():
    recording = record(uniform_kernel, (BLOCKS, THREADS), np.zeros(BLOCKS * THREADS))
    steps = steps_at(recording, line_of(uniform_kernel, "size = cuda.blockDim.x"))
    expected = [(b, w, REST if w == 2 else FULL) for b in range(BLOCKS) for w in range(3)]
    assert [(s["block"], s["warp"], s["lanes"]) for s in steps] == expected


def test_grid_uniform_value_is_recorded_in_every_block():
    recording = record(uniform_kernel, (BLOCKS, THREADS), np.zeros(BLOCKS * THREADS))
    shown = {(s["block"], s["warp"]) for s in recording["steps"] if "size" in s["set"]}
    assert shown == {(b, w) for b in range(BLOCKS) for w in range(3)}


def test_statement_of_all_blocks_counts_the_warps_of_each():
    profile = gpukit.profile(uniform_kernel)[BLOCKS, THREADS](np.zeros(BLOCKS * THREADS))
    lines, first = inspect.getsourcelines(uniform_kernel.py_func)
    at = next(first + k for k, line in enumerate(lines) if "size =" in line)
    counts = profile.lines[profile.file, at]
    assert (counts["warp_steps"], counts["thread_steps"]) == (BLOCKS * 3, BLOCKS * THREADS)


@pytest.mark.parametrize("command", [gpukit.check, gpukit.profile, gpukit.play])
@pytest.mark.costly
def test_syncwarp_in_a_grid_of_more_than_32_warps(command):
    out = np.zeros(40 * 64)
    command(warps_kernel)[40, 64](out)
    assert out.tolist() == [3] * out.size


@cuda.jit
def kept_kernel(a, out):
    grid = cuda.cg.this_grid()
    tile = cuda.shared.array(THREADS, np.float32)
    own = cuda.local.array(1, np.float32)
    i, x = cuda.grid(1), cuda.threadIdx.x
    tile[x] = a[i]
    own[0] = a[i]
    grid.sync()
    out[i] = tile[x] + own[0]


def test_shared_and_local_arrays_keep_their_values_across_grid_sync():
    a, out = np.ones(BLOCKS * THREADS, np.float32), np.full(BLOCKS * THREADS, np.nan, np.float32)
    assert gpukit.check(kept_kernel)[BLOCKS, THREADS](a, out).findings == []
    assert (out == 2).all()


@cuda.jit
def unset_kernel(out):
    grid = cuda.cg.this_grid()
    tile = cuda.shared.array(THREADS, np.float32)
    own = cuda.local.array(1, np.float32)
    grid.sync()
    i, x = cuda.grid(1), cuda.threadIdx.x
    out[i] = tile[x] + own[0]


def test_uninitialised_arrays_are_found_after_grid_sync():
    out = np.zeros(BLOCKS * THREADS, np.float32)
    report = gpukit.check(unset_kernel)[BLOCKS, THREADS](out)
    kinds = {(f.kind, f.array) for f in report.errors}
    assert kinds == {("uninitialised-shared", "tile"), ("uninitialised-local", "own")}


@cuda.jit
def named_group_kernel(out):
    everyone = cuda.cg.this_grid()
    if cuda.threadIdx.x == 0:
        everyone.sync()
    out[cuda.grid(1)] = 1


@cuda.jit(device=True)
def grid_of_one_block_sync():
    cuda.syncthreads()


@cuda.jit
def barrier_of_a_block_kernel(out):
    if cuda.threadIdx.x == 0:
        grid_of_one_block_sync()
    out[cuda.grid(1)] = 1


@pytest.mark.parametrize(
    ("kernel", "kind"),
    [(named_group_kernel, "cooperative-misuse"), (barrier_of_a_block_kernel, "barrier-divergence")],
)
def test_grid_and_block_barriers_are_distinguished_whatever_their_names(kernel, kind):
    assert [f.kind for f in gpukit.check(kernel)[2, 4](np.zeros(8)).errors] == [kind]
