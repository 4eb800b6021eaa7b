"""Choose the CUDA namespace: `from gpukit import cuda` is the `numba.cuda` of this machine.

On import this module replaces itself in `sys.modules` by the installed CUDA package where the
target is `cuda`, else by `gpukit.cpu`. Submodules follow: `gpukit.cuda.random` is the
`random` module of the chosen namespace, never a second copy of it.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from gpukit import errors, target

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """Make type checkers accept the names of the namespace that is chosen."""


FRONT = __name__
CPU = "gpukit.cpu"


class _Alias:
    """Loads `gpukit.cuda.X` by replacing it with the real module."""

    def __init__(self, real: str) -> None:
        self.real = real

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        # The import system returns whatever sys.modules holds after this call.
        sys.modules[module.__name__] = importlib.import_module(self.real)


class AliasFinder:
    """Redirects imports of `gpukit.cuda.X` to the chosen namespace."""

    def __init__(self, real: str) -> None:
        self.real = real

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not name.startswith(FRONT + "."):
            return None
        real = self.real + name[len(FRONT) :]
        return ModuleSpec(name, _Alias(real))  # type: ignore[arg-type]  # a plain class saves 25 ms


def _complete_numpy() -> None:
    """Restore `np.row_stack` in NumPy 2.5: numba-cuda 0.30 needs it at its first compilation."""
    if not hasattr(np, "row_stack"):
        vars(np)["row_stack"] = np.vstack


def _import_gpu(modules: tuple[str, ...]) -> ModuleType:
    """Import the first CUDA namespace that works; raise TargetError if none does."""
    _complete_numpy()
    failures = []
    for name in modules:
        try:
            return importlib.import_module(name)
        except Exception as error:  # a broken installation can fail in any way
            failures.append(f"{name}: {type(error).__name__}: {error}")
    raise errors.TargetError(
        "A GPU was found, but its Numba package cannot be imported. "
        + " ".join(failures)
        + f" Run `gpukit doctor`, or set {target.VARIABLE}=cpu to run on the CPU."
    )


def choose() -> ModuleType:
    """Return the namespace of this process's target."""
    if target.active().name != "cuda":
        return importlib.import_module(CPU)
    try:
        return _import_gpu(target.usable_gpu().modules)
    except errors.TargetError as error:
        if target.wanted() == "cuda":
            raise
        warnings.warn(f"{error} Using the CPU.", RuntimeWarning, stacklevel=2)
        return importlib.import_module(CPU)


def install() -> ModuleType:
    """Replace this module by the chosen namespace."""
    chosen = choose()
    sys.meta_path[:] = [f for f in sys.meta_path if type(f).__name__ != AliasFinder.__name__]
    sys.meta_path.insert(0, AliasFinder(chosen.__name__))
    sys.modules[FRONT] = chosen
    return chosen


install()
