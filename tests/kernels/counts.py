"""What a launch is counted to do, as costs and docstrings state it."""

from gpukit import launch


def cost_of(found):
    """Return the cost that was counted; each atomic is by one thread, counted as a load alone."""
    atomics = found["global_atomic_requests"]
    return launch.Cost(found["global_bytes_asked"] + 4 * atomics, found.flops + atomics)


def sectors_of(found):
    """Return how many sectors a warp's load touches, and its store."""
    return tuple(
        found[f"global_{op}_sectors"] / found[f"global_{op}_requests"] for op in ("load", "store")
    )
