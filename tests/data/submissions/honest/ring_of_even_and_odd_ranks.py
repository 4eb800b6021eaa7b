import numpy as np


class Ring:
    """Neighbours in a ring, whose blocking sends and receives cannot deadlock."""

    def __init__(self, group):
        self.group = group
        self.after = (group.rank + 1) % group.size
        self.before = (group.rank - 1) % group.size

    def exchange(self, sent, got):
        if self.group.rank % 2 == 0:
            self.group.send(sent, self.after)
            self.group.recv(got, self.before)
        else:
            held = sent.copy()
            self.group.recv(got, self.before)
            self.group.send(held, self.after)
        return got


def ring_all_reduce(group, array):
    size, rank, ring = group.size, group.rank, Ring(group)
    parts = np.array_split(np.array(array), size)
    if size > 1:
        for step in range(size - 1):
            own = parts[(rank - step - 1) % size]
            own += ring.exchange(parts[(rank - step) % size], np.empty_like(own))
        for step in range(size - 1):
            own = parts[(rank - step) % size]
            own[:] = ring.exchange(parts[(rank - step + 1) % size], np.empty_like(own))
    return np.concatenate(parts)
