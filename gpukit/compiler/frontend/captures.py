"""Classify what functions capture: arrays of NumPy, gpukit and other libraries, functions."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np


def is_array(value: Any) -> bool:
    """Tell whether a captured value becomes an argument of the kernel."""
    if isinstance(value, type):
        return False
    host = getattr(value, "host", None)
    return isinstance(value if host is None else host, np.ndarray) or is_foreign(value)


def is_foreign(value: Any) -> bool:
    """Tell whether a value is a device array of another library."""
    return hasattr(value, "__cuda_array_interface__") and not hasattr(value, "host")


def host(value: Any) -> Any:
    """Return the NumPy array on the memory of a captured array; without a GPU there is one."""
    if is_foreign(value):
        described = {**value.__cuda_array_interface__, "version": 3}
        return np.asarray(SimpleNamespace(__array_interface__=described))
    return getattr(value, "host", value)


def on_cpu(value: Any) -> Any:
    """Return the CPU implementation of a captured value that is a GPU's function; else itself."""
    return value if is_array(value) else getattr(value, "on_cpu", value)


def declared(function: Any) -> list[Any]:
    """Return the signatures that a device function was declared with; other calls are cast.

    Numba's own `signatures` also lists what a function was compiled for since then.
    """
    grows = getattr(function, "_can_compile", False)
    return [] if grows else list(getattr(function, "signatures", None) or ())
