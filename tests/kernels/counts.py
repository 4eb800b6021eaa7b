"""Profile counters in the units of cost functions and docstrings."""

from gpukit import launch


def cost_of(found):
    """Return the counted cost; counters include one load per atomic, but not store and addition."""
    atomics = found["global_atomic_requests"]
    return launch.Cost(found["global_bytes_asked"] + 4 * atomics, found.flops + atomics)


def sectors_of(found):
    """Return the sectors per load request and per store request."""
    return tuple(
        found[f"global_{op}_sectors"] / found[f"global_{op}_requests"] for op in ("load", "store")
    )
