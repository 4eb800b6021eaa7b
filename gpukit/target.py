"""Select the target of this process: GPU, CPU or checked mode.

`GPUKIT_TARGET` is one of `auto` (the default), `cuda`, `cpu` and `checked`. With `auto` the
target is `cuda` where a GPU answers and a Numba CUDA package is installed, else `cpu`.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import importlib
import importlib.util
import os
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

from gpukit import errors

VARIABLE = "GPUKIT_TARGET"
CHOICES = ("auto", "cuda", "cpu", "checked")

# The CUDA namespace to import for each Numba CUDA package.
PACKAGES = {"numba_cuda": "numba.cuda", "numba_cuda_mlir": "numba_cuda_mlir.cuda"}

# The module that observes every launch and operation on a target.
_OBSERVERS = {"checked": "gpukit.checked.process"}

# gpukit is on no package index: its extras are installed from a clone.
INSTALL = "in your clone of gpukit: python -m pip install -c constraints.txt -e '.[cuda13]'"
_INSTALL = f"Install one of them, {INSTALL} (or cuda12 for an older driver)."
_NOT_A_GPU = f"Unset {VARIABLE}, or set {VARIABLE}=cpu, to run kernels on this machine's CPU."


class Target(NamedTuple):
    """The target of this process: `cuda`, `cpu` or `checked`, and the reason in words."""

    name: str
    reason: str


class Gpu(NamedTuple):
    """Whether a GPU can be used; `modules` are the CUDA namespaces to try, best first."""

    usable: bool
    reason: str
    modules: tuple[str, ...] = ()


def driver_names() -> tuple[str, ...]:
    """Return the file names of the NVIDIA driver library on this system."""
    if sys.platform == "win32":
        return ("nvcuda.dll",)
    if sys.platform == "darwin":
        return ()
    return ("libcuda.so.1", "libcuda.so")


def _load_driver() -> ctypes.CDLL | None:
    for name in driver_names():
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


def gpu_count() -> tuple[int, str]:
    """Return how many GPUs the NVIDIA driver reports, and a sentence about it.

    Never raises and imports nothing: without a driver this takes microseconds.
    """
    driver = _load_driver()
    if driver is None:
        return 0, "no NVIDIA driver was found"
    try:
        status = int(driver.cuInit(0))
        if status != 0:
            return 0, f"the NVIDIA driver does not start (cuInit returned {status})"
        count = ctypes.c_int(0)
        status = int(driver.cuDeviceGetCount(ctypes.byref(count)))
    except (AttributeError, OSError, ValueError) as error:
        return 0, f"the NVIDIA driver library cannot be used ({error})"
    if status != 0 or count.value == 0:
        return 0, "the NVIDIA driver reports no GPU"
    return count.value, f"{count.value} NVIDIA GPU(s) found"


def _installed(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except (ImportError, ValueError):
        return False


def usable_gpu() -> Gpu:
    """Return whether kernels can run on a GPU here, and why. Never raises."""
    count, words = gpu_count()
    if not count:
        return Gpu(False, words)
    if os.environ.get("NUMBA_ENABLE_CUDASIM", "0") not in ("", "0"):
        return Gpu(False, f"{words}, but NUMBA_ENABLE_CUDASIM turns Numba's CUDA target off")
    modules = tuple(module for package, module in PACKAGES.items() if _installed(package))
    if not modules:
        return Gpu(False, f"{words}, but neither numba-cuda nor numba-cuda-mlir is installed")
    return Gpu(True, words, modules)


def wanted() -> str:
    """Return the value of `GPUKIT_TARGET`, `auto` if it is unset; raise TargetError if invalid."""
    written = os.environ.get(VARIABLE, "")
    choice = written.strip().lower() or "auto"
    if choice not in CHOICES:
        raise errors.TargetError(
            f"{VARIABLE}: expected one of {', '.join(CHOICES)}, got {written!r}. "
            "Set it to one of those, or unset it."
        )
    return choice


def _must_be_gpu() -> Target:
    gpu = usable_gpu()
    if gpu.usable:
        return Target("cuda", f"{VARIABLE}=cuda, and {gpu.reason}")
    fix = _INSTALL if "neither" in gpu.reason else _NOT_A_GPU
    raise errors.TargetError(f"{VARIABLE}=cuda, but {gpu.reason}. {fix}")


def _best() -> Target:
    gpu = usable_gpu()
    if gpu.usable:
        return Target("cuda", gpu.reason)
    return Target("cpu", f"{gpu.reason}, so kernels run on the CPU")


@functools.cache
def active() -> Target:
    """Return the target of this process and the reason for it, determined on first use."""
    choice = wanted()
    if choice == "cuda":
        return _must_be_gpu()
    if choice == "cpu":
        return Target("cpu", f"{VARIABLE}=cpu")
    if choice == "checked":
        return Target(
            "checked",
            f"{VARIABLE}=checked: every launch runs on the CPU under the checker, and an error is "
            "raised",
        )
    return _best()


def observers() -> Any:
    """Return the module that observes the launches and operations of this process, or None.

    Its `raise_findings` runs a launch, its `order()` tracks the order of operations. The launcher
    and `cpu.operations` call this, so it does not matter how the program was started.
    """
    name = _OBSERVERS.get(active().name)
    return importlib.import_module(name) if name else None


class Limits(NamedTuple):
    """What the grids of kernels that stride depend on: the SMs of a device, and what one holds.

    The names are those of a device's attributes; shared memory is in bytes.
    """

    MULTIPROCESSOR_COUNT: int
    MAX_THREADS_PER_MULTIPROCESSOR: int
    MAX_SHARED_MEMORY_PER_MULTIPROCESSOR: int


_planned: Limits | None = None


def planned() -> Limits | None:
    """Return the device that launches are planned for; None for the one in use."""
    return _planned


@contextlib.contextmanager
def planned_for(limits: Limits) -> Iterator[None]:
    """Plan launches inside a `with` block for another device; they run on the one in use."""
    global _planned
    before, _planned = _planned, limits
    try:
        yield
    finally:
        _planned = before
