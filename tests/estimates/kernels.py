"""Small kernels for the tests of estimates."""

import numpy as np

from gpukit import cuda


@cuda.jit
def add(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + b[i]


@cuda.jit
def every(step, x, out):
    """Read every `step`-th element."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i * step]


@cuda.jit
def gather(places, x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[places[i]]


@cuda.jit
def matmul(a, b, out):
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        total = np.float32(0)
        for k in range(a.shape[1]):
            total += a[row, k] * b[k, col]
        out[row, col] = total


@cuda.jit
def histogram(x, bins):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(bins, x[i], 1)


@cuda.jit
def transpose(x, out):
    col, row = cuda.grid(2)
    if row < x.shape[0] and col < x.shape[1]:
        out[col, row] = x[row, col]


@cuda.jit
def tile_sum(x, out):
    """Add eight elements per thread in registers, from a tile in shared memory."""
    tile = cuda.shared.array(256, np.float32)
    sums = cuda.local.array(8, np.float32)
    t = cuda.threadIdx.x
    tile[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    for k in range(8):
        sums[k] = tile[t // 8 * 8 + k]
    out[cuda.grid(1)] = sums[0] + sums[7]


@cuda.jit
def remainders(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = i % x[0]


@cuda.jit
def lock(word, out):
    while cuda.atomic.cas(word, 0, 0, 1) != 0:
        pass
    out[0] += 1
    cuda.atomic.exch(word, 0, 0)


@cuda.jit
def sum_floats(x, out):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(out, 0, x[i])


@cuda.jit
def wave(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = np.float32(np.sin(x[i]))


captured = cuda.to_device(np.zeros(1, np.int32))


@cuda.jit
def count_threads():
    cuda.atomic.add(captured, 0, 1)


@cuda.jit
def take_turns(record, records):
    """Write to a record and to one in a tuple."""
    record.counts = cuda.blockIdx.x
    records[0].counts = cuda.blockIdx.x


@cuda.jit
def poll(flag, out):
    """Let all blocks wait until the first has set a flag."""
    if cuda.blockIdx.x == 0:
        cuda.atomic.max(flag, 0, 1)
    while cuda.atomic.add(flag, 0, 0) == 0:
        pass
    out[cuda.blockIdx.x] = 1


@cuda.jit
def swap_own(out):
    cuda.atomic.exch(out, cuda.grid(1), 1)


@cuda.jit
def sum_blocks(x, out):
    cuda.atomic.add(out, cuda.blockIdx.x, x[cuda.grid(1)])


floats_captured = cuda.to_device(np.zeros(1, np.float32))


@cuda.jit
def sum_captured(x):
    cuda.atomic.add(floats_captured, 0, x[cuda.grid(1)])


@cuda.jit
def sum_in_a_tuple(x, pair):
    cuda.atomic.add(pair[1], 0, x[cuda.grid(1)])


@cuda.jit
def sum_shared(x, out):
    total = cuda.shared.array(1, np.float32)
    total[0] = 0
    cuda.syncthreads()
    cuda.atomic.add(total, 0, x[cuda.grid(1)])
    cuda.syncthreads()
    out[cuda.grid(1)] = total[0]


@cuda.jit
def sum_in_a_record(x, records):
    cuda.atomic.add(records["total"], 0, x[cuda.grid(1)])
