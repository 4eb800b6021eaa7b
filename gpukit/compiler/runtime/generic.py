"""Subscripts whose base may be an array, a tuple or a record: decided by type."""

from __future__ import annotations

from numba.core import types
from numba.core.errors import TypingError
from numba.extending import overload

from gpukit.compiler.runtime import memory


def item(place, base, idx):  # type: ignore[no-untyped-def]
    """Read `base[idx]`; an element or a row of an array is bounds-checked."""
    raise NotImplementedError


def set_item(place, base, idx, value):  # type: ignore[no-untyped-def]
    """Write `base[idx] = value`; an element of an array is bounds-checked."""
    raise NotImplementedError


def _form(base, idx):  # type: ignore[no-untyped-def]
    """Tell what a subscript is: "element", "row" or "other"."""
    if not isinstance(base, types.Array):
        return "other"
    parts = memory.index_types(idx)
    if parts is None:
        return "other"
    if len(parts) == base.ndim:
        return "element"
    if len(parts) > base.ndim:
        raise TypingError(f"an array with {base.ndim} axes cannot take {len(parts)} indices")
    return "row" if len(parts) == 1 and not isinstance(idx, types.BaseTuple) else "other"


@overload(item, prefer_literal=True, inline="never")
def _item(place, base, idx):  # type: ignore[no-untyped-def]
    form = _form(base, idx)
    if form == "element":
        return lambda place, base, idx: memory.load_checked(place, base, idx)
    if form == "row":
        return lambda place, base, idx: base[memory.part_checked(place, base, idx)]
    if isinstance(base, types.Record) and isinstance(idx, types.IntegerLiteral):
        return _field(base, idx.literal_value)
    return lambda place, base, idx: base[idx]


def _field(record, k):  # type: ignore[no-untyped-def]
    names = list(record.fields)
    if not -len(names) <= k < len(names):
        raise TypingError(f"a record of {len(names)} fields has no field {k}")
    name = names[k]
    return lambda place, base, idx: base[name]


@overload(set_item, inline="never")
def _set_item(place, base, idx, value):  # type: ignore[no-untyped-def]
    form = _form(base, idx)
    if form == "element":
        return lambda place, base, idx, value: memory.store_checked(place, base, idx, value)

    def plain(place, base, idx, value):  # type: ignore[no-untyped-def]
        base[idx] = value

    return plain
