"""What warps ask of memory, worked out from the definitions with NumPy; gpukit has no part in it.

Addresses are in bytes, one for each thread of a block in the order of the threads; `ABSENT` marks
a thread that does not take part. A GPU's allocations begin at address 0 as far as sectors go.
"""

from __future__ import annotations

from typing import Any

import numpy as np

ABSENT = -1
SECTOR, BANKS, WORD, WARP = 32, 32, 4, 32


def by_warp(addresses: Any) -> np.ndarray:
    """Return the addresses with one row for each warp."""
    flat = np.asarray(addresses, np.int64).ravel()
    rows = np.full((-(-flat.size // WARP), WARP), ABSENT)
    rows.ravel()[: flat.size] = flat
    return rows


def requests(addresses: Any) -> int:
    """Return how many warps have a lane that takes part."""
    return int((by_warp(addresses) != ABSENT).any(axis=1).sum())


def _units(addresses: np.ndarray, size: int, unit: int) -> np.ndarray:
    """Return the different stretches of `unit` bytes in which bytes of these elements lie."""
    taking_part = addresses[addresses != ABSENT]
    return np.unique((taking_part[:, None] + np.arange(size)) // unit)


def sectors(addresses: Any, size: int) -> int:
    """Return how many sectors all warps touch, each warp for itself."""
    return sum(len(_units(row, size, SECTOR)) for row in by_warp(addresses))


def passes(addresses: Any, size: int) -> int:
    """Return the passes through the banks: in each phase, the most words of one bank."""
    total = 0
    for phase in _phases(addresses, size):
        words = _units(phase, size, WORD)
        total += int(np.bincount(words % BANKS, minlength=BANKS).max())
    return total


def fewest(addresses: Any, size: int) -> int:
    """Return the passes that remain without conflicts: one for each phase with a lane in it."""
    return int((_phases(addresses, size) != ABSENT).any(axis=1).sum())


def _phases(addresses: Any, size: int) -> np.ndarray:
    """Return rows of lanes that go together: a warp, half of it for 8 bytes, a quarter for 16."""
    return by_warp(addresses).reshape(-1, WARP // max(1, size // WORD))


def most_alike(addresses: Any) -> int:
    """Return, summed over warps, how many lanes name the same address at most."""
    rows = [row[row != ABSENT] for row in by_warp(addresses)]
    return sum(int(np.unique(row, return_counts=True)[1].max()) for row in rows if len(row))


def global_figures(op: str, addresses: Any, size: int) -> dict[str, int]:
    """Return the counters of one access to global memory."""
    return {
        f"global_{op}_requests": requests(addresses),
        f"global_{op}_sectors": sectors(addresses, size),
    }


def shared_figures(op: str, addresses: Any, size: int) -> dict[str, int]:
    """Return the counters of one access to shared memory."""
    found = passes(addresses, size)
    return {
        f"shared_{op}_requests": requests(addresses),
        f"shared_{op}_wavefronts": found,
        f"shared_{op}_conflicts": found - fewest(addresses, size),
    }


def affine(block: tuple[int, int], a: int, b: int, c: int) -> np.ndarray:
    """Return a * threadIdx.x + b * threadIdx.y + c for each thread of a block, x fastest."""
    y, x = np.divmod(np.arange(block[0] * block[1]), block[0])
    return a * x + b * y + c
