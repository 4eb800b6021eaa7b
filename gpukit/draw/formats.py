"""Number formats: the bits of a number, and magnitudes on the range of a format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import FuncFormatter

from gpukit.draw import style
from gpukit.draw.throughput import LOOKS


class Format(NamedTuple):
    """The bits of a format, from the first: one sign, then the exponent, then the fraction."""

    bits: int
    exponent: int
    integer: bool = False


FORMATS = {
    "float32": Format(32, 8),
    "float16": Format(16, 5),
    "bfloat16": Format(16, 8),
    "int8": Format(8, 0, integer=True),
}
# Three fills of one grey: the hatches distinguish them, too.
_LOOKS: dict[str, dict[str, Any]] = {
    "sign": {"fc": style.ORANGE, "hatch": "///"},
    "exponent": {"fc": style.SKY, "hatch": "\\\\"},
    "fraction": {"fc": "#66C5AB"},
}
LEAST_NORMAL, LEAST = (
    -14,
    -25,
)  # powers of two: of float16's normal numbers, and of what rounds to 0


def bits(value: float, *, scale: float = 1.0, title: str) -> Figure:
    """Draw a number in float32, float16, bfloat16 and int8, bit by bit, with what each one holds.

    int8 holds value / scale, limited to -127 and 127. Raises ValueError for a number that is not
    finite.
    """
    if not np.isfinite(value) or not scale > 0:
        raise ValueError(
            f"bits: expected a finite value and scale > 0, got {value} and {scale}. Pass numbers "
            "that all formats can be drawn for."
        )
    with style.house():
        fig, axes = style.figure(11.5, 3.3)
        for row, (name, form) in enumerate(FORMATS.items()):
            pattern, held = _held(name, value, scale)
            axes.text(-0.4, row + 0.42, name, ha="right", va="center")
            for place in range(form.bits):
                look = _LOOKS[_field(form, place)]
                axes.add_patch(Rectangle((place, row), 1, 0.84, ec=style.INK, lw=0.6, **look))
                bit = pattern >> (form.bits - 1 - place) & 1
                style.inside(axes, place + 0.5, row + 0.42, bit, look["fc"], fontsize=9)
            axes.text(form.bits + 0.4, row + 0.42, held, va="center")
        axes.set_xlim(-4, 44)
        axes.set_ylim(len(FORMATS), -0.1)
        axes.set_title(title)
        style.bare(axes)
        keys = [Patch(ec=style.INK, label=name, **look) for name, look in _LOOKS.items()]
        keys[-1].set_label("fraction (int8: the integer)")
        style.legend(fig, handles=keys, ncols=3)
    return fig


def _field(form: Format, place: int) -> str:
    if place == 0:
        return "sign"
    return "exponent" if place <= form.exponent else "fraction"


def _held(name: str, value: float, scale: float) -> tuple[int, str]:
    """Return the bits of a number in a format, and the number that they hold, in words."""
    if name == "int8":
        q = int(np.clip(np.rint(value / scale), -127, 127))
        return q & 255, f"{q} x {scale:g} = {q * scale:.7g}"
    with np.errstate(over="ignore"):
        if name == "float16":
            small = np.float16(value)
            return int(small.view(np.uint16)), f"{float(small):.10g}"
        word = int(np.float32(value).view(np.uint32))
    if name == "bfloat16":
        word = (word + 0x7FFF + (word >> 16 & 1)) >> 16  # to the nearest, ties to even
        return word, f"{float(np.uint32(word << 16).view(np.float32)):.10g}"
    return word, f"{float(np.uint32(word).view(np.float32)):.10g}"


def magnitudes(series: Mapping[str, Any], *, title: str, ylabel: str) -> Figure:
    """Draw how many numbers of each series have which power of two, over the range of float16.

    It has areas for its normal numbers, its subnormal ones and those that underflow to 0.
    Zeros are left out. Raises ValueError without numbers.
    """
    found = {name: _powers(values) for name, values in series.items()}
    if not 0 < len(found) <= len(LOOKS) or not all(len(powers) for powers in found.values()):
        raise ValueError(
            f"magnitudes: expected 1 to {len(LOOKS)} series with numbers other than 0, got "
            f"{', '.join(found) or 'none'}. Draw others in a second picture."
        )
    low = min(LEAST - 5, *(int(powers.min()) for powers in found.values()))
    high = max(2, *(int(powers.max()) for powers in found.values())) + 1
    with style.house():
        fig, axes = style.figure(8.8, 4.4 + 0.22 * len(found))
        axes.axvspan(low, LEAST, fc=style.ORANGE, alpha=0.30, lw=0)
        axes.axvspan(LEAST, LEAST_NORMAL, fc=style.YELLOW, alpha=0.30, lw=0)
        edges = np.arange(low, high + 1)
        for (name, powers), (colour, dashes, _) in zip(found.items(), LOOKS, strict=False):
            counted, _ = np.histogram(powers, edges)
            axes.stairs(counted, edges, color=colour, ls=dashes, lw=2, label=name)
        top = axes.get_ylim()[1]
        for left, right, words in (
            (low, LEAST, "underflow"),
            (LEAST, LEAST_NORMAL, "subnormal"),
            (LEAST_NORMAL, high, "normal"),
        ):
            axes.text((left + right) / 2, 1.02 * top, words, ha="center", va="bottom", fontsize=10)
        axes.set_ylim(0, 1.12 * top)
        axes.set_xlim(low, high)
        ticks = range(-5 * (-low // 5), high + 1, 5)
        axes.set_xticks(ticks, [f"$2^{{{power}}}$" for power in ticks])
        axes.set_title(title)
        axes.set_xlabel("magnitude")
        axes.set_ylabel(ylabel)
        axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:,g}"))
        if len(found) > 1:
            style.legend(fig, fontsize=10, handlelength=4)
    return fig


def _powers(values: Any) -> Any:
    """Return the power of two at or below the magnitude of each number that is not 0."""
    numbers = np.abs(np.asarray(values, np.float64)).reshape(-1)
    return np.floor(np.log2(numbers[numbers > 0])).astype(int)
