"""A kernel against NumPy in one line, for lessons."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpukit import target
from gpukit.bench import report, timing
from gpukit.errors import GpukitError


class WrongAnswer(GpukitError):
    """The results of both sides differ, so there is nothing to time."""


@dataclass(frozen=True, repr=False)
class Line:
    """The times of a kernel and of NumPy, and their ratio; its repr is one line."""

    timing: timing.Timing
    target: str

    def __repr__(self) -> str:
        found = self.timing
        mine, numpy = report.duration(found.ours), report.duration(found.numpy)
        low, high = found.low, found.high
        if found.speedup < 1:
            low, high = 1 / high, 1 / low
        spread = f"mostly {report.ratio(low)} to {report.ratio(high)}"
        words = f"{report.verdict(found.speedup)} ({spread})"
        if report.unsteady(found.varied):
            words = "no ratio, the times vary too much"
        return f"right; kernel ({self.target}) {mine}, NumPy {numpy}: {words}"


def against(
    ours: Callable[[], Any], numpy: Callable[[], Any], *, terms: int = 1, seconds: float = 0.3
) -> Line:
    """Check that both calls give the same result, then time them in turns for about `seconds`.

    `terms` is how many values are added into each result: rounding errors grow with it. Raises
    WrongAnswer, with the first index, if the results differ by more than rounding.
    """
    got, expected = np.asarray(ours()), np.asarray(numpy())
    error = timing.difference(got, expected.astype(np.float64), terms)
    if error:
        raise WrongAnswer(f"against: {error}. Fix the kernel before you time it.")
    return Line(timing.compare(ours, numpy, seconds=seconds), target.active().name)
