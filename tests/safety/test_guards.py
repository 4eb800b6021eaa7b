"""A guard eliminates a bounds check only if it proves that the access is in bounds.

Every kernel here has a guard that seems to prove it and does not. The array is the middle of a
larger buffer, of which nothing else may change.
"""

import numpy as np
import pytest

from gpukit import cuda, errors
from tests.safety.attempt import on_cpu

pytestmark = on_cpu
SIZE = 40
FAR = np.int64(2**63 - 20)


def guard_by_a_number_that_is_too_large(a, n, k):
    i = cuda.grid(1)
    if i < n:
        a[i] = 1


def guard_one_short(a, n, k):
    i = cuda.grid(1)
    if i < a.shape[0]:
        a[i + 1] = 1


def guard_by_a_size_that_grew(a, n, k):
    i = cuda.grid(1)
    m = a.shape[0]
    m = m + 5
    if i < m:
        a[i] = 1


def guard_by_a_size_that_grows_in_a_loop(a, n, k):
    i = cuda.grid(1)
    m = a.shape[0]
    for _ in range(3):
        if i < m:
            a[i] = 1
        cuda.syncthreads()
        m += 3


def guard_by_a_size_that_one_branch_changes(a, n, k):
    i = cuda.grid(1)
    m = a.shape[0]
    if n > 10:
        m = n
    if i < m:
        a[i] = 1


def guard_by_the_size_before_a_slice(a, n, k):
    i = cuda.grid(1)
    m = a.shape[0]
    a = a[:3]
    if i < m:
        a[i] = 1


def guard_in_the_other_branch(a, n, k):
    i = cuda.grid(1)
    if i < a.shape[0]:
        a[i] = 1
    else:
        a[i] = 2


def guard_by_a_range_that_ends_too_late(a, n, k):
    m = a.shape[0]
    for i in range(cuda.grid(1), m + 1, cuda.gridsize(1)):
        a[i] = 1


def guard_of_another_loop(a, n, k):
    i = cuda.grid(1)
    for k in range(3):
        if i + k < a.shape[0]:
            for k in range(7):
                a[i + k] = 1


def guard_of_an_index_that_changed(a, n, k):
    i = cuda.grid(1)
    if i < a.shape[0]:
        i += 7
        a[i] = 1


def guard_for_indices_far_below_zero(a, n, k):
    i = cuda.grid(1) - 100
    if i < a.shape[0]:
        a[i] = 1


def guard_by_the_size_of_a_slice_of_another_length(a, n, k):
    i = cuda.grid(1)
    b = a[::2]
    if i < a.shape[0]:
        b[i] = 1


@pytest.mark.parametrize(
    "body",
    [value for name, value in list(globals().items()) if name.startswith("guard_")],
    ids=lambda f: f.__name__,
)
@pytest.mark.parametrize("grid", [1, 3])
@pytest.mark.costly
def test_a_guard_that_proves_nothing_does_not_eliminate_the_check(body, grid):
    buffer = np.zeros(3 * SIZE)
    middle = buffer[SIZE : 2 * SIZE]
    with pytest.raises(errors.OutOfBounds):
        cuda.jit(body)[grid, 64](middle, 2 * SIZE, 5)
    assert (buffer[:SIZE] == 0).all()
    assert (buffer[2 * SIZE :] == 0).all()


@cuda.jit
def shifted_kernel(a, shift):
    i = cuda.grid(1)
    if i + shift < a.shape[0]:
        a[i + shift] = 1


@pytest.mark.parametrize("shift", [FAR, -FAR, np.int64(-(2**63)), np.int64(2**63 - 1)])
def test_an_index_that_overflows_64_bits_writes_nothing_outside(shift):
    buffer = np.zeros(3 * SIZE)
    try:
        shifted_kernel[1, 64](buffer[SIZE : 2 * SIZE], shift)
    except errors.OutOfBounds:
        pass
    assert (buffer[:SIZE] == 0).all()
    assert (buffer[2 * SIZE :] == 0).all()


@cuda.jit
def flat_guard_kernel(a):
    i = cuda.grid(1)
    if i < a.size:
        a[i, 0] = 1


def test_the_size_of_a_matrix_does_not_bound_its_rows():
    with pytest.raises(errors.OutOfBounds):
        flat_guard_kernel[1, 64](np.zeros((5, 5)))


@cuda.jit
def swapped_axes_kernel(a):
    rows, cols = a.shape
    i = cuda.grid(1)
    if i < cols:
        a[i, 0] = rows


def test_the_length_of_one_axis_does_not_bound_another():
    with pytest.raises(errors.OutOfBounds):
        swapped_axes_kernel[1, 64](np.zeros((3, 50)))


@cuda.jit
def other_array_kernel(a, b):
    i = cuda.grid(1)
    if i < a.shape[0]:
        b[i] = 1


def test_the_length_of_one_array_does_not_bound_another():
    with pytest.raises(errors.OutOfBounds):
        other_array_kernel[1, 64](np.zeros(50), np.zeros(10))


@cuda.jit
def tile_kernel(a, k):
    tile = cuda.shared.array(32, np.float64)
    i = cuda.threadIdx.x
    if i < a.shape[0]:
        tile[i] = a[i]
    cuda.syncthreads()
    if i < a.shape[0]:
        a[i] = tile[i + k]


def test_a_shared_array_is_checked_though_the_guard_is_for_another_array():
    with pytest.raises(errors.OutOfBounds):
        tile_kernel[1, 64](np.zeros(50), 0)
    a = np.arange(20.0)
    tile_kernel[1, 32](a, 0)
    assert a.tolist() == list(range(20))


@cuda.jit
def sliced_shared_kernel(a, n):
    tile = cuda.shared.array(32, np.float64)
    t = cuda.threadIdx.x
    tile[t] = t
    cuda.syncthreads()
    tile = tile[8:]
    cuda.syncthreads()
    if t < n:
        a[cuda.blockIdx.x, t] = tile[t]


@cuda.jit
def sometimes_sliced_kernel(a, n):
    tile = cuda.shared.array(32, np.float64)
    t = cuda.threadIdx.x
    tile[t] = t
    cuda.syncthreads()
    if a.size > 3:
        tile = tile[8:]
    cuda.syncthreads()
    if t < n:
        a[cuda.blockIdx.x, t] = tile[t]


@pytest.mark.parametrize("kernel", [sliced_shared_kernel, sometimes_sliced_kernel])
def test_a_slice_named_like_its_shared_array_is_checked_by_its_own_size(kernel):
    with pytest.raises(errors.OutOfBounds, match=r"shape is \(24,\)"):
        kernel[1, 32](np.zeros((1, 32)), 32)


@pytest.mark.parametrize("kernel", [sliced_shared_kernel, sometimes_sliced_kernel])
def test_every_block_starts_with_the_unsliced_shared_array(kernel):
    out = np.full((3, 32), np.nan)
    kernel[3, 32](out, 24)
    assert (out[:, :24] == np.arange(8.0, 32.0)).all()
    assert np.isnan(out[:, 24:]).all()


@cuda.jit
def sliced_local_kernel(a):
    mine = cuda.local.array(32, np.float64)
    for k in range(32):
        mine[k] = k
    mine = mine[8:]
    for k in range(32):
        a[k] = mine[k]


def test_a_slice_named_like_its_local_array_is_checked_by_its_own_size():
    with pytest.raises(errors.OutOfBounds, match=r"shape is \(24,\)"):
        sliced_local_kernel[1, 1](np.zeros(32))


def index_assigned_from_a_barrier(tile, n):
    x = 3
    x = cuda.syncthreads_count(1)
    tile[x] = 1


def index_left_by_a_loop(tile, n):
    k = 3
    for k in range(n):
        cuda.syncthreads()
    tile[k] = 1


def index_reused_by_an_inner_loop(tile, n):
    for k in range(2):
        for k in range(n):
            cuda.syncthreads()
        tile[k] = 1


def index_assigned_in_a_branch(tile, n):
    k = 3
    if n > 7:
        k = n
    cuda.syncthreads()
    tile[k] = 1


def index_incremented_in_a_while_loop(tile, n):
    k = 3
    while k < n:
        cuda.syncthreads()
        k += 7
    tile[k] = 1


def index_below_minus_the_length(tile, n):
    k = 3 - n
    tile[k] = 1


def index_of_a_descending_loop(tile, n):
    for k in range(n, 30, -1):
        tile[k] = 1


@pytest.mark.parametrize(
    "body",
    [value for name, value in list(globals().items()) if name.startswith("index_")],
    ids=lambda f: f.__name__,
)
@pytest.mark.costly
def test_a_constant_index_is_not_assumed_after_a_reassignment(body):
    space = {"cuda": cuda, "np": np, "body": cuda.jit(device=True)(body)}

    @cuda.jit
    def kernel(out, n):
        tile = cuda.shared.array(32, np.float64)
        use(tile, n)
        cuda.syncthreads()
        out[0] = tile[0]

    use = space["body"]
    with pytest.raises(errors.OutOfBounds):
        kernel[1, 64](np.zeros(4), 60)


@cuda.jit
def slice_of_each_thread_kernel(a, out):
    i = cuda.grid(1)
    mine = a[: 32 - i]
    cuda.syncthreads()
    total = 0.0
    for k in range(out.size):
        total += mine[k]
    out[i] = total


def test_slices_that_differ_per_thread_are_checked_by_their_own_size():
    buffer = np.ones(40)
    with pytest.raises(errors.OutOfBounds) as caught:
        slice_of_each_thread_kernel[1, 8](buffer[:32], np.zeros(32))
    assert caught.value.index[0] >= 25
    with pytest.raises(errors.OutOfBounds):
        slice_of_each_thread_kernel[1, 8](buffer[:32], np.zeros(26))
    out = np.full(25, np.nan)
    slice_of_each_thread_kernel[1, 8](buffer[:32], out)
    assert (out[:8] == 25).all()


@cuda.jit
def reversed_slice_of_each_thread_kernel(a, out):
    i = cuda.grid(1)
    mine = a[: 25 + i]
    cuda.syncthreads()
    for k in range(out.size):
        mine[k] = i
    out[i] = 1


def test_a_short_slice_of_the_first_thread_is_checked_though_the_last_one_is_longer():
    with pytest.raises(errors.OutOfBounds, match=r"index 25 .* shape is \(25,\)"):
        reversed_slice_of_each_thread_kernel[1, 8](np.zeros(32), np.zeros(26))


@cuda.jit
def loop_over_the_size_of_another_array_kernel(a):
    s = cuda.shared.array(200, np.int64)
    for k in range(a.shape[0]):
        s[k] = 1
    a[0] = s[0]


def test_a_loop_over_a_long_array_does_not_bound_a_shorter_one():
    with pytest.raises(errors.OutOfBounds, match=r"index 200 .* shape is \(200,\)"):
        loop_over_the_size_of_another_array_kernel[1, 1](np.zeros(1000))
