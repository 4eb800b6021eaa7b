"""`numba.cuda.cudaimpl`: the registry in which third-party code lowers its functions to LLVM."""

from __future__ import annotations

from gpukit.compiler.kernel_target import implementations as registry

lower = registry.lower
lower_attr = registry.lower_getattr
lower_cast = registry.lower_cast
lower_constant = registry.lower_constant
lower_getattr_generic = registry.lower_getattr_generic
lower_setattr = registry.lower_setattr
lower_setattr_generic = registry.lower_setattr_generic

__all__ = [
    "lower",
    "lower_attr",
    "lower_cast",
    "lower_constant",
    "lower_getattr_generic",
    "lower_setattr",
    "lower_setattr_generic",
    "registry",
]
