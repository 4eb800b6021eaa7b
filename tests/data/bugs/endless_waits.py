"""Loops that wait for what no thread ever does, and locks that lanes of a warp wait for in turn."""

import numpy as np

from gpukit import cuda
from tests.bugs.kernels import BLOCK, Launch, bug, correct, reals

TWO = Launch(2, BLOCK)


def counters(count):
    """Return integers that begin with zero, one array each."""
    return tuple(np.zeros(1, np.int32) for _ in range(count))


@cuda.jit
def add_with_lock_kernel(x, lock, total):
    """Gives the lock back at once."""
    done = False
    while not done:
        if cuda.atomic.cas(lock, 0, 0, 1) == 0:
            total[0] += x[cuda.threadIdx.x]
            cuda.threadfence()
            cuda.atomic.exch(lock, 0, 0)
            done = True


@cuda.jit
def last_to_come_kernel(x, flag, total):
    """Lets the block that comes last do it, whichever that is."""
    if cuda.threadIdx.x > 0:
        return
    if cuda.atomic.add(flag, 0, 1) == cuda.gridDim.x - 1:
        total[0] = x[0]


correct(
    last_to_come_kernel,
    lambda: (reals(BLOCK), *counters(1), np.zeros(1, np.float32)),
    lambda x, flag, total: x[:1],
    TWO,
)
bug(
    last_to_come_kernel,
    "first_waits_for_last",
    "endless-wait",
    """
Lets the first block wait for a block that may not have begun.
-    if cuda.atomic.add(flag, 0, 1) == cuda.gridDim.x - 1:
+    if cuda.blockIdx.x == 0:
+        while cuda.atomic.add(flag, 0, 0) == 0:  # BUG
+            pass
         total[0] = x[0]
+    else:
+        cuda.atomic.exch(flag, 0, 1)
""",
)

correct(
    add_with_lock_kernel,
    lambda: (np.arange(BLOCK, dtype=np.int32), *counters(2)),
    lambda x, lock, total: x.sum(keepdims=True),
    Launch(1, BLOCK),
)
bug(
    add_with_lock_kernel,
    "add_with_kept_lock",
    "endless-wait",
    """
Takes a lock and never gives it back.
-            cuda.atomic.exch(lock, 0, 0)
             done = True
+    while cuda.atomic.cas(lock, 0, 0, 1) != 0:  # BUG
+        pass
""",
)
bug(
    add_with_lock_kernel,
    "add_behind_the_lock",
    "spin-lock",
    """
Lets every thread take a lock, and give it back behind the loop.
-    done = False
-    while not done:
-        if cuda.atomic.cas(lock, 0, 0, 1) == 0:
-            total[0] += x[cuda.threadIdx.x]
-            cuda.threadfence()
-            cuda.atomic.exch(lock, 0, 0)
-            done = True
+    while cuda.atomic.cas(lock, 0, 0, 1) != 0:  # BUG
+        pass
+    total[0] += x[cuda.threadIdx.x]
+    cuda.threadfence()
+    cuda.atomic.exch(lock, 0, 0)
""",
)


@cuda.jit
def largest_by_one_lane_kernel(x, lock, best):
    """Lets the first lane of a warp take the lock, for all 32."""
    i = cuda.grid(1)
    if i % 32 == 0:
        while cuda.atomic.cas(lock, 0, 0, 1) != 0:
            pass
        for k in range(32):
            best[0] = max(best[0], x[i + k])
        cuda.threadfence()
        cuda.atomic.exch(lock, 0, 0)


correct(
    largest_by_one_lane_kernel,
    lambda: (np.arange(1, 2 * BLOCK + 1, dtype=np.int32), *counters(2)),
    lambda x, lock, best: x.max(keepdims=True),
    TWO,
)
bug(
    largest_by_one_lane_kernel,
    "largest_by_all_lanes",
    "spin-lock",
    """
Lets the threads of a warp take a lock one after the other.
+@cuda.jit(device=True)
+def taken(lock):
+    old = cuda.atomic.exch(lock, 0, 1)
+    while old == 1:  # BUG
+        old = cuda.atomic.exch(lock, 0, 1)
 @cuda.jit
@@
-    if i % 32 == 0:
-        while cuda.atomic.cas(lock, 0, 0, 1) != 0:
-            pass
-        for k in range(32):
-            best[0] = max(best[0], x[i + k])
-        cuda.threadfence()
-        cuda.atomic.exch(lock, 0, 0)
+    for k in range(2):
+        if x[i] > k:
+            taken(lock)
+            best[0] = max(best[0], x[i])
+            cuda.threadfence()
+            cuda.atomic.exch(lock, 0, 0)
""",
)
