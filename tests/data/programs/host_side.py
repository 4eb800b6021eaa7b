"""What scripts do around their kernels: copies, streams, events, signatures, launch shapes."""

import math
from time import perf_counter

import numba
import numba.cuda as cu
import numpy as np
from numba import cuda, float32, int32, void

from tests.programs.registry import program

TPB = 64


@cuda.jit("void(float32[:], float32[:], float32[:])")
def add_typed(a, b, c):
    pos = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
    if pos >= c.shape[0]:
        return
    c[pos] = a[pos] + b[pos]


@program()
def explicit_signature_as_text():
    a = np.random.default_rng(1).random(1001, dtype=np.float32)
    c = cuda.device_array_like(a)
    add_typed[(a.size + TPB - 1) // TPB, TPB](cuda.to_device(a), cuda.to_device(a[::-1].copy()), c)
    yield c, a + np.flip(a)


@cu.jit(void(int32[:, :], float32[:, :], float32), fastmath=True)
def scale_typed(x, y, f):
    r, c = cu.grid(2)
    if r < x.shape[0] and c < x.shape[1]:
        y[r, c] = x[r, c] * f


@program()
def signature_of_types_with_fastmath():
    x = np.arange(7 * 13, dtype=np.int32).reshape(7, 13)
    y = np.full((7, 13), np.nan, np.float32)
    scale_typed[(2, 4), (4, 4)](x, y, 0.25)
    yield y, np.divide(x, 4).astype(np.float32)


@cuda.jit
def saxpy(a, x, y):
    start = cuda.grid(1)
    stride = cuda.gridsize(1)
    for i in range(start, x.shape[0], stride):
        y[i] = a * x[i] + y[i]


@program()
def streams_in_turn_with_slices_of_one_array():
    n, parts = 4099, 4
    x = cuda.pinned_array(n, dtype=np.float32)
    x[:] = np.linspace(-1, 1, n)
    y = cuda.pinned_array(n, dtype=np.float32)
    y[:] = 1
    streams = [cuda.stream() for _ in range(parts)]
    step = math.ceil(n / parts)
    for k, s in enumerate(streams):
        lo, hi = k * step, min((k + 1) * step, n)
        dx = cuda.to_device(x[lo:hi], stream=s)
        dy = cuda.to_device(y[lo:hi], stream=s)
        saxpy[3, 128, s](np.float32(2), dx, dy)
        dy.copy_to_host(y[lo:hi], stream=s)
    for s in streams:
        s.synchronize()
    yield y, (2 * np.linspace(-1, 1, n) + 1).astype(np.float32)


@program()
def events_around_a_loop_of_launches():
    x = cuda.to_device(np.ones(517, np.float32))
    y = cuda.to_device(np.zeros(517, np.float32))
    begin, end = cuda.event(), cuda.event()
    tic = perf_counter()
    begin.record()
    for k in range(5):
        saxpy[4, 32](np.float32(k), x, y)
    end.record()
    end.synchronize()
    elapsed = cuda.event_elapsed_time(begin, end)
    wall = (perf_counter() - tic) * 1e3
    yield y.copy_to_host(), np.full(517, 10, np.float32)
    yield np.array([0 <= elapsed <= wall + 1]), [True]


@cuda.jit
def epoch_3d(out):
    x, y, z = cuda.grid(3)
    if x < out.shape[0] and y < out.shape[1] and z < out.shape[2]:
        tid = cuda.threadIdx.x + cuda.blockDim.x * (
            cuda.threadIdx.y + cuda.blockDim.y * cuda.threadIdx.z
        )
        out[x, y, z] = 1000 * x + 100 * y + 10 * z + tid % 7


@program()
def blocks_and_grids_of_three_axes():
    out = np.full((5, 7, 3), -1, np.int64)
    epoch_3d[(2, 4, 2), (3, 2, 2)](out)
    x, y, z = np.indices(out.shape)
    tid = x % 3 + 3 * (y % 2) + 6 * (z % 2)
    yield out, 1000 * x + 100 * y + 10 * z + tid % 7


@cuda.jit
def square_in_place(v):
    i = cuda.grid(1)
    if i < v.size:
        v[i] *= v[i]


@program()
def forall_finds_a_launch_shape():
    v = np.arange(-50, 51, dtype=np.float64)
    square_in_place.forall(v.size)(v)
    yield v, np.arange(-50, 51, dtype=np.float64) ** 2


@program()
def one_kernel_many_dtypes_and_layouts():
    for dtype in (np.int8, np.uint16, np.int64, np.float32, np.complex64):
        v = np.arange(11).astype(dtype)
        square_in_place[1, 16](v)
        yield v, np.arange(11).astype(dtype) * np.arange(11).astype(dtype)
    strided = np.arange(30.0)
    square_in_place[1, 32](strided[::3])
    wanted = np.arange(30.0)
    wanted[::3] **= 2
    yield strided, wanted
    backwards = np.arange(9.0)
    square_in_place[1, 16](backwards[8:3:-1])
    yield backwards, np.where(np.arange(9) > 3, np.arange(9.0) ** 2, np.arange(9.0))


@cuda.jit
def transpose_naive(src, dst):
    i, j = cuda.grid(2)
    if i < src.shape[0] and j < src.shape[1]:
        dst[j, i] = src[i, j]


@program()
def fortran_order_and_transposed_views():
    src = np.asfortranarray(np.random.default_rng(2).random((19, 6)))
    for given in (src, src.T, src[::2, 1:], np.ascontiguousarray(src)[:, ::-1]):
        dst = np.full(given.shape[::-1], np.nan)
        transpose_naive[(5, 5), (4, 4)](given, dst)
        yield dst, np.swapaxes(given, 0, 1)
    d = cuda.to_device(src)
    out = cuda.device_array((19, 6), np.float64)
    transpose_naive[(2, 5), (4, 4)](d.T, out)
    yield out, np.array(src)


@cuda.jit
def bump(cell, by):
    if cuda.grid(1) == 0:
        cell[()] += by


@program()
def arrays_without_axes_and_without_elements():
    cell = np.array(2.5)
    bump[1, 32](cell, 4)
    yield cell, 6.5
    nothing = np.zeros(0, np.float32)
    saxpy[1, 32](np.float32(1), nothing, nothing)
    yield nothing, np.zeros(0)
    d = cuda.to_device(np.zeros((0, 3)))
    transpose_naive[(1, 1), (8, 8)](d, cuda.device_array((3, 0)))
    yield d.copy_to_host(), np.zeros((0, 3))


@program()
def mapped_and_managed_memory_need_no_copies():
    x = cuda.mapped_array(33, dtype=np.float32)
    y = cuda.managed_array(33, dtype=np.float32)
    x[:] = np.arange(33)
    y[:] = 100
    saxpy[2, 32](np.float32(-1), x, y)
    cuda.synchronize()
    yield np.asarray(y), 100 - np.arange(33, dtype=np.float32)
    host = np.arange(6, dtype=np.float64)
    with cuda.pinned(host):
        d = cuda.to_device(host)
        square_in_place[1, 8](d)
        d.copy_to_host(host)
    yield host, [0.0, 1, 4, 9, 16, 25]


@program()
def device_arrays_are_sliced_filled_and_reshaped():
    d = cuda.to_device(np.arange(24, dtype=np.float32))
    d[3:7] = np.array([9, 8, 7, 6], np.float32)
    d[20:] = 0.5
    square_in_place[1, 8](d[4:12])
    wanted = np.arange(24, dtype=np.float32)
    wanted[3:7], wanted[20:] = (9, 8, 7, 6), 0.5
    wanted[4:12] **= 2
    yield d.reshape(4, 6), wanted.reshape(4, 6)
    yield d.reshape((2, 12)).ravel(), wanted
    yield np.array([d[5], d[-1]]), wanted[[5, -1]]
    parts = d.split(8)
    yield np.stack([p.copy_to_host() for p in parts]), wanted.reshape(3, 8)


@cuda.jit
def fill_from(out, first, by, keep):
    i = cuda.grid(1)
    if i < out.shape[0]:
        if keep is None:
            out[i] = first + i * by
        else:
            out[i] = keep[i % keep.shape[0]]


@program()
def scalars_of_every_kind_and_none():
    for first, by in ((1, 2), (1.5, np.float32(0.25)), (np.int8(-3), True), (np.uint64(7), 3)):
        out = np.full(37, np.nan)
        fill_from[2, 32](out, first, by, None)
        yield out, float(first) + np.arange(37) * float(by)
    out = np.full(7, np.nan)
    fill_from[1, 32](out, 0, 0, np.array([2.0, 3, 5]))
    yield out, np.resize([2.0, 3, 5], 7)


@program()
def local_import_and_numba_names():
    import numba.cuda

    jit = numba.cuda.jit

    @jit(numba.void(numba.types.Array(numba.uint8, 1, "C"), numba.int64))
    def rotate(data, k):
        tid = numba.cuda.grid(1)
        n = len(data)
        if tid < n // 2:
            data[tid], data[n - 1 - tid] = data[n - 1 - tid] + k, data[tid] - k

    data = np.arange(101, dtype=np.uint8)
    rotate[1, 64](data, 3)
    low, high = np.arange(100, 50, -1) + 3, np.arange(50)[::-1] - 3
    yield data, np.concatenate([low, [50], high]).astype(np.uint8)


@cuda.jit
def reverse_dynamic(x):
    buf = cuda.shared.array(0, float32)
    t = cuda.threadIdx.x
    n = x.shape[0]
    if t < n:
        buf[t] = x[t]
    cuda.syncthreads()
    if t < n:
        x[t] = buf[n - t - 1]


@program()
def dynamic_shared_memory_in_the_launch():
    x = np.arange(45, dtype=np.float32)
    reverse_dynamic[1, 64, 0, 45 * 4](x)
    yield x, np.arange(44, -1, -1, dtype=np.float32)


@cuda.jit
def two_parts(x, out, n):
    raw = cuda.shared.array(shape=0, dtype=numba.int32)
    sums = cuda.shared.array(shape=0, dtype=numba.float32)[64:]
    t = cuda.threadIdx.x
    raw[t] = x[t] * 2
    sums[t] = x[t] * 0.5
    cuda.syncthreads()
    if t < n:
        out[t] = raw[n - 1 - t] + sums[(t + 1) % n]


@program()
def one_dynamic_buffer_cut_in_two():
    x = np.arange(64, dtype=np.int32)
    out = np.full(50, np.nan, np.float32)
    two_parts[1, 64, cuda.default_stream(), 64 * 8](x, out, 50)
    t = np.arange(50)
    yield out, (2 * (49 - t) + 0.5 * np.roll(t, -1)).astype(np.float32)
