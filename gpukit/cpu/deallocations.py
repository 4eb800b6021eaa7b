"""What waits to be freed in a context. Arrays never wait: nothing refers to them, they are gone."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any


class Deallocations:
    """Calls that free something, done at once; those made while it is disabled wait."""

    def __init__(self) -> None:
        self._waiting: list[tuple[Callable[[Any], object], Any]] = []
        self._disabled = 0

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def is_disabled(self) -> bool:
        """Whether calls wait, as in a `with cuda.defer_cleanup():` block."""
        return self._disabled > 0

    def add_item(self, dtor: Callable[[Any], object], handle: Any, size: int = 0) -> None:
        """Call `dtor(handle)`, now or when calls no longer wait; the `size` does not matter."""
        self._waiting.append((dtor, handle))
        self.clear()

    def clear(self) -> None:
        """Make the calls that wait, unless it is disabled."""
        while self._waiting and not self._disabled:
            dtor, handle = self._waiting.pop(0)
            dtor(handle)

    @contextlib.contextmanager
    def disable(self) -> Iterator[None]:
        """Let calls wait inside a `with` block, and until the next `clear` after it."""
        self._disabled += 1
        try:
            yield
        finally:
            self._disabled -= 1
