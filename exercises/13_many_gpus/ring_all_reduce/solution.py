"""An all-reduce made of messages around a ring. The task is in task.md."""

import numpy as np


def ring_all_reduce(group, array):
    """Return the sum of the arrays of all ranks, from messages between neighbours."""
    size, rank = group.size, group.rank
    after, before = (rank + 1) % size, (rank - 1) % size
    total = array.copy()
    parts = np.array_split(total, size)
    for step in range(2 * (size - 1)):
        sent, own = parts[(rank - step) % size], parts[(rank - step - 1) % size]
        got = np.empty_like(own)
        sending = group.isend(sent, after)
        group.recv(got, before)
        sending.wait()
        if step < size - 1:
            own += got
        else:
            own[:] = got
    return total
