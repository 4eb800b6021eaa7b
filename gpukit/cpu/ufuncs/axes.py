"""Which axes the arguments of an array function have, and which of them its threads split."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gpukit import errors

Shape = tuple[int, ...]


# A shorter row is not worth a grid of several axes, and no grid has more rows than this.
_SHORT, _MOST_ROWS = 128, 65535


class Broadcast(NamedTuple):
    """A grid for arrays broadcast to one shape; per array, which axes of the grid it has."""

    sizes: Shape
    full: tuple[tuple[bool, ...], ...]


def broadcast(shapes: Sequence[Shape]) -> Broadcast | None:
    """Return the smallest grid for arrays of these shapes that needs no copy, or None.

    Adjacent axes that the same arrays have are merged into one axis of the grid.

    >>> broadcast([(2, 300, 400), (400,)])
    Broadcast(sizes=(600, 400), full=((True, True), (False, True)))
    """
    if len(set(shapes)) == 1:
        return Broadcast((math.prod(shapes[0]),), ((True,),) * len(shapes))
    shape = np.broadcast_shapes(*shapes)
    axes: list[tuple[int, tuple[bool, ...]]] = []
    for k in range(-len(shape), 0):
        full = tuple(-k <= len(s) and s[k] == shape[k] for s in shapes)
        if shape[k] == 1:
            continue
        if axes and axes[-1][1] == full:
            axes[-1] = axes[-1][0] * shape[k], full
        else:
            axes.append((shape[k], full))
    sizes = tuple(n for n, _ in axes)
    if len(sizes) > 3 or (sizes[1:] and (sizes[-1] < _SHORT or max(sizes[:-1]) > _MOST_ROWS)):
        return None
    if not axes:
        return Broadcast((1,), ((True,),) * len(shapes))
    return Broadcast(sizes, tuple(zip(*(full for _, full in axes), strict=True)))


class Schedule(NamedTuple):
    """How arguments are split: the axes to loop over, which subarrays all iterations share."""

    loop: Shape
    shared: tuple[bool, ...]
    outputs: tuple[Shape, ...]  # the shapes of the subarrays that are written

    @property
    def rounds(self) -> int:
        """How many subarrays there are."""
        return math.prod(self.loop)


class Layout:
    """The layout of a `cuda.guvectorize` function: the axes of its subarrays.

    >>> Layout("(m,n),(n)->(m)").schedule([(5, 2, 3), (3,)])
    Schedule(loop=(5,), shared=(False, True), outputs=((2,),))
    """

    def __init__(self, text: str) -> None:
        from numba.np.ufunc.sigparse import parse_signature

        self.inputs, self.outputs = parse_signature(text)

    @property
    def axes(self) -> list[int]:
        """How many axes each subarray has, inputs first."""
        return [len(names) for names in (*self.inputs, *self.outputs)]

    def check(self, types: Sequence[Any]) -> None:
        """Raise for argument types whose axes are not those of the layout."""
        if len(types) != len(self.axes):
            raise errors.ArgumentError(
                f"guvectorize: expected {len(self.axes)} types, one per argument in the layout, "
                f"got {len(types)}: {types}. Inputs come first, then outputs."
            )
        for kind, axes in zip(types, self.axes, strict=True):
            ndim = getattr(kind, "ndim", 0)
            if ndim != axes and not (axes == 0 and ndim == 1):
                raise ValueError(
                    f"guvectorize: the layout gives {kind} {axes} axes, its type has {ndim}. "
                    "Write one name in the layout per axis of the type."
                )

    def schedule(self, shapes: Sequence[Shape]) -> Schedule:
        """Return how inputs of these shapes are looped over, as on the CUDA target.

        The outer axes of an input are those of the largest one, or every iteration shares it.
        """
        outer: list[Shape] = []
        sizes: dict[str, int] = {}
        for k, (shape, names) in enumerate(zip(shapes, self.inputs, strict=True)):
            split = len(shape) - len(names)
            if split < 0:
                raise ValueError(
                    f"arg #{k + 1}: insufficient inner dimension: shape {shape} has fewer axes "
                    f"than ({','.join(names)}) in the layout."
                )
            outer.append(shape[:split])
            for axis, name in enumerate(names, split):
                if sizes.setdefault(name, shape[axis]) != shape[axis]:
                    raise ValueError(
                        f"arg #{k + 1}: shape[{axis}] mismatch argument: {name} is {sizes[name]} "
                        f"elsewhere, here {shape[axis]}."
                    )
        loop = max(outer, key=lambda s: (0 in s, math.prod(s)))  # the first of the largest
        for k, shape in enumerate(outer):
            if shape not in (loop, (), (1,)):
                raise ValueError(
                    f"arg #{k + 1}: outer dimension mismatch: {shape} is not {loop}. "
                    "Repeat it with np.broadcast_to and np.ascontiguousarray."
                )
        outputs = tuple(tuple(sizes[n] for n in names) for names in self.outputs)
        return Schedule(loop, tuple(shape != loop for shape in outer), outputs)
