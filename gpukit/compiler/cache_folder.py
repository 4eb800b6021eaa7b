"""Locate the folder of the disk cache of compiled kernels."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def folder() -> Path | None:
    """Return the folder of the cache, or None where GPUKIT_CACHE=0 disables it.

    GPUKIT_CACHE_DIR overrides the system's usual folder for caches. A user without a home
    directory has none.
    """
    if os.environ.get("GPUKIT_CACHE", "1").lower() in ("0", "no", "off", "false"):
        return None
    chosen = os.environ.get("GPUKIT_CACHE_DIR")
    if chosen:
        return Path(chosen)
    try:
        home = Path.home()
    except RuntimeError:
        return None
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = home / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
    return base / "gpukit"


def checker_folder() -> Path | None:
    """Return the folder where Numba caches the checker's native functions, beside `folder()`."""
    where = folder()
    return None if where is None else where.with_name(f"{where.name}-checker")
