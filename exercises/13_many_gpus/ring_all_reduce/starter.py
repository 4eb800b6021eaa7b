"""An all-reduce made of messages around a ring. The task is in task.md."""

import numpy as np


def ring_all_reduce(group, array):
    """Return the sum of the arrays of all ranks, from messages between neighbours."""
    # FILL ME IN (about 14 lines)
