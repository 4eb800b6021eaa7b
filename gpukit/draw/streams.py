"""Pictures of streams: which engine of a GPU is busy when, by a model, and which task has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
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


# A launch of a task: its task, its number, and when it arrived, started and ended, in seconds.
Calls = Sequence[tuple[str, int, float, float, float]]
MOST_ROWS, MOST_CALLS = 32, 4096
_TASKS: tuple[dict[str, Any], ...] = (
    {"fc": style.SKY},
    {"fc": style.ORANGE, "hatch": "\\\\\\"},
    {"fc": style.YELLOW},
    {"fc": "#66C5AB", "hatch": "xxx"},
    {"fc": style.PURPLE, "hatch": "---"},
    {"fc": "#C0C0C0", "hatch": "..."},
)
_WAIT: dict[str, Any] = {"facecolor": "#EDEDEA", "edgecolor": "#8A8A8A", "hatch": "////", "lw": 0}
# Parts of a row, from its middle down: the box of a launch, and below it its wait.
_BOX, _BELOW = (-0.42, 0.18), (0.24, 0.46)
_EDGE, _NUMBERED, _SEEN = 0.004, 0.018, 0.002  # of the width: the least that has or is one


def task_chart(panels: Mapping[str, Mapping[str, Calls]], *, title: str) -> Figure:
    """Draw which task has the device, or each of its slots, when: a panel per title.

    `panels[name][row]` has launches: `TaskTimeline.rows`, or the slots of `simulate_blocks`. A fill
    is a task, the number in a box that of the launch. Below the box in which a launch starts, a
    mark is its arrival, and a hatched strip the time for which it waited.
    """
    calls = _calls("task_chart", panels)
    last = _last(calls)
    unit, name = _unit(calls)
    tasks = list(dict.fromkeys(task for task, *_ in calls))
    looks = {task: _TASKS[k % len(_TASKS)] for k, task in enumerate(tasks)}
    with style.house():
        height = sum(0.36 * len(panel) + 0.7 for panel in panels.values()) + 1.1
        sizes = [len(panel) + 1.2 for panel in panels.values()]
        fig, axes = style.figure(
            9.4, height, len(panels), 1, squeeze=False, sharex=True, height_ratios=sizes
        )
        for ax, (heading, panel) in zip(axes[:, 0], panels.items(), strict=True):
            begun = _begun(panel)
            for row, (task, number, *times) in _placed(panel):
                arrived, start, end = (t / unit for t in times)
                _box(ax, row, number, looks[task], (start, end), last / unit)
                if times[1] == begun[task, number]:
                    _arrival(ax, row, arrived, start, last / unit)
            ax.set_title(heading, fontsize=11)
            ax.set_xlim(0, last / unit * 1.01)
            ax.set_ylim(len(panel) - 0.4, -0.6)
            ax.set_yticks(range(len(panel)), list(panel), fontsize=9)
            ax.tick_params(axis="y", length=0)
        merged = any(end - start <= _EDGE * last for *_, start, end in calls)
        axes[-1, 0].set_xlabel(
            f"time in {name}; the number in a box counts the launches of its task"
            + ("; adjacent short launches merge" if merged else "")
        )
        fig.suptitle(title, x=0.01, ha="left", fontsize=13, weight="bold")
        style.legend(fig, handles=_keys(looks, calls), ncols=6)
    return fig


def _keys(looks: Mapping[str, Mapping[str, Any]], calls: Calls) -> list[Any]:
    keys: list[Any] = [Patch(ec=style.INK, label=task, **look) for task, look in looks.items()]
    mark: Any = {"marker": "|", "ms": 9, "mew": 1.2, "ls": "", "color": style.INK}
    keys.append(Line2D([], [], label="arrival", **mark))
    waits = any(_waited(arrived, start, _last(calls)) for _, _, arrived, start, _ in calls)
    return [*keys, Patch(label="wait", **_WAIT)] if waits else keys


def _placed(panel: Mapping[str, Calls]) -> list[tuple[int, Any]]:
    return [(row, call) for row, calls in enumerate(panel.values()) for call in calls]


def _begun(panel: Mapping[str, Calls]) -> dict[tuple[str, int], float]:
    """Return when each launch starts: in slots, when its first block does."""
    begun: dict[tuple[str, int], float] = {}
    for _, (task, number, _, start, _) in _placed(panel):
        begun[task, number] = min(start, begun.get((task, number), start))
    return begun


def _waited(arrived: float, start: float, last: float) -> bool:
    return start - arrived > _SEEN * last


def _box(
    axes: Any,
    row: int,
    number: int,
    fill: Mapping[str, Any],
    times: tuple[float, float],
    last: float,
) -> None:
    """Draw a launch, or a block of it; all times are in units of the axis, `last` is its end."""
    (start, end), (top, bottom) = times, _BOX
    wide = end - start
    look: dict[str, Any] = {"ec": style.INK, "lw": 0.7 if wide > _EDGE * last else 0, **fill}
    drawn = max(wide, 0.0025 * last)  # a short launch is visible, too
    axes.add_patch(Rectangle((start, row + top), drawn, bottom - top, **look))
    if wide > _NUMBERED * last:
        middle = (start + wide / 2, row + (top + bottom) / 2)
        style.inside(axes, *middle, f"{number}", look["fc"], fontsize=8)


def _arrival(axes: Any, row: int, arrived: float, start: float, last: float) -> None:
    """Mark the arrival of a launch below its row, and its wait, if it is long enough to see."""
    top, bottom = _BELOW
    if _waited(arrived, start, last):
        place, wide = (arrived, row + top), start - arrived
        axes.add_patch(Rectangle(place, wide, bottom - top, zorder=0, **_WAIT))
    axes.plot([arrived] * 2, [row + top, row + bottom], color=style.INK, lw=1.2)


def task_chart_in_words(panels: Mapping[str, Mapping[str, Calls]]) -> str:
    """Say what `task_chart` draws, for its alt text."""
    unit = _unit(_calls("task_chart_in_words", panels))
    words = []
    for heading, panel in panels.items():
        calls = [call for _, call in _placed(panel)]
        tasks = dict.fromkeys(task for task, *_ in sorted(calls, key=lambda call: call[3]))
        each = [_task_in_words(task, panel, unit) for task in tasks]
        words.append(f"{heading}: {len(panel)} rows; {'; '.join(each)}.")
    return f"Time line of what a device runs. {' '.join(words)}"


def _task_in_words(task: str, panel: Mapping[str, Calls], unit: tuple[float, str]) -> str:
    own = [call for _, call in _placed(panel) if call[0] == task]
    begun = _begun({task: own})
    longest = max(begun[task, number] - arrived for _, number, arrived, *_ in own)
    first, last, wait = (
        f"{time / unit[0]:.3g}"
        for time in (min(begun.values()), max(call[4] for call in own), longest)
    )
    words = f"{task} has {len(begun)} launch{'es' * (len(begun) > 1)}, from {first} to {last} "
    return f"{words}{unit[1]}" + (
        f", and waits for at most {wait} {unit[1]}" if wait != "0" else ""
    )


def _last(calls: Calls) -> float:
    return max(end for *_, end in calls)


def _unit(calls: Calls) -> tuple[float, str]:
    """Return the unit of the picture and its words, in seconds, and its name."""
    return (1e-3, "ms") if _last(calls) < 1 else (1.0, "s")


def _calls(function: str, panels: Mapping[str, Mapping[str, Calls]]) -> list[Any]:
    rows = [row for panel in panels.values() for row in panel.values()]
    calls = [call for row in rows for call in row]
    if not calls or len(rows) > MOST_ROWS or len(calls) > MOST_CALLS:
        raise ValueError(
            f"{function}: expected 1 to {MOST_ROWS} rows with at most {MOST_CALLS:,} launches in "
            f"all, got {len(rows)} and {len(calls):,}. Show fewer launches."
        )
    return calls
