"""`numba.cuda.cudadecl`: where other people's code says which types its functions have."""

from __future__ import annotations

from gpukit.compiler.kernel_target import declarations as registry

register = registry.register
register_attr = registry.register_attr
register_global = registry.register_global

__all__ = ["register", "register_attr", "register_global", "registry"]
