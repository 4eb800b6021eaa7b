"""grid.sync where not the whole grid comes to it."""

import numpy as np

from gpukit import cuda
from tests.bugs.kernels import Launch, blank, bug, correct, reals

HALF = 32
N = 2 * HALF - 10
TWO = Launch(2, HALF)
MANY = 10_000  # the largest GPUs of 2026 hold fewer than 5,000 blocks
KIND = "cooperative-misuse"


@cuda.jit
def neighbours_kernel(x, middle, out):
    """Guards the work and not the synchronisation."""
    i = cuda.grid(1)
    n = x.shape[0]
    if i < n:
        middle[i] = x[i] * x[i]
    cuda.cg.this_grid().sync()
    if i < n:
        out[i] = middle[(i + 1) % n]


correct(
    neighbours_kernel,
    lambda: (reals(N), blank(N), blank(N)),
    lambda x, middle, out: np.roll(x * x, -1),
    TWO,
)
guarded_sync = bug(
    neighbours_kernel,
    "neighbours_guarded_sync",
    KIND,
    """
Synchronises the grid behind the guard of the array's end.
-    cuda.cg.this_grid().sync()
-    if i < n:
+        cuda.cg.this_grid().sync()  # BUG
""",
)
returned_sync = bug(
    neighbours_kernel,
    "neighbours_returned_sync",
    "barrier-after-return",
    """
Sends threads home before the grid synchronises.
-    if i < n:
-        middle[i] = x[i] * x[i]
+    if i >= n:
+        return
+    middle[i] = x[i] * x[i]
     cuda.cg.this_grid().sync()  # BUG
-    if i < n:
-        out[i] = middle[(i + 1) % n]
+    out[i] = middle[(i + 1) % n]
""",
)
bug(
    neighbours_kernel,
    "idle_blocks_returned",
    KIND,
    """
Sends whole blocks home; the grid waits for them for ever.
-    if i < n:
-        middle[i] = x[i] * x[i]
+    if cuda.blockIdx.x * cuda.blockDim.x >= n:
+        return
+    middle[i] = x[i] * x[i]
     cuda.cg.this_grid().sync()  # BUG
-    if i < n:
-        out[i] = middle[(i + 1) % n]
+    out[i] = middle[(i + 1) % n]
""",
    Launch(3, HALF),
    lambda: (reals(2 * HALF), blank(2 * HALF), blank(2 * HALF)),
)


@cuda.jit
def total_by_all_kernel(x, parts, out):
    """Lets all threads wait."""
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        parts[b] = x[b]
    cuda.cg.this_grid().sync()
    if cuda.threadIdx.x == 0:
        out[b] = parts[0] + parts[1]


correct(
    total_by_all_kernel,
    lambda: (reals(2), blank(2), blank(2)),
    lambda x, parts, out: np.full(2, x.sum()),
    TWO,
)
bug(
    total_by_all_kernel,
    "total_by_leaders",
    KIND,
    """
Lets one thread of each block wait for the grid.
-    cuda.cg.this_grid().sync()
-    if cuda.threadIdx.x == 0:
+        cuda.cg.this_grid().sync()  # BUG
""",
)


@cuda.jit
def whole_grid_sync_kernel(x, factor, out):
    """Lets all blocks wait for it."""
    i = cuda.grid(1)
    if i == 0:
        factor[0] = np.float32(1) / x[0]
    cuda.cg.this_grid().sync()
    out[i] = x[i] * factor[0]


correct(
    whole_grid_sync_kernel,
    lambda: (reals(2 * HALF), np.ones(1, np.float32), blank(2 * HALF)),
    lambda x, factor, out: x / x[0],
    TWO,
)
bug(
    whole_grid_sync_kernel,
    "first_block_sync",
    KIND,
    """
Lets only block 0 wait, because it has made the factor.
-    if i == 0:
-        factor[0] = np.float32(1) / x[0]
-    cuda.cg.this_grid().sync()
+    if cuda.blockIdx.x == 0:
+        if i == 0:
+            factor[0] = np.float32(1) / x[0]
+        cuda.cg.this_grid().sync()  # BUG
""",
)


@cuda.jit
def steps_of_all_kernel(steps, out):
    """Lets all blocks go round equally often."""
    grid = cuda.cg.this_grid()
    b = cuda.blockIdx.x
    done = 0
    for k in range(max(steps[0], steps[1])):
        if k < steps[b]:
            done += 1
        grid.sync()
    if cuda.threadIdx.x == 0:
        out[b] = done


correct(
    steps_of_all_kernel,
    lambda: (np.array([2, 4], np.int32), np.full(2, -1, np.int32)),
    lambda steps, out: steps,
    TWO,
)
bug(
    steps_of_all_kernel,
    "steps_of_their_own",
    KIND,
    """
Lets each block synchronise the grid as often as its own number of steps.
-    for k in range(max(steps[0], steps[1])):
-        if k < steps[b]:
-            done += 1
+    for _ in range(steps[b]):
+        done += 1
         grid.sync()  # BUG
""",
)


@cuda.jit
def shift_strided_kernel(x, middle, out):
    """Is launched with few blocks, which take many elements each."""
    for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
        middle[i] = -x[i]
    cuda.cg.this_grid().sync()
    for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
        out[i] = middle[(i + 1) % x.shape[0]]


correct(
    shift_strided_kernel,
    lambda: (reals(MANY), blank(MANY), blank(MANY)),
    lambda x, middle, out: np.roll(-x, -1),
    TWO,
)
bug(
    shift_strided_kernel,
    "shift_block_each",
    "launch-refused",
    """
Is launched with a block for each element; blocks that wait must fit on the GPU at once.
 def shift_strided_kernel(x, middle, out):  # BUG
@@
-    for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
-        middle[i] = -x[i]
+    i = cuda.blockIdx.x
+    middle[i] = -x[i]
     cuda.cg.this_grid().sync()
-    for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
-        out[i] = middle[(i + 1) % x.shape[0]]
+    out[i] = middle[(i + 1) % x.shape[0]]
""",
    Launch(MANY, 1),
)
