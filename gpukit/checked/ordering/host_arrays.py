"""Pinned, mapped and managed arrays that report host reads and writes.

They are Numba's arrays (`numpy.ndarray`, `MappedNDArray`, `ManagedNDArray`) with another base
class: indices, operators, NumPy's functions and methods are reported, and so are views. Accesses
that bypass Python are not: `np.asarray(a)`, `b[:] = a`, memory views, compiled functions.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpukit.checked.ordering.memory import READ, WRITE
from gpukit.cpu import operations
from gpukit.cpu.memory import allocations

# Functions that only look at the shape of an array, or return a view of it.
_FORMS = frozenset(
    (
        np.shape,
        np.ndim,
        np.size,
        np.reshape,
        np.ravel,
        np.transpose,
        np.swapaxes,
        np.moveaxis,
        np.squeeze,
        np.expand_dims,
        np.atleast_1d,
        np.atleast_2d,
        np.atleast_3d,
        np.empty_like,
        np.zeros_like,
        np.ones_like,
        np.full_like,
        np.may_share_memory,
        np.shares_memory,
        np.broadcast_to,
        np.split,
        np.array_split,
        np.hsplit,
        np.vsplit,
        np.flip,
        np.fliplr,
        np.flipud,
        np.diagonal,
        np.real,
        np.imag,
        np.result_type,
        np.iscomplexobj,
        np.isrealobj,
        np.common_type,
        np.can_cast,
        np.min_scalar_type,
    )
)
# Functions that write into their first argument.
_WRITERS = frozenset([np.copyto, np.put, np.place, np.putmask, np.put_along_axis, np.fill_diagonal])
_READING = (
    "all",
    "any",
    "argmax",
    "argmin",
    "argpartition",
    "argsort",
    "astype",
    "byteswap",
    "choose",
    "clip",
    "compress",
    "conj",
    "conjugate",
    "copy",
    "cumprod",
    "cumsum",
    "dot",
    "dump",
    "dumps",
    "flatten",
    "item",
    "max",
    "mean",
    "min",
    "nonzero",
    "prod",
    "ptp",
    "repeat",
    "round",
    "searchsorted",
    "std",
    "sum",
    "take",
    "tobytes",
    "tofile",
    "tolist",
    "trace",
    "var",
    "__bool__",
    "__complex__",
    "__contains__",
    "__copy__",
    "__deepcopy__",
    "__float__",
    "__format__",
    "__index__",
    "__int__",
    "__reduce__",
    "__reduce_ex__",
    "__repr__",
    "__str__",
)
_WRITING = ("fill", "partition", "put", "setfield", "sort")


def watched(array: NDArray[Any]) -> NDArray[Any]:
    """Return the same array as a class that reports accesses."""
    kind: Any = type(array)
    return array.view(_form(kind))


def plain(value: Any) -> Any:
    """Return the NumPy array under an instrumented one, also in lists, tuples and dictionaries."""
    if isinstance(value, _Watched):
        return np.asarray(value)
    if type(value) in (list, tuple):
        return type(value)(map(plain, value))
    if type(value) is dict:
        return {key: plain(item) for key, item in value.items()}
    return value


@functools.cache
def _form(kind: Any) -> type[Any]:
    """Return the class of arrays that report accesses and otherwise are of a kind."""
    return type(kind.__name__, (_Watched, kind), {"__module__": kind.__module__})


class _Watched:
    """Reports the host's accesses to an array's elements before they happen."""

    def __getitem__(self, index: Any) -> Any:
        part = _selected(self, index)
        if part is None:  # not a view: elements are copied
            _report(self, READ)
            return np.asarray(self)[plain(index)]
        if part.shape or isinstance(index, str) or _has_dots(index):
            return super().__getitem__(index)  # type: ignore[misc]
        _report(part, READ)
        return part[()]

    def __setitem__(self, index: Any, value: Any) -> None:
        part = _selected(self, index)
        _report(self if part is None else part, WRITE)
        for one in _inside(value):
            _report(one, READ)
        np.asarray(self)[plain(index)] = plain(value)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **named: Any) -> Any:
        out = named.get("out", ())
        for one in _inside([*inputs, named.get("where")]):
            _report(one, WRITE if method == "at" and one is inputs[0] else READ)
        for one in _inside(list(out)):
            _report(one, WRITE)
        result = getattr(ufunc, method)(*map(plain, inputs), **plain(named))
        if not out:
            return result
        return tuple(out) if isinstance(result, tuple) else out[0]

    def __array_function__(self, func: Any, kinds: Any, arguments: Any, named: Any) -> Any:
        if func in _FORMS:
            return super().__array_function__(func, kinds, arguments, named)  # type: ignore[misc]
        written = [
            *_inside(named.get("out")),
            *(_inside(arguments[:1]) if func in _WRITERS else ()),
        ]
        for one in _inside([*arguments, *named.values()]):
            _report(one, WRITE if any(one is w for w in written) else READ)
        result = func(*plain(tuple(arguments)), **plain(named))
        return named["out"] if isinstance(named.get("out"), _Watched) else result

    @property
    def flat(self) -> Any:
        _report(self, READ)
        return np.asarray(self).flat


def _method(name: str, use: str) -> Any:
    """Return a method of arrays that reports a use of all elements first."""

    def call(self: Any, *arguments: Any, **named: Any) -> Any:
        _report(self, use)
        for one in _inside(named.get("out")):
            _report(one, WRITE)
        result = getattr(np.asarray(self), name)(*plain(arguments), **plain(named))
        return named["out"] if isinstance(named.get("out"), _Watched) else result

    call.__name__ = name
    return call


for _use, _names in ((READ, _READING), (WRITE, _WRITING)):
    for _name in _names:
        setattr(_Watched, _name, _method(_name, _use))


def _selected(array: Any, index: Any) -> NDArray[Any] | None:
    """Return the view that an index selects, 0-dimensional for one element; None for a copy."""
    host = np.asarray(array)
    index = plain(index)
    if not isinstance(index, (str, list)) and not _has_dots(index):
        index = (*index, ...) if isinstance(index, tuple) else (index, ...)
    part = host[index]
    return part if allocations.root(part) is allocations.root(host) else None


def _has_dots(index: Any) -> bool:
    parts = index if isinstance(index, tuple) else (index,)
    return any(part is Ellipsis for part in parts)


def _inside(value: Any) -> Iterator[Any]:
    """Yield the instrumented arrays in a value, a list, a tuple or a dictionary."""
    if isinstance(value, _Watched):
        yield value
    elif type(value) in (list, tuple):
        for part in value:
            yield from _inside(part)
    elif type(value) is dict:
        yield from _inside(list(value.values()))


def _report(array: Any, use: str) -> None:
    access = getattr(operations.observer(), "host_access", None)
    if access is not None:
        access(np.asarray(array), use)
