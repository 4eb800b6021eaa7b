"""The part of `numba.cuda.extending` that has a meaning for kernels compiled for the CPU.

What is registered for the target "cuda" is what kernels use, and kernels here are compiled by
Numba's CPU target: so it is registered there. Functions compiled with `njit` see it too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import extending


def _for_kernels(register: Callable[..., Any]) -> Callable[..., Any]:
    """Return a registering function of Numba's that takes "cuda" to mean kernels of gpukit."""

    def registering(*args: Any, **options: Any) -> Any:
        if options.get("target") == "cuda":
            options["target"] = "cpu"
        return register(*args, **options)

    return registering


overload = _for_kernels(extending.overload)
overload_attribute = _for_kernels(extending.overload_attribute)
overload_method = _for_kernels(extending.overload_method)
intrinsic = _for_kernels(extending.intrinsic)


def __getattr__(name: str) -> Any:
    # The rest registers for the CPU target as it is: types, their models, what is made of them.
    if name == "core_models":
        return extending.models
    return getattr(extending, name)
