"""Helpers that run a faulty program and assert what holds for all of them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from gpukit import cuda, errors, target

GUARD, UNTOUCHED = 64, 77
on_cpu = pytest.mark.skipif(
    target.wanted() == "cuda", reason="a GPU reports such errors differently, or not at all"
)


@cuda.jit
def good_kernel(out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = i


@contextmanager
def guarded(shape: Any, dtype: Any = np.float64, order: Any = "C"):
    """Yield an array of zeros between two guard regions; check these at the end."""
    n = int(np.prod(shape))
    whole = np.full(n + 2 * GUARD, UNTOUCHED, dtype)
    array = whole[GUARD : GUARD + n].reshape(shape, order=order)
    array[...] = 0
    try:
        yield array
    finally:
        outside = np.concatenate([whole[:GUARD], whole[GUARD + n :]])
        assert (outside == UNTOUCHED).all(), "memory outside the array was written"


def assert_fails(
    run: Callable[[], Any], kind: type[BaseException], *parts: str, here: bool = True
) -> Any:
    """Assert that `run` raises this error, with these parts in its message; then launch again.

    With `here` the error must show the line of the kernel that ends in the comment `# here`.
    """
    with pytest.raises(kind) as caught:
        run()
    error = caught.value
    assert isinstance(error, errors.GpukitError), type(error)
    text = str(error)
    for part in parts:
        assert part in text, f"{part!r} is not in the message:\n{text}"
    assert "_context" not in text, f"names of the compiler are in the message:\n{text}"
    if here:
        assert error.source.endswith("# here"), text
        assert f":{error.line}" in text, text
        assert error.source.strip() in text, text
    assert_good_launch()
    return error


def assert_good_launch() -> None:
    out = np.full(70, np.nan)
    good_kernel[3, 32](out)
    assert out.tolist() == list(range(70))
