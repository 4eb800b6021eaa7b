"""NumPy under CuPy's name, less what CuPy's functions do not take: a `where`."""

from typing import Any

import numpy as np


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    found = getattr(np, name)
    if not isinstance(found, np.ufunc):
        return found
    return lambda *arrays, out=None: found(*arrays, out=out)
