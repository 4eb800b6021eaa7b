"""Find third-party extensions of Numba: overloads of functions, methods and attributes.

If Numba is not imported there are none, and it is not imported to find out.
"""

from __future__ import annotations

import ast
import functools
import sys
from collections.abc import Iterator
from types import BuiltinFunctionType
from typing import Any

from gpukit.compiler.unit import Unit

# Modules of templates whose changes are part of a kernel's cache key anyway. Numba's templates for
# intrinsics and typers have no module, but the kernel captures the objects that are their keys.
_KNOWN = ("numba", "gpukit", "abc")


def functions() -> list[Any]:
    """Return the functions and operators with third-party implementations."""
    return [template.key for template in _foreign("functions")]


def attributes() -> set[str]:
    """Return the names of methods and attributes with third-party implementations."""
    found = set()
    for template in _foreign("attributes"):
        names = [getattr(template, "_attr", None), *vars(template)]
        found |= {name.removeprefix("resolve_") for name in names if name}
    return found


def _foreign(kind: str) -> Iterator[Any]:
    """Yield the third-party typing templates of one kind, "functions" or "attributes"."""
    templates = sys.modules.get("numba.core.typing.templates")
    ours = sys.modules.get("gpukit.compiler.kernel_target")
    for registry in filter(
        None, (templates and templates.builtin_registry, ours and ours.declarations)
    ):
        yield from _foreign_in(registry, kind, len(getattr(registry, kind)))


@functools.lru_cache(maxsize=8)
def _foreign_in(registry: Any, kind: str, registered: int) -> list[Any]:
    """Return the third-party templates of a registry that has `registered` templates."""
    return list(filter(is_foreign, getattr(registry, kind)))


def is_foreign(template: Any) -> bool:
    """Tell whether a typing template belongs to neither Numba nor gpukit."""
    made = getattr(template, "_overload_func", template)
    return (made.__module__ or _KNOWN[0]).partition(".")[0] not in _KNOWN


def used(unit: Unit) -> bool:
    """Tell whether a function, its names resolved, may use a third-party extension."""
    keys, names = functions(), attributes()
    if any(isinstance(key, BuiltinFunctionType) for key in keys):
        return True  # an operator or a Python function that has no name in the tree
    if any(value is key for value in unit.globals.values() for key in keys):
        return True
    nodes = (n for function in unit.trees for n in ast.walk(function))
    return any(isinstance(n, ast.Attribute) and n.attr in names for n in nodes)
