"""A device and a connection: how long an amount of work takes, how long a message takes.

A link is alpha-beta in pieces. A message of n bytes takes `alpha + n / bandwidth` seconds, and a
link has several such lines, because libraries change their protocol with the size of a message.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

LEAST_POINTS = 2  # sizes that a piece of a fitted link rests on


@dataclass(frozen=True)
class Compute:
    """A device: its rate, and the seconds that each pass costs besides, such as launches."""

    flops_per_second: float
    overhead: float = 0.0

    def seconds(self, flops: float) -> float:
        """Return the time of this many floating-point operations.

        >>> Compute(flops_per_second=1e12, overhead=1e-3).seconds(2e12)
        2.001
        """
        return self.overhead + flops / self.flops_per_second


class Piece(NamedTuple):
    """A line of a link's model, for messages of `start` bytes and more."""

    start: float
    latency: float
    bandwidth: float


@dataclass(frozen=True)
class Link:
    """A connection: latency in seconds, bandwidth in bytes per second; `larger` has further lines.

    >>> Link(latency=5e-6, bandwidth=10e9).seconds(1_000_000)
    0.000105
    """

    latency: float = 0.0
    bandwidth: float = math.inf
    larger: tuple[Piece, ...] = ()

    def seconds(self, nbytes: Any) -> Any:
        """Return the time of a message, or of each message of an array of sizes."""
        sizes = np.asarray(nbytes, float)
        starts, latencies, bandwidths = np.transpose(self.pieces)
        at = np.maximum(np.searchsorted(starts, sizes, side="right") - 1, 0)
        times = latencies[at] + sizes / bandwidths[at]
        return times if times.ndim else float(times)

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The lines in order of size."""
        return Piece(0.0, self.latency, self.bandwidth), *self.larger

    @classmethod
    def fit(cls, sizes: Any, seconds: Any, pieces: int = 3) -> Link:
        """Return the link whose lines lie closest to measured times, at most `pieces` of them.

        Several times of one size count as their median. Among all ways to split the sizes, the one
        with the smallest sum of squared relative errors is taken.
        """
        sizes, seconds = np.asarray(sizes, float), np.asarray(seconds, float)
        if sizes.shape != seconds.shape or sizes.ndim != 1 or not (seconds > 0).all():
            raise ValueError(
                "Link.fit: expected a time above 0 for each size, got shapes "
                f"{sizes.shape} and {seconds.shape}. Measure a message several times and give all."
            )
        x = np.unique(sizes)
        if len(x) < LEAST_POINTS or pieces < 1:
            raise ValueError(
                f"Link.fit: expected {LEAST_POINTS} or more sizes and 1 or more pieces, got "
                f"{len(x)} and {pieces}. Measure small and large messages."
            )
        y = np.array([np.median(seconds[sizes == size]) for size in x])
        first, *rest = _best_lines(x, y, min(pieces, len(x) // LEAST_POINTS))
        return cls(first.latency, first.bandwidth, tuple(rest))


class _Line(NamedTuple):
    """A line through some points, and its sum of squared relative errors."""

    latency: float
    per_byte: float
    error: float


def _line(x: Any, y: Any) -> _Line:
    """Fit latency + per_byte * x by least squares of relative errors, neither below 0."""
    # Each row is divided by its time, so that 1 is a perfect value of every row.
    rows = np.column_stack([1 / y, x / y])
    both = np.linalg.lstsq(rows, np.ones(len(x)), rcond=None)[0]
    choices = [both] if both.min() >= 0 else []
    for column in range(2):
        alone = np.zeros(2)
        if scale := rows[:, column] @ rows[:, column]:
            alone[column] = rows[:, column].sum() / scale
        choices.append(alone)
    errors = [float(((rows @ choice - 1) ** 2).sum()) for choice in choices]
    best = int(np.argmin(errors))
    return _Line(float(choices[best][0]), float(choices[best][1]), errors[best])


def _best_lines(x: Any, y: Any, most: int) -> list[Piece]:
    """Split the points into at most `most` runs, each with its own line: dynamic programming."""
    count = len(x)
    lines = {
        (i, j): _line(x[i:j], y[i:j])
        for i in range(count)
        for j in range(i + LEAST_POINTS, count + 1)
    }
    # best[j] is the smallest error of the first j points, and the starts of its runs.
    best: list[tuple[float, tuple[int, ...]]] = [(math.inf, ())] * (count + 1)
    best[0] = (0.0, ())
    shortest = best
    for _ in range(most):
        best = [
            min(
                (
                    (best[i][0] + lines[i, j].error, (*best[i][1], i))
                    for i in range(j)
                    if (i, j) in lines
                ),
                default=(math.inf, ()),
            )
            for j in range(count + 1)
        ]
        shortest = [min(a, b) for a, b in zip(shortest, best, strict=True)]
    starts = shortest[count][1]
    found = []
    for start, end in zip(starts, (*starts[1:], count), strict=True):
        line = lines[start, end]
        bandwidth = 1 / line.per_byte if line.per_byte else math.inf
        found.append(Piece(float(x[start]), line.latency, bandwidth))
    return found
