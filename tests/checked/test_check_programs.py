"""gpukit.check on kernels that interpret a program, against the definition of a race.

In a step each thread reads, writes or atomically adds to one shared element, or does nothing; a
barrier may follow. Two accesses of different threads to one element without a barrier in between
are a race, unless both are reads or both are atomics.
"""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import gpukit
from gpukit import cuda

THREADS, SIZE = 40, 2  # a warp and a part of one
NOTHING, READ, WRITE, ADD = range(4)


@cuda.jit
def program_kernel(ops, places, barriers, out):
    tile = cuda.shared.array(SIZE, np.int32)
    t = cuda.threadIdx.x
    if t < SIZE:
        tile[t] = 0
    cuda.syncthreads()
    total = 0
    for step in range(ops.shape[0]):
        op, place = ops[step, t], places[step, t]
        if op == READ:
            total += tile[place]
        elif op == WRITE:
            tile[place] = t
        elif op == ADD:
            cuda.atomic.add(tile, place, 1)
        if barriers[step]:
            cuda.syncthreads()
    out[t] = total


def is_racy(ops, places, barriers):
    """Return whether any pair of accesses conflicts."""
    epochs = np.concatenate([[0], np.cumsum(barriers)[:-1]])
    accesses = [
        (epochs[step], places[step, t], t, ops[step, t])
        for step, t in np.ndindex(ops.shape)
        if ops[step, t] != NOTHING
    ]
    return any(
        a[:2] == b[:2] and a[2] != b[2] and (a[3], b[3]) not in ((READ, READ), (ADD, ADD))
        for a, b in combinations(accesses, 2)
    )


@st.composite
def programs(draw):
    """Draw programs with few active threads, so that about half of them have no race."""
    steps = draw(st.integers(1, 5))
    ops, places = np.zeros((2, steps, THREADS), np.int32)
    for step in range(steps):
        kind = draw(st.sampled_from([READ, WRITE, ADD]))
        for t in draw(st.lists(st.sampled_from([0, 1, 39]), max_size=3)):
            ops[step, t] = draw(st.sampled_from([kind, kind, READ]))
            places[step, t] = draw(st.integers(0, SIZE - 1))
    barriers = np.array(draw(st.lists(st.booleans(), min_size=steps, max_size=steps)))
    return ops, places, barriers


def written(*steps):
    """Return a program of steps {thread: op} on one element, without a barrier."""
    ops = np.zeros((len(steps), THREADS), np.int32)
    for step, each in enumerate(steps):
        for t, op in each.items():
            ops[step, t] = op
    return ops, np.zeros_like(ops), np.zeros(len(steps), np.bool_)


@settings(max_examples=500)
@given(programs())
@example(written({0: ADD, 1: ADD}, {1: READ}))
@example(written({0: READ, 1: READ}, {1: WRITE}))
@example(written({0: WRITE}, {0: ADD}, {1: ADD}))
@example(written({0: ADD}, {0: READ}, {0: WRITE}, {0: ADD}))
@pytest.mark.slow
def test_launch_has_a_finding_if_and_only_if_two_accesses_conflict(program):
    found = gpukit.check(program_kernel)[1, THREADS](*program, np.full(THREADS, -1)).findings
    assert bool(found) == is_racy(*program)
    assert {f.kind for f in found} <= {"shared-race", "warp-race", "atomic-race", "same-value"}


@pytest.mark.parametrize("racy", [False, True])
def test_generated_programs_are_both_racy_and_race_free(racy):
    from hypothesis import find

    find(programs(), lambda program: is_racy(*program) is racy)
