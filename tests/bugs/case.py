"""One bug of the corpus: a kernel with a mistake, its fixed twin, and what must be found.

The line of the mistake carries the comment `# BUG` at its end. A race has two lines; the finding
may name either, so one mark is enough, and both may be marked.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

BLOCK = 64
MARK = "# BUG"
Shape = int | tuple[int, ...]


class Launch(NamedTuple):
    """What stands between the brackets of `kernel[grid, block, stream, shared]`."""

    grid: Shape = 1
    block: Shape = BLOCK
    shared: int = 0


ONE_BLOCK = Launch()


@dataclass(frozen=True)
class Case:
    """A kernel with a mistake beside its fixed twin.

    `arguments` and `fixed_arguments` make fresh arguments. `expected` takes those of the fixed
    twin as NumPy arrays and returns what the last of them, or the last few, hold afterwards.
    `parts` are device functions in which the marked line may stand.
    """

    buggy: Any
    fixed: Any
    kind: str
    launch: Launch
    fixed_launch: Launch
    arguments: Callable[[], tuple[Any, ...]]
    fixed_arguments: Callable[[], tuple[Any, ...]]
    expected: Callable[..., Any]
    parts: tuple[Any, ...] = ()

    @property
    def name(self) -> str:
        """The name of the kernel with the mistake, and the class of the mistake."""
        return f"{self.buggy.py_func.__name__.removesuffix('_kernel')}-{self.kind}"

    @property
    def lines(self) -> set[int]:
        """The lines of the file that carry the mark."""
        return set().union(*(marked(f.py_func) for f in (self.buggy, *self.parts)))

    def wanted(self) -> tuple[Any, ...]:
        """The values that the fixed twin leaves in its last arguments, from NumPy."""
        found = self.expected(*(on_host(a) for a in self.fixed_arguments()))
        return found if isinstance(found, tuple) else (found,)


CASES: dict[str, Case] = {}


def case(
    buggy: Any,
    fixed: Any,
    kind: str,
    launch: Launch = ONE_BLOCK,
    *,
    arguments: Callable[[], tuple[Any, ...]],
    expected: Callable[..., Any],
    fixed_launch: Launch | None = None,
    fixed_arguments: Callable[[], tuple[Any, ...]] | None = None,
    parts: tuple[Any, ...] = (),
) -> None:
    """Put a bug into the corpus. What is not given for the fixed twin is the buggy kernel's."""
    made = Case(
        buggy,
        fixed,
        kind,
        launch,
        fixed_launch or launch,
        arguments,
        fixed_arguments or arguments,
        expected,
        parts,
    )
    old = CASES.setdefault(made.name, made)
    if old.buggy.py_func.__code__ != made.buggy.py_func.__code__:
        raise ValueError(f"two bugs of the corpus are called {made.name!r}")


def marked(function: Callable[..., Any]) -> set[int]:
    lines, first = inspect.getsourcelines(function)
    return {first + k for k, line in enumerate(lines) if line.rstrip().endswith(MARK)}


def on_host(value: Any) -> Any:
    """Copy a device array to the host, and any other array too, unless it may not be written."""
    if hasattr(value, "copy_to_host"):
        return value.copy_to_host()
    copied = isinstance(value, np.ndarray) and value.flags.writeable
    return value.copy() if copied else value


# --- Arguments -------------------------------------------------------------------------------


def reals(*shape: int, seed: int = 7) -> np.ndarray:
    """Make float32 values of both signs, no two alike."""
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def counts(n: int, below: int, seed: int = 7) -> np.ndarray:
    """Make n integers of [0, below), each of which occurs where n allows it."""
    return np.random.default_rng(seed).permutation(np.arange(n) % below).astype(np.int32)


def blank(*shape: int) -> np.ndarray:
    """Make a float32 output full of NaN, so that an element nobody writes shows."""
    return np.full(shape, np.nan, np.float32)


def zeros(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    """Make an array of zeros to accumulate in."""
    return np.zeros(shape, dtype)
