"""Accesses outside an array: the error names array, index, shape, thread and block.

Every array lies between guard elements, which must not change.
"""

import numpy as np
import pytest

from gpukit import cuda, errors
from tests.safety.attempt import assert_fails, guarded, on_cpu

pytestmark = on_cpu
BIG = 2**62


@cuda.jit
def store_kernel(a, first):
    a[cuda.grid(1) + first] = 1  # here


@cuda.jit
def load_kernel(a, first, out):
    i = cuda.grid(1)
    out[i] = a[i + first]  # here


@cuda.jit
def augment_kernel(a, first):
    a[cuda.grid(1) + first] += 1  # here


@cuda.jit
def scaled_kernel(a, step):
    a[cuda.grid(1) * step] = 1  # here


@cuda.jit
def plane_kernel(a, row, col):
    a[row, col + cuda.threadIdx.x] = 1  # here


@cuda.jit
def volume_kernel(a, layer, row, col):
    a[layer, row, col + cuda.threadIdx.x] += 1  # here


@cuda.jit
def linear_kernel(a, width):
    col, row = cuda.grid(2)
    a[row * width + col] = 1  # here


@cuda.jit
def row_then_column_kernel(a, row, col):
    a[row][col] = 1  # here


@cuda.jit
def row_view_kernel(a, row):
    line = a[row]
    line[cuda.threadIdx.x] = 1  # here


@cuda.jit
def slice_kernel(a, start, stop):
    part = a[start:stop]
    part[cuda.threadIdx.x] = 1  # here


@cuda.jit
def step_slice_kernel(a, step):
    part = a[::step]
    part[cuda.threadIdx.x] = 1  # here


@cuda.jit
def atomic_kernel(a, first):
    cuda.atomic.add(a, first + cuda.threadIdx.x, 1)  # here


@cuda.jit
def atomic_plane_kernel(a, row, col):
    cuda.atomic.max(a, (row, col + cuda.threadIdx.x), 1)  # here


@cuda.jit
def shared_kernel(a, first):
    tile = cuda.shared.array(8, np.float64)
    tile[cuda.threadIdx.x + first] = 1  # here
    cuda.syncthreads()
    a[0] = tile[0]


@cuda.jit
def shared_load_kernel(a, first):
    tile = cuda.shared.array((4, 4), np.float64)
    tile[cuda.threadIdx.x, 0] = 1
    cuda.syncthreads()
    a[0] = tile[0, cuda.threadIdx.x + first]  # here


@cuda.jit
def shared_atomic_kernel(a, first):
    bins = cuda.shared.array(8, np.int32)
    cuda.atomic.add(bins, cuda.threadIdx.x + first, 1)  # here
    cuda.syncthreads()
    a[0] = bins[0]


@cuda.jit
def dynamic_shared_kernel(a, first):
    tile = cuda.shared.array(0, np.float64)
    tile[cuda.threadIdx.x + first] = 1  # here
    cuda.syncthreads()
    a[0] = tile[0]


@cuda.jit
def local_kernel(a, first):
    mine = cuda.local.array((2, 4), np.float64)
    mine[0, first] = 1  # here
    a[0] = mine[0, 0]


@cuda.jit(device=True)
def element(values, i):
    return values[i]  # here


@cuda.jit
def device_kernel(a, i):
    a[0] = element(a, i + cuda.threadIdx.x)


@cuda.jit(device=True)
def increment(values, i):
    i += cuda.threadIdx.x
    values[i] += 1  # here


@cuda.jit
def device_store_kernel(a, i):
    increment(a, i)


@cuda.jit
def loop_kernel(a, start, stop, step):
    for k in range(start, stop, step):
        a[k] += 1  # here


@cuda.jit
def gather_kernel(a, where):
    a[where[cuda.threadIdx.x]] = 1  # here


@cuda.jit
def guarded_wrongly_kernel(a, n):
    i = cuda.grid(1)
    if i < n:
        a[i] = 1  # here


@cuda.jit
def after_barrier_kernel(a, n):
    i = cuda.grid(1)
    value = a[i] if i < a.shape[0] else 0
    cuda.syncthreads()
    if i < n:
        a[i] = value + 1  # here


@cuda.jit
def countdown_kernel(a, n):
    i = cuda.grid(1)
    while i > -n:
        i -= 1
        a[i] = 1  # here


@cuda.jit
def shrinking_kernel(a, n):
    for _ in range(n):
        a = a[1:]
        a[0] = 1  # here


# name, kernel, (grid, block), arguments after a, shape of a; then array, index, its shape, thread
TABLE = [
    ("store up", store_kernel, (1, 8), (0,), 5, "a", (5,), (5,), 5),
    ("store down", store_kernel, (1, 8), (-6,), 5, "a", (-6,), (5,), 0),
    ("store far up", store_kernel, (1, 8), (BIG,), 5, "a", (BIG,), (5,), 0),
    ("store far down", store_kernel, (1, 8), (-BIG,), 5, "a", (-BIG,), (5,), 0),
    ("index above int64", store_kernel, (1, 8), (2**63 - 1,), 5, "a", (2**63 - 1,), (5,), 0),
    ("int32 index", store_kernel, (1, 8), (np.int32(2**31 - 1),), 5, "a", (2**31 - 1,), (5,), 0),
    ("uint8 index", store_kernel, (1, 8), (np.uint8(255),), 5, "a", (255,), (5,), 0),
    ("empty array", store_kernel, (1, 8), (0,), 0, "a", (0,), (0,), 0),
    ("load up", load_kernel, (1, 3), (3, np.zeros(3)), 5, "a", (5,), (5,), 2),
    ("load down", load_kernel, (1, 3), (-7, np.zeros(3)), 5, "a", (-7,), (5,), 0),
    ("augmented up", augment_kernel, (1, 8), (2,), 5, "a", (5,), (5,), 3),
    ("augmented down", augment_kernel, (1, 8), (-9,), 5, "a", (-9,), (5,), 0),
    ("step too large", scaled_kernel, (1, 8), (2,), 14, "a", (14,), (14,), 7),
    ("step overflows", scaled_kernel, (1, 8), (BIG,), 5, "a", (BIG,), (5,), 1),
    ("plane row up", plane_kernel, (1, 4), (3, 0), (3, 4), "a", (3, 0), (3, 4), 0),
    ("plane row down", plane_kernel, (1, 4), (-4, 0), (3, 4), "a", (-4, 0), (3, 4), 0),
    ("plane column up", plane_kernel, (1, 4), (0, 2), (3, 4), "a", (0, 4), (3, 4), 2),
    ("plane column down", plane_kernel, (1, 4), (2, -5), (3, 4), "a", (2, -5), (3, 4), 0),
    ("plane without rows", plane_kernel, (1, 4), (0, 0), (0, 4), "a", (0, 0), (0, 4), 0),
    ("plane without columns", plane_kernel, (1, 4), (0, 0), (4, 0), "a", (0, 0), (4, 0), 0),
    ("volume layer up", volume_kernel, (1, 4), (2, 0, 0), (2, 3, 4), "a", (2, 0, 0), (2, 3, 4), 0),
    ("volume row up", volume_kernel, (1, 4), (0, 3, 0), (2, 3, 4), "a", (0, 3, 0), (2, 3, 4), 0),
    (
        "volume row down",
        volume_kernel,
        (1, 1),
        (0, -4, 0),
        (2, 3, 4),
        "a",
        (0, -4, 0),
        (2, 3, 4),
        0,
    ),
    ("volume column up", volume_kernel, (1, 4), (1, 2, 1), (2, 3, 4), "a", (1, 2, 4), (2, 3, 4), 3),
    ("linear up", linear_kernel, (1, (4, 4)), (4,), 15, "a", (15,), (15,), (3, 3, 0)),
    ("row then column", row_then_column_kernel, (1, 1), (0, 4), (3, 4), "a[row]", (4,), (4,), 0),
    ("row of row view", row_then_column_kernel, (1, 1), (3, 0), (3, 4), "a", (3,), (3,), 0),
    ("named row", row_view_kernel, (1, 4), (1,), (3, 3), "line", (3,), (3,), 3),
    ("slice", slice_kernel, (1, 4), (1, 3), 5, "part", (2,), (2,), 2),
    ("slice clipped at the end", slice_kernel, (1, 4), (3, 100), 5, "part", (2,), (2,), 2),
    ("slice clipped at the start", slice_kernel, (1, 4), (-100, 2), 5, "part", (2,), (2,), 2),
    ("empty slice", slice_kernel, (1, 1), (4, 2), 5, "part", (0,), (0,), 0),
    ("huge slice", slice_kernel, (1, 1), (BIG, 2**63 - 1), 5, "part", (0,), (0,), 0),
    ("slice with step", step_slice_kernel, (1, 4), (2,), 5, "part", (3,), (3,), 3),
    ("reversed slice", step_slice_kernel, (1, 6), (-1,), 5, "part", (5,), (5,), 5),
    ("atomic up", atomic_kernel, (1, 4), (3,), 5, "a", (5,), (5,), 2),
    ("atomic down", atomic_kernel, (1, 4), (-6,), 5, "a", (-6,), (5,), 0),
    ("atomic row", atomic_plane_kernel, (1, 3), (3, 0), (3, 3), "a", (3, 0), (3, 3), 0),
    ("atomic column", atomic_plane_kernel, (1, 3), (0, 1), (3, 3), "a", (0, 3), (3, 3), 2),
    ("shared up", shared_kernel, (1, 8), (1,), 5, "tile", (8,), (8,), 7),
    ("shared down", shared_kernel, (1, 8), (-9,), 5, "tile", (-9,), (8,), 0),
    ("shared load", shared_load_kernel, (1, 4), (1,), 5, "tile", (0, 4), (4, 4), 3),
    ("shared atomic", shared_atomic_kernel, (1, 8), (4,), 5, "bins", (8,), (8,), 4),
    ("dynamic shared", dynamic_shared_kernel, (1, 8, 0, 64), (1,), 5, "tile", (8,), (8,), 7),
    ("no dynamic shared", dynamic_shared_kernel, (1, 8), (0,), 5, "tile", (0,), (0,), 0),
    ("local up", local_kernel, (1, 8), (4,), 5, "mine", (0, 4), (2, 4), 0),
    ("local down", local_kernel, (1, 8), (-5,), 5, "mine", (0, -5), (2, 4), 0),
    ("device function", device_kernel, (1, 8), (2,), 5, "a", (5,), (5,), 3),
    ("device function down", device_kernel, (1, 8), (-6,), 5, "a", (-6,), (5,), 0),
    ("device store", device_store_kernel, (1, 8), (2,), 5, "a", (5,), (5,), 3),
    ("loop up", loop_kernel, (1, 1), (0, 6, 1), 5, "a", (5,), (5,), 0),
    ("loop down", loop_kernel, (1, 1), (4, -7, -1), 5, "a", (-6,), (5,), 0),
    (
        "loop with large steps",
        loop_kernel,
        (1, 1),
        (0, BIG, BIG // 2),
        5,
        "a",
        (BIG // 2,),
        (5,),
        0,
    ),
    ("endless loop up", loop_kernel, (1, 1), (0, BIG, 1), 5, "a", (5,), (5,), 0),
    ("gather up", gather_kernel, (1, 3), (np.array([0, 5, 1]),), 5, "a", (5,), (5,), 1),
    ("gather down", gather_kernel, (1, 3), (np.array([0, 1, -6]),), 5, "a", (-6,), (5,), 2),
    ("guard too wide", guarded_wrongly_kernel, (1, 64), (34,), 33, "a", (33,), (33,), 33),
    ("after a barrier", after_barrier_kernel, (1, 8), (6,), 5, "a", (5,), (5,), 5),
    ("countdown", countdown_kernel, (1, 1), (9,), 5, "a", (-6,), (5,), 0),
    ("array that shrinks", shrinking_kernel, (1, 1), (5,), 5, "a", (0,), (0,), 0),
]


@pytest.mark.parametrize(
    ("kernel", "launch", "arguments", "size", "array", "index", "shape", "thread"),
    [row[1:] for row in TABLE],
    ids=[row[0] for row in TABLE],
)
@pytest.mark.costly
def test_an_out_of_bounds_access_names_array_index_and_thread(
    kernel, launch, arguments, size, array, index, shape, thread
):
    is_atomic = kernel in (atomic_kernel, atomic_plane_kernel)
    with guarded(size, np.int64 if is_atomic else np.float64) as a:
        error = assert_fails(lambda: kernel[launch](a, *arguments), errors.OutOfBounds)
    assert (error.array, error.index, error.shape) == (array, index, shape)
    assert error.thread == (thread if isinstance(thread, tuple) else (thread, 0, 0))
    assert error.block == (0, 0, 0)
    assert isinstance(error, IndexError)
    for part in (
        f"{array}",
        f"{index[-1]}",
        str(shape),
        "thread",
        "block",
        "What to do: ",
        "guard the access",
    ):
        assert part in str(error), str(error)


# Other blocks, layouts and indices


def test_an_error_in_another_block_names_it():
    with guarded(100) as a:
        error = assert_fails(lambda: store_kernel[4, 32](a, 0), errors.OutOfBounds, "of block 3")
    assert (error.block, error.thread, error.index) == ((3, 0, 0), (4, 0, 0), (100,))


def test_an_error_names_thread_and_block_on_every_axis():
    with guarded(7) as a:
        error = assert_fails(lambda: linear_kernel[(1, 2), (2, 2)](a, 2), errors.OutOfBounds)
    assert (error.block, error.thread) == ((0, 1, 0), (1, 1, 0))
    assert "thread (1, 1) of block (0, 1)" in str(error)


def test_a_launch_on_many_cores_stops_at_a_bad_access():
    with guarded(200_000) as a:
        error = assert_fails(lambda: store_kernel[1000, 256](a, 0), errors.OutOfBounds)
    assert error.index[0] >= 200_000


def test_an_array_in_fortran_order_is_checked_by_axis():
    with guarded((4, 3), order="F") as a:
        error = assert_fails(lambda: plane_kernel[1, 4](a, 0, 0), errors.OutOfBounds)
    assert (error.index, error.shape) == ((0, 3), (4, 3))


def test_a_strided_array_is_checked_by_its_length():
    with guarded(10) as a:
        error = assert_fails(lambda: store_kernel[1, 8](a[::2], 0), errors.OutOfBounds)
        assert not a[1::2].any()
    assert (error.index, error.shape) == ((5,), (5,))


def test_a_reversed_array_is_checked_by_its_length():
    with guarded(5) as a:
        error = assert_fails(lambda: store_kernel[1, 8](a[::-1], 0), errors.OutOfBounds)
    assert error.index == (5,)


def test_an_index_converted_from_nan_is_out_of_bounds():
    with guarded(5) as a:
        assert_fails(lambda: nan_index_kernel[1, 1](a, np.array([np.nan])), errors.OutOfBounds)


@cuda.jit
def nan_index_kernel(a, x):
    a[int(x[0])] = 1  # here


def test_a_linear_index_that_overflows_is_out_of_bounds():
    with guarded(16) as a:
        assert_fails(lambda: linear_kernel[1, (4, 4)](a, 2**63 - 1), errors.OutOfBounds)


def test_an_unsigned_index_above_int64_is_out_of_bounds():
    with guarded(5) as a:
        assert_fails(
            lambda: gather_kernel[1, 1](a, np.array([2**63], np.uint64)), errors.OutOfBounds
        )


@cuda.jit
def scratch_filling_kernel(out):
    own = cuda.local.array(200, np.float64)
    for k in range(200):
        own[k] = -1e30
    cuda.syncthreads()
    out[cuda.grid(1)] = own[3]


@cuda.jit
def view_of_some_threads_kernel(a, n):
    i = cuda.grid(1)
    if i < n:
        part = a[2:]
    cuda.syncthreads()
    part[0] += 1  # here


@pytest.mark.filterwarnings("ignore:view_of_some_threads_kernel. part has a value only")
def test_an_unassigned_array_variable_has_no_elements():
    scratch_filling_kernel[1, 32](np.zeros(32))
    with guarded(10) as a:
        error = assert_fails(lambda: view_of_some_threads_kernel[1, 32](a, 5), errors.OutOfBounds)
    assert (error.array, error.shape) == ("part", (0,))
