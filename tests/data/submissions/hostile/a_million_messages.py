import numpy as np


def ring_all_reduce(group, array):
    """Send one number at a time, again and again."""
    after, before = (group.rank + 1) % group.size, (group.rank - 1) % group.size
    total, one = array.copy(), np.empty(1, np.float32)
    for _ in range(1_000_000):
        sending = group.isend(array[:1], after)
        group.recv(one, before)
        sending.wait()
    return total
