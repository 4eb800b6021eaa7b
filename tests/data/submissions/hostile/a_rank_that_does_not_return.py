def ring_all_reduce(group, array):
    """Rank 0 leaves by an error, the others wait for it."""
    if group.rank == 0:
        raise KeyboardInterrupt("from the learner")
    group.recv(array, 0)
    return array
