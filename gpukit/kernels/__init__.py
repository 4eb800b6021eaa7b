"""Kernels of neural networks, with references, costs and host functions: one file per topic.

Every file has the same order, to be read from top to bottom: a legend of its short names, the
reference in NumPy and float64, the kernels from simple to fast, each followed by its cost, the host
functions that check arguments and launch, and `VARIANTS`, the reading order of the kernels. A topic
too large for a file is a folder.

Every host function takes arrays of NumPy, on the device, or of another library, and returns a NumPy
array, or a device array if one of its inputs is one. With `out` the result is written there, and
`out` is returned. It launches into `stream`, and waits for it only to return a number or to know a
shape. It raises TypeError for unsupported or mixed dtypes, ValueError for shapes that do not fit,
for an unknown variant and for an `out` that overlaps an input, and LaunchError (a ValueError) for
an array that needs more blocks than a GPU allows. Exceptions are in a function's own docstring;
`image` takes arrays of NumPy only, without `out` and `stream`. Optimizers update their arrays in
place and return nothing. Functions with several results return a tuple, and their `out` is one.
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
