"""The builders behind `numba.vectorize(target="cuda")` and `numba.guvectorize(target="cuda")`.

Numba imports these two builders from the module `numba.cuda.vectorizers`: it passes a function,
adds signatures one by one and asks for the result.
"""

from __future__ import annotations

from typing import Any

from gpukit.cpu import ufuncs


class CUDAVectorize:
    """Collects signatures for `cuda.vectorize`."""

    def __init__(
        self,
        func: Any,
        identity: Any = None,
        cache: bool = False,
        targetoptions: dict[str, Any] | None = None,
        **_kws: Any,
    ) -> None:
        self.func = func
        self.options = dict(targetoptions or {}, identity=identity, cache=cache)
        self.signatures: list[Any] = []

    def add(self, sig: Any = None) -> None:
        """Add a signature, in any form."""
        self.signatures.append(sig)

    def disable_compile(self) -> None:
        """Called by Numba once all signatures are known; there is nothing to disable."""

    def build_ufunc(self) -> Any:
        """Return the array function."""
        return ufuncs.vectorize(self.signatures, **self.options)(self.func)


class CUDAGUFuncVectorize(CUDAVectorize):
    """Collects signatures for `cuda.guvectorize`."""

    def __init__(self, func: Any, signature: str, **kws: Any) -> None:
        kws.pop("writable_args", None)
        super().__init__(func, **kws)
        self.layout = signature

    def build_ufunc(self) -> Any:
        """Return the array function."""
        return ufuncs.guvectorize(self.signatures, self.layout, **self.options)(self.func)
