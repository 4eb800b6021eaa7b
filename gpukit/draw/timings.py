"""Results of gpukit.bench, as tables and as a picture of ratios."""

from __future__ import annotations

import html
import io
import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.backend_bases import FigureCanvasBase
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from gpukit import files, target
from gpukit.bench import Line, Result, estimated, report
from gpukit.bench import recorded as records
from gpukit.bench.ceilings import Ceilings
from gpukit.bench.register import BenchError
from gpukit.draw import style
from gpukit.table import broken, columns, layout

HEADERS = ("call", "size", "answer", "kernel", "NumPy", "against NumPy")
_OF_LINES = ("call", "kernel", "NumPy", "against NumPy")


class Table:
    """Rows of text that Jupyter shows as a table and everything else as text."""

    def __init__(self, caption: str, headers: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        self.caption, self.headers, self.rows = caption, headers, rows

    def __repr__(self) -> str:
        width = columns(sys.stdout)
        heads, rows = layout(self.headers, self.rows, width=width)
        caption = broken(self.caption, width) if width else [self.caption]
        return "\n".join([*caption, *heads, *(line for row in rows for line in row)])

    def _repr_html_(self) -> str:
        if not self.rows:  # the caption would be as narrow as the empty table
            return f"<p>{html.escape(self.caption)}</p>"
        head = "".join(f'<th scope="col">{html.escape(h)}</th>' for h in self.headers)
        body = "".join(f"<tr>{_row(row)}</tr>" for row in self.rows)
        return (
            f'<table><caption style="text-align: left">{html.escape(self.caption)}</caption>'
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        )


def _row(cells: Sequence[str]) -> str:
    first, *rest = map(html.escape, cells)
    return f'<th scope="row">{first}</th>' + "".join(f"<td>{cell}</td>" for cell in rest)


def table(results: Sequence[Result] | Mapping[str, Line]) -> Table:
    """Return results, or what `bench.against` returned for each name, as a table.

    The columns are both times and their ratio in words; of results also whether each is right, of
    lines also the time of a GPU, and, where this machine was busy, the recorded time of another.
    """
    caption = report.heading(target.active())
    if not isinstance(results, Mapping):
        return Table(caption, HEADERS, [_cells(result) for result in results])
    lines = results.values()
    rows = [[name, *line.cells()] for name, line in results.items()]
    headers = [*_OF_LINES]
    records = [line.recorded if line.busy else None for line in lines]
    if devices := dict.fromkeys(record.device for record in records if record):
        caption += (
            " Busy: other programs ran, so times vary; the recorded ones are from "
            f"{'; '.join(devices)}."
        )
        headers.append("recorded")
        rows = [[*row, one.cell if one else "-"] for row, one in zip(rows, records, strict=True)]
    times = [line.gpu for line in lines]
    if any(times):
        caption += " Estimates: likely time (floor to worst case)."
        headers.append(estimated.heading(times))
        rows = [[*row, one.cell if one else "-"] for row, one in zip(rows, times, strict=True)]
    return Table(caption, headers, rows)


def recorded(*names: str) -> Table:
    """Return the recorded GPU times of the kernels whose names begin with `names`.

    As long as there is no such record the caption says so.
    """
    found = records.rows(names)
    caption = "Recorded on GPUs, timed with CUDA events" if found else records.NONE
    return Table(caption, records.HEADERS if found else (), found)


def _cells(result: Result) -> list[str]:
    if result.timing is None:
        return [result.name, result.size, f"wrong: {result.error}", "-", "-", "-"]
    mine, numpy = report.durations(result.timing)
    verdict = report.against(result.timing)
    return [result.name, result.size, "right", mine, numpy, verdict]


def ratios(results: Sequence[Result]) -> Figure:
    """Draw how many times faster or slower each call is than NumPy, on a logarithmic axis."""
    timed = [result for result in results if result.timing]
    speedups = [result.timing.speedup for result in timed if result.timing]
    with style.house():
        fig, axes = style.figure(9.0, 0.36 * len(timed) + 1.7)
        axes.set_xscale("log")
        for y, speedup in enumerate(speedups):
            _bar(axes, y, speedup)
        axes.axvline(1, color=style.INK, lw=1.5)
        axes.set_yticks(range(len(timed)), [result.name for result in timed])
        axes.invert_yaxis()
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        reach = max([4.0, *speedups, *(1 / s for s in speedups)]) * 4
        axes.set_xlim(1 / reach, reach)
        axes.set_xlabel("NumPy's time / the kernel's time")
        axes.set_title(f"Kernel against NumPy, {target.active().name} target", pad=22)
        axes.xaxis.set_major_formatter(FuncFormatter(_plain))
        axes.tick_params(axis="x", which="minor", bottom=False)
        place = {"transform": axes.get_xaxis_transform(), "va": "bottom", "fontsize": 10}
        axes.text(0.92, 1.0, "NumPy faster", ha="right", **place)
        axes.text(1.09, 1.0, "kernel faster", ha="left", **place)
    return fig


def measured(results: Sequence[Result], ceilings: Ceilings) -> Figure:
    """Draw a roofline and each kernel's measured point on it.

    A point's intensity is that of the minimum of bytes: its distance below the roof is all that
    can be gained. Kernels without operations on floats have no point on it.
    """
    placed = [r for r in results if r.timing and r.cost.flops and r.least]
    points = [(r.cost.flops / r.least, r.flops_rate) for r in placed]
    ridge = ceilings.flops / ceilings.bytes
    slots: list[int] = []  # how far aside each number is, so that none covers another
    low = min([0.05, *(x / 2 for x, _ in points)])
    high = max([10 * ridge, *(4 * x for x, _ in points)])
    with style.house():
        fig, axes = style.figure(9.0, 5.4 + 0.19 * len(placed))
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.plot(
            [low, ridge, high], [low * ceilings.bytes, *[ceilings.flops] * 2], color=style.INK, lw=2
        )
        for k, (x, y) in enumerate(points):
            axes.plot(x, y, "o", color=style.SKY, markeredgecolor=style.INK, ms=7)
            taken = {slots[n] for n, other in enumerate(points[:k]) if _near((x, y), other)}
            slots.append(next(slot for slot in range(k + 1) if slot not in taken))
            place = (9 + 17 * slots[-1], 0)
            axes.annotate(
                str(k + 1), (x, y), place, textcoords="offset points", va="center", fontsize=9
            )
        axes.set_xlim(low, high)
        axes.set_title(f"Measured on the {target.active().name} target, below its roofs")
        axes.set_ylabel("FLOP/s")
        names = [
            f"{number}  {r.name}, {r.size}: {report.over_floor(r, ceilings):.3g} times its floor"
            for number, r in enumerate(placed, 1)
        ]
        label = "operations per byte of the minimum of bytes\n"
        axes.set_xlabel("\n".join([label, *names]), ha="left", x=0.0, fontsize=10)
    return fig


def check(path: str) -> None:
    """Raise if a picture cannot be saved under a name."""
    known = FigureCanvasBase.get_supported_filetypes()
    if _kind(path) not in known:
        raise BenchError(
            f"bench: expected the name of a picture, got {path!r}. Let it end in .png, or in "
            f"another of {', '.join(known)}."
        )
    files.check(path)


def save(figure: Figure, path: str) -> None:
    """Write a picture to a file, in the format of its suffix."""
    picture = io.BytesIO()
    figure.savefig(picture, format=_kind(path))
    files.write(path, picture.getvalue())


def _kind(path: str) -> str:
    return Path(path).suffix.lower().removeprefix(".") or "png"


def _near(one: tuple[float, float], other: tuple[float, float]) -> bool:
    """Tell whether two points are so close that their numbers would cover each other."""
    return abs(math.log(one[0] / other[0])) < 0.25 and abs(math.log(one[1] / other[1])) < 0.25


def _bar(axes: Any, y: int, speedup: float) -> None:
    faster = speedup >= 1
    axes.barh(
        y,
        speedup - 1,
        left=1,
        height=0.7,
        color=style.SKY if faster else style.ORANGE,
        edgecolor=style.INK,
        hatch="" if faster else "///",
    )
    text = report.verdict(speedup).removesuffix(" faster").removesuffix(" slower")
    side, gap = ("left", 1.08) if faster else ("right", 1 / 1.08)
    axes.text(speedup * gap, y, text, ha=side, va="center", fontsize=9)


def _plain(ratio: float, _position: object = None) -> str:
    """Return a ratio in plain text.

    >>> _plain(10), _plain(0.1)
    ('10', '1/10')
    """
    return f"{ratio:g}" if ratio >= 1 else f"1/{1 / ratio:g}"
