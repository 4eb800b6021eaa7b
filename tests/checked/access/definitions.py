"""Counters of memory accesses, computed from their definitions with NumPy, without gpukit.

Addresses are in bytes, one per thread of a block in linear thread order; `ABSENT` marks an
inactive thread. Allocations are sector-aligned, so they may be taken to begin at address 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

ABSENT = -1
SECTOR, BANKS, WORD, WARP = 32, 32, 4, 32


def by_warp(addresses: Any) -> np.ndarray:
    """Return the addresses with one row per warp."""
    flat = np.asarray(addresses, np.int64).ravel()
    rows = np.full((-(-flat.size // WARP), WARP), ABSENT)
    rows.ravel()[: flat.size] = flat
    return rows


def requests(addresses: Any) -> int:
    """Return the number of warps with at least one active lane."""
    return int((by_warp(addresses) != ABSENT).any(axis=1).sum())


def _units(addresses: np.ndarray, size: int, unit: int) -> np.ndarray:
    """Return the distinct aligned units of `unit` bytes that these elements touch."""
    taking_part = addresses[addresses != ABSENT]
    return np.unique((taking_part[:, None] + np.arange(size)) // unit)


def sectors(addresses: Any, size: int) -> int:
    """Return the number of sectors touched, summed over warps."""
    return sum(len(_units(row, size, SECTOR)) for row in by_warp(addresses))


def passes(addresses: Any, size: int) -> int:
    """Return the wavefronts: per phase, the most distinct words in one bank."""
    total = 0
    for phase in _phases(addresses, size):
        words = _units(phase, size, WORD)
        total += int(np.bincount(words % BANKS, minlength=BANKS).max())
    return total


def fewest(addresses: Any, size: int) -> int:
    """Return the wavefronts without conflicts: one per phase with an active lane."""
    return int((_phases(addresses, size) != ABSENT).any(axis=1).sum())


def _phases(addresses: Any, size: int) -> np.ndarray:
    """Return one row per phase: a warp, half a warp for 8 bytes, a quarter for 16."""
    return by_warp(addresses).reshape(-1, WARP // max(1, size // WORD))


def most_alike(addresses: Any) -> int:
    """Return the most lanes with the same address, summed over warps."""
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
    """Return a * threadIdx.x + b * threadIdx.y + c for the threads of a block, x fastest."""
    y, x = np.divmod(np.arange(block[0] * block[1]), block[0])
    return a * x + b * y + c
