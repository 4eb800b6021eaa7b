"""NVIDIA's `libdevice` functions on the CPU, as `cuda.libdevice` offers them to kernels.

Each function is compiled from its row in `libdevice_table.py` on first access. Argument
and result types are Numba's (unsigned numbers are passed as signed ones of the same width).
"""

from __future__ import annotations

import linecache
import math
from pathlib import Path
from typing import Any

import numpy as np

from gpukit.compiler import intrinsics as cuda
from gpukit.cpu.dispatcher import jit
from gpukit.cpu.libdevice import helpers
from gpukit.cpu.libdevice.table import MISSING, ROWS

_TYPES = {"h": "np.int16", "i": "np.int32", "l": "np.int64", "f": "np.float32", "d": "np.float64"}
_made: dict[str, Any] = {}


def source(name: str) -> str:
    """Return the Python source of one function.

    >>> print(source("fdimf"), end="")
    def fdimf(x_, y_):
        x = np.float32(x_)
        y = np.float32(y_)
        return np.float32(np.float32(0) if x <= y else x - y)
    """
    takes, gives, text = ROWS[name]
    letters = "xyz"[: len(takes)]
    lines = [f"def {name}({', '.join(v + '_' for v in letters)}):"]
    lines += [f"    {v} = {_TYPES[t]}({v}_)" for v, t in zip(letters, takes, strict=True)]
    parts = [p.strip() for p in text.split(";")]
    cast = [f"{_TYPES[t]}({p})" for p, t in zip(parts, gives, strict=True)]
    return "\n".join([*lines, f"    return {', '.join(cast)}"]) + "\n"


def _make(name: str) -> Any:
    """Compile the row of one function; its source is stored where tools look for it."""
    # In this folder, so that messages recognise it as gpukit's own.
    text, file = source(name), str(Path(__file__).with_name(f"<{name}>"))
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    scope: dict[str, Any] = {"np": np, "math": math, "cuda": cuda, **vars(helpers)}
    scope["__name__"] = __name__
    made: dict[str, Any] = {}  # apart from the scope: `abs` must not hide the abs it calls
    exec(compile(text, file, "exec"), scope, made)
    return jit(device=True)(made[name])


def __getattr__(name: str) -> Any:
    if name in _made:
        return _made[name]
    if name in ROWS:
        _made[name] = _make(name)
        return _made[name]
    if name in MISSING:
        why = MISSING[name]
        raise AttributeError(f"cuda.libdevice.{name} is not supported on the CPU target yet: {why}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(ROWS)
