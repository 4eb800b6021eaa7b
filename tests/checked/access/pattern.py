"""An access pattern: a launch and its expected counters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.checked.access import access_kernels, definitions

Form = tuple[int, int, int]  # a, b, c of the index a * threadIdx.x + b * threadIdx.y + c
PLAIN: Form = (1, 0, 0)
SPLIT = "a GPU compiler loads and stores the parts of a complex number separately"


@dataclass(frozen=True)
class Pattern:
    """A launch and its expected counters; `differs` says why those of a GPU may differ."""

    name: str
    kernel: Any
    launch: tuple[Any, ...]
    make: Callable[[], tuple[Any, ...]]
    figures: dict[str, int]
    differs: str = ""


def numbers(count: int, dtype: Any = np.float32) -> np.ndarray:
    """Return distinct elements, as far as the dtype can represent them."""
    return np.arange(count).astype(dtype)


def in_line(lanes: int, step: int, size: int = 4, start: int = 0) -> int:
    """Return the number of sectors of elements `step` bytes apart, from byte `start`."""
    if step >= 32:
        return lanes  # aligned elements, one per sector
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
    """Return the counters of a store to shared memory and of the same load."""
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
    """Return a store to and a load from a shared tile at an affine index."""
    nbytes = _extent(block, form) * np.dtype(dtype).itemsize

    def make() -> tuple[Any, ...]:
        return numbers(block[0] * block[1], dtype), *form

    differs = SPLIT if dtype is np.complex128 else ""
    return Pattern(
        name, access_kernels.shared_affine(dtype), (1, block, 0, nbytes), make, figures, differs
    )


def shared_gather(name: str, index: Any, figures: dict[str, int]) -> Pattern:
    """Return a store to and a load from a shared tile at indices read from memory."""
    index = np.asarray(index)

    def make() -> tuple[Any, ...]:
        return index, numbers(len(index))

    launch = (1, len(index), 0, 4 * (int(index.max()) + 1))
    return Pattern(name, access_kernels.shared_gather(np.float32), launch, make, figures)
