"""One case of an exercise: inputs, launch geometry, and the answer NumPy gives."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Argument = Array | int | float

# A signalling NaN with a payload of its own: "never written" differs from "computed a NaN", and
# arithmetic with it sets its quiet bit, so that `out[i] += 1` differs from both.
_NAN_BITS = {2: 0x7C4B, 4: 0x7F804B1D, 8: 0x7FF0004B1D004B1D}
_QUIET_BIT = {2: 0x0200, 4: 0x00400000, 8: 0x0008000000000000}


@dataclass(frozen=True)
class Case:
    """A launch of the student's kernel and what it must leave in its outputs.

    `args` keeps the order of the kernel's parameters; arrays named in `expected` are outputs and
    start poisoned. `scale` bounds the size of the terms summed into each output, where rounding
    grows with it. `per` says whether one output element belongs to a thread, a block or,
    where the answer is host code, the call, which has no grid and block. `shown` is what a learner
    reads of the inputs where that says more than their sizes. `idle_warps` are those of the launch
    for which no work is left, where its geometry gives none to them. `names` says what an array is
    that host code never sees: the whole in words, and its elements as the program calls them.
    """

    args: dict[str, Argument]
    grid: int | tuple[int, ...]
    block: int | tuple[int, ...]
    expected: dict[str, Array]
    scale: dict[str, Array] = field(default_factory=dict)
    per: str = "thread"
    name: str = ""
    shown: str = ""
    idle_warps: int = 0
    names: dict[str, tuple[str, list[str]]] = field(default_factory=dict)

    def whole(self, array: str) -> str:
        """Return what a learner calls an array."""
        return self.names[array][0] if array in self.names else array

    def element(self, array: str, index: tuple[int, ...]) -> str:
        """Return what a learner calls an element of an array."""
        whole, elements = self.names.get(array, (array, []))
        if len(elements) > index[0]:
            return elements[index[0]]
        at = ", ".join(map(str, index))
        return f"{array}[{at}]" if whole == array else f"element {at} of {whole}"

    @property
    def blocks(self) -> int:
        """How many blocks are launched."""
        return math.prod(self.grid) if isinstance(self.grid, tuple) else self.grid

    @property
    def threads(self) -> int:
        """How many threads a block has."""
        return math.prod(self.block) if isinstance(self.block, tuple) else self.block

    @property
    def warps(self) -> int:
        """How many warps are launched."""
        return self.blocks * -(-self.threads // 32)

    @property
    def is_full(self) -> bool:
        """Whether each thread has one element of every output, and none is left over."""
        threads = self.blocks * self.threads
        return self.per == "thread" and all(v.size == threads for v in self.expected.values())

    def sizes(self) -> str:
        """Return the sizes in words: `a (129,) float32; grid 2, block 128`."""
        if self.shown:
            return self.shown
        arrays = ", ".join(
            f"{name} {value.shape} {value.dtype}"
            if isinstance(value, np.ndarray)
            else f"{name} = {value}"
            for name, value in self.args.items()
        )
        launch = "" if self.per == "call" else f"; grid {self.grid}, block {self.block}"
        return arrays + launch


def called(args: dict[str, Argument], expected: dict[str, Array], **rest: Any) -> Case:
    """Return the case of an answer that is host code: `driver.py` calls it."""
    return Case(args, 1, 1, expected, per="call", **rest)


def of_photograph(photo: Array, right: Array, block: tuple[int, int]) -> Case:
    """Return the case of a kernel that makes `right` of a photograph, a thread per pixel."""
    rows, cols = photo.shape
    return Case(
        args={"photo": photo, "out": poison(photo.shape)},
        grid=(-(-cols // block[0]), -(-rows // block[1])),
        block=block,
        expected={"out": right},
    )


def lengths(block: int) -> dict[str, tuple[int]]:
    """Return the lengths at which vector kernels go wrong, easiest first, for blocks of `block`."""
    return {
        "exactly one block": (block,),
        "one element": (1,),
        "one less than a block": (block - 1,),
        "one more than a block": (block + 1,),
        "a prime, many blocks": (1009,),
        "eight whole blocks": (8 * block,),
        "nothing to do": (0,),
    }


def beside(*shape: int) -> dict[str, tuple[int, ...]]:
    """Return the shapes one less and one more along every axis.

    >>> beside(8, 32)
    {'one less each way': (7, 31), 'one more each way': (9, 33)}
    """
    return {
        "one less each way": tuple(n - 1 for n in shape),
        "one more each way": tuple(n + 1 for n in shape),
    }


def areas(
    across: int,
    down: int,
    one: str = "one pixel",
    wide: str = "a wide one",
    tall: str = "a tall one",
) -> dict[str, tuple[int, ...]]:
    """Return the rows and columns at which image kernels go wrong, for blocks (across, down).

    `one`, `wide` and `tall` name the shapes of one element, few rows and few columns.
    """
    return {
        "exactly one block": (down, across),
        one: (1, 1),
        **beside(down, across),
        wide: (3, 131),
        tall: (101, 5),
        "two primes": (61, 83),
        "many blocks": (4 * down, 3 * across),
    }


def by_row(block: int) -> dict[str, tuple[int, int]]:
    """Return rows and columns at which kernels with a block per row go wrong, as `lengths` does."""
    return {
        "a column for each thread": (4, block),
        "one number": (1, 1),
        "one column more": (4, block + 1),
        "one column less": (5, block - 1),
        "one column": (9, 1),
        "two primes": (7, 83),
        "many rows": (16, 264),
    }


def by_block(x: Array, block: int, beyond: float = 0) -> Array:
    """Return the elements of each block as a row of float64, with `beyond` past the end of x.

    >>> by_block(np.array([1, 2, 3]), 2)
    array([[1., 2.],
           [3., 0.]])
    """
    rows = np.full((max(1, -(-x.size // block)), block), beyond, np.float64)
    rows.reshape(-1)[: x.size] = x
    return rows


def _pattern(dtype: np.dtype[Any]) -> Array:
    """Return one element of `dtype` that no honest kernel computes."""
    if dtype.kind == "b":
        return np.array([2], np.uint8).view(dtype)
    if dtype.kind in "iu":
        return np.full(1, np.iinfo(dtype).max - 74, dtype)
    part = dtype.itemsize // 2 if dtype.kind == "c" else dtype.itemsize
    bits = np.full(dtype.itemsize // part, _NAN_BITS[part], f"u{part}")
    return bits.view(dtype)


def poison(shape: int | tuple[int, ...], dtype: Any = np.float32) -> Array:
    """Return an array to be written by a kernel, filled so that a missed element shows.

    >>> poison(3)
    array([nan, nan, nan], dtype=float32)
    """
    kind = np.dtype(dtype)
    return np.resize(_pattern(kind), shape)


def unwritten(values: Array) -> NDArray[np.bool_]:
    """Return where `values` still holds the pattern that `poison` put there."""
    return _holds(values, _pattern(values.dtype))


def added_to(values: Array) -> NDArray[np.bool_]:
    """Return where something was added to the pattern that `poison` put there.

    >>> out = poison(3)
    >>> with np.errstate(invalid="ignore"):
    ...     out[1] += 5
    >>> added_to(out).tolist(), unwritten(out).tolist()
    ([False, True, False], [True, False, True])
    """
    if values.dtype.kind != "f" or values.dtype.itemsize not in _NAN_BITS:
        return np.zeros(values.shape, bool)
    size = values.dtype.itemsize
    bits = np.full(1, _NAN_BITS[size] | _QUIET_BIT[size], f"u{size}")
    return _holds(values, bits.view(values.dtype))


def _holds(values: Array, pattern: Array) -> NDArray[np.bool_]:
    """Return where the bytes of an element are those of a pattern."""
    flat = np.ascontiguousarray(values).reshape(-1).view(np.uint8)
    wanted = pattern.view(np.uint8)
    return np.asarray((flat.reshape(-1, wanted.size) == wanted).all(axis=1)).reshape(values.shape)
