"""The signatures of `cuda.vectorize` and `cuda.guvectorize`, and which of them a call uses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gpukit import errors

Dtypes = tuple[np.dtype[Any], ...]
# The types of the arguments, and that of the result if the signature names it.
Signature = tuple[tuple[Any, ...], Any]


def read(given: Any, name: str) -> list[Signature]:
    """Return signatures, given in any form, as numba types."""
    if not given or (callable(given) and not hasattr(given, "args")):
        raise errors.ArgumentError(
            f"{name}: expected signatures such as ['float32(float32, float32)'], got none. "
            "The CUDA target needs them; write the types of the arguments and the result."
        )
    many = [given] if isinstance(given, str) or hasattr(given, "args") else list(given)
    return [_read_one(one) for one in many]


def _read_one(one: Any) -> Signature:
    from gpukit.compiler import numba_types

    # Types of another Numba package (numba-cuda has its own) are recognised by their names.
    text = str(one) if hasattr(one, "args") else one
    text = text.replace(" -> none", "").replace("none(", "void(") if "->" in str(text) else text
    return numba_types.signature(_call_form(text) if "->" in str(text) else one)


def _call_form(text: str) -> str:
    """Convert Numba's printed form `(a, b) -> c` to the form that it parses, `c(a, b)`."""
    args, _, result = text.partition("->")
    return result.strip() + args.strip()


def dtypes(types: Sequence[Any]) -> Dtypes:
    """Return the dtypes of numba types, those of the elements of arrays."""
    from numba.np.numpy_support import as_dtype

    return tuple(as_dtype(getattr(t, "dtype", t)) for t in types)


def exact(name: str, values: Sequence[Any], loops: Sequence[Dtypes]) -> Dtypes:
    """Return the signature for elementwise arguments; numbers are cast, arrays are not.

    Numbers that exactly match a signature's types decide first; otherwise they match any.
    """
    have = [_dtype_of(v) for v in values]
    fitting = [loop for loop in loops if loop == tuple(have)]
    if not fitting:
        arrays = [k for k, v in enumerate(values) if not is_number(v)]
        fitting = [loop for loop in loops if all(loop[k] == have[k] for k in arrays)]
    if len(set(fitting)) == 1:
        return fitting[0]
    text = ", ".join(
        f"the number {v!r}" if is_number(v) else str(d) for v, d in zip(values, have, strict=True)
    )
    if fitting:
        raise TypeError(
            f"{name}: the numbers in ({text}) fit {len(fitting)} signatures. "
            "Say which is meant, for example np.float32(1.5)."
        )
    raise TypeError(
        f"{name}: no matching signature for ({text}). Arrays must have exactly the types of a "
        "signature, as on a GPU: add one to the decorator, or cast with .astype(); a device array "
        "does not support .astype(), cast it before the copy to the device."
    )


def _dtype_of(value: Any) -> np.dtype[Any]:
    return np.asarray(value).dtype if is_number(value) else value.dtype


def is_number(value: Any) -> bool:
    """Tell whether an argument is a number, which is cast to a signature's type."""
    return isinstance(value, (int, float, complex, np.number))


def castable(name: str, have: Sequence[np.dtype[Any]], loops: Sequence[Dtypes]) -> Dtypes:
    """Return the signature for subarrays, by the rules of the CUDA target.

    That is the one with exactly their types, else the first to whose types theirs cast safely.
    """
    for loop in loops:
        if loop[: len(have)] == tuple(have):
            return loop
    for loop in loops:
        if all(np.can_cast(d, h) for d, h in zip(loop, have, strict=False)):
            return loop
    raise TypeError(
        f"{name}: no matching signature for ({', '.join(map(str, have))}). "
        "Add one to the decorator, or cast the arguments."
    )
