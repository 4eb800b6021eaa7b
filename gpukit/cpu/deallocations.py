"""Pending deallocations of a context. Arrays are never pending: reference counting frees them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any


class Deallocations:
    """Calls that free something, executed at once; calls made while it is disabled are deferred."""

    def __init__(self) -> None:
        self._waiting: list[tuple[Callable[[Any], object], Any]] = []
        self._disabled = 0

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def is_disabled(self) -> bool:
        """Whether calls are deferred, as in a `with cuda.defer_cleanup():` block."""
        return self._disabled > 0

    def add_item(self, dtor: Callable[[Any], object], handle: Any, size: int = 0) -> None:
        """Call `dtor(handle)`, now or when calls are no longer deferred; `size` is ignored."""
        self._waiting.append((dtor, handle))
        self.clear()

    def clear(self) -> None:
        """Make the deferred calls, unless it is disabled."""
        while self._waiting and not self._disabled:
            dtor, handle = self._waiting.pop(0)
            dtor(handle)

    @contextlib.contextmanager
    def disable(self) -> Iterator[None]:
        """Defer calls inside a `with` block, and until the next `clear` after it."""
        self._disabled += 1
        try:
            yield
        finally:
            self._disabled -= 1
