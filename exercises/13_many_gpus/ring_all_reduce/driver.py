"""Run the learner's all-reduce on virtual ranks, with messages and nothing else."""

import numpy as np

from gpukit.course import strict_ranks


class Messages:
    """A group without the collective operations, one of which would be the answer."""

    def __init__(self, group):
        self.rank, self.size = group.rank, group.size
        self.send, self.recv, self.isend, self.irecv = (
            group.send,
            group.recv,
            group.isend,
            group.irecv,
        )

    def __getattr__(self, name):
        raise AttributeError(
            f"this group has no {name}: make the all-reduce of send, recv, isend and irecv"
        )


def run(ring_all_reduce, arrays, out):
    """Write what each rank returns into its row of `out`."""

    def body(group):
        return vector(ring_all_reduce(Messages(group), arrays[group.rank].copy()), arrays.shape[1])

    out[:] = strict_ranks.run(body, len(arrays))


def vector(found, length):
    """Return what a rank has returned, or raise saying what it should be."""
    if found is None:
        raise TypeError("ring_all_reduce returned nothing: end it with `return` and the sum.")
    if not isinstance(found, np.ndarray) or found.shape != (length,):
        what = f"shape {found.shape}" if isinstance(found, np.ndarray) else type(found).__name__
        raise TypeError(f"ring_all_reduce should return a vector of {length} numbers, not {what}.")
    return found
