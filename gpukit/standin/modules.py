"""The stand-in modules of `gpukit.standin`, and how they look up names.

A stand-in looks up a name in the gpukit module that replaces it, then in the installed module that
it hides. While the installed package is being imported, its own modules are back in place, so that
it never imports a stand-in of itself.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.util
import sys
import threading
from collections.abc import Iterator, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

CPU = "gpukit.cpu"

# The packages to replace, with the gpukit module for each. gpukit has no names for the package
# numba_cuda_mlir itself, only for its submodules in BASES and for `types`.
ROOTS = {"numba.cuda": CPU, "numba_cuda_mlir": ""}
BASES = ("numba.cuda", "numba_cuda_mlir.cuda", "numba_cuda_mlir.numba_cuda")

# Submodules of the namespace that gpukit replaces, where it has them.
CHILDREN = (
    "random",
    "libdevice",
    "vectorizers",
    "cudadrv",
    "args",
    "fp16",
    "cg",
    "extending",
    "cudadecl",
    "cudaimpl",
    "models",
    "target",
    "descriptor",
)

# Modules of numba-cuda that are copies of Numba's: kernels must see Numba's own objects.
COPIES = {
    "types": "numba.core.types",
    "misc.special": "numba.misc.special",
    "cgutils": "numba.core.cgutils",
    "core.imputils": "numba.core.imputils",
    "typing": "numba.core.typing",
    "typing.templates": "numba.core.typing.templates",
    "typing.typeof": "numba.core.typing.typeof",
    "core.errors": "numba.core.errors",
}
# Packages that contain such copies; they are missing where numba-cuda is not installed.
_HOLDERS = ("core", "misc")


class Standin(ModuleType):
    """A module that takes names from gpukit first and from the installed package second."""

    def __init__(self, name: str, ours: str) -> None:
        super().__init__(name, f"gpukit's stand-in for {name}.")
        self.__dict__["_gpukit_ours"] = ours
        self.__dict__["__path__"] = _InstalledPath(name)
        self.__dict__["__spec__"] = ModuleSpec(name, None, is_package=True)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__all__":
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        child = f"{self.__name__}.{name}"
        if ours_for(child) is not None:
            return importlib.import_module(child)
        if self._gpukit_ours:
            ours = importlib.import_module(self._gpukit_ours)
            if name == "__all__":
                return public_names(ours)
            if hasattr(ours, name):
                return getattr(ours, name)
        return self._from_installed(name)

    def __setattr__(self, name: str, value: Any) -> None:
        # The import system sets submodules on their parent; gpukit's are looked up instead.
        if isinstance(value, ModuleType) and ours_for(f"{self.__name__}.{name}") is not None:
            return
        super().__setattr__(name, value)

    def _from_installed(self, name: str) -> Any:
        real, problem = installed(self.__name__)
        if real is not None and hasattr(real, name):
            return getattr(real, name)
        raise AttributeError(f"neither gpukit nor {problem or self.__name__} has {name!r}")

    def __dir__(self) -> list[str]:
        if not self._gpukit_ours:
            return ["cuda"] if self.__name__ in ROOTS else []
        return public_names(importlib.import_module(self._gpukit_ours))


class _InstalledPath(list[str]):
    """The `__path__` of an installed package, which is looked up only when it is iterated."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def __iter__(self) -> Iterator[str]:
        real, _ = installed(self.name)
        return iter(list(getattr(real, "__path__", [])))


def public_names(module: ModuleType) -> list[str]:
    """Return the names that `from module import *` would import."""
    names = getattr(module, "__all__", None)
    return list(names) if names is not None else [n for n in dir(module) if n[0] != "_"]


def ours_for(name: str) -> str | None:
    """Return the name of the gpukit module that replaces the module `name`, or None.

    >>> ours_for("numba.cuda"), ours_for("numba_cuda_mlir.cuda"), ours_for("numba.cuda.testing")
    ('gpukit.cpu', 'gpukit.cpu', None)
    """
    if name == "numba_cuda_mlir.types":
        return COPIES["types"]
    for base in BASES:
        if name == base:
            return CPU
        rest = name[len(base) + 1 :]
        if name.startswith(base + ".") and rest in COPIES:
            return COPIES[rest]
        if name.startswith(base + ".") and rest in _HOLDERS:
            return ""
        if name.startswith(base + ".") and rest.split(".")[0] in CHILDREN:
            return _existing(f"{CPU}.{rest}")
    return ROOTS.get(name)


@functools.cache  # a kernel's names are looked up in all modules, and the disk is slow
def _existing(name: str) -> str | None:
    try:
        return name if importlib.util.find_spec(name) is not None else None
    except (ImportError, ValueError):
        return None


def root_of(name: str) -> str | None:
    return next((r for r in ROOTS if name == r or name.startswith(r + ".")), None)


class _Put(Loader):
    """Loads a module by returning one that exists already."""

    def __init__(self, module: ModuleType) -> None:
        self.module = module

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:  # noqa: ARG002
        return None

    def exec_module(self, module: ModuleType) -> None:
        # The import system returns whatever sys.modules holds after this call.
        sys.modules[module.__name__] = self.module


class Finder(MetaPathFinder):
    """Resolves imports below the roots: to a stand-in, else to the installed module."""

    def find_spec(
        self,
        name: str,
        path: Sequence[str] | None,  # noqa: ARG002
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        root = root_of(name)
        if root is None or root in state.loading:
            return None
        ours = ours_for(name)
        if ours is not None:
            return importlib.util.spec_from_loader(name, _Put(_standin(name, ours)))
        real = internal(name, root)
        if real is None:
            return None
        # A module that is in sys.modules after the search would be executed again.
        sys.modules.pop(name, None)
        return importlib.util.spec_from_loader(name, _Put(real))


def internal(name: str, root: str) -> ModuleType | None:
    """Import a module of the installed package with its own package in place of the stand-ins.

    The package's tests are third-party code like any other: they get the usual import.
    """
    installed(root)
    if "tests" in name.split("."):
        return sys.modules.get(name)
    try:
        with uncovered(root):
            return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name == name:
            return None
        raise


class State:
    """Everything that `install` changes and `uninstall` must restore."""

    def __init__(self) -> None:
        self.finder: Finder | None = None
        self.loading: set[str] = set()
        self.standins: dict[str, Standin] = {}
        self.real: dict[str, ModuleType] = {}
        self.problems: dict[str, str] = {}
        self.environment: dict[str, str | None] = {}
        self.lock = threading.RLock()


state = State()


def _standin(name: str, ours: str) -> Standin:
    return state.standins.setdefault(name, Standin(name, ours))


def installed(name: str) -> tuple[ModuleType | None, str]:
    """Return the installed module that a stand-in hides, or None and why there is none."""
    root = root_of(name) or name
    with state.lock:
        if root not in state.real and root not in state.problems:
            _load(root)
        if name not in state.real and root in state.real:
            with contextlib.suppress(ImportError), uncovered(root):
                state.real[name] = importlib.import_module(name)
    return state.real.get(name), state.problems.get(root, "")


def _load(root: str) -> None:
    try:
        with uncovered(root):
            state.real[root] = importlib.import_module(root)
    except Exception as error:  # a broken installation can fail in any way
        state.problems[root] = f"{root} ({type(error).__name__}: {error})"


@contextlib.contextmanager
def uncovered(root: str) -> Iterator[None]:
    """Put the installed package's own modules back while it is being imported."""
    covered = {n: m for n, m in state.standins.items() if root_of(n) == root}
    for name in covered:
        bind(name, state.real.get(name))
    state.loading.add(root)
    try:
        yield
    finally:
        state.loading.discard(root)
        cover(root)


def cover(root: str) -> None:
    """Replace every module of a root that gpukit has a module for by a stand-in."""
    for name in [n for n in sys.modules if root_of(n) == root]:
        ours = ours_for(name)
        if ours is None:
            continue
        standin = _standin(name, ours)
        if not isinstance(sys.modules[name], Standin):
            state.real[name] = sys.modules[name]
            # pytest and others find the folder of a package by the spec of its module.
            standin.__dict__["__spec__"] = sys.modules[name].__spec__
        bind(name, standin)
    for name, module in state.standins.items():
        if root_of(name) == root:
            bind(name, module)


def bind(name: str, module: ModuleType | None) -> None:
    """Make `name` mean `module` in sys.modules and in numba itself; None removes it."""
    parent, _, last = name.rpartition(".")
    holder = sys.modules.get(parent) if root_of(parent) is None else None
    if module is None:
        sys.modules.pop(name, None)
        if holder is not None:
            vars(holder).pop(last, None)
        return
    sys.modules[name] = module
    if holder is not None:
        setattr(holder, last, module)
