"""The book of kernels: one file per topic, read from top to bottom.

Every file has the same order: a legend of its short names, the reference in NumPy and float64,
the kernels from the simplest up, each with its cost beside it, the host functions that check
arguments and launch, and `LADDER`, the order to read the kernels in.
"""

import importlib
import pkgutil
from types import ModuleType


def __getattr__(name: str) -> ModuleType:
    if name in __dir__():
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [module.name for module in pkgutil.iter_modules(__path__)]
