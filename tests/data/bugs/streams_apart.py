"""Operations of two streams on one array, with no event between them."""

import numpy as np

from gpukit import cuda
from tests.bugs.programs import race

N = 1 << 12
BLOCK = 128
GRID = N // BLOCK


@cuda.jit
def scale_kernel(x, factor, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = factor * x[i]


@cuda.jit
def add_to_kernel(x, total):
    i = cuda.grid(1)
    if i < total.size:
        total[i] += x[i]


@cuda.jit
def smooth_kernel(x, out, start):
    k = cuda.grid(1)
    if k < out.size:
        i = start + k
        left, right = max(i - 1, 0), min(i + 1, x.size - 1)
        out[k] = (x[left] + x[i] + x[right]) / np.float32(3)


@cuda.jit
def count_kernel(x, bins):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(bins, x[i], 1)


@cuda.jit
def normalise_kernel(bins, total):
    i = cuda.threadIdx.x
    if i < bins.size:
        bins[i] = bins[i] * 100 // total


def reals(seed):
    return np.random.default_rng(seed).random(N, dtype=np.float32)


def pinned(values):
    made = cuda.pinned_array(values.shape, values.dtype)
    made[:] = values
    return made


# --- Upload on one stream, launch on another ---------------------------------------------------


def upload_before_compute():
    """Lets the compute stream wait for an event behind the copy."""
    h_x = pinned(reals(1))
    transfer, compute = cuda.stream(), cuda.stream()
    uploaded = cuda.event()
    d_x = cuda.device_array(N, np.float32)
    d_y = cuda.device_array(N, np.float32)
    d_x.copy_to_device(h_x, stream=transfer)
    uploaded.record(transfer)
    uploaded.wait(compute)
    scale_kernel[GRID, BLOCK, compute](d_x, np.float32(2), d_y)
    y = d_y.copy_to_host(stream=compute)
    compute.synchronize()
    return y, 2 * h_x


race(
    upload_before_compute,
    "upload_beside_compute",
    "stream-race",
    """
Copies on a transfer stream and launches on a compute stream, which does not wait.
-    uploaded = cuda.event()
@@
     d_x.copy_to_device(h_x, stream=transfer)  # BUG
-    uploaded.record(transfer)
-    uploaded.wait(compute)
     scale_kernel[GRID, BLOCK, compute](d_x, np.float32(2), d_y)  # BUG
""",
)

# --- Download on another stream ----------------------------------------------------------------


def download_behind_compute():
    """Records the event behind the launch."""
    h_y = cuda.pinned_array(N, np.float32)
    compute, transfer = cuda.stream(), cuda.stream()
    ready = cuda.event()
    d_x = cuda.to_device(reals(2))
    d_y = cuda.device_array(N, np.float32)
    scale_kernel[GRID, BLOCK, compute](d_x, np.float32(3), d_y)
    ready.record(compute)
    ready.wait(transfer)
    d_y.copy_to_host(h_y, stream=transfer)
    transfer.synchronize()
    return h_y, 3 * reals(2)


race(
    download_behind_compute,
    "download_beside_compute",
    "stream-race",
    """
Records the event before the launch that it is meant for.
+    ready.record(compute)
     scale_kernel[GRID, BLOCK, compute](d_x, np.float32(3), d_y)  # BUG
-    ready.record(compute)
     ready.wait(transfer)
     d_y.copy_to_host(h_y, stream=transfer)  # BUG
""",
)

# --- Two launches that write one array ---------------------------------------------------------


def two_writers_in_turn():
    """Chains the streams: each waits for the launch on the one before."""
    parts = [reals(3), reals(4)]
    streams = [cuda.stream() for _ in parts]
    total = cuda.to_device(np.zeros(N, np.float32))
    added = None
    for part, s in zip(parts, streams, strict=True):
        d_part = cuda.to_device(part, stream=s)
        if added is not None:
            added.wait(s)
        add_to_kernel[GRID, BLOCK, s](d_part, total)
        added = cuda.event(timing=False)
        added.record(s)
    cuda.synchronize()
    return total.copy_to_host(), parts[0] + parts[1]


race(
    two_writers_in_turn,
    "two_writers",
    "stream-race",
    """
Adds two arrays to one total on a stream each.
-    added = None
@@
-        if added is not None:
-            added.wait(s)
         add_to_kernel[GRID, BLOCK, s](d_part, total)  # BUG
-        added = cuda.event(timing=False)
-        added.record(s)
""",
)


# --- Chunks with a halo ------------------------------------------------------------------------
def smoothed(x):
    left, right = np.roll(x, 1), np.roll(x, -1)
    left[0], right[-1] = x[0], x[-1]
    return (left + x + right) / np.float32(3)


def chunks_behind_all_uploads():
    """Lets every stream wait for the uploads of its neighbours."""
    chunks, size = 4, N // 4
    h_x = pinned(reals(5))
    d_x, d_y = cuda.device_array(N, np.float32), cuda.device_array(N, np.float32)
    streams = [cuda.stream() for _ in range(chunks)]
    uploaded = [cuda.event() for _ in streams]
    for k, s in enumerate(streams):
        part = slice(k * size, (k + 1) * size)
        d_x[part].copy_to_device(h_x[part], stream=s)
        uploaded[k].record(s)
    for k, s in enumerate(streams):
        for near in uploaded[max(k - 1, 0) : k + 2]:
            near.wait(s)
        d_part = d_y[k * size : (k + 1) * size]
        smooth_kernel[size // BLOCK, BLOCK, s](d_x, d_part, k * size)
    cuda.synchronize()
    return d_y.copy_to_host(), smoothed(reals(5))


race(
    chunks_behind_all_uploads,
    "chunks_with_a_halo",
    "stream-race",
    """
Uploads and smooths in chunks; each launch reads one element of the neighbour's chunk.
-    uploaded = [cuda.event() for _ in streams]
@@
         d_x[part].copy_to_device(h_x[part], stream=s)  # BUG
-        uploaded[k].record(s)
     for k, s in enumerate(streams):
-        for near in uploaded[max(k - 1, 0) : k + 2]:
-            near.wait(s)
         d_part = d_y[k * size : (k + 1) * size]
         smooth_kernel[size // BLOCK, BLOCK, s](d_x, d_part, k * size)  # BUG
""",
)


# --- Atomics, then a plain update --------------------------------------------------------------
def digits(seed):
    return np.random.default_rng(seed).integers(0, 16, N, dtype=np.int32)


def percentages():
    both = np.concatenate([digits(6), digits(7)])
    return np.bincount(both, minlength=16) * 100 // (2 * N)


def histogram_normalised_in_the_end():
    """Counts with atomics on both streams, and joins them before it normalizes."""
    first, second = cuda.stream(), cuda.stream()
    counted = cuda.event()
    d_a, d_b = cuda.to_device(digits(6)), cuda.to_device(digits(7))
    bins = cuda.to_device(np.zeros(16, np.int32))
    count_kernel[GRID, BLOCK, first](d_a, bins)
    count_kernel[GRID, BLOCK, second](d_b, bins)
    counted.record(second)
    counted.wait(first)
    normalise_kernel[1, 32, first](bins, 2 * N)
    first.synchronize()
    return bins.copy_to_host(), percentages()


race(
    histogram_normalised_in_the_end,
    "histogram_normalised_too_early",
    "stream-race",
    """
Two streams count into one histogram, and one of them normalizes it for both.
-    counted = cuda.event()
@@
     count_kernel[GRID, BLOCK, second](d_b, bins)  # BUG
-    counted.record(second)
-    counted.wait(first)
     normalise_kernel[1, 32, first](bins, 2 * N)  # BUG
     first.synchronize()
+    second.synchronize()
""",
)

# --- Memory set on another stream --------------------------------------------------------------


def cleared_on_the_same_stream():
    """Binds the array to the stream that it is used on."""
    work = cuda.stream()
    x = reals(8)
    d_x = cuda.to_device(x, stream=work)
    total = cuda.device_array(N, np.float32, stream=work)
    total[:] = 0
    add_to_kernel[GRID, BLOCK, work](d_x, total)
    work.synchronize()
    return total.copy_to_host(), x


race(
    cleared_on_the_same_stream,
    "cleared_on_another_stream",
    "stream-race",
    """
Assigns zeros through an array that is bound to one stream, and adds on another.
-    work = cuda.stream()
+    setup, work = cuda.stream(), cuda.stream()
@@
-    total = cuda.device_array(N, np.float32, stream=work)
+    total = cuda.device_array(N, np.float32, stream=setup)
     total[:] = 0  # BUG
     add_to_kernel[GRID, BLOCK, work](d_x, total)  # BUG
""",
)

# --- Double buffering --------------------------------------------------------------------------


def buffers_used_again_when_free():
    """Lets the upload wait until the launch that reads the buffer is done, too."""
    batches = [pinned(reals(10 + k)) for k in range(4)]
    transfer, compute = cuda.stream(), cuda.stream()
    buffers = [cuda.device_array(N, np.float32) for _ in range(2)]
    uploaded = [cuda.event(timing=False) for _ in range(2)]
    free = [cuda.event(timing=False) for _ in range(2)]
    total = cuda.to_device(np.zeros(N, np.float32))
    for k, batch in enumerate(batches):
        buffer = buffers[k % 2]
        free[k % 2].wait(transfer)
        buffer.copy_to_device(batch, stream=transfer)
        uploaded[k % 2].record(transfer)
        uploaded[k % 2].wait(compute)
        add_to_kernel[GRID, BLOCK, compute](buffer, total)
        free[k % 2].record(compute)
    compute.synchronize()
    return total.copy_to_host(), sum(reals(10 + k) for k in range(4))


race(
    buffers_used_again_when_free,
    "buffers_used_again_too_early",
    "stream-race",
    """
Overlaps uploads and launches with two device buffers; an upload overruns the launch.
-    free = [cuda.event(timing=False) for _ in range(2)]
@@
-        free[k % 2].wait(transfer)
         buffer.copy_to_device(batch, stream=transfer)  # BUG
@@
         add_to_kernel[GRID, BLOCK, compute](buffer, total)  # BUG
-        free[k % 2].record(compute)
""",
)
