"""`cuda.jit(device=True)`: functions that kernels call."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from gpukit import errors
from gpukit.compiler.frontend import unsaved
from gpukit.cpu import pickling


class DeviceFunction:
    """A function that only kernels can call."""

    def __init__(
        self, function: Callable[..., Any], signatures: list[Any], options: dict[str, Any]
    ) -> None:
        unsaved.remember(function)
        functools.update_wrapper(self, function)
        self.py_func = function
        self.signatures = signatures
        self.targetoptions = options
        self.device = True

    @property
    def device_options(self) -> dict[str, Any]:
        """Options for numba.njit."""
        fastmath = self.targetoptions.get("fastmath", False)
        return {"fastmath": fastmath} if fastmath else {}

    def __call__(self, *_: Any) -> Any:
        raise errors.TargetError(
            f"{self.py_func.__name__} is a device function: only a kernel can call it. "
            f"On the host call {self.py_func.__name__}.py_func(...)."
        )

    def __getitem__(self, _: Any) -> Any:
        raise errors.TargetError(
            f"Cannot compile a device function as a kernel: {self.py_func.__name__} cannot be "
            "launched. Remove device=True to make it a kernel."
        )

    def compile_device(self, args: tuple[Any, ...], return_type: Any = None) -> Any:
        """Compile the function for argument types; return Numba's record of it."""
        native, signature = self._native(args)
        return native.overloads[signature]

    def _native(self, args: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
        from gpukit.compiler.lowering import device

        native, signature = device.native(self), (device.CONTEXT, *args)
        if signature not in native.overloads:
            device.compile_for(native, [args])
        return native, signature

    def inspect_llvm(self, args: tuple[Any, ...]) -> str:
        """Return the LLVM IR of the function for argument types."""
        native, signature = self._native(args)
        return str(native.inspect_llvm(signature))

    def inspect_asm(self, args: tuple[Any, ...]) -> str:
        """Return this machine's assembly of the function for argument types."""
        native, signature = self._native(args)
        return str(native.inspect_asm(signature))

    def inspect_sass(self, signature: Any = None) -> Any:
        """Raise: a device function has no machine code of its own, and there is no GPU."""
        raise errors.TargetError("Cannot inspect SASS of a device function")

    def __reduce__(self) -> Any:
        return pickling.reduced(self, DeviceFunction, self.signatures, self.targetoptions)

    def __repr__(self) -> str:
        return f"<device function {self.py_func.__qualname__}>"
