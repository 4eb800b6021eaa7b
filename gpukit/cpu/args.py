"""`cuda.In`, `cuda.Out` and `cuda.InOut`: whether a kernel reads or writes an array argument."""

from __future__ import annotations

from typing import Any


class ArgHint:
    """An argument of a kernel and the copies that a GPU launch would make of it.

    `copy_in`: the kernel sees the array's contents; `copy_out`: the caller sees its writes.
    """

    copy_in = True
    copy_out = True

    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        return f"cuda.{type(self).__name__}({self.value!r})"


class In(ArgHint):
    """The kernel only reads the array: what it writes there is discarded."""

    copy_out = False


class Out(ArgHint):
    """The kernel only writes the array: it does not see the array's contents."""

    copy_in = False


class InOut(ArgHint):
    """The kernel reads and writes the array."""


def wrap_arg(value: Any, default: type[ArgHint] = InOut) -> ArgHint:
    """Return `value` as a hint, wrapped in `InOut` where it is not one yet."""
    return value if isinstance(value, ArgHint) else default(value)
