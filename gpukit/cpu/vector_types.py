"""CUDA's short vectors, `float32x4` and others, with their C names (`float4`) as aliases.

In a kernel `v = cuda.float32x4(a, b, c, d)` makes a value with components `v.x` to `v.w`. Vectors
are allowed as arguments and contribute all their components: `cuda.float32x3(xy, z)`.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np
from numba.core import types
from numba.extending import overload

from gpukit.compiler.numba_types import NUMBERS

_C_NAMES = {
    "char": np.byte,
    "short": np.short,
    "int": np.intc,
    "long": np.int_,
    "longlong": np.longlong,
    "uchar": np.ubyte,
    "ushort": np.ushort,
    "uint": np.uintc,
    "ulong": np.uint,
    "ulonglong": np.ulonglong,
    "float": np.single,
    "double": np.double,
}
PARTS = "xyzw"


class VectorType:
    """The constructor of one vector type, on the host and in kernels."""

    def __init__(self, base: str, length: int) -> None:
        self.name = self.__name__ = f"{base}x{length}"
        self.num_elements = length
        self.attr_names = tuple(PARTS[:length])
        self.scalar = getattr(np, base)
        self.base_type = getattr(types, base)
        self.value: Any = namedtuple(self.name, self.attr_names)  # type: ignore[misc]
        self.aliases = [
            f"{c}{length}" for c, kind in _C_NAMES.items() if np.dtype(kind).name == base
        ]
        self.user_facing_object = self

    def __call__(self, *args: Any) -> Any:
        """Make a vector on the host.

        >>> vector_types["int32x3"](vector_types["int32x2"](1, 2), 3).z
        np.int32(3)
        """
        flat = [part for arg in args for part in (arg if isinstance(arg, tuple) else (arg,))]
        if len(flat) != self.num_elements:
            raise TypeError(f"{self.name} expects {self.num_elements} elements, got {len(flat)}")
        return self.value(*(self.scalar(part) for part in flat))

    def __repr__(self) -> str:
        return f"<{self.name}>"


def _source(vector: VectorType, args: tuple[Any, ...]) -> str:
    """Return the source of a function that makes the vector from arguments of these types."""
    parts = []
    for i, arg in enumerate(args):
        inner = [f"args[{i}][{j}]" for j in range(len(arg))] if _is_vector(arg) else [f"args[{i}]"]
        parts += [f"scalar({part})" for part in inner]
    if len(parts) != vector.num_elements:
        raise TypeError(f"{vector.name} expects {vector.num_elements} elements, got {len(parts)}")
    return f"def make(*args):\n    return value({', '.join(parts)})\n"


def _is_vector(kind: Any) -> bool:
    return isinstance(kind, types.BaseTuple)


def _register(vector: VectorType) -> None:
    """Register with Numba how to make the vector in compiled code."""

    def typed(*args):  # type: ignore[no-untyped-def]
        flat = args[0] if len(args) == 1 and isinstance(args[0], tuple) else args
        scope: dict[str, Any] = {"value": vector.value, "scalar": vector.scalar}
        exec(_source(vector, flat), scope)
        return scope["make"]

    overload(vector)(typed)


def _make_all() -> dict[str, VectorType]:
    made = {}
    for base in NUMBERS:
        for length in range(1, len(PARTS) + 1):
            vector = VectorType(base, length)
            _register(vector)
            made[vector.name] = vector
    return made


vector_types = _make_all()

# Every name under which `cuda` has a vector: `float32x4` and `float4` are one object.
NAMES = {
    name: vector for vector in vector_types.values() for name in (vector.name, *vector.aliases)
}
