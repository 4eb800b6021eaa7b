"""Reuse memory in repeated work, such as training steps.

Each step needs the same arrays: results of layers, gradients, intermediate arrays of host
functions. Inside `with workspace:` all of gpukit's host functions take them from the workspace: the
first step allocates them, and later steps reuse them.
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
    """A pool of arrays that host functions reuse each time inside `with workspace:`.

        workspace = nn.Workspace()
        for x, label in batches:
            with workspace:
                logits, saved = model.forward(x)
                ...

    Arrays returned there are valid until the next `with` begins: copy what must last longer.
    `made` is the number of arrays allocated so far.
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
        """Return an uninitialised array that was not yet taken since `with`."""
        kind = shape, np.dtype(dtype), on_device
        arrays, taken = self._arrays[kind], self._taken[kind]
        if taken == len(arrays):
            arrays.append(_make(*kind))
            self.made += 1
        self._taken[kind] += 1
        return arrays[taken]


def take(shape: tuple[int, ...], dtype: npt.DTypeLike, on_device: bool) -> Any:
    """Return an uninitialised array from the active workspace, a new one if there is none."""
    workspace = _active.get()
    return (
        _make(shape, dtype, on_device)
        if workspace is None
        else workspace.take(shape, dtype, on_device)
    )


def _make(shape: tuple[int, ...], dtype: npt.DTypeLike, on_device: bool) -> Any:
    return cuda.device_array(shape, dtype) if on_device else np.empty(shape, dtype)
