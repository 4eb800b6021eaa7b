"""Names of `numba.cuda` that need a GPU or its compiler: calling one raises and says what to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from gpukit import errors

_PTX = (
    "it generates code for a GPU. Use gpukit.explain(kernel, *args) to read the loops that the "
    "kernel became, or install numba-cuda and use the cuda target."
)
_LINK = (
    "it links code compiled for a GPU. Pass CUDA C++ source to declare_device, write the function "
    "in Python with @cuda.jit(device=True), or use the cuda target on a GPU."
)
_MEMORY = (
    "it changes how GPU memory is allocated. On the CPU target arrays are ordinary host "
    "memory, so there is nothing to change."
)

WHY = {
    **dict.fromkeys(
        (
            "compile",
            "compile_all",
            "compile_for_current_device",
            "compile_ptx",
            "compile_ptx_for_current_device",
        ),
        _PTX,
    ),
    **dict.fromkeys(
        ("Archive", "Cubin", "Fatbin", "LTOIR", "LinkableCode", "Object", "PTXSource"), _LINK
    ),
    **dict.fromkeys(
        (
            "BaseCUDAMemoryManager",
            "GetIpcHandleMixin",
            "HostOnlyCUDAMemoryManager",
            "IpcHandle",
            "MappedMemory",
            "PinnedMemory",
            "set_memory_manager",
        ),
        _MEMORY,
    ),
}


def refusal(name: str) -> Callable[..., NoReturn]:
    """Return a function of this name whose calls raise and say why it cannot work here."""

    def refuse(*args: Any, **kws: Any) -> NoReturn:
        raise errors.TargetError(f"cuda.{name} is not available on the CPU target: {WHY[name]}")

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = f"Refuse: {WHY[name]}"
    return refuse
