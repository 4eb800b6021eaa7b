"""Subscripts whose base may be an array, a tuple or a record: dispatched by type."""

from __future__ import annotations

from numba.core import types
from numba.core.errors import TypingError
from numba.extending import overload

from gpukit.compiler.runtime import memory, views, words


def item(origin, base, idx):  # type: ignore[no-untyped-def]
    """Read `base[idx]`; an element or a view of an array is bounds-checked."""
    raise NotImplementedError


def set_item(origin, base, idx, value):  # type: ignore[no-untyped-def]
    """Write `base[idx] = value`; an element or a view of an array is bounds-checked."""
    raise NotImplementedError


def _form(base, idx):  # type: ignore[no-untyped-def]
    """Return the kind of a subscript: "element", "part" (fewer indices than axes) or "other"."""
    if not isinstance(base, types.Array):
        return "other"
    parts = words.index_types(idx)
    if parts is None:
        return "other"
    if len(parts) == base.ndim:
        return "element"
    if len(parts) > base.ndim:
        raise TypingError(f"an array with {base.ndim} axes cannot take {len(parts)} indices")
    return "part"


@overload(item, prefer_literal=True, inline="never")
def _item(origin, base, idx):  # type: ignore[no-untyped-def]
    form = _form(base, idx)
    if form == "element":
        return lambda origin, base, idx: memory.load_checked(origin, base, idx)
    if form == "part":
        return lambda origin, base, idx: base[views.part_checked(origin, base, idx)]
    if isinstance(base, types.Record) and isinstance(idx, types.IntegerLiteral):
        return _field(base, idx.literal_value)
    if isinstance(base, types.NumpyFlatType):
        return lambda origin, base, idx: base[views.flat_checked(origin, idx, len(base))]
    return lambda origin, base, idx: base[idx]


def _field(record, k):  # type: ignore[no-untyped-def]
    names = list(record.fields)
    if not -len(names) <= k < len(names):
        raise TypingError(f"a record of {len(names)} fields has no field {k}")
    name = names[k]
    return lambda origin, base, idx: base[name]


@overload(set_item, inline="never")
def _set_item(origin, base, idx, value):  # type: ignore[no-untyped-def]
    form = _form(base, idx)
    if form == "element":
        return lambda origin, base, idx, value: memory.store_checked(origin, base, idx, value)
    if form == "part":
        return _set_part if len(origin) == 4 else _set_part_plain

    def flat(origin, base, idx, value):  # type: ignore[no-untyped-def]
        base[views.flat_checked(origin, idx, len(base))] = value

    def plain(origin, base, idx, value):  # type: ignore[no-untyped-def]
        base[idx] = value

    return flat if isinstance(base, types.NumpyFlatType) else plain


def _set_part(origin, base, idx, value):  # type: ignore[no-untyped-def]
    at = views.part_checked(origin, base, idx)
    views.record_part(origin, base[at])
    base[at] = value


def _set_part_plain(origin, base, idx, value):  # type: ignore[no-untyped-def]
    base[views.part_checked(origin, base, idx)] = value
