"""Run third-party Numba CUDA code on gpukit: `from numba import cuda` imports gpukit.

After `install()`, `numba.cuda` and `numba_cuda_mlir.cuda` are stand-ins: modules that take
each name from `gpukit.cpu` and, where gpukit has no such name, from the installed package.
Submodules work the same way: `numba.cuda.random` is gpukit's, `numba.cuda.testing` is the
installed one. The installed package is imported only when it is needed.

    import gpukit.standin
    gpukit.standin.install()
    from numba import cuda      # gpukit's, on a machine without a GPU

Where kernels run on a real GPU nothing is replaced. `pytest -p gpukit.standin` installs it
before any test or conftest is read; the options it adds are in `gpukit.standin.suite`.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any, NamedTuple

from gpukit import target
from gpukit.standin import exec_texts
from gpukit.standin.modules import CPU, ROOTS, Finder, State, bind, cover, ours_for, root_of, state

__all__ = ["Report", "install", "is_installed", "uninstall"]

CHILD_VARIABLE = "GPUKIT_STANDIN"

# The folder of the sitecustomize.py that child processes start with.
STARTUP = Path(__file__).with_name("startup")


class Report(NamedTuple):
    """What `install` did: whether gpukit stands in, why, and which modules it could not reach."""

    installed: bool
    reason: str
    held: tuple[str, ...] = ()

    def __str__(self) -> str:
        if not self.held:
            return self.reason
        return (
            f"{self.reason} These modules were imported earlier and still use the old one: "
            + ", ".join(self.held)
        )


def _holders() -> tuple[str, ...]:
    """Return the modules whose globals already hold an installed CUDA namespace."""
    reals = {id(m) for n, m in state.real.items() if ours_for(n) == CPU}
    if not reals:  # no CUDA namespace was imported, so no module holds one
        return ()
    found = []
    for name, module in list(sys.modules.items()):
        values = list(getattr(module, "__dict__", {}).values())
        if root_of(name) is None and name != "numba" and any(id(v) in reals for v in values):
            found.append(name)
    return tuple(found)


def install(*, children: bool = False) -> Report:
    """Make `numba.cuda` and `numba_cuda_mlir.cuda` mean gpukit from now on.

    `children=True` includes Python processes that this one starts. A second call changes
    nothing. Where the target of this process is a real GPU nothing is replaced.
    """
    active = target.active()
    if active.name == "cuda":
        why = f"the target is a GPU ({active.reason})"
        return Report(False, f"gpukit does not stand in for numba.cuda: {why}.")
    if children:
        _export()
    if state.finder is None:
        state.finder = Finder()
        sys.meta_path.insert(0, state.finder)
        for root in ROOTS:
            cover(root)
        _forget_vectorizers()
        exec_texts.start()
    return Report(True, f"gpukit stands in for numba.cuda: {active.reason}.", _holders())


def is_installed() -> bool:
    """Tell whether gpukit currently stands in for `numba.cuda`."""
    return state.finder is not None


def uninstall() -> None:
    """Undo `install`. Code that already holds gpukit's objects keeps them."""
    exec_texts.stop()
    for name in list(state.standins):
        bind(name, state.real.get(name))
    if state.finder is not None:
        sys.meta_path[:] = [f for f in sys.meta_path if f is not state.finder]
        _forget_vectorizers()
    for key, value in state.environment.items():
        if value is None:
            os.environ.pop(key, None)
        else:
            os.environ[key] = value
    vars(state).update(vars(State()))


def _forget_vectorizers() -> None:
    """Make `numba.vectorize(target="cuda")` look up its builder again."""
    decorators = sys.modules.get("numba.np.ufunc.decorators")
    for name in ("Vectorize", "GUVectorize") if decorators else ():
        getattr(decorators, name).target_registry.pop("cuda", None)


def _export() -> None:
    """Set the environment so that child processes find `startup/sitecustomize.py`."""
    if os.environ.get(CHILD_VARIABLE) == "1":
        return
    paths = [str(STARTUP), *filter(None, [os.environ.get("PYTHONPATH")])]
    for key, value in {CHILD_VARIABLE: "1", "PYTHONPATH": os.pathsep.join(paths)}.items():
        state.environment[key] = os.environ.get(key)
        os.environ[key] = value


def pytest_addoption(parser: Any) -> None:
    """Add the plugin's options (`pytest -p gpukit.standin`)."""
    from gpukit.standin import suite

    suite.add_options(parser)


def pytest_load_initial_conftests(early_config: Any) -> None:
    """Stand in before pytest reads the first conftest of a third-party suite."""
    from gpukit.standin import suite

    suite.begin(early_config.known_args_namespace, install)


def pytest_report_header() -> str:
    """Report in pytest's header what `numba.cuda` means in this run."""
    return str(install())
