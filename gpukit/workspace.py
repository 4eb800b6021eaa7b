"""Memory for work that is done again and again, such as the steps of a training.

A step asks for the same arrays each time: results of layers, gradients, intermediate arrays of
host functions. Inside `with workspace:` all of gpukit's host functions take them from there; the
first step makes them, and no later one has to.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from contextvars import ContextVar, Token
from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import cuda

_active: ContextVar[Workspace | None] = ContextVar("workspace", default=None)


class Workspace:
    """Arrays that host functions take inside of `with workspace:`, the same ones each time.

        workspace = nn.Workspace()
        for x, label in batches:
            with workspace:
                logits, saved = model.forward(x)
                ...

    What a function returned there holds until the next `with` begins: copy what must last longer.
    `made` counts the arrays that there are.
    """

    def __init__(self) -> None:
        self.made = 0
        self._arrays: defaultdict[Any, list[Any]] = defaultdict(list)
        self._taken: Counter[Any] = Counter()
        self._tokens: list[Token[Workspace | None]] = []

    def __enter__(self) -> Workspace:
        self._taken.clear()
        self._tokens.append(_active.set(self))
        return self

    def __exit__(self, *_: object) -> None:
        _active.reset(self._tokens.pop())

    def take(self, shape: tuple[int, ...], dtype: npt.DTypeLike, on_device: bool) -> Any:
        """Return an array with arbitrary contents that nobody else has taken since `with`."""
        kind = shape, np.dtype(dtype), on_device
        arrays, taken = self._arrays[kind], self._taken[kind]
        if taken == len(arrays):
            arrays.append(_make(*kind))
            self.made += 1
        self._taken[kind] += 1
        return arrays[taken]


def take(shape: tuple[int, ...], dtype: npt.DTypeLike, on_device: bool) -> Any:
    """Return an array from the workspace that is in use, a new one where there is none."""
    workspace = _active.get()
    return (
        _make(shape, dtype, on_device)
        if workspace is None
        else workspace.take(shape, dtype, on_device)
    )


def _make(shape: tuple[int, ...], dtype: npt.DTypeLike, on_device: bool) -> Any:
    return cuda.device_array(shape, dtype) if on_device else np.empty(shape, dtype)
