"""Wide accesses at addresses that their size does not divide: a GPU stops, a CPU does not mind."""

import numpy as np

from gpukit import cuda
from tests.bugs.kernels import Launch, blank, bug, correct, counts, reals

HEADER = 5
N = 32
ODD = 33


@cuda.jit
def values_then_flags_kernel(x, out):
    """Puts the widest type first."""
    buffer = cuda.shared.array(0, np.uint8)
    values = buffer[: 4 * N].view(np.float32)
    flags = buffer[4 * N :]
    tid = cuda.threadIdx.x
    flags[tid] = np.uint8(x[tid] > np.float32(0))
    values[tid] = x[tid]
    cuda.syncthreads()
    out[tid] = values[N - 1 - tid] if flags[tid] > 0 else np.float32(0)


correct(
    values_then_flags_kernel,
    lambda: (reals(N), blank(N)),
    lambda x, out: np.where(x > 0, x[::-1], 0),
    Launch(1, N, ODD + 4 * N),
)
bug(
    values_then_flags_kernel,
    "flags_then_values",
    "misaligned",
    """
Carves values out of dynamic shared memory right behind an odd number of flags.
-    values = buffer[: 4 * N].view(np.float32)
-    flags = buffer[4 * N :]
+    values = buffer[ODD : ODD + 4 * N].view(np.float32)
     tid = cuda.threadIdx.x
-    flags[tid] = np.uint8(x[tid] > np.float32(0))
+    buffer[tid] = np.uint8(x[tid] > np.float32(0))
     values[tid] = x[tid]  # BUG
     cuda.syncthreads()
-    out[tid] = values[N - 1 - tid] if flags[tid] > 0 else np.float32(0)
+    out[tid] = values[N - 1 - tid] if buffer[tid] > 0 else np.float32(0)
""",
)


@cuda.jit
def sums_behind_padding_kernel(x, out):
    """Rounds the number of counts up to an even one."""
    small = cuda.shared.array(0, np.int32)
    wide = small[ODD + 1 : ODD + 1 + 2 * N].view(np.int64)
    tid = cuda.threadIdx.x
    small[tid] = x[tid]
    wide[tid] = x[tid] * x[tid]
    cuda.syncthreads()
    out[tid] = wide[N - 1 - tid] - small[N - 1 - tid]


correct(
    sums_behind_padding_kernel,
    lambda: (counts(N, 100), np.zeros(N, np.int64)),
    lambda x, out: (x.astype(np.int64) ** 2 - x)[::-1],
    Launch(1, N, 4 * (ODD + 1) + 8 * N),
)
bug(
    sums_behind_padding_kernel,
    "counts_then_sums",
    "misaligned",
    """
Puts 8-byte sums behind an odd number of 4-byte counts.
-    wide = small[ODD + 1 : ODD + 1 + 2 * N].view(np.int64)
+    wide = small[ODD : ODD + 2 * N].view(np.int64)
@@
     wide[tid] = x[tid] * x[tid]  # BUG
""",
)


def packet(header):
    """Make the bytes of a header and of N float32 values."""
    return np.concatenate([np.zeros(header, np.uint8), reals(N).view(np.uint8)])


@cuda.jit
def parse_padded_packet_kernel(packet, out):
    """Reads packets whose header is padded to eight bytes."""
    values = packet[8:].view(np.float32)
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = values[i]


correct(
    parse_padded_packet_kernel,
    lambda: (cuda.to_device(packet(8)), blank(N)),
    lambda packet, out: packet[8:].view(np.float32),
    Launch(1, N),
)
bug(
    parse_padded_packet_kernel,
    "parse_packet",
    "misaligned",
    """
Reads float32 values right behind a header of five bytes.
-    values = packet[8:].view(np.float32)
+    values = packet[HEADER:].view(np.float32)
@@
         out[i] = values[i]  # BUG
""",
    arguments=lambda: (cuda.to_device(packet(HEADER)), blank(N)),
)


@cuda.jit
def scale_kernel(x, out):
    """Is given a view that starts with an element."""
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = np.float32(2) * x[i]


correct(
    scale_kernel,
    lambda: (cuda.to_device(packet(4))[4:].view(np.float32), blank(N)),
    lambda x, out: 2 * x,
    Launch(1, N),
)
bug(
    scale_kernel,
    "scale_view",
    "misaligned",
    """
Is given a device view that starts in the middle of an element.
         out[i] = np.float32(2) * x[i]  # BUG
""",
    arguments=lambda: (cuda.to_device(packet(2))[2:].view(np.float32), blank(N)),
)
