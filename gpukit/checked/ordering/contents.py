"""Whether pinned memory has changed during a copy that reads it, however it was written.

A write that bypasses the instrumented arrays, by a compiled function or through memory that the
program has page-locked itself, leaves no trace but the changed bytes.
"""

from __future__ import annotations

import ctypes
import zlib
from typing import Any

from gpukit.checked.ordering.memory import Bytes


class Contents:
    """Checksums of what copies in flight read, computed when they were enqueued."""

    def __init__(self) -> None:
        self._kept: list[tuple[Any, int]] = []  # an access, and the checksum of its bytes

    def keep(self, access: Any) -> None:
        """Remember the bytes that an access reads."""
        self._kept.append((access, _checksum(access.bytes)))

    def changed(self, is_over: Any) -> list[Any]:
        """Forget the accesses that have finished; return those whose bytes have changed."""
        over = [kept for kept in self._kept if is_over(kept[0])]
        self._kept = [kept for kept in self._kept if not is_over(kept[0])]
        return [access for access, before in over if _checksum(access.bytes) != before]


def _checksum(touched: Bytes) -> int:
    size = touched.high - touched.low
    return zlib.crc32((ctypes.c_ubyte * size).from_address(touched.low))
