"""Pictures of pipelines: which stage computes when, and which is idle.

The functions take the spans of each stage: (kind, micro_batch, start, end), whose kind is
"forward", "backward" or "recompute". A timeline of `gpukit.parallel.simulator` has them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from gpukit.draw import style

MOST_STAGES, MOST_BOXES = 64, 4096
NUMBERED = 0.022  # of the width of the picture: the smallest box that shows its number
# Three fills of one grey: the hatches distinguish them, too.
_LOOKS: dict[str, dict[str, Any]] = {
    "forward": {"facecolor": style.SKY},
    "backward": {"facecolor": style.ORANGE, "hatch": "\\\\"},
    "recompute": {"facecolor": "#66C5AB", "hatch": "xxx"},
}
_LETTERS = {"forward": "0123456789", "backward": "abcdefghij", "recompute": "ABCDEFGHIJ"}
_IDLE: dict[str, Any] = {"facecolor": "#EDEDEA", "edgecolor": "#B5B5B0", "hatch": "///", "lw": 0}
_INITIALS = {"forward": "F", "backward": "B", "recompute": "R"}
_SAID = 6  # pieces of an order that the words name
_NAMES = {"forward": "forward pass", "backward": "backward pass", "recompute": "recomputation"}
Spans = Sequence[Sequence[Any]]


class _Box(NamedTuple):
    """What a stage computes from start to end."""

    kind: str
    micro_batch: int
    start: float
    end: float


def pipeline_chart(stages: Iterable[Spans], *, title: str) -> Figure:
    """Draw a row per stage, time to the right: forward and backward passes, and idle time.

    Times are in seconds. The number in a box is the micro-batch; boxes that are too small for it
    have none.
    """
    rows = _rows("pipeline_chart", stages)
    last = _last(rows)
    with style.house():
        fig, axes = style.figure(9.6, min(0.42 * len(rows), 7.5) + 1.6)
        for stage, row in enumerate(rows):
            axes.add_patch(Rectangle((0, stage - 0.42), last, 0.84, zorder=0, **_IDLE))
            for box in row:
                _draw(axes, stage, box, last)
        axes.set_xlim(0, 1.01 * last)  # with the edge of the last box
        axes.set_ylim(len(rows) - 0.4, -0.6)
        step = -(-len(rows) // 16)
        axes.set_yticks(range(0, len(rows), step), map(str, range(0, len(rows), step)))
        axes.tick_params(axis="y", length=0)
        axes.set_ylabel("stage")
        numbered = "; the number in a box is the micro-batch" if axes.texts else ""
        axes.set_xlabel(f"time in s{numbered}")
        axes.set_title(f"{title}: {_idle(rows):.1%} idle")
        kinds = [kind for kind in _LOOKS if any(box.kind == kind for row in rows for box in row)]
        keys = [Patch(ec=style.INK, label=_NAMES[kind], **_LOOKS[kind]) for kind in kinds]
        style.legend(fig, handles=[*keys, Patch(label="idle", **_IDLE)], ncols=4)
    return fig


def pipeline_chart_in_words(stages: Iterable[Spans]) -> str:
    """Say what `pipeline_chart` draws, for its alt text."""
    rows = _rows("pipeline_chart_in_words", stages)
    batches = 1 + max(box.micro_batch for row in rows for box in row)
    idle = [_idle([row], _last(rows)) for row in rows]
    words = f"Time line of {_count(len(rows), 'stage')} and {_count(batches, 'micro-batch')}. "
    words += f"{_idle(rows):.1%} of it is idle: {idle[0]:.1%} of stage 0, {idle[-1]:.1%} of stage "
    words += f"{len(rows) - 1}. Stage 0 runs {_order(rows[0])}; F is a forward pass, B a backward "
    return words + f"pass. The last operation ends at {_last(rows):.4g} s."


def _order(row: list[_Box]) -> str:
    """Return the order of the operations of a stage, with runs of three or more in one piece.

    >>> _order([_Box("forward", m, 0, 0) for m in (0, 1, 2)] + [_Box("backward", 2, 0, 0)])
    'F0 to F2, then B2'
    """
    runs: list[list[_Box]] = []
    for box in row:
        if runs and _continues(runs[-1], box):
            runs[-1].append(box)
        else:
            runs.append([box])
    found = []
    for run in runs:
        first, *rest = map(_name, run)
        found += [f"{first} to {rest[-1]}"] if len(rest) > 1 else [first, *rest]
    if len(found) <= _SAID:
        return ", then ".join(found)
    return f"{found[0]}, then {', '.join(found[1:_SAID])} and so on to {_name(row[-1])}"


def _name(box: _Box) -> str:
    return f"{_INITIALS[box.kind]}{box.micro_batch}"


def _continues(run: list[_Box], box: _Box) -> bool:
    """Return whether a box follows a run of one kind that counts up or down."""
    steps = [b.micro_batch - a.micro_batch for a, b in pairwise([*run, box])]
    return box.kind == run[0].kind and steps[-1] in (1, -1) and len(set(steps)) == 1


def pipeline_text(stages: Iterable[Spans], width: int = 80) -> str:
    """Return the chart as text: digits are forward passes, letters backward passes, dots waiting.

    The digit is the last one of the micro-batch, and a is the backward pass of a 0; capital letters
    are recomputations.

    >>> print(pipeline_text([[("forward", 0, 0, 1), ("backward", 0, 3, 5)],
    ...                      [("forward", 0, 1, 2), ("backward", 0, 2, 3)]], width=19))
    0 | 000......aaaaaa
    1 | ...000aaa......
    """
    rows = _rows("pipeline_text", stages)
    margin = len(str(len(rows) - 1))
    columns = max(width - margin - 3, 1)
    unit = _last(rows) / columns
    found = []
    for stage, row in enumerate(rows):
        marks = ["."] * columns
        for box in row:
            # A column shows what runs in its middle.
            first, last = (round(at / unit + 1e-9) for at in (box.start, box.end))
            marks[first:last] = _LETTERS[box.kind][box.micro_batch % 10] * (last - first)
        found.append(f"{stage:{margin}} | {''.join(marks)}")
    return "\n".join(found)


def _rows(function: str, stages: Iterable[Spans]) -> list[list[_Box]]:
    rows = [[_Box(*span) for span in stage] for stage in stages]
    boxes = sum(map(len, rows))
    if not boxes or len(rows) > MOST_STAGES or boxes > MOST_BOXES:
        raise ValueError(
            f"{function}: expected 1 to {MOST_STAGES} stages with at most {MOST_BOXES:,} "
            f"operations in all, got {len(rows)} and {boxes:,}. Show a smaller pipeline: the "
            "pattern is the same."
        )
    return rows


def _last(rows: list[list[_Box]]) -> float:
    return max(box.end for row in rows for box in row)


def _idle(rows: list[list[_Box]], last: float | None = None) -> float:
    busy = sum(box.end - box.start for row in rows for box in row)
    return 1 - busy / (len(rows) * (_last(rows) if last is None else last))


def _draw(axes: Any, stage: int, box: _Box, last: float) -> None:
    wide = box.end - box.start
    edge = 0.8 if wide / last > NUMBERED / 3 else 0
    look: dict[str, Any] = {"edgecolor": style.INK, "lw": edge, **_LOOKS[box.kind]}
    axes.add_patch(Rectangle((box.start, stage - 0.42), wide, 0.84, **look))
    if wide / last > NUMBERED:
        middle = box.start + wide / 2
        style.inside(axes, middle, stage, f"{box.micro_batch}", look["facecolor"], fontsize=9)


def _count(number: int, noun: str) -> str:
    plural = "es" if noun.endswith("h") else "s"
    return f"{number} {noun}{plural if number != 1 else ''}"
