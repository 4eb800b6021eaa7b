"""The corpus of kernels: each is written once, correctly, and its bugs are edits of it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tests.bugs import edit

BLOCK = 64
Shape = int | tuple[int, ...]
Arguments = Callable[[], tuple[Any, ...]]


class Launch(NamedTuple):
    """The launch configuration, as in `kernel[grid, block, stream, shared]`."""

    grid: Shape = 1
    block: Shape = BLOCK
    shared: int = 0


class Correct(NamedTuple):
    """A correct kernel.

    `arguments` returns new arguments. `expected` takes them as NumPy arrays and returns the final
    contents of the last one or few. `parts` are device functions that bugs edit.
    """

    kernel: Any
    arguments: Arguments
    expected: Callable[..., Any]
    launch: Launch
    parts: tuple[Any, ...]

    @property
    def name(self) -> str:
        """The kernel's file and name."""
        function = self.kernel.py_func
        return f"{function.__module__.rpartition('.')[2]}.{function.__name__}"

    def wanted(self) -> tuple[Any, ...]:
        """The final contents of the kernel's last arguments, from NumPy."""
        found = self.expected(*(on_host(a) for a in self.arguments()))
        return found if isinstance(found, tuple) else (found,)


@dataclass(frozen=True, eq=False)
class Bug:
    """A mistake in a correct kernel: an edit of its source, and the kind of the finding."""

    correct: Correct
    name: str
    kind: str
    sentence: str
    hunks: str
    launch: Launch
    arguments: Arguments

    @functools.cached_property
    def _edited(self) -> edit.Edited:
        functions = [f.py_func for f in (*self.correct.parts, self.correct.kernel)]
        return edit.edit(functions, self.hunks, self.name)

    @property
    def kernel(self) -> Any:
        """The kernel with the mistake."""
        return self._edited.function

    @property
    def lines(self) -> set[int]:
        """The marked lines of its source."""
        return self._edited.lines


CORRECT: dict[Any, Correct] = {}
BUGS: dict[str, Bug] = {}


def correct(
    kernel: Any,
    arguments: Arguments,
    expected: Callable[..., Any],
    launch: Launch = Launch(),  # noqa: B008  (a tuple)
    parts: tuple[Any, ...] = (),
) -> None:
    """Put a correct kernel into the corpus."""
    CORRECT[kernel] = Correct(kernel, arguments, expected, launch, parts)


def bug(
    kernel: Any,
    name: str,
    kind: str,
    text: str,
    launch: Launch | None = None,
    arguments: Arguments | None = None,
) -> Bug:
    """Put a bug of a correct kernel into the corpus, and return it.

    The text is a sentence about the mistake, then an edit (`tests.bugs.edit`) of the source of the
    kernel and its parts. Launch and arguments default to those of the correct kernel.
    """
    original = CORRECT[kernel]
    name = f"{name}-{kind}"
    if name in BUGS:
        raise ValueError(f"two bugs of the corpus are called {name!r}")
    sentence, _, hunks = text.strip("\n").partition("\n")
    BUGS[name] = Bug(
        original,
        name,
        kind,
        sentence,
        hunks,
        launch or original.launch,
        arguments or original.arguments,
    )
    return BUGS[name]


def on_host(value: Any) -> Any:
    """Copy a device array or a writeable array to a new host array."""
    if hasattr(value, "copy_to_host"):
        return value.copy_to_host()
    copied = isinstance(value, np.ndarray) and value.flags.writeable
    return value.copy() if copied else value


# --- Arguments -------------------------------------------------------------------------------


def reals(*shape: int, seed: int = 7) -> np.ndarray:
    """Return random float32 values of both signs."""
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def counts(n: int, below: int, seed: int = 7) -> np.ndarray:
    """Return n integers in [0, below), with each value if n >= below."""
    return np.random.default_rng(seed).permutation(np.arange(n) % below).astype(np.int32)


def blank(*shape: int) -> np.ndarray:
    """Return a float32 output filled with NaN, which reveals unwritten elements."""
    return np.full(shape, np.nan, np.float32)


def zeros(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    """Return an array of zeros to accumulate in."""
    return np.zeros(shape, dtype)
