"""Runs a kernel compiled and on the oracle and asserts that the results are equal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tests import oracle

ORDERS: tuple[str | int, ...] = ("forward", "reverse", 5)


def copies(arguments: Sequence[Any]) -> list[Any]:
    return [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]


def assert_same(names: Sequence[str], found: Sequence[Any], wanted: Sequence[Any]) -> None:
    """Compare every array bit for bit; any NaN counts as equal to any other.

    No tolerance is needed: both sides do the same IEEE operations in the same order, the
    generated kernels call only correctly rounded functions, and Numba contracts nothing
    without fastmath.
    """
    for name, a, b in zip(names, found, wanted, strict=True):
        if isinstance(a, np.ndarray):
            np.testing.assert_array_equal(a, b, err_msg=f"argument {name}", strict=True)


def expected(
    kernel: Any, grid: Any, block: Any, arguments: Sequence[Any], shared_bytes: int = 0
) -> list[Any]:
    """Return the arguments after a run of the oracle; every order of threads must agree."""
    answers = []
    for order in ORDERS:
        answers.append(copies(arguments))
        oracle.launch(kernel, grid, block, *answers[-1], shared_bytes=shared_bytes, order=order)
    names = [f"{i} (the kernel has a race)" for i in range(len(arguments))]
    for other in answers[1:]:
        assert_same(names, other, answers[0])
    return answers[0]


def run_both(
    kernel: Any, grid: Any, block: Any, *arguments: Any, shared_bytes: int = 0
) -> list[Any]:
    """Return the arguments after a launch, having asserted that the oracle's are equal."""
    wanted = expected(kernel, grid, block, arguments, shared_bytes)
    found = copies(arguments)
    kernel[grid, block, 0, shared_bytes](*found)
    assert_same([str(i) for i in range(len(arguments))], found, wanted)
    return found
