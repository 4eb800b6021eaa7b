"""`numba.cuda.cudadecl`: the registry in which third-party code declares its functions' types."""

from __future__ import annotations

from gpukit.compiler.kernel_target import declarations as registry

register = registry.register
register_attr = registry.register_attr
register_global = registry.register_global

__all__ = ["register", "register_attr", "register_global", "registry"]
