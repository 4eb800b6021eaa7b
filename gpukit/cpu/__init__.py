"""The `numba.cuda` namespace of the cpu and checked targets: `from gpukit import cuda`.

Names that need Numba itself (types, vector types, libdevice, random numbers) are imported on
first access, so that importing the namespace stays fast.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from gpukit import errors
from gpukit.compiler import intrinsics
from gpukit.cpu import args, cudadrv, devices, gpu_only, streams, ufuncs
from gpukit.cpu.args import In, InOut, Out
from gpukit.cpu.cudadrv import driver, nvvm
from gpukit.cpu.cudadrv.runtime import runtime
from gpukit.cpu.devices import (
    close,
    cuda_error,
    current_context,
    defer_cleanup,
    detect,
    get_current_device,
    gpus,
    is_available,
    is_bfloat16_supported,
    is_float16_supported,
    is_fp8_supported,
    is_supported_version,
    list_devices,
    profile_start,
    profile_stop,
    profiling,
    require_context,
    select_device,
)
from gpukit.cpu.dispatcher import jit
from gpukit.cpu.driver_errors import CudaSupportError
from gpukit.cpu.foreign import CUSource, declare_device
from gpukit.cpu.machine import MemoryInfo
from gpukit.cpu.memory.allocations import Memory as MemoryPointer
from gpukit.cpu.memory.arrays import (
    as_cuda_array,
    auto_device,
    device_array,
    device_array_like,
    from_cuda_array_interface,
    is_cuda_array,
    managed_array,
    mapped,
    mapped_array,
    mapped_array_like,
    open_ipc_array,
    pinned,
    pinned_array,
    pinned_array_like,
    to_device,
)
from gpukit.cpu.reduction import Reduce, reduce
from gpukit.cpu.streams import (
    Event,
    Stream,
    default_stream,
    event,
    event_elapsed_time,
    external_stream,
    legacy_default_stream,
    per_thread_default_stream,
    stream,
    synchronize,
)
from gpukit.cpu.ufuncs import guvectorize, vectorize

HAS_NUMBA = True
implementation = "gpukit"
KernelRuntimeError = errors.KernelError
_auto_device = auto_device

# Modules that are imported on first access: they import Numba.
_MODULES = ("cache_hints", "libdevice", "random", "vector_types")
_CACHE_HINTS = ("ldca", "ldcg", "ldcs", "ldlu", "ldcv", "stcg", "stcs", "stwb", "stwt")
_FROM_NUMBA = {"types": "numba.core.types", "config": "numba.core.config"}
_VECTOR_ENDINGS = "1234"

_ours = {**intrinsics.namespace(), **{name: gpu_only.refusal(name) for name in gpu_only.WHY}}
globals().update(_ours)


def _from_numba(name: str) -> Any:
    """Return a name that Numba's own namespace has too: a type, or `literal_unroll`."""
    import numba
    from numba.core import types

    if name in types.__all__:
        return getattr(types, name)
    if name in ("literal", "literal_unroll"):
        return getattr(numba, name, None) or importlib.import_module("numba.misc.literal")
    return None


def _lazy(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if name in _FROM_NUMBA:
        return importlib.import_module(_FROM_NUMBA[name])
    if name in _CACHE_HINTS:
        return getattr(importlib.import_module(f"{__name__}.cache_hints"), name)
    if name[-1] in _VECTOR_ENDINGS and name[:1].islower():
        vectors = importlib.import_module(f"{__name__}.vector_types").NAMES
        if name in vectors:
            return vectors[name]
    return _from_numba(name)


def __getattr__(name: str) -> Any:
    # A subpackage that is about to be imported is not looked up in Numba.
    package = Path(__file__).with_name(f"{name}.py").exists() and name not in _MODULES
    found = None if name.startswith("__") or package else _lazy(name)
    if found is None:
        raise AttributeError(
            f"module 'gpukit.cuda' has no attribute {name!r}: neither CUDA Python nor gpukit "
            "has this name, or the CPU target does not support it yet"
        )
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES, *_CACHE_HINTS, *_FROM_NUMBA})


__all__ = [
    "CUSource",
    "CudaSupportError",
    "Event",
    "HAS_NUMBA",
    "In",
    "InOut",
    "KernelRuntimeError",
    "MemoryInfo",
    "MemoryPointer",
    "Out",
    "Reduce",
    "Stream",
    "args",
    "as_cuda_array",
    "auto_device",
    "close",
    "cuda_error",
    "cudadrv",
    "current_context",
    "declare_device",
    "default_stream",
    "defer_cleanup",
    "detect",
    "device_array",
    "device_array_like",
    "devices",
    "driver",
    "errors",
    "event",
    "event_elapsed_time",
    "external_stream",
    "from_cuda_array_interface",
    "get_current_device",
    "gpus",
    "guvectorize",
    "implementation",
    "is_available",
    "is_bfloat16_supported",
    "is_cuda_array",
    "is_float16_supported",
    "is_fp8_supported",
    "is_supported_version",
    "jit",
    "legacy_default_stream",
    "list_devices",
    "managed_array",
    "mapped",
    "mapped_array",
    "mapped_array_like",
    "nvvm",
    "open_ipc_array",
    "per_thread_default_stream",
    "pinned",
    "pinned_array",
    "pinned_array_like",
    "profile_start",
    "profile_stop",
    "profiling",
    "reduce",
    "require_context",
    "runtime",
    "select_device",
    "stream",
    "streams",
    "synchronize",
    "to_device",
    "ufuncs",
    "vectorize",
]
__all__ += list(_ours)
