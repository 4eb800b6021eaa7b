"""A kernel against NumPy in one line, for lessons."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

import numpy as np

from gpukit import target
from gpukit.bench import estimated, recorded, report, timing
from gpukit.errors import GpukitError
from gpukit.estimates import gpus

# How lines below the first one are wrapped.
_BELOW: dict[str, Any] = {"width": 80, "initial_indent": "    ", "subsequent_indent": "    "}


class WrongAnswer(GpukitError):
    """The results of both sides differ, so there is nothing to time."""


@dataclass(frozen=True, repr=False)
class Line:
    """The times of a kernel and of NumPy, and their ratio; its repr is one line, and a GPU's time.

    Where the times vary too much, the repr has their ranges and, as `recorded`, what a machine that
    was less busy needed, at a size of its own. `gpu` is None where kernels run on a GPU.
    """

    timing: timing.Timing
    target: str
    gpu: estimated.GpuTime | None = None
    recorded: recorded.Record | None = None

    def __repr__(self) -> str:
        found = self.timing
        mine, numpy = report.durations(found)
        lines = [f"right; kernel ({self.target}) {mine}, NumPy {numpy}: {self._words()}"]
        if self.busy:
            lines = [f"right; kernel ({self.target}) {mine}, NumPy {numpy}", self._words()]
            lines += [self.recorded.line] if self.recorded else []
        if self.gpu is not None:
            lines.append(self.gpu.line)
        first, *more = lines
        return "\n".join([first, *(line for text in more for line in wrap(text, **_BELOW))])

    def cells(self) -> tuple[str, str, str]:
        """Return the kernel's time, NumPy's, and how they compare, as cells of a table."""
        return (*report.durations(self.timing), report.against(self.timing))

    @property
    def busy(self) -> bool:
        """Whether the times vary too much for one ratio."""
        return bool(report.unsteady(self.timing.varied))

    def _words(self) -> str:
        if self.busy:
            return report.against(self.timing)
        low, high = self.timing.low, self.timing.high
        if self.timing.speedup < 1:
            low, high = 1 / high, 1 / low
        spread = f"mostly {report.ratio(low)} to {report.ratio(high)}"
        return f"{report.verdict(self.timing.speedup)} ({spread})"


def against(
    ours: Callable[[], Any], numpy: Callable[[], Any], *, terms: int = 1, seconds: float = 0.3
) -> Line:
    """Check that both calls give the same result, then time them in turns for about `seconds`.

    `terms` is how many values are added into each result: rounding errors grow with it. On a CPU,
    `ours` is called once more, to estimate its time on the reader's GPU (`choose_gpu`). Raises
    WrongAnswer, with the first index, if the results differ by more than rounding.
    """
    began = time.monotonic()
    gpu = gpus.chosen()  # refuses an unknown one before anything runs
    got, expected = np.asarray(ours()), np.asarray(numpy())
    error = timing.difference(got, expected.astype(np.float64), terms)
    if error:
        raise WrongAnswer(f"against: {error}. Fix the kernel before you time it.")
    found = timing.compare(ours, numpy, seconds=seconds)
    beside = estimated.time_of(ours, gpu, began=began)
    quiet = recorded.of_cpu(beside.kernel) if beside else None
    return Line(found, target.active().name, beside, quiet)
