"""Pictures of streams: which engine of a GPU is busy when, by a model, and which task has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

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


# A call of a task: its task, its number, and when it arrived, started and ended, in seconds.
Calls = Sequence[tuple[str, int, float, float, float]]
MOST_ROWS, MOST_CALLS = 32, 4096
_TASKS = (*style.FILLS[:2], style.YELLOW, "#66C5AB", style.PURPLE, "#C0C0C0")
_WAIT: dict[str, Any] = {"facecolor": "#EDEDEA", "edgecolor": "#8A8A8A", "hatch": "///", "lw": 0}


def task_chart(panels: Mapping[str, Mapping[str, Calls]], *, title: str) -> Figure:
    """Draw which task has the device, or each of its slots, when: a panel per title.

    `panels[name][row]` has calls: `TaskTimeline.rows`, or the slots of `simulate_blocks`. A colour
    is a task, the number in a box that of the call, a hatched strip the time for which a call
    waited, and a mark below it when it arrived.
    """
    rows = _calls("task_chart", panels)
    last = max(end for _, _, _, _, end in rows)
    unit, name = (1e-3, "ms") if last < 1 else (1.0, "s")
    tasks = list(dict.fromkeys(task for task, *_ in rows))
    fills = {task: _TASKS[k % len(_TASKS)] for k, task in enumerate(tasks)}
    waits = any(_waited(arrived, start, last) for _, _, arrived, start, _ in rows)
    with style.house():
        height = sum(0.3 * len(panel) + 0.7 for panel in panels.values()) + 1.1
        sizes = [len(panel) + 1.2 for panel in panels.values()]
        fig, axes = style.figure(
            9.4, height, len(panels), 1, squeeze=False, sharex=True, height_ratios=sizes
        )
        for ax, (heading, panel) in zip(axes[:, 0], panels.items(), strict=True):
            for row, calls in enumerate(panel.values()):
                for task, number, *times in calls:
                    arrived, start, end = (t / unit for t in times)
                    _draw(ax, row, number, fills[task], (arrived, start, end), last / unit)
            ax.set_title(heading, fontsize=11)
            ax.set_xlim(0, last / unit * 1.01)
            ax.set_ylim(len(panel) - 0.4, -0.6)
            ax.set_yticks(range(len(panel)), list(panel), fontsize=9)
            ax.tick_params(axis="y", length=0)
        axes[-1, 0].set_xlabel(
            f"time in {name}; a number counts the calls of its task"
            + ("; a mark below a row is an arrival" if waits else "")
        )
        fig.suptitle(title, x=0.01, ha="left", fontsize=13, weight="bold")
        keys = [Patch(fc=fills[task], ec=style.INK, label=task) for task in tasks]
        style.legend(fig, handles=[*keys, *([Patch(label="waits", **_WAIT)] * waits)], ncols=6)
    return fig


def _waited(arrived: float, start: float, last: float) -> bool:
    return start - arrived > 0.002 * last


def _draw(
    axes: Any, row: int, number: int, fill: str, times: tuple[float, float, float], last: float
) -> None:
    """Draw a call and its wait; all times, and that of the last end, are in units of the axis."""
    arrived, start, end = times
    wide = end - start
    drawn = max(wide, 0.0025 * last)  # a short call is visible, too
    edge = 0.7 if wide > 0.004 * last else 0
    look: dict[str, Any] = {"fc": fill, "ec": style.INK, "lw": edge}
    axes.add_patch(Rectangle((start, row - 0.4), drawn, 0.8, **look))
    if wide > 0.018 * last:
        axes.text(start + wide / 2, row, f"{number}", ha="center", va="center", fontsize=8)
    if _waited(arrived, start, last):
        strip = Rectangle((arrived, row - 0.16), start - arrived, 0.32, zorder=0, **_WAIT)
        axes.add_patch(strip)
        axes.plot([arrived] * 2, [row + 0.3, row + 0.48], color=style.INK, lw=1)


def task_chart_in_words(panels: Mapping[str, Mapping[str, Calls]]) -> str:
    """Say what `task_chart` draws, for its alt text."""
    _calls("task_chart_in_words", panels)
    words = []
    for heading, panel in panels.items():
        calls = [call for row in panel.values() for call in row]
        tasks = list(dict.fromkeys(task for task, *_ in sorted(calls, key=lambda c: c[3])))
        each = []
        for task in tasks:
            own = [call for call in calls if call[0] == task]
            longest = max(start - arrived for _, _, arrived, start, _ in own)
            count = len({number for _, number, *_ in own})
            each.append(
                f"{task} has {count} call{'s' * (count > 1)}, from "
                f"{min(call[3] for call in own):.3g} to {max(call[4] for call in own):.3g} s"
                + (f", and waits for at most {longest:.3g} s" if longest > 1e-4 else "")
            )
        words.append(f"{heading}: {len(panel)} rows; {'; '.join(each)}.")
    return f"Time line of what a device runs. {' '.join(words)}"


def _calls(function: str, panels: Mapping[str, Mapping[str, Calls]]) -> list[Any]:
    rows = [row for panel in panels.values() for row in panel.values()]
    calls = [call for row in rows for call in row]
    if not calls or len(rows) > MOST_ROWS or len(calls) > MOST_CALLS:
        raise ValueError(
            f"{function}: expected 1 to {MOST_ROWS} rows with at most {MOST_CALLS:,} calls in all, "
            f"got {len(rows)} and {len(calls):,}. Show fewer calls."
        )
    return calls
