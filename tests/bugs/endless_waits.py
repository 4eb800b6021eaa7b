"""Loops that wait for what no thread ever does, and locks that lanes of a warp wait for in turn."""

import numpy as np

from gpukit import cuda
from tests.bugs.case import BLOCK, Launch, case, reals

TWO = Launch(2, BLOCK)


def counters(count):
    """Return integers that begin with zero, one array each."""
    return tuple(np.zeros(1, np.int32) for _ in range(count))


@cuda.jit
def add_with_kept_lock_kernel(x, lock, total):
    """Takes a lock and never gives it back."""
    done = False
    while not done:
        if cuda.atomic.cas(lock, 0, 0, 1) == 0:
            total[0] += x[cuda.threadIdx.x]
            cuda.threadfence()
            done = True
    while cuda.atomic.cas(lock, 0, 0, 1) != 0:  # BUG
        pass


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
def first_waits_for_last_kernel(x, flag, total):
    """Lets the first block wait for a block that may not have begun."""
    if cuda.threadIdx.x > 0:
        return
    if cuda.blockIdx.x == 0:
        while cuda.atomic.add(flag, 0, 0) == 0:  # BUG
            pass
        total[0] = x[0]
    else:
        cuda.atomic.exch(flag, 0, 1)


@cuda.jit
def last_to_come_kernel(x, flag, total):
    """Lets the block that comes last do it, whichever that is."""
    if cuda.threadIdx.x > 0:
        return
    if cuda.atomic.add(flag, 0, 1) == cuda.gridDim.x - 1:
        total[0] = x[0]


case(
    first_waits_for_last_kernel, last_to_come_kernel, "endless-wait", TWO,
    arguments=lambda: (reals(BLOCK), *counters(1), np.zeros(1, np.float32)),
    expected=lambda x, flag, total: x[:1],
)  # fmt: skip
case(
    add_with_kept_lock_kernel, add_with_lock_kernel, "endless-wait", Launch(1, BLOCK),
    arguments=lambda: (np.arange(BLOCK, dtype=np.int32), *counters(2)),
    expected=lambda x, lock, total: x.sum(keepdims=True),
)  # fmt: skip


@cuda.jit
def add_behind_the_lock_kernel(x, lock, total):
    """Lets every thread take a lock, and give it back behind the loop."""
    while cuda.atomic.cas(lock, 0, 0, 1) != 0:  # BUG
        pass
    total[0] += x[cuda.threadIdx.x]
    cuda.threadfence()
    cuda.atomic.exch(lock, 0, 0)


case(
    add_behind_the_lock_kernel, add_with_lock_kernel, "spin-lock", Launch(1, BLOCK),
    arguments=lambda: (np.arange(BLOCK, dtype=np.int32), *counters(2)),
    expected=lambda x, lock, total: x.sum(keepdims=True),
)  # fmt: skip


@cuda.jit(device=True)
def taken(lock):
    """Waits for a lock."""
    old = cuda.atomic.exch(lock, 0, 1)
    while old == 1:  # BUG
        old = cuda.atomic.exch(lock, 0, 1)


@cuda.jit
def largest_by_all_lanes_kernel(x, lock, best):
    """Lets the threads of a warp take a lock one after the other."""
    i = cuda.grid(1)
    for k in range(2):
        if x[i] > k:
            taken(lock)
            best[0] = max(best[0], x[i])
            cuda.threadfence()
            cuda.atomic.exch(lock, 0, 0)


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


case(
    largest_by_all_lanes_kernel, largest_by_one_lane_kernel, "spin-lock", TWO,
    arguments=lambda: (np.arange(1, 2 * BLOCK + 1, dtype=np.int32), *counters(2)),
    expected=lambda x, lock, best: x.max(keepdims=True), parts=(taken,),
)  # fmt: skip
