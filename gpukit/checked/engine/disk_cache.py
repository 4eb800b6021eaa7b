"""The checker's compiled functions on the disk, in a folder that need not be writable."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

from numba.core.caching import CompileResultCacheImpl, FunctionCache, UserProvidedCacheLocator


class _Folder(UserProvidedCacheLocator):
    """A folder of the cache. Numba's own would take one that a sandbox shows read-only for none."""

    def ensure_cache_path(self) -> None:
        if not Path(self.get_cache_path()).is_dir():
            super().ensure_cache_path()


class _Implementation(CompileResultCacheImpl):
    _locator_classes = (_Folder,)


class Cache(FunctionCache):
    """The cache of one function, below Numba's CACHE_DIR."""

    _impl_class = _Implementation

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Save a function, unless that fails: it is compiled already, and need not be again."""
        with suppress(OSError):
            super().save_overload(signature, compiled)
