"""Pictures of what the links of a cluster carry: one row per rank, one panel per algorithm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from gpukit.draw import style

MOST_PANELS, MOST_RANKS = 4, 16
_FULL: dict[str, Any] = {"fc": style.ORANGE, "ec": style.INK, "lw": 0.7, "hatch": "////"}
_PART: dict[str, Any] = {"fc": style.SKY, "ec": style.INK, "lw": 0.7}
# For each algorithm the messages of each rank: start, end, bytes.
Links = Mapping[str, Sequence[Sequence[tuple[float, float, int]]]]


def message_chart(links: Links, *, title: str) -> Figure:
    """Draw when the link of each rank is busy, a panel per algorithm, all on one time axis.

    `links[name][rank]` has the messages that the rank sends: start, end and bytes. The largest
    messages are orange and hatched, smaller ones blue.
    """
    _check("message_chart", links)
    last = max(_end(rows) for rows in links.values())
    sizes = {nbytes for rows in links.values() for row in rows for *_, nbytes in row}
    unit, name = _unit(links)
    ranks = max(map(len, links.values()))
    with style.house():
        height = (0.16 * ranks + 0.75) * len(links) + 1.2
        fig, panels = style.figure(9.4, height, len(links), 1, squeeze=False, sharex=True)
        for axes, (algorithm, rows) in zip(panels[:, 0], links.items(), strict=True):
            for rank, row in enumerate(rows):
                for start, end, nbytes in row:
                    look = _FULL if nbytes == max(sizes) else _PART
                    corner = (start / unit, rank - 0.4)
                    axes.add_patch(Rectangle(corner, (end - start) / unit, 0.8, **look))
            axes.axvline(_end(rows) / unit, color=style.INK, lw=1.2, ls="--", zorder=0)
            axes.set_title(f"{algorithm}: {_end(rows) / unit:.3g} {name}", fontsize=11)
            axes.set_xlim(0, last / unit * 1.02)
            axes.set_ylim(len(rows) - 0.4, -0.6)
            axes.set_yticks(range(0, len(rows), -(-len(rows) // 4)))
            axes.tick_params(axis="y", length=0)
            axes.set_ylabel("rank")
        panels[-1, 0].set_xlabel(f"time in {name}; a box is a message on the link of its sender")
        fig.suptitle(title, x=0.01, ha="left", fontsize=13, weight="bold")
        style.legend(fig, handles=_keys(sizes), ncols=2)
    return fig


def _keys(sizes: set[int]) -> list[Patch]:
    *smaller, most = sorted(sizes)
    keys = [Patch(label=f"messages of {most:,} bytes", **_FULL)]
    if smaller:
        ends = " to ".join(f"{size:,}" for size in dict.fromkeys((smaller[0], smaller[-1])))
        keys.append(Patch(label=f"messages of {ends} bytes", **_PART))
    return keys


def message_chart_in_words(links: Links) -> str:
    """Say what `message_chart` draws, for its alt text."""
    _check("message_chart_in_words", links)
    found = []
    unit, of_time = _unit(links)
    for name, rows in links.items():
        busiest = max(sum(nbytes for *_, nbytes in row) for row in rows)
        counts = [len(row) for row in rows]
        numbers = f"{min(counts)}" if len(set(counts)) == 1 else f"{min(counts)} to {max(counts)}"
        found.append(
            f"{name}: {numbers} message{'s' * (max(counts) > 1)} per rank, at most {busiest:,} "
            f"bytes from one rank, the last at {_end(rows) / unit:.3g} {of_time}"
        )
    return f"Messages on the links of {len(rows)} ranks over time. {'; '.join(found)}."


def _end(rows: Sequence[Sequence[tuple[float, float, int]]]) -> float:
    return max((end for row in rows for _, end, _ in row), default=0.0)


def _unit(links: Links) -> tuple[float, str]:
    """Return the unit of the picture and its words, in seconds, and its name."""
    return (1e-3, "ms") if max(map(_end, links.values())) < 1 else (1.0, "s")


def _check(function: str, links: Links) -> None:
    if not 0 < len(links) <= MOST_PANELS or any(
        len(rows) > MOST_RANKS or not any(rows) for rows in links.values()
    ):
        raise ValueError(
            f"{function}: expected 1 to {MOST_PANELS} algorithms with messages of at most "
            f"{MOST_RANKS} ranks, got {[len(rows) for rows in links.values()]} ranks."
        )
