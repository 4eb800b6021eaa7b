"""Convert the arguments of a launch to the words that compiled code reads.

An argument has a *kind*, a short hashable description of its type that is cheap to make;
kernels are specialised by the kinds of their arguments. Numba types are made from kinds only
when a kernel is compiled.
"""

from __future__ import annotations

import struct
from functools import lru_cache
from numbers import Number
from types import FunctionType
from typing import Any

import numpy as np

from gpukit import errors
from gpukit.cpu.memory.layout import Layout, layout_of

Kind = Any


class Packed:
    """The arguments of one launch: their kinds, the values for `struct`, and what must stay alive.

    `arguments` are those that were packed, `ranges` the addresses that arrays cover, `names` the
    kernel's names for them where they are arrays that it captured.
    """

    __slots__ = ("arguments", "keep", "kinds", "names", "ranges", "values")

    def __init__(self, arguments: tuple[Any, ...] = ()) -> None:
        self.arguments = arguments
        self.kinds: list[Kind] = []
        self.values: list[Any] = []
        self.keep: list[Any] = []
        self.ranges: list[tuple[int, int]] = []
        self.names: tuple[str, ...] = ()

    def reach(self) -> int:
        """Return how many bytes the arrays cover."""
        total = 0
        for begin, end in self.ranges:
            total += end - begin
        return total

    def distinct(self) -> bool:
        """Tell whether no two arrays overlap."""
        if len(self.ranges) < 2:
            return True
        ordered = sorted(self.ranges)
        end = ordered[0][0]
        for begin, behind in ordered:
            if begin < end:
                return False
            end = behind
        return True


def pack(arguments: tuple[Any, ...], wanted: tuple[Any, ...] | None = None) -> Packed:
    """Pack the arguments of a launch; `wanted` are the numba types of an explicit signature."""
    packed = Packed(arguments)
    for position, argument in enumerate(arguments):
        target = wanted[position] if wanted is not None else None
        packed.kinds.append(_pack_one(packed, argument, target, position))
    return packed


def _pack_one(packed: Packed, value: Any, wanted: Any, position: int) -> Kind:
    if wanted is None and type(value) is int:
        return _pack_int(packed, value, position)
    if type(value) is not np.ndarray:
        host = getattr(value, "host", None)
        if isinstance(host, np.ndarray):
            return _pack_array(packed, host, wanted, position, getattr(value, "layout", None))
        if hasattr(value, "copy_out") and hasattr(value, "value"):
            return _pack_hint(packed, value, wanted, position)
    if isinstance(value, np.ndarray):
        return _pack_array(packed, value, wanted, position)
    if hasattr(wanted, "layout") and isinstance(value, (Number, np.bool_)):
        raise errors.ArgumentError(
            f"argument {position + 1}: the kernel's signature says {wanted}, got the number "
            f"{value!r}. Pass an array, for one number np.array([x])."
        )
    if _is_tuple(wanted):
        return _pack_tuple(packed, value, wanted, position)
    if wanted is not None and not _is_structured(wanted):
        return _pack_as(packed, value, wanted, position)
    if type(value) is int:
        return _pack_int(packed, value, position)
    if type(value) is float:
        packed.values.append(value)
        return "float64"
    if type(value) is bool:
        packed.values.append(value)
        return "bool"
    return _pack_other(packed, value, position)


def _pack_int(packed: Packed, value: int, position: int) -> Kind:
    if not -(2**63) <= value < 2**64:
        raise errors.ArgumentError(
            f"argument {position + 1} is the integer {value}, which does not fit in 64 bits."
        )
    packed.values.append(value)
    return "int64" if value < 2**63 else "uint64"


def _pack_array(
    packed: Packed, value: np.ndarray, wanted: Any, position: int, layout: Layout | None = None
) -> Kind:
    """Pack an array; a device array has its `layout` at hand."""
    if wanted is not None:
        value, given = _as_declared(value, wanted), value
        layout = layout if value is given else None
        _check_array(value, wanted, position)
    if value.dtype.hasobject:
        raise errors.ArgumentError(
            f"argument {position + 1} is an array of Python objects ({value.dtype}); a kernel "
            "takes arrays of numbers. Convert it, for example with np.asarray(x, dtype=np.float32)."
        )
    if not value.dtype.isnative:
        raise errors.ArgumentError(
            f"argument {position + 1} is an array of dtype {value.dtype.str}, whose byte order "
            f"differs from this machine's. Convert it: x.astype({value.dtype.name!r})."
        )
    known = layout or layout_of(value)
    packed.values.extend(known.words)
    packed.keep.append(value)
    packed.ranges.append(known.covers)
    return known.kind


def _as_declared(value: np.ndarray, wanted: Any) -> np.ndarray:
    """View unsigned integers as signed or vice versa, as the signature requires.

    Numba's CUDA target accepts the memory of any array for a kernel with one signature.
    """
    if not hasattr(wanted, "layout"):
        return value
    dtype = _dtype_of(wanted.dtype)
    same_size = dtype.kind in "iu" and value.dtype.kind in "iu"
    if same_size and dtype != value.dtype and dtype.itemsize == value.dtype.itemsize:
        return value.view(dtype)
    return value


def _check_array(value: np.ndarray, wanted: Any, position: int) -> None:
    ndim = getattr(wanted, "ndim", None)
    if ndim is None or not hasattr(wanted, "dtype"):
        if str(wanted).endswith("*"):
            return
        raise errors.ArgumentError(
            f"argument {position + 1}: the kernel's signature says {wanted}, got an array of "
            f"{value.dtype} with shape {value.shape}."
        )
    if _dtype_of(wanted.dtype) != value.dtype or ndim != value.ndim:
        raise errors.ArgumentError(
            f"argument {position + 1}: the kernel's signature says {wanted}, got an array of "
            f"{value.dtype} with {value.ndim} axes. Convert it with "
            f".astype({str(wanted.dtype)!r}), or leave the signature out."
        )


@lru_cache(maxsize=256)
def _dtype_of(kind: Any) -> Any:
    from numba.np import numpy_support

    return numpy_support.as_dtype(kind)


def _is_structured(wanted: Any) -> bool:
    return not str(wanted).startswith(("int", "uint", "float", "complex", "bool"))


def _pack_as(packed: Packed, value: Any, wanted: Any, position: int) -> Kind:
    """Pack a scalar as the type that the signature requires."""
    if str(wanted).endswith("*"):
        packed.values.append(int(value))
        return ("pointer", wanted)
    dtype = np.dtype(str(wanted))
    if dtype.kind in "iu" and isinstance(value, int):
        value = np.array(value & (2 ** (8 * dtype.itemsize) - 1), "u8").astype(dtype)[()]  # wraps
    try:
        cast = dtype.type(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise errors.ArgumentError(
            f"argument {position + 1}: the kernel's signature says {wanted}, got {value!r}."
        ) from error
    return _pack_scalar(packed, cast)


def _pack_scalar(packed: Packed, value: np.generic) -> Kind:
    if value.dtype.kind == "c":
        packed.values.extend((value.real.item(), value.imag.item()))
    elif value.dtype.kind in "mM":
        packed.values.append(int(value.view(np.int64)))
    else:
        packed.values.append(value.item())
    return _kind_of_scalar(value.dtype)


@lru_cache(maxsize=256)
def _kind_of_scalar(dtype: Any) -> Kind:
    return dtype.str if dtype.kind in "mM" else dtype.name  # computing the name takes 3 us


def _pack_other(packed: Packed, value: Any, position: int) -> Kind:
    if isinstance(value, np.void):
        return _pack_record(packed, value)
    if isinstance(value, np.generic) and value.dtype.kind not in "SUOV":
        return _pack_scalar(packed, value)
    if isinstance(value, complex):
        packed.values.extend((value.real, value.imag))
        return "complex128"
    if isinstance(value, tuple):
        return _pack_tuple(packed, value, None, position)
    if value is None:
        return "none"
    return _pack_general(packed, value, position)


def _is_tuple(wanted: Any) -> bool:
    """Tell whether a numba type is one of tuples."""
    return hasattr(wanted, "types") and hasattr(wanted, "count")


def _pack_tuple(packed: Packed, value: Any, wanted: Any, position: int) -> Kind:
    """Pack the parts of a tuple, each as its type in the signature."""
    count = len(value) if isinstance(value, tuple) else None
    kinds = (None,) * (count or 0) if wanted is None else tuple(wanted.types)
    if count != len(kinds):
        got = f"{value!r}" if count is None else f"a tuple of {count}"
        raise errors.ArgumentError(
            f"argument {position + 1}: the kernel's signature says {wanted}, got {got}. Pass a "
            f"tuple of {len(kinds)}."
        )
    pairs = zip(value, kinds, strict=True)
    parts = tuple(_pack_one(packed, v, kind, position) for v, kind in pairs)
    return ("tuple", type(value) if hasattr(value, "_fields") else tuple, parts)


def _pack_record(packed: Packed, value: np.void) -> Kind:
    whole = value.base if isinstance(value.base, np.ndarray) else np.array(value)
    address = value.__array_interface__["data"][0]
    packed.keep.extend((value, whole))
    packed.values.append(address)
    return ("record", value.dtype)


def _pack_hint(packed: Packed, hint: Any, wanted: Any, position: int) -> Kind:
    """Pack `cuda.In(a)` and the like: writes of the kernel may have to be discarded."""
    value = getattr(hint.value, "host", hint.value)
    if isinstance(value, np.ndarray) and not hint.copy_out:
        value = np.array(value, order="C")
    return _pack_one(packed, value, wanted, position)


def _pack_general(packed: Packed, value: Any, position: int) -> Kind:
    """Pack a value whose type needs numba to determine, such as an enum member."""
    import enum

    if isinstance(value, enum.Enum):
        inner = _pack_one(packed, value.value, None, position)
        return ("enum", type(value), inner)
    host = foreign_host(value)
    if host is not None:
        return _pack_array(packed, host, None, position)
    hint = "Pass numbers, NumPy arrays, device arrays, or tuples of these."
    if isinstance(value, list):
        hint = "Convert the list with np.array(x, dtype=np.float32)."
    elif isinstance(value, FunctionType):
        hint = "Let the kernel call it by its name, with @cuda.jit(device=True) above it."
    raise errors.ArgumentError(
        f"argument {position + 1} is of type {type(value).__name__}, which a kernel cannot take. "
        f"{hint}"
    )


def foreign_host(value: Any) -> np.ndarray | None:
    """Return a NumPy array over another library's array; None for anything else."""
    if hasattr(value, "__array_interface__") and not isinstance(value, np.generic):
        return np.asarray(value)
    if hasattr(value, "__cuda_array_interface__"):
        from gpukit.cpu.memory import arrays

        return arrays.as_cuda_array(value).host
    return None


# ---- from kinds to struct formats and numba types ---------------------------------------------

_CODES = {
    "b": "b7x",
    "B": "B7x",
    "h": "h6x",
    "H": "H6x",
    "i": "i4x",
    "I": "I4x",
    "l": "q",
    "L": "Q",
    "q": "q",
    "Q": "Q",
    "f": "f4x",
    "d": "d",
    "e": "e6x",
    "?": "?7x",
    "F": "ff",
    "D": "dd",
    "m": "q",
    "M": "q",
}


@lru_cache(maxsize=4096)
def format_of(kinds: tuple[Kind, ...]) -> struct.Struct:
    """Return the struct format of arguments of these kinds."""
    return struct.Struct("=" + "".join(_format(k) for k in kinds))


def _format(kind: Kind) -> str:
    if isinstance(kind, str):
        return "" if kind == "none" else _CODES[np.dtype(kind).char]
    if kind[0] == "tuple":
        return "".join(_format(k) for k in kind[2])
    if kind[0] == "enum":
        return _format(kind[2])
    return "q" if kind[0] in ("record", "pointer") else f"Q{2 * kind[1]}q"


def describe(kind: Any) -> Any:
    """Return a kind as plain data, for the disk cache.

    >>> describe(("float32", (np.dtype("i4"), 1, "C", True, True)))
    ('float32', (dtype('int32'), 1, 'C', True, True))
    """
    if isinstance(kind, tuple):
        return tuple(describe(k) for k in kind)
    if isinstance(kind, type):
        return f"{kind.__module__}.{kind.__qualname__}{getattr(kind, '_fields', '')}"
    return kind


def numba_type(kind: Kind) -> Any:
    """Return the numba type for a kind."""
    from numba.core import types
    from numba.np import numpy_support

    if isinstance(kind, str):
        return types.none if kind == "none" else numpy_support.from_dtype(np.dtype(kind))
    if kind[0] == "tuple":
        parts = [numba_type(k) for k in kind[2]]
        if kind[1] is tuple:
            return types.BaseTuple.from_types(parts)
        return types.BaseTuple.from_types(parts, kind[1])
    if kind[0] == "enum":
        import enum

        made = types.IntEnumMember if issubclass(kind[1], enum.IntEnum) else types.EnumMember
        return made(kind[1], numba_type(kind[2]))
    if kind[0] == "record":
        return numpy_support.from_dtype(kind[1])
    if kind[0] == "pointer":
        return kind[1]
    dtype, ndim, layout, writeable, aligned = kind
    return types.Array(
        numpy_support.from_dtype(dtype), ndim, layout, readonly=not writeable, aligned=aligned
    )
