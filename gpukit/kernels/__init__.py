"""The book of kernels: one file per topic, read from top to bottom.

Every file has the same order: a legend of its short names, the reference in NumPy and float64,
the kernels from the simplest up, each with its cost beside it, the host functions that check
arguments and launch, and `VARIANTS`, the order to read the kernels in. A topic that outgrows a file
is a folder.

Every host function takes arrays of NumPy, on the device, or of another library, and returns a NumPy
array, or a device array if one of its inputs is one. With `out` the result is written there, and
`out` is returned. It launches into `stream`, and waits for it only to return a number or to know a
shape. It raises TypeError for dtypes that it does not take or that are mixed, ValueError for shapes
that do not fit, for an unknown variant and for an `out` on the memory of an input, and LaunchError
(a ValueError) for an array that needs more blocks than a GPU takes. What is special stands in its
own docstring; `image` takes arrays of NumPy only, without `out` and `stream`. Optimizers change
their arrays in place and return nothing. Functions with several results return a tuple, and
their `out` is one.
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
