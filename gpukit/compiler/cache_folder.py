"""Where compiled kernels are kept on disk."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def folder() -> Path | None:
    """Return the folder of the cache, or None where GPUKIT_CACHE=0 turns it off.

    GPUKIT_CACHE_DIR names another folder than the system's usual one for caches. A user without
    a home has none.
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
    """Return the folder beside it of the functions that watch launches; Numba writes there."""
    where = folder()
    return None if where is None else where.with_name(f"{where.name}-checker")
