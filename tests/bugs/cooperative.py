"""grid.sync where not the whole grid comes to it."""

import numpy as np

from gpukit import cuda
from tests.bugs.case import Launch, blank, case, reals

HALF = 32
N = 2 * HALF - 10
TWO = Launch(2, HALF)
MANY = 10_000  # the largest GPUs of 2026 hold fewer than 5,000 blocks
KIND = "cooperative-misuse"


@cuda.jit
def neighbours_guarded_sync_kernel(x, middle, out):
    """Synchronises the grid behind the guard of the array's end."""
    i = cuda.grid(1)
    n = x.shape[0]
    if i < n:
        middle[i] = x[i] * x[i]
        cuda.cg.this_grid().sync()  # BUG
        out[i] = middle[(i + 1) % n]


@cuda.jit
def neighbours_returned_sync_kernel(x, middle, out):
    """Sends threads home before the grid synchronises."""
    i = cuda.grid(1)
    n = x.shape[0]
    if i >= n:
        return
    middle[i] = x[i] * x[i]
    cuda.cg.this_grid().sync()  # BUG
    out[i] = middle[(i + 1) % n]


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


for buggy, kind in (
    (neighbours_guarded_sync_kernel, KIND),
    (neighbours_returned_sync_kernel, "barrier-after-return"),
):
    case(
        buggy, neighbours_kernel, kind, TWO,
        arguments=lambda: (reals(N), blank(N), blank(N)),
        expected=lambda x, middle, out: np.roll(x * x, -1),
    )  # fmt: skip


@cuda.jit
def idle_blocks_returned_kernel(x, middle, out):
    """Sends whole blocks home; the grid waits for them for ever."""
    i = cuda.grid(1)
    n = x.shape[0]
    if cuda.blockIdx.x * cuda.blockDim.x >= n:
        return
    middle[i] = x[i] * x[i]
    cuda.cg.this_grid().sync()  # BUG
    out[i] = middle[(i + 1) % n]


case(
    idle_blocks_returned_kernel, neighbours_kernel, KIND, Launch(3, HALF), fixed_launch=TWO,
    arguments=lambda: (reals(2 * HALF), blank(2 * HALF), blank(2 * HALF)),
    expected=lambda x, middle, out: np.roll(x * x, -1),
)  # fmt: skip


@cuda.jit
def total_by_leaders_kernel(x, parts, out):
    """Lets one thread of each block wait for the grid."""
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        parts[b] = x[b]
        cuda.cg.this_grid().sync()  # BUG
        out[b] = parts[0] + parts[1]


@cuda.jit
def total_by_all_kernel(x, parts, out):
    """Lets all threads wait."""
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        parts[b] = x[b]
    cuda.cg.this_grid().sync()
    if cuda.threadIdx.x == 0:
        out[b] = parts[0] + parts[1]


case(
    total_by_leaders_kernel, total_by_all_kernel, KIND, TWO,
    arguments=lambda: (reals(2), blank(2), blank(2)),
    expected=lambda x, parts, out: np.full(2, x.sum()),
)  # fmt: skip


@cuda.jit
def first_block_sync_kernel(x, factor, out):
    """Lets only block 0 wait, because it has made the factor."""
    i = cuda.grid(1)
    if cuda.blockIdx.x == 0:
        if i == 0:
            factor[0] = np.float32(1) / x[0]
        cuda.cg.this_grid().sync()  # BUG
    out[i] = x[i] * factor[0]


@cuda.jit
def whole_grid_sync_kernel(x, factor, out):
    """Lets all blocks wait for it."""
    i = cuda.grid(1)
    if i == 0:
        factor[0] = np.float32(1) / x[0]
    cuda.cg.this_grid().sync()
    out[i] = x[i] * factor[0]


case(
    first_block_sync_kernel, whole_grid_sync_kernel, KIND, TWO,
    arguments=lambda: (reals(2 * HALF), np.ones(1, np.float32), blank(2 * HALF)),
    expected=lambda x, factor, out: x / x[0],
)  # fmt: skip


@cuda.jit
def steps_of_their_own_kernel(steps, out):
    """Lets each block synchronise the grid as often as its own number of steps."""
    grid = cuda.cg.this_grid()
    b = cuda.blockIdx.x
    done = 0
    for _ in range(steps[b]):
        done += 1
        grid.sync()  # BUG
    if cuda.threadIdx.x == 0:
        out[b] = done


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


case(
    steps_of_their_own_kernel, steps_of_all_kernel, KIND, TWO,
    arguments=lambda: (np.array([2, 4], np.int32), np.full(2, -1, np.int32)),
    expected=lambda steps, out: steps,
)  # fmt: skip


@cuda.jit
def shift_block_each_kernel(x, middle, out):  # BUG
    """Is launched with a block for each element; blocks that wait must fit on the GPU at once."""
    i = cuda.blockIdx.x
    middle[i] = -x[i]
    cuda.cg.this_grid().sync()
    out[i] = middle[(i + 1) % x.shape[0]]


@cuda.jit
def shift_strided_kernel(x, middle, out):
    """Is launched with few blocks, which take many elements each."""
    for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
        middle[i] = -x[i]
    cuda.cg.this_grid().sync()
    for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
        out[i] = middle[(i + 1) % x.shape[0]]


case(
    shift_block_each_kernel, shift_strided_kernel, "launch-refused", Launch(MANY, 1),
    fixed_launch=TWO,
    arguments=lambda: (reals(MANY), blank(MANY), blank(MANY)),
    expected=lambda x, middle, out: np.roll(-x, -1),
)  # fmt: skip
