"""`numba.cuda.cudadecl`: where other people's code says which types its functions have.

Kernels here are compiled by Numba's CPU target: what is registered goes to that target's table.
"""

from __future__ import annotations

from numba.core.typing.templates import builtin_registry as registry

register = registry.register
register_attr = registry.register_attr
register_global = registry.register_global

__all__ = ["register", "register_attr", "register_global", "registry"]
