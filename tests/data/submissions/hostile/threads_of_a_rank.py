import threading


def ring_all_reduce(group, array):
    """Let five thousand threads send to all others."""

    def sends():
        for dest in range(group.size):
            group.isend(array, dest)

    threads = [threading.Thread(target=sends) for _ in range(5000)]
    for thread in threads:
        thread.start()
    return array
