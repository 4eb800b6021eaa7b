"""Shared and local arrays created anywhere Numba's CUDA target allows, against the oracle.

`tests/checked/test_check_own_arrays.py` runs the same kernels under the checker.
"""

import numpy as np
import pytest
from numba import float32, int32, int64

from gpukit import cuda
from tests.compiler.agreement import run_both

SIZE = 4
KERNELS = []


def covered(kernel):
    KERNELS.append(kernel)
    return kernel


def arguments():
    """Return the arguments of the kernels, for two blocks of 32 threads."""
    return np.arange(64, dtype=np.float32) * np.float32(1.5) + 1, np.full(64, np.nan, np.float32)


@cuda.jit(device=True)
def fill(x, first):
    for k in range(x.size):
        x[k] = first + float32(k)


@cuda.jit(device=True)
def selected(a, b, first):
    if first:
        return a
    return b


@cuda.jit(device=True)
def at_two_points(v, n):
    if n > 2:
        own = cuda.local.array(5, float32)
        fill(own, v)
        return own[3]
    for r in range(2):
        pair = cuda.local.array(2, float32)
        pair[r] = v
    return pair[1]


@cuda.jit(device=True)
def reversed_in_block(v):
    t = cuda.threadIdx.x
    if cuda.blockDim.x == 32:
        tile = cuda.shared.array(32, float32)
        tile[t] = v
        cuda.syncthreads()
        v = tile[31 - t]
        cuda.syncthreads()
    return v


@cuda.jit(device=True)
def stored_once(v, first):
    t = cuda.threadIdx.x
    tile = cuda.shared.array(32, float32)
    if first:
        tile[t] = v
    cuda.syncthreads()
    return tile[31 - t]


@covered
@cuda.jit
def under_if(a, out):
    i = cuda.grid(1)
    out[i] = 0
    if i < 40:
        own = cuda.local.array(SIZE, float32)
        fill(own, a[i])
        out[i] = own[3]


@covered
@cuda.jit
def after_return(a, out):
    i, t = cuda.grid(1), cuda.threadIdx.x
    out[i] = 0
    if cuda.blockIdx.x > 0:
        return
    tile = cuda.shared.array(32, float32)
    own = cuda.local.array(2, float32)
    own[1] = a[i]
    tile[t] = a[i]
    cuda.syncthreads()
    out[i] = tile[31 - t] + own[1]


@covered
@cuda.jit
def in_loop_without_barrier(a, out):
    i = cuda.grid(1)
    total = float32(0)
    for r in range(5):
        if r == i % 3:
            continue
        own = cuda.local.array((SIZE, 3), float32)
        own[3, r % 3] = a[i] + float32(r)
        total += own[3, r % 3]
    out[i] = total


@covered
@cuda.jit
def in_loop_with_barrier(a, out):
    i, t = cuda.grid(1), cuda.threadIdx.x
    total = float32(0)
    for r in range(3):
        tile = cuda.shared.array(32, float32)
        own = cuda.local.array(2, float32)
        own[0] = r
        tile[t] = a[i] + own[0]
        cuda.syncthreads()
        total += tile[31 - t] * own[0]
        cuda.syncthreads()
    out[i] = total


@covered
@cuda.jit
def in_divergent_while(a, out):
    i, t = cuda.grid(1), cuda.threadIdx.x
    total = float32(0)
    r = 0
    more = True
    while cuda.syncthreads_or(more):
        tile = cuda.shared.array(32, float32)
        own = cuda.local.array(2, float32)
        own[0] = a[i] + float32(r)
        tile[t] = own[0]
        cuda.syncthreads()
        total += tile[31 - t] + own[0]
        r += 1
        more = r < t % 4
    out[i] = total


@covered
@cuda.jit
def local_in_each_branch(a, out):
    i, t = cuda.grid(1), cuda.threadIdx.x
    if i % 2 == 0:
        own = cuda.local.array(4, float32)
    elif i % 5 == 0:
        own = cuda.local.array(6, float32)
    else:
        own = cuda.local.array(8, float32)[2:]
    own[3] = a[i]
    cuda.syncthreads()
    own[0] = t
    cuda.syncthreads()
    out[i] = own[3] + own[0] + float32(own.size)


@covered
@cuda.jit
def shared_in_each_branch(a, out):
    i, t = cuda.grid(1), cuda.threadIdx.x
    if cuda.blockIdx.x == 0:
        tile = cuda.shared.array(32, float32)
        tile[t] = a[i]
    else:
        tile = cuda.shared.array(64, float32)
        tile[t] = a[i] + a[i]
        tile[t + 32] = 5
    cuda.syncthreads()
    out[i] = tile[31 - t] + tile[tile.size - 1]


@covered
@cuda.jit
def shared_or_local_by_thread(a, out):
    i, t = cuda.grid(1), cuda.threadIdx.x
    buffer = cuda.shared.array(32, float32) if t % 2 else cuda.local.array(32, float32)
    buffer[t] = a[i]
    cuda.syncthreads()
    out[i] = buffer[t]


@covered
@cuda.jit
def several_names(a, out):
    i, t = cuda.grid(1), cuda.threadIdx.x
    if i >= 0:
        p = q = cuda.shared.array(32, float32)
        own, part = cuda.local.array(3, float32), cuda.local.array(6, float32)[2:5]
        mine = own
        mine[1] = a[i]
        part[2] = a[i]
        p[t] = a[i]
        cuda.syncthreads()
        out[i] = q[31 - t] + own[1] + part[2]


@covered
@cuda.jit
def swapped(a, out):
    i, t = cuda.grid(1), cuda.threadIdx.x
    for _ in range(1):
        p, q = cuda.local.array(2, float32), cuda.local.array(2, float32)
        x, y = cuda.shared.array(32, float32), cuda.shared.array(32, float32)
    p[0], q[0] = a[i], -a[i]
    x[t] = a[i]
    for k in range(4):
        cuda.syncthreads()
        y[t] = x[(t + 1) % 32] + float32(k)
        x, y = y, x
        if (t + k) % 3 == 0:
            p, q = q, p
        p[1] = k
    out[i] = p[0] + x[t]


@covered
@cuda.jit
def one_name_for_two_types(a, out):
    i, t = cuda.grid(1), cuda.threadIdx.x
    tile = cuda.shared.array(32, float32)
    tile[t] = a[i]
    cuda.syncthreads()
    x = tile[31 - t]
    tile = cuda.shared.array(64, int32)
    tile[t] = x
    tile[t + 32] = 1
    cuda.syncthreads()
    out[i] = tile[t + 1] + tile.size


@covered
@cuda.jit
def passed_to_function(a, out):
    i = cuda.grid(1)
    for _ in range(2):
        p = cuda.local.array(2, float32)
        q = cuda.local.array(4, float32)
        fill(p, a[i])
        fill(q, -a[i])
        found = selected(p, q, i % 2 == 0)
        cuda.syncthreads()
        out[i] = found[1] + float32(found.size)


@covered
@cuda.jit
def without_a_name(a, out):
    i = cuda.grid(1)
    out[i] = a[i] + float32(cuda.local.array(5, float32).size)
    for _ in range(cuda.local.array(3, float32).size):
        if cuda.shared.array(2, float32).size == 2:
            out[i] += float32(1)


@covered
@cuda.jit
def in_device_function(a, out):
    i = cuda.grid(1)
    out[i] = at_two_points(a[i], i % 5) + at_two_points(a[i], 3)


@covered
@cuda.jit
def counted_in_loop(a, out):
    i, t = cuda.grid(1), cuda.threadIdx.x
    for k in range(2):
        bins = cuda.shared.array(4, int64)
        if t < 4:
            bins[t] = 0
        cuda.syncthreads()
        cuda.atomic.add(bins, t % 4, k + int(a[i]))
        cuda.syncthreads()
        out[i] = bins[t % 4]
        cuda.syncthreads()


@covered
@cuda.jit
def parameter_rebound(a, out):
    i, t = cuda.grid(1), cuda.threadIdx.x
    original = a
    a = cuda.shared.array(32, float32)
    a[t] = original[i]
    cuda.syncthreads()
    out[i] = a[31 - t]


@covered
@cuda.jit
def parameter_rebound_by_some_blocks(a, out):
    i, t = cuda.grid(1), cuda.threadIdx.x
    if cuda.blockIdx.x == 1:
        a = cuda.shared.array(64, float32)
        a[2 * t] = t
        a[2 * t + 1] = t + 1
    cuda.syncthreads()
    out[i] = a[31 - t]


@covered
@cuda.jit
def parameter_rebound_in_loop(a, out):
    i = cuda.grid(1)
    for k in range(3):
        out[i] = a[i] + float32(k)
        a = cuda.local.array(64, float32)
        a[i] = out[i]


@covered
@cuda.jit
def shared_in_two_calls(a, out):
    i = cuda.grid(1)
    x = reversed_in_block(a[i])
    if cuda.blockIdx.x == 0:
        x += reversed_in_block(x) + float32(reversed_in_block(i))
    out[i] = x


@covered
@cuda.jit
def shared_persists_between_calls(a, out):
    i = cuda.grid(1)
    x = stored_once(a[i], i >= 0)
    cuda.syncthreads()
    out[i] = stored_once(x, i < 0)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.py_func.__name__)
def test_arrays_created_anywhere_agree_with_the_oracle(kernel):
    original, _ = arguments()
    found, _ = run_both(kernel, 2, 32, *arguments())
    np.testing.assert_array_equal(found, original)


@cuda.jit
def grid_synchronizes(a, out):
    grid = cuda.cg.this_grid()
    i, t = cuda.grid(1), cuda.threadIdx.x
    if cuda.blockIdx.x == 0:
        tile = cuda.shared.array(32, float32)
        own = cuda.local.array(2, float32)
    else:
        tile = cuda.shared.array(64, float32)
        own = cuda.local.array(3, float32)
    own[1] = a[i]
    tile[t] = a[i]
    grid.sync()
    out[i] = tile[31 - t] + own[1] + float32(own.size)


def test_arrays_created_in_a_branch_per_block_survive_a_grid_sync():
    run_both(grid_synchronizes, 2, 32, *arguments())


# Four arrays of 20,000 bytes would exceed the shared memory of a block.
@cuda.jit(device=True)
def through_large(v):
    t = cuda.threadIdx.x
    tile = cuda.shared.array(5000, float32)
    tile[t] = v
    cuda.syncthreads()
    v = tile[31 - t]
    cuda.syncthreads()
    return v


@cuda.jit
def many_calls(a, out):
    i = cuda.grid(1)
    x = through_large(a[i])
    x = through_large(x)
    x = through_large(x)
    out[i] = through_large(x)


def test_a_shared_array_of_a_device_function_is_allocated_once_for_all_calls():
    a, out = arguments()
    many_calls[2, 32](a, out)
    np.testing.assert_array_equal(out, a)
