"""Pictures of a profile: a kernel's point on a roofline, and one request of a warp.

Each picture has a function beside it that describes it, for its alt text.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from gpukit.checked import gpus
from gpukit.draw import style

if TYPE_CHECKING:
    from gpukit.checked.profile import Profile

MOST_KERNELS = 12
_HONEST = (
    "A point's height is what the roofs allow at its intensity, never a measured rate. Bytes are "
    "counted as warps\nrequest them: where caches serve some of them, a kernel may be further "
    "to the right."
)
_COLOURS = (style.VERMILLION, style.BLUE, style.GREEN, style.PURPLE)


class _Roofs(NamedTuple):
    """The roofs of a GPU: bytes and operations per second, and the ridge point where they cross."""

    product: str
    bandwidth: float
    float32: float
    float64: float
    ridge: float


class _Point(NamedTuple):
    """A kernel on the roofline: operations per byte, and the attainable operations per second."""

    name: str
    intensity: float
    allowed: float
    by_memory: bool


def roofline(profiles: Profile | Iterable[Profile], gpu: str = "T4") -> Figure:
    """Draw the roofs of a GPU, memory and float32, and a point per profile.

    The height of a point is what the roofs allow, never a measured rate. Kernels without
    operations on floats are listed below the picture: they have no point on it.
    """
    chip = _roofs_of("roofline", gpu)
    found, none = _points(_listed("roofline", profiles), chip)
    with style.house():
        fig, axes = style.figure(9.6, 5.6 + 0.22 * len(found) + 0.25 * bool(none))
        low, high = _span(chip, found)
        _roofs(axes, chip, low, high)
        for number, point in enumerate(found):
            _mark(axes, number, point, _lift(found, number))
        axes.set_xlim(low, high)
        axes.set_title(f"Roofline of {_article(chip.product)}")
        lines = [_line(number, point) for number, point in enumerate(found)]
        lines += [f"No operations on floats, so no point here: {', '.join(none)}"] if none else []
        axes.set_xlabel(
            "\n".join(["operations per byte moved\n", *lines, f"\n{_HONEST}"]),
            ha="left",
            x=0.0,
            linespacing=1.35,
            fontsize=10,
        )
        axes.set_ylabel("FLOP/s: operations per second")
    return fig


def roofline_in_words(profiles: Profile | Iterable[Profile], gpu: str = "T4") -> str:
    """Describe what `roofline` draws, for its alt text."""
    chip = _roofs_of("roofline_in_words", gpu)
    found, none = _points(_listed("roofline_in_words", profiles), chip)
    roofs = (
        f"Roofline of {_article(chip.product)}: memory gives {_speed(chip.bandwidth, 'B/s')}, "
        f"arithmetic {_speed(chip.float32, 'FLOP/s')} in float32; the ridge point is at "
        f"{_number(chip.ridge)} operations per byte."
    )
    points = [
        f"{p.name}: {_number(p.intensity)} operations per byte, where the roof allows "
        f"{_speed(p.allowed, 'FLOP/s')}, {_limit(p)}."
        for p in found
    ]
    without = [f"Without operations on floats: {', '.join(none)}."] if none else []
    return " ".join([roofs, *points, *without, "Allowed speeds, not measured ones."])


def _listed(function: str, profiles: Profile | Iterable[Profile]) -> Sequence[Profile]:
    found: list[Any] = [profiles] if hasattr(profiles, "accesses") else list(profiles)
    if not 0 < len(found) <= MOST_KERNELS:
        raise ValueError(
            f"{function}: expected 1 to {MOST_KERNELS} profiles, got {len(found)}. Draw fewer: "
            "their names would cover each other."
        )
    return found


def _roofs_of(function: str, name: str) -> _Roofs:
    gpu = gpus.find(name)
    if gpu.bandwidth is None or gpu.float32 is None:
        raise ValueError(f"{function}: the speeds of {gpu.product} are not known. Take another.")
    ridge = gpu.float32 / gpu.bandwidth
    return _Roofs(gpu.product, gpu.bandwidth, gpu.float32, gpu.float64 or gpu.float32, ridge)


def _points(profiles: Sequence[Profile], gpu: _Roofs) -> tuple[list[_Point], list[str]]:
    found, none = [], []
    for profile in profiles:
        flops, moved = profile.total.flops, profile.total["global_bytes_moved"]
        if flops and moved:
            found.append(_point(profile, gpu))
        else:
            none.append(profile.kernel)
    return found, none


def _point(profile: Profile, gpu: _Roofs) -> _Point:
    """Return a kernel's point: each operation takes its type's time, memory works concurrently."""
    total = profile.total
    doubles = total["flops_float64"]
    busy = (total.flops - doubles) / gpu.float32 + doubles / gpu.float64
    moving = total["global_bytes_moved"] / gpu.bandwidth
    intensity = total.flops / total["global_bytes_moved"]
    return _Point(profile.kernel, intensity, total.flops / max(busy, moving), moving >= busy)


# ---- drawing -------------------------------------------------------------------------------------


def _span(gpu: _Roofs, points: list[_Point]) -> tuple[float, float]:
    reach = [gpu.ridge, *(p.intensity for p in points)]
    return 10 ** math.floor(math.log10(min(0.1, *reach)) - 0.1), 10 * max(10.0, *reach)


def _roofs(axes: Any, gpu: _Roofs, low: float, high: float) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    bottom, top = low * gpu.bandwidth / 2, gpu.float32 * 6
    axes.set_ylim(bottom, top)
    axes.plot([low, gpu.ridge], [low * gpu.bandwidth, gpu.float32], color=style.INK, lw=2.5)
    axes.plot([gpu.ridge, high], [gpu.float32] * 2, color=style.INK, lw=2.5)
    axes.fill_between(
        [low, gpu.ridge, high],
        [low * gpu.bandwidth, gpu.float32, gpu.float32],
        bottom,
        color=style.SKY,
        alpha=0.13,
        lw=0,
    )
    axes.plot([gpu.ridge] * 2, [bottom, gpu.float32], color=style.FAINT, lw=1, ls=":")
    axes.text(
        gpu.ridge * 1.12,
        bottom * 1.25,
        f"{_number(gpu.ridge)} operations per byte",
        fontsize=9,
        color=style.INK,
    )
    axes.text(
        low * 1.15,
        low * gpu.bandwidth * 12,
        f"memory: {_speed(gpu.bandwidth, 'B/s')}",
        fontsize=10,
        fontweight="bold",
    )
    axes.text(
        high / 1.15,
        gpu.float32 * 1.15,
        f"float32: {_speed(gpu.float32, 'FLOP/s')}",
        ha="right",
        fontsize=10,
        fontweight="bold",
    )
    axes.grid(alpha=0.25)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: _number(x)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: _speed(y, "")))
    axes.tick_params(which="minor", length=0)


def _lift(points: list[_Point], number: int) -> int:
    """Return how many earlier points are so close that the number must be written lower."""
    here = points[number]
    return sum(abs(math.log10(p.intensity / here.intensity)) < 0.12 for p in points[:number])


def _mark(axes: Any, number: int, point: _Point, lower: int) -> None:
    colour = _COLOURS[number % len(_COLOURS)]
    axes.plot(
        [point.intensity] * 2, [axes.get_ylim()[0], point.allowed], color=colour, lw=1.2, ls="--"
    )
    axes.plot(point.intensity, point.allowed, "o", color=colour, ms=9, mec=style.INK, zorder=4)
    axes.annotate(
        f"{number + 1}",
        (point.intensity, point.allowed),
        (13, -16 - 20 * lower),
        textcoords="offset points",
        ha="center",
        va="center",
        fontsize=10,
        fontweight="bold",
        bbox={"boxstyle": "circle", "fc": style.PAPER, "ec": colour, "lw": 1.6},
        zorder=5,
    )


def _line(number: int, point: _Point) -> str:
    return (
        f"{number + 1}  {point.name}: {_number(point.intensity)} operations per byte, where the "
        f"roof allows {_speed(point.allowed, 'FLOP/s')}, {_limit(point)}"
    )


def _limit(point: _Point) -> str:
    return "memory-bound" if point.by_memory else "compute-bound"


# ---- numbers in words ----------------------------------------------------------------------------


def _number(value: float) -> str:
    """Return a number with two significant digits, or three from 10 on.

    >>> _number(0.0351), _number(25.31), _number(1000)
    ('0.035', '25.3', '1,000')
    """
    return f"{value:.2g}" if value < 10 else f"{value:,.1f}".removesuffix(".0")


def _speed(value: float, unit: str) -> str:
    """Return a rate with its unit.

    >>> _speed(320e9, "B/s"), _speed(8.1e12, "FLOP/s")
    ('320 GB/s', '8.1 TFLOP/s')
    """
    for size, letter in ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M")):
        if value >= size:
            return f"{value / size:.3g} {letter}{unit}"
    return f"{value:,.3g} {unit}".rstrip()


def _article(name: str) -> str:
    return f"an {name}" if name[0] in "AHLR" else f"a {name}"
