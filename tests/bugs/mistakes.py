"""What Numba takes without a word and nobody can mean: lost values, statements without an effect,
a literal zero as a divisor, and globals that change after the first launch.
"""

import numpy as np

import gpukit
from gpukit import cuda
from tests.bugs.case import BLOCK, Launch, blank, case, reals

N = BLOCK - 14


@cuda.jit
def total_in_a_number_kernel(a, total):
    """Adds to a number, of which each thread has a copy."""
    i = cuda.grid(1)
    if i < a.shape[0]:
        total += a[i]  # BUG


@cuda.jit
def total_in_an_array_kernel(a, total):
    """Adds to an array of one element."""
    i = cuda.grid(1)
    if i < a.shape[0]:
        cuda.atomic.add(total, 0, a[i])


case(
    total_in_a_number_kernel, total_in_an_array_kernel, "lost-value", Launch(1, BLOCK),
    arguments=lambda: (reals(N), 0),
    fixed_arguments=lambda: (reals(N), np.zeros(1, np.float32)),
    expected=lambda a, total: a.sum(keepdims=True),
)  # fmt: skip


@cuda.jit
def largest_in_a_number_kernel(a, best):
    """Keeps the largest in a number."""
    for k in range(a.shape[0]):
        if a[k] > best:
            best = a[k]  # BUG


@cuda.jit
def largest_kernel(a, best):
    """Stores the largest when all were seen."""
    largest = a[0]
    for k in range(1, a.shape[0]):
        if a[k] > largest:
            largest = a[k]
    best[0] = largest


case(
    largest_in_a_number_kernel, largest_kernel, "lost-value", Launch(1, 1),
    arguments=lambda: (reals(N), 0),
    fixed_arguments=lambda: (reals(N), blank(1)),
    expected=lambda a, best: a.max(keepdims=True),
)  # fmt: skip


@cuda.jit
def array_renamed_kernel(a, out):
    """Stores in the name of the array and not in an element of it."""
    i = cuda.grid(1)
    if i < out.shape[0]:
        out = a[i]  # BUG


@cuda.jit
def element_set_kernel(a, out):
    """Stores in an element."""
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = a[i]


case(
    array_renamed_kernel, element_set_kernel, "lost-value", Launch(1, BLOCK),
    arguments=lambda: (reals(N), blank(N)),
    expected=lambda a, out: a,
)  # fmt: skip


@cuda.jit(device=True)
def add_to(total, x):
    """Adds to the copy that it was given."""
    total += x  # BUG


@cuda.jit
def added_in_a_function_kernel(a, out):
    """Calls a function that is to add to its argument."""
    i = cuda.grid(1)
    if i < out.shape[0]:
        add_to(out[i], a[i])
        out[i] = a[i]


case(
    added_in_a_function_kernel, element_set_kernel, "lost-value", Launch(1, BLOCK),
    arguments=lambda: (reals(N), blank(N)),
    expected=lambda a, out: a, parts=(add_to,),
)  # fmt: skip


@cuda.jit
def percent_of_nothing_kernel(a, out):
    """Divides by a literal zero."""
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = a[i] + 100 // 0  # BUG


case(
    percent_of_nothing_kernel, element_set_kernel, "zero-division", Launch(1, BLOCK),
    arguments=lambda: (reals(N), blank(N)),
    expected=lambda a, out: a,
)  # fmt: skip


@cuda.jit
def rest_of_nothing_kernel(a, out):
    """Takes the rest of a division by a literal zero."""
    i = cuda.grid(1)
    if i < out.shape[0]:
        i %= 0  # BUG
        out[i] = a[i]


case(
    rest_of_nothing_kernel, element_set_kernel, "zero-division", Launch(1, 1),
    arguments=lambda: (reals(1), blank(1)),
    expected=lambda a, out: a,
)  # fmt: skip

weights = np.array([1.0, 2.0], np.float32)
SCALE = np.float32(2)


@cuda.jit
def scale_by_a_table_kernel(a, out):
    """Reads a table from outside, which is changed after the first launch."""
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = a[i] * weights[1]  # BUG


@cuda.jit
def scale_by_a_global_kernel(a, out):
    """Reads a number from outside, which is changed after the first launch."""
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = a[i] * SCALE  # BUG


@cuda.jit
def scale_by_an_argument_kernel(a, table, out):
    """Takes the table as an argument."""
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = a[i] * table[1]


def after_a_change_of_the_table():
    """Return arguments for a launch; one was before, and the table has changed since."""
    gpukit.check(scale_by_a_table_kernel)[1, BLOCK](reals(N), blank(N))
    weights[1] += 1
    return reals(N), blank(N)


def after_a_change_of_the_number():
    """Return arguments for a launch; one was before, and the number has changed since."""
    global SCALE
    gpukit.check(scale_by_a_global_kernel)[1, BLOCK](reals(N), blank(N))
    SCALE += np.float32(1)
    return reals(N), blank(N)


for _kernel, _arguments in (
    (scale_by_a_table_kernel, after_a_change_of_the_table),
    (scale_by_a_global_kernel, after_a_change_of_the_number),
):
    case(
        _kernel, scale_by_an_argument_kernel, "stale-constant", Launch(1, BLOCK),
        arguments=_arguments,
        fixed_arguments=lambda: (reals(N), np.array([1, 3], np.float32), blank(N)),
        expected=lambda a, table, out: a * 3,
    )  # fmt: skip


@cuda.jit
def clear_by_comparing_kernel(slots, out):
    """Compares where it means to store."""
    i = cuda.grid(1)
    if i < slots.shape[0]:
        out[i] = slots[i]
        slots[i] == 0  # noqa: B015  # BUG


@cuda.jit
def clear_kernel(slots, out):
    """Stores a zero behind each value that it took."""
    i = cuda.grid(1)
    if i < slots.shape[0]:
        out[i] = slots[i]
        slots[i] = 0


case(
    clear_by_comparing_kernel, clear_kernel, "no-effect", Launch(1, BLOCK),
    arguments=lambda: (reals(N), blank(N)),
    expected=lambda slots, out: slots,
)  # fmt: skip


@cuda.jit(device=True)
def next_place(p, size):
    """Computes the place behind p, and keeps p."""
    p + 1  # BUG
    return p % size


@cuda.jit
def shift_by_nothing_kernel(x, out):
    """Calls a function that adds and does not store."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        out[i] = x[next_place(i, x.shape[0])]


@cuda.jit
def shift_kernel(x, out):
    """Takes the next element, the first behind the last."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        out[i] = x[(i + 1) % x.shape[0]]


case(
    shift_by_nothing_kernel, shift_kernel, "no-effect", Launch(1, BLOCK),
    arguments=lambda: (reals(N), blank(N)),
    expected=lambda x, out: np.roll(x, -1), parts=(next_place,),
)  # fmt: skip
