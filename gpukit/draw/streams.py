"""Pictures of streams: which engine of a GPU is busy when, by a model."""

from __future__ import annotations

from typing import Any, NamedTuple

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from gpukit.draw import style


class Step(NamedTuple):
    """One box of a timeline: its engine, its piece, its start and its end."""

    engine: int
    piece: int
    begin: float
    end: float


ENGINES = ("copies to the GPU", "kernels", "copies back")


def stream_steps(times: tuple[float, float, float], pieces: int, streams: int) -> list[Step]:
    """Return the timeline of copying in, computing and copying back in pieces.

    A model: each engine does one thing at a time, and a stream keeps the order of its own work.

    >>> [step.end for step in stream_steps((2, 1, 2), pieces=2, streams=1)]
    [2.0, 3.0, 5.0, 7.0, 8.0, 10.0]
    """
    engine_free, stream_free = [0.0] * 3, [0.0] * streams
    found = []
    for piece in range(pieces):
        for engine, time in enumerate(times):
            begin = max(engine_free[engine], stream_free[piece % streams])
            engine_free[engine] = stream_free[piece % streams] = begin + time
            found.append(Step(engine, piece, begin, begin + time))
    return found


def stream_timeline(
    times: tuple[float, float, float], pieces: int, streams: tuple[int, ...] = (1, 4)
) -> Figure:
    """Draw the same work in different numbers of streams: which engine is busy when. A model."""
    runs = [stream_steps(times, pieces, count) for count in streams]
    last = max(step.end for run in runs for step in run)
    with style.house():
        fig, rows = style.figure(9.4, 1.75 * len(runs) + 0.5, len(runs), 1, squeeze=False)
        for axes, run, count in zip(rows[:, 0], runs, streams, strict=True):
            for step in run:
                size = step.end - step.begin
                fill, corner = (
                    style.FILLS[step.piece % len(style.FILLS)],
                    (step.begin, step.engine - 0.42),
                )
                axes.add_patch(Rectangle(corner, size, 0.84, lw=0.9, ec=style.INK, fc=fill))
                middle = step.begin + size / 2
                words: Any = {"ha": "center", "va": "center", "fontsize": 10}
                axes.text(middle, step.engine, step.piece + 1, **words)
            end = max(step.end for step in run)
            word = "stream" if count == 1 else "streams"
            axes.set_title(f"{count} {word}: {end:g} units of time", fontsize=11)
            axes.set_xlim(0, last * 1.01)
            axes.set_xticks(range(int(last) + 1), map(str, range(int(last) + 1)), fontsize=9)
            axes.set_ylim(2.6, -0.6)
            axes.set_yticks(range(3), ENGINES)
            axes.tick_params(axis="y", length=0)
        rows[-1, 0].set_xlabel("time in units of the model; the number in a box is the piece")
    return fig
