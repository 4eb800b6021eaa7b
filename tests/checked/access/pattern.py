"""What an access pattern is: a launch, and the counters that it must have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.checked.access import access_kernels, definitions

Form = tuple[int, int, int]  # a, b, c of the index a * threadIdx.x + b * threadIdx.y + c
PLAIN: Form = (1, 0, 0)
SPLIT = "a GPU compiler loads and stores the two parts of a complex number by themselves"


@dataclass(frozen=True)
class Pattern:
    """A launch and counters that it must have; `differs` says why those of a GPU may be others."""

    name: str
    kernel: Any
    launch: tuple[Any, ...]
    make: Callable[[], tuple[Any, ...]]
    figures: dict[str, int]
    differs: str = ""


def numbers(count: int, dtype: Any = np.float32) -> np.ndarray:
    """Return elements that all differ as far as the type can tell them apart."""
    return np.arange(count).astype(dtype)


def in_line(lanes: int, step: int, size: int = 4, start: int = 0) -> int:
    """Return the sectors of elements that lie `step` bytes apart, from byte `start` on."""
    if step >= 32:
        return lanes  # aligned elements: each in a sector of its own
    return (start % 32 + (lanes - 1) * step + size - 1) // 32 + 1


def loads(requests: int, sectors: int) -> dict[str, int]:
    """Return the counters of loads from global memory."""
    return {"global_load_requests": requests, "global_load_sectors": sectors}


def stores(requests: int, sectors: int) -> dict[str, int]:
    """Return the counters of stores to global memory."""
    return {"global_store_requests": requests, "global_store_sectors": sectors}


def shared(op: str, requests: int, wavefronts: int, least: int) -> dict[str, int]:
    """Return the counters of accesses to shared memory."""
    return {
        f"shared_{op}_requests": requests,
        f"shared_{op}_wavefronts": wavefronts,
        f"shared_{op}_conflicts": wavefronts - least,
    }


def both(requests: int, wavefronts: int, least: int) -> dict[str, int]:
    """Return the counters of a store to shared memory and the same load from there."""
    return {
        **shared("load", requests, wavefronts, least),
        **shared("store", requests, wavefronts, least),
    }


def _extent(block: tuple[int, int], form: Form) -> int:
    return int(definitions.affine(block, *form).max()) + 1


def affine(
    name: str,
    load: Form,
    store: Form,
    figures: dict[str, int],
    block: tuple[int, int] = (32, 1),
    dtype: Any = np.float32,
) -> Pattern:
    """Return a copy in global memory from one affine index to another."""

    def make() -> tuple[Any, ...]:
        source = numbers(_extent(block, load), dtype)
        return source, np.zeros(_extent(block, store), dtype), *load, *store

    differs = SPLIT if dtype is np.complex128 else ""
    return Pattern(name, access_kernels.affine_kernel, (1, block), make, figures, differs)


def shared_affine(
    name: str,
    form: Form,
    figures: dict[str, int],
    block: tuple[int, int] = (32, 1),
    dtype: Any = np.float32,
) -> Pattern:
    """Return a store to a tile in shared memory at an affine index, and a load from there."""
    nbytes = _extent(block, form) * np.dtype(dtype).itemsize

    def make() -> tuple[Any, ...]:
        return numbers(block[0] * block[1], dtype), *form

    differs = SPLIT if dtype is np.complex128 else ""
    return Pattern(
        name, access_kernels.shared_affine(dtype), (1, block, 0, nbytes), make, figures, differs
    )


def shared_gather(name: str, index: Any, figures: dict[str, int]) -> Pattern:
    """Return a store to a tile at indices that are read from memory, and a load from there."""
    index = np.asarray(index)

    def make() -> tuple[Any, ...]:
        return index, numbers(len(index))

    launch = (1, len(index), 0, 4 * (int(index.max()) + 1))
    return Pattern(name, access_kernels.shared_gather(np.float32), launch, make, figures)
