"""The launch configuration: what is between the brackets of `kernel[grid, block]`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

from gpukit import errors
from gpukit.cpu.limits import MAX_BLOCK, MAX_GRID, MAX_SHARED, MAX_THREADS

_SMALLER = {
    "grid": "Put the longest axis on x, or let each thread process several elements in a loop.",
    "block": "Use smaller blocks and more of them.",
}


@dataclass(frozen=True)
class Configuration:
    """Grid and block as (x, y, z), the stream, and the bytes of dynamic shared memory.

    `prepared` are the earlier launches with it, by the kinds of their arguments.
    """

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    stream: Any = 0
    shared: int = 0
    prepared: dict[Any, Any] = field(default_factory=dict, init=False, compare=False, repr=False)

    @property
    def blocks(self) -> int:
        """The number of blocks."""
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def threads(self) -> int:
        """The number of threads per block."""
        return self.block[0] * self.block[1] * self.block[2]


def parse(items: Any) -> Configuration:
    """Parse `kernel[grid, block, stream, shared_bytes]`; raise for what a GPU would reject."""
    if not isinstance(items, tuple) or not 2 <= len(items) <= 5:
        raise errors.LaunchError(
            "must specify at least the griddim and blockdim: a launch needs a grid and a block, "
            "kernel[blocks_in_grid, threads_in_block](...)"
        )
    grid, block = triple("griddim", items[0]), triple("blockdim", items[1])
    stream = items[2] if len(items) > 2 and items[2] is not None else 0
    shared = _shared_bytes(items[3]) if len(items) > 3 and items[3] is not None else 0
    made = Configuration(grid, block, stream, shared)
    _check(made)
    return made


def _shared_bytes(value: Any) -> int:
    if not isinstance(value, Integral):
        raise errors.ArgumentError(
            f"the bytes of dynamic shared memory must be an integer, got {value!r}. They are the "
            "fourth item: kernel[grid, block, stream, bytes]."
        )
    return int(value)


def triple(name: str, value: Any) -> tuple[int, int, int]:
    """Return a size as (x, y, z); accepts an int or up to three of them."""
    parts = list(value) if isinstance(value, Iterable) else [value]
    if not 1 <= len(parts) <= 3:
        raise errors.LaunchError(
            f"{name} must be a sequence of 1, 2 or 3 integers, got {parts}. A grid and a block "
            "have the axes x, y and z."
        )
    if not all(isinstance(p, Integral) for p in parts):
        hint = (
            "Use // instead of / to divide sizes."
            if any(isinstance(p, float) for p in parts)
            else "Write one integer, or a tuple of up to three."
        )
        raise errors.ArgumentError(f"{name} must be a sequence of integers, got {parts}. {hint}")
    x, y, z = (*(int(p) for p in parts), 1, 1)[:3]
    return x, y, z


def _check(made: Configuration) -> None:
    for name, sizes, limits in (("grid", made.grid, MAX_GRID), ("block", made.block, MAX_BLOCK)):
        for axis, size, limit in zip("xyz", sizes, limits, strict=True):
            if size < 1:
                raise errors.LaunchError(
                    f"the {name}'s {axis} size is {size}; it must be at least 1. "
                    "An empty array needs no launch: test for it first."
                )
            if size > limit:
                raise errors.LaunchError(
                    f"the {name}'s {axis} size is {size}; a GPU allows at most {limit}. "
                    f"{_SMALLER[name]}"
                )
    if made.threads > MAX_THREADS:
        raise errors.LaunchError(
            f"a block of {made.block} has {made.threads} threads; a GPU allows at most "
            f"{MAX_THREADS}. Use smaller blocks and more of them."
        )
    if made.shared < 0 or made.shared > MAX_SHARED:
        raise errors.LaunchError(
            f"{made.shared} bytes of dynamic shared memory were asked for; a block may have "
            f"at most {MAX_SHARED}. The fourth launch parameter is in bytes: elements * itemsize."
        )
