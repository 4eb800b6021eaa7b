"""Host code that does not wait for the stream that fills or reads its memory."""

import asyncio
import threading

import numpy as np

from gpukit import cuda
from tests.bugs.programs import race

N = 1 << 12
BLOCK = 128
GRID = N // BLOCK


@cuda.jit
def square_kernel(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] * x[i]


@cuda.jit
def increment_kernel(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += 1


square = cuda.vectorize(["float32(float32)"])(lambda v: v * v)


def reals(seed):
    return np.random.default_rng(seed).random(N, dtype=np.float32)


# --- Reading a result before it is there -------------------------------------------------------


def summed_behind_the_stream():
    """Waits for the stream first."""
    stream = cuda.stream()
    result = cuda.pinned_array(N, np.float32)
    d_x = cuda.to_device(reals(1), stream=stream)
    d_y = cuda.device_array(N, np.float32, stream=stream)
    square_kernel[GRID, BLOCK, stream](d_x, d_y)
    d_y.copy_to_host(result, stream=stream)
    stream.synchronize()
    return result.sum(), (reals(1) ** 2).sum()


race(
    summed_behind_the_stream,
    "summed_too_early",
    "host-race",
    """
Sums a pinned result behind an asynchronous copy.
     d_y.copy_to_host(result, stream=stream)  # BUG
-    stream.synchronize()
     return result.sum(), (reals(1) ** 2).sum()  # BUG
""",
)


def waited_for_the_right_stream():
    """Waits for the stream of the copy."""
    uploads, downloads = cuda.stream(), cuda.stream()
    result = cuda.pinned_array(N, np.float32)
    d_x = cuda.to_device(reals(2), stream=uploads)
    uploads.synchronize()
    d_x.copy_to_host(result, stream=downloads)
    downloads.synchronize()
    np.testing.assert_array_equal(result, reals(2))
    return result, reals(2)


race(
    waited_for_the_right_stream,
    "waited_for_the_wrong_stream",
    "host-race",
    """
Has two streams, and waits for the one that does something else.
     d_x.copy_to_host(result, stream=downloads)  # BUG
+    uploads.synchronize()
+    np.testing.assert_array_equal(result, reals(2))  # BUG
     downloads.synchronize()
-    np.testing.assert_array_equal(result, reals(2))
""",
)

# --- Overwriting what is still read ------------------------------------------------------------


def staged_behind_an_event():
    """Waits for the event behind the last copy before it fills the buffer again."""
    stream, copied = cuda.stream(), cuda.event(timing=False)
    staging = cuda.pinned_array(N, np.float32)
    batches = []
    for k in range(3):
        copied.synchronize()
        staging[:] = reals(3 + k)
        d_batch = cuda.device_array(N, np.float32, stream=stream)
        d_batch.copy_to_device(staging, stream=stream)
        copied.record(stream)
        batches.append(d_batch)
    stream.synchronize()
    found = [b.copy_to_host(stream=stream) for b in batches]
    return np.stack(found), np.stack([reals(3 + k) for k in range(3)])


race(
    staged_behind_an_event,
    "staged_too_early",
    "host-race",
    """
Fills one pinned staging buffer again while its last copy may still be running.
-    stream, copied = cuda.stream(), cuda.event(timing=False)
+    stream = cuda.stream()
@@
-        copied.synchronize()
         staging[:] = reals(3 + k)  # BUG
         d_batch = cuda.device_array(N, np.float32, stream=stream)
         d_batch.copy_to_device(staging, stream=stream)  # BUG
-        copied.record(stream)
""",
)

# --- Memory that both reach --------------------------------------------------------------------


def mapped_read_behind_the_device():
    """Waits for the device first."""
    flags = cuda.mapped_array(N, np.int32)
    flags[:] = np.arange(N)
    increment_kernel[GRID, BLOCK](flags)
    cuda.synchronize()
    return np.array([int(flags[0])]), [1]


race(
    mapped_read_behind_the_device,
    "mapped_read_too_early",
    "host-race",
    """
Reads mapped memory right behind the launch that writes it.
     increment_kernel[GRID, BLOCK](flags)  # BUG
+    first = int(flags[0])  # BUG
     cuda.synchronize()
-    return np.array([int(flags[0])]), [1]
+    return np.array([first]), [1]
""",
)


def managed_updated_behind_the_copy():
    """Fetches the result first: a copy without a stream waits."""
    x = cuda.managed_array(N, np.float32)
    out = cuda.device_array(N, np.float32)
    x[:] = reals(6)
    square_kernel[GRID, BLOCK](x, out)
    found = out.copy_to_host()
    x *= 2
    return found, reals(6) ** 2


race(
    managed_updated_behind_the_copy,
    "managed_updated_too_early",
    "host-race",
    """
Prepares the next step in managed memory that a launch still reads.
     square_kernel[GRID, BLOCK](x, out)  # BUG
-    found = out.copy_to_host()
     x *= 2  # BUG
-    return found, reals(6) ** 2
+    return out.copy_to_host(), reals(6) ** 2
""",
)

# --- Pinned arrays as arguments ----------------------------------------------------------------


def argument_read_behind_the_stream():
    """Synchronizes at the end of a block."""
    x = cuda.pinned_array(N, np.int32)
    x[:] = 0
    stream = cuda.stream()
    with stream.auto_synchronize():
        increment_kernel[GRID, BLOCK, stream](x)
    return x.copy(), np.ones(N)


race(
    argument_read_behind_the_stream,
    "argument_read_too_early",
    "host-race",
    """
Passes a pinned array to a launch on a stream: it is copied back on that stream.
+    stream = cuda.stream()
     x = cuda.pinned_array(N, np.int32)
@@
-    stream = cuda.stream()
-    with stream.auto_synchronize():
-        increment_kernel[GRID, BLOCK, stream](x)
+    increment_kernel[GRID, BLOCK, stream](x)  # BUG
     return x.copy(), np.ones(N)  # BUG
""",
)


def ufunc_out_read_behind_an_event():
    """Waits for an event behind it."""
    stream, done = cuda.stream(), cuda.event()
    out = cuda.pinned_array(N, np.float32)
    square(reals(7), out=out, stream=stream)
    done.record(stream)
    done.synchronize()
    return out + 0, reals(7) ** 2


race(
    ufunc_out_read_behind_an_event,
    "ufunc_out_read_too_early",
    "host-race",
    """
Lets an array function write into pinned memory on a stream.
-    stream, done = cuda.stream(), cuda.event()
+    stream = cuda.stream()
     out = cuda.pinned_array(N, np.float32)
     square(reals(7), out=out, stream=stream)  # BUG
-    done.record(stream)
-    done.synchronize()
     return out + 0, reals(7) ** 2  # BUG
""",
)


# --- Memory that is gone -----------------------------------------------------------------------
def start_upload(d_x, stream):
    """Start a copy from pinned memory of its own."""
    staging = cuda.pinned_array(N, np.float32)
    staging[:] = reals(8)
    d_x.copy_to_device(staging, stream=stream)
    return staging


def buffer_kept_until_the_end():
    """Keeps it until the stream is done."""
    stream = cuda.stream()
    d_x = cuda.device_array(N, np.float32)
    staging = start_upload(d_x, stream)
    stream.synchronize()
    del staging
    return d_x.copy_to_host(), reals(8)


race(
    buffer_kept_until_the_end,
    "buffer_dropped_too_early",
    "host-race",
    """
Drops the only reference to the source of a copy that may still be running.
-    staging = start_upload(d_x, stream)
+    staging = cuda.pinned_array(N, np.float32)
+    staging[:] = reals(8)
+    d_x.copy_to_device(staging, stream=stream)  # BUG
+    del staging  # BUG
     stream.synchronize()
-    del staging
""",
)


def unlocked_behind_the_stream():
    """Waits inside of the block."""
    stream = cuda.stream()
    result = np.empty(N, np.float32)
    d_x = cuda.to_device(reals(9), stream=stream)
    with cuda.pinned(result):
        d_x.copy_to_host(result, stream=stream)
        stream.synchronize()
    return result, reals(9)


race(
    unlocked_behind_the_stream,
    "unlocked_too_early",
    "host-race",
    """
Leaves the block that page-locks an array while a copy into it may be running.
     with cuda.pinned(result):  # BUG
         d_x.copy_to_host(result, stream=stream)  # BUG
-        stream.synchronize()
+    stream.synchronize()
""",
)

# --- Waiting by way of callbacks ---------------------------------------------------------------


def awaited_in_time():
    """Awaits the stream first."""
    stream = cuda.stream()
    result = cuda.pinned_array(N, np.float32)
    d_x = cuda.to_device(reals(10))

    async def main():
        d_x.copy_to_host(result, stream=stream)
        await stream.async_done()
        return float(result.max())

    return asyncio.run(main()), reals(10).max()


race(
    awaited_in_time,
    "awaited_too_late",
    "host-race",
    """
Awaits the stream after it has used the result.
         d_x.copy_to_host(result, stream=stream)  # BUG
-        await stream.async_done()
-        return float(result.max())
+        done = stream.async_done()
+        total = float(result.max())  # BUG
+        await done
+        return total
""",
)


def told_by_a_callback():
    """Waits for a callback behind the copy; the callback looks at the result, too."""
    copies = cuda.stream()
    result = cuda.pinned_array(N, np.float32)
    d_x = cuda.to_device(reals(11))
    done, seen = threading.Event(), []

    def look(stream, status, arg):
        seen.append(float(result[0]))

    d_x.copy_to_host(result, stream=copies)
    copies.add_callback(look)
    copies.add_callback(lambda stream, status, arg: done.set())
    done.wait(10)
    return [*seen, *result[:3]], [reals(11)[0], *reals(11)[:3]]


race(
    told_by_a_callback,
    "told_of_another_stream",
    "host-race",
    """
Waits for a callback of another stream than the copy's.
-    copies = cuda.stream()
+    copies, others = cuda.stream(), cuda.stream()
@@
-    done, seen = threading.Event(), []
-
-    def look(stream, status, arg):
-        seen.append(float(result[0]))
-
+    done = threading.Event()
     d_x.copy_to_host(result, stream=copies)  # BUG
-    copies.add_callback(look)
-    copies.add_callback(lambda stream, status, arg: done.set())
+    others.add_callback(lambda stream, status, arg: done.set())
     done.wait(10)
-    return [*seen, *result[:3]], [reals(11)[0], *reals(11)[:3]]
+    return list(result[:3]), reals(11)[:3]  # BUG
""",
)
