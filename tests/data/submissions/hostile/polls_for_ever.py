import numpy as np


def ring_all_reduce(group, array):
    got = np.empty_like(array)
    work = group.irecv(got, (group.rank - 1) % group.size)
    while not work.done():
        pass
    return array + got
