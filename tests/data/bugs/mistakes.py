"""What Numba takes without a word and nobody can mean: lost values, statements without an effect,
a literal zero as a divisor, and globals that change after the first launch.
"""

import numpy as np

import gpukit
from gpukit import cuda
from tests.bugs.kernels import BLOCK, BUGS, Launch, blank, bug, correct, reals

N = BLOCK - 14


@cuda.jit
def total_in_an_array_kernel(a, total):
    """Adds to an array of one element."""
    i = cuda.grid(1)
    if i < a.shape[0]:
        cuda.atomic.add(total, 0, a[i])


correct(
    total_in_an_array_kernel,
    lambda: (reals(N), np.zeros(1, np.float32)),
    lambda a, total: a.sum(keepdims=True),
    Launch(1, BLOCK),
)
bug(
    total_in_an_array_kernel,
    "total_in_a_number",
    "lost-value",
    """
Adds to a number, of which each thread has a copy.
-        cuda.atomic.add(total, 0, a[i])
+        total += a[i]  # BUG
""",
    arguments=lambda: (reals(N), 0),
)


@cuda.jit
def largest_kernel(a, best):
    """Stores the largest when all were seen."""
    largest = a[0]
    for k in range(1, a.shape[0]):
        if a[k] > largest:
            largest = a[k]
    best[0] = largest


correct(
    largest_kernel, lambda: (reals(N), blank(1)), lambda a, best: a.max(keepdims=True), Launch(1, 1)
)
bug(
    largest_kernel,
    "largest_in_a_number",
    "lost-value",
    """
Keeps the largest in a number.
-    largest = a[0]
-    for k in range(1, a.shape[0]):
-        if a[k] > largest:
-            largest = a[k]
-    best[0] = largest
+    for k in range(a.shape[0]):
+        if a[k] > best:
+            best = a[k]  # BUG
""",
    arguments=lambda: (reals(N), 0),
)


@cuda.jit
def element_set_kernel(a, out):
    """Stores in an element."""
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = a[i]


correct(element_set_kernel, lambda: (reals(N), blank(N)), lambda a, out: a, Launch(1, BLOCK))
bug(
    element_set_kernel,
    "array_renamed",
    "lost-value",
    """
Stores in the name of the array and not in an element of it.
-        out[i] = a[i]
+        out = a[i]  # BUG
""",
)
bug(
    element_set_kernel,
    "added_in_a_function",
    "lost-value",
    """
Calls a function that is to add to its argument.
+@cuda.jit(device=True)
+def add_to(total, x):
+    total += x  # BUG
 @cuda.jit
@@
+        add_to(out[i], a[i])
         out[i] = a[i]
""",
)
bug(
    element_set_kernel,
    "percent_of_nothing",
    "zero-division",
    """
Divides by a literal zero.
-        out[i] = a[i]
+        out[i] = a[i] + 100 // 0  # BUG
""",
)
bug(
    element_set_kernel,
    "rest_of_nothing",
    "zero-division",
    """
Takes the rest of a division by a literal zero.
+        i %= 0  # BUG
         out[i] = a[i]
""",
    Launch(1, 1),
    lambda: (reals(1), blank(1)),
)

weights = np.array([1.0, 2.0], np.float32)
SCALE = np.float32(2)


@cuda.jit
def scale_by_an_argument_kernel(a, table, out):
    """Takes the table as an argument."""
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = a[i] * table[1]


def after_a_change(name, change):
    """Launch the kernel of a bug; then change what it reads, and return arguments."""
    kernel = BUGS[f"{name}-stale-constant"].kernel
    gpukit.check(kernel)[1, BLOCK](reals(N), blank(N))
    change(kernel.py_func.__globals__)
    return reals(N), blank(N)


def change_the_table(names):
    names["weights"][1] += 1


def change_the_number(names):
    names["SCALE"] += np.float32(1)


correct(
    scale_by_an_argument_kernel,
    lambda: (reals(N), np.array([1, 3], np.float32), blank(N)),
    lambda a, table, out: a * 3,
    Launch(1, BLOCK),
)
bug(
    scale_by_an_argument_kernel,
    "scale_by_a_table",
    "stale-constant",
    """
Reads a table from outside, which is changed after the first launch.
-def scale_by_an_argument_kernel(a, table, out):
+def scale_by_an_argument_kernel(a, out):
@@
-        out[i] = a[i] * table[1]
+        out[i] = a[i] * weights[1]  # BUG
""",
    arguments=lambda: after_a_change("scale_by_a_table", change_the_table),
)
bug(
    scale_by_an_argument_kernel,
    "scale_by_a_global",
    "stale-constant",
    """
Reads a number from outside, which is changed after the first launch.
-def scale_by_an_argument_kernel(a, table, out):
+def scale_by_an_argument_kernel(a, out):
@@
-        out[i] = a[i] * table[1]
+        out[i] = a[i] * SCALE  # BUG
""",
    arguments=lambda: after_a_change("scale_by_a_global", change_the_number),
)


@cuda.jit
def clear_kernel(slots, out):
    """Stores a zero behind each value that it took."""
    i = cuda.grid(1)
    if i < slots.shape[0]:
        out[i] = slots[i]
        slots[i] = 0


correct(clear_kernel, lambda: (reals(N), blank(N)), lambda slots, out: slots, Launch(1, BLOCK))
bug(
    clear_kernel,
    "clear_by_comparing",
    "no-effect",
    """
Compares where it means to store.
-        slots[i] = 0
+        slots[i] == 0  # BUG
""",
)


@cuda.jit
def shift_kernel(x, out):
    """Takes the next element, the first behind the last."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        out[i] = x[(i + 1) % x.shape[0]]


correct(shift_kernel, lambda: (reals(N), blank(N)), lambda x, out: np.roll(x, -1), Launch(1, BLOCK))
bug(
    shift_kernel,
    "shift_by_nothing",
    "no-effect",
    """
Calls a function that adds and does not store.
+@cuda.jit(device=True)
+def next_place(p, size):
+    p + 1  # BUG
+    return p % size
 @cuda.jit
@@
-        out[i] = x[(i + 1) % x.shape[0]]
+        out[i] = x[next_place(i, x.shape[0])]
""",
)
