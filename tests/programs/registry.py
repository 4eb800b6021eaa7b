"""The registry of programs, and the comparison of a result with its reference."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

Pairs = Iterator[tuple[Any, Any]]

# The error of a sum of some hundred rounded products, relative to the largest value.
TOLERANCES = {2: 4e-3, 4: 2e-5, 8: 1e-10}


class Program(NamedTuple):
    """A program: `run` yields pairs of a result and its reference.

    `warns` has the kinds of warnings that checked mode may report.
    """

    run: Callable[[], Pairs]
    tolerance: float | None
    warns: tuple[str, ...]


PROGRAMS: dict[str, Program] = {}


def program(*, tolerance: float | None = None, warns: str = "") -> Callable[[Any], Any]:
    """Register a function that yields pairs of a result and its reference."""

    def register(run: Callable[[], Pairs]) -> Callable[[], Pairs]:
        name = f"{run.__module__.rpartition('.')[2]}-{run.__name__}"
        assert name not in PROGRAMS, f"two programs are named {name}"
        PROGRAMS[name] = Program(run, tolerance, tuple(warns.split()))
        return run

    return register


def compare(got: Any, wanted: Any, tolerance: float | None) -> None:
    """Assert that a result has the shape and values of its reference; integers exactly."""
    got = got.copy_to_host() if hasattr(got, "copy_to_host") else np.asarray(got)
    wanted = np.asarray(wanted)
    assert got.shape == wanted.shape
    if got.dtype.kind not in "fc":
        np.testing.assert_array_equal(got, wanted)
        return
    part = got.real.dtype.itemsize
    rtol = TOLERANCES[part] if tolerance is None else tolerance
    finite = np.abs(wanted[np.isfinite(wanted)]).astype(np.float64)
    np.testing.assert_allclose(got, wanted, rtol, rtol * finite.max(initial=0))
