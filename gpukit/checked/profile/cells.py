"""What all views of a profile share: heat columns, totals and tables, as cells of text."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from gpukit.checked.counters import COUNTERS, RATIOS, Counts
from gpukit.checked.profile.source import Place
from gpukit.checked.report import content
from gpukit.checked.report.merging import Launch

if TYPE_CHECKING:
    from gpukit.checked.profile import Access, Profile

OPS = ("load", "store", "atomic")
WARP = 32


class Cell(NamedTuple):
    """A number as it is shown, how hot it is from 0 to 1, and its meaning in words."""

    text: str
    heat: float
    words: str


class Line(NamedTuple):
    """The counts of one line, and the minimum of sectors for them."""

    counts: Counts
    needed: float
    total: Counts


class Column(NamedTuple):
    """One heat column: two lines of heading, what it means, and the cell of a line."""

    top: str
    below: str
    what: str
    metric: str
    cell: Callable[[Line], Cell | None]

    @property
    def name(self) -> str:
        """The heading on one line."""
        return f"{self.top} {self.below}".strip()


# ---- numbers -------------------------------------------------------------------------------------


def short(number: float) -> str:
    """Return a number in at most five letters.

    >>> short(0), short(999), short(9504), short(589824), short(12_300_000)
    ('0', '999', '9.5k', '590k', '12.3M')
    """
    for size, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= 0.9995 * size:
            return f"{number / size:.3g}{letter}" if number < 999.5 * size else f"{number:.0e}"
    return f"{number:.0f}"


def plain(number: float) -> str:
    """Return a number with one decimal where it has any.

    >>> plain(4.0), plain(3.25), plain(1234.5)
    ('4', '3.2', '1,234.5')
    """
    return f"{number:,.1f}".removesuffix(".0")


def beside(number: float, ideal: float) -> tuple[str, str]:
    """Return a figure and its ideal, with as many decimals as distinguish them.

    >>> beside(32, 1), beside(1.25, 1), beside(1.004, 1), beside(2, 2)
    (('32', '1'), ('1.2', '1'), ('1.004', '1'), ('2', '2'))
    """
    for digits in range(1, 7):
        texts = [f"{n:,.{digits}f}".rstrip("0").rstrip(".") for n in (number, ideal)]
        if texts[0] != texts[1]:
            break
    return texts[0], texts[1]


def per_request(number: str, noun: str, plural: str = "") -> str:
    """Write what a request takes.

    >>> per_request("1", "wavefront"), per_request("1.2", "pass", "passes")
    ('1 wavefront per request', '1.2 passes per request')
    """
    return f"{number} {noun if number == '1' else plural or noun + 's'} per request"


def many(number: int, noun: str, plural: str = "") -> str:
    """Write a number and its noun.

    >>> many(1, "pass", "passes"), many(1200, "pass", "passes")
    ('1 pass', '1,200 passes')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def operations(number: float) -> str:
    """Return operations per byte, small ones with two significant digits.

    >>> operations(0.035), operations(0.351), operations(12.34)
    ('0.035', '0.35', '12.3')
    """
    return f"{number:.2g}" if number < 1 else plain(number)


def sum_of(counts: Counts, space: str, what: str) -> int:
    """Add a counter of loads, stores and atomics."""
    return sum(counts[f"{space}_{op}_{what}"] for op in OPS if f"{space}_{op}_{what}" in COUNTERS)


def needed(accesses: Iterable[Access]) -> float:
    """Return how many sectors would be enough, were the elements of each request contiguous."""
    return sum(_needed(access.counts) for access in accesses if access.space == "global")


def _needed(counts: Counts) -> float:
    packed = max(sum_of(counts, "global", "requests"), counts["global_bytes_asked"] / 32)
    return min(float(sum_of(counts, "global", "sectors")), packed)


def excess(access: Access) -> float:
    """Return how many times more sectors an access touches than it needs; 0 if none."""
    least = _needed(access.counts)
    return sum_of(access.counts, "global", "sectors") / least if least else 0.0


def degree(counts: Counts) -> float:
    """Return the ratio of shared-memory wavefronts to the minimum; 0 if there were none."""
    wavefronts = sum_of(counts, "shared", "wavefronts")
    least = wavefronts - sum_of(counts, "shared", "conflicts")
    return wavefronts / least if wavefronts else 0.0


def lost_sectors(line: Line) -> float:
    """Return how many times more sectors a line touches than it needs; 0 if none."""
    return sum_of(line.counts, "global", "sectors") / line.needed if line.needed else 0.0


# ---- heat columns --------------------------------------------------------------------------------


def _log_heat(times: float, hottest: int) -> float:
    return min(1.0, math.log(times) / math.log(hottest)) if times > 1.05 else 0.0


def _sectors(line: Line) -> Cell | None:
    per = line.counts.ratio("sectors_per_request")
    if per is None:
        return None
    least = line.needed / sum_of(line.counts, "global", "requests")
    shown, ideal = beside(per, least)
    words = f"{shown} sectors per request, ideal: {ideal}"
    return Cell(f"{per:.1f}", _log_heat(lost_sectors(line), 8), words)


def _moved(line: Line) -> Cell | None:
    return _share(
        line.counts["global_bytes_moved"], line.total["global_bytes_moved"], "bytes moved"
    )


def _share(part: int, whole: int, what: str) -> Cell | None:
    if not part:
        return None
    return Cell(
        short(part), part / whole, f"{part:,} {what}, {100 * part / whole:.0f} % of the total"
    )


def _wavefronts(line: Line) -> Cell | None:
    per = line.counts.ratio("wavefronts_per_request")
    if per is None:
        return None
    conflicts = sum_of(line.counts, "shared", "conflicts")
    words = (
        f"{per_request(plain(per), 'wavefront')}, {conflicts:,} of all wavefronts due to bank "
        "conflicts"
    )
    return Cell(f"{per:.1f}", _log_heat(degree(line.counts), 32), words)


def in_turn(counts: Counts) -> float:
    """Return how many lanes of a warp update one element, on average; 0 without atomics."""
    requests = counts["global_atomic_requests"] + counts["shared_atomic_requests"]
    return counts["atomic_serial"] / requests if requests else 0.0


def _turns(line: Line) -> Cell | None:
    turns = in_turn(line.counts)
    if not turns:
        return None
    most = line.counts["atomic_contention"]
    words = (
        f"{plain(turns)} lanes of a warp update the same element; one element is updated "
        f"{most:,} times in total"
    )
    return Cell(f"{turns:.1f}", _log_heat(turns, WARP), words)


def _lanes(line: Line) -> Cell | None:
    lanes = line.counts.ratio("lanes_per_step")
    if lanes is None:
        return None
    missing = 1 - lanes / WARP
    words = f"{plain(lanes)} of {WARP} lanes are active"
    parted, branches = line.counts["divergent_branches"], line.counts["branches"]
    if branches:
        words += f"; at {parted:,} of {branches:,} branches the lanes diverge"
    return Cell(f"{lanes:.1f}", missing if missing > 0.02 else 0.0, words)


def _flops(line: Line) -> Cell | None:
    return _share(line.counts.flops, line.total.flops, "floating-point operations")


def _from(name: str) -> tuple[str, str]:
    return RATIOS[name].what, RATIOS[name].metric


# Most important first: narrow views drop columns from the end.
COLUMNS = (
    Column("sectors/", "request", *_from("sectors_per_request"), _sectors),
    Column(
        "bytes",
        "moved",
        COUNTERS["global_bytes_moved"].what,
        COUNTERS["global_bytes_moved"].metric,
        _moved,
    ),
    Column("shared", "wavefronts", *_from("wavefronts_per_request"), _wavefronts),
    Column(
        "serial",
        "atomics",
        "lanes of a warp that update the same element, serialized",
        "none",
        _turns,
    ),
    Column("lanes/", "step", *_from("lanes_per_step"), _lanes),
    Column(
        "float",
        "ops",
        "floating-point operations (float16, float32 and float64)",
        COUNTERS["flops_float32"].metric,
        _flops,
    ),
)


def legend(mark: str) -> str:
    """Say what a mark beside a number stands for."""
    return (
        f"For bytes and float ops a {mark} shows the share of the total; elsewhere it shows how "
        f"far the line is from ideal: no {mark} is ideal."
    )


def line_of(profile: Profile, place: Place) -> Line:
    """Return what was counted in a line."""
    least = needed(access for access in profile.accesses if access.place == place)
    return Line(profile.lines.get(place, Counts()), least, profile.total)


def columns(profile: Profile) -> list[Column]:
    """Return the columns in which something was counted."""
    lines = [line_of(profile, place) for place in profile.lines]
    return [column for column in COLUMNS if any(map(column.cell, lines))]


def heading(profile: Profile) -> str:
    """Return the launch as its line in the script writes it."""
    return content.shaped(Launch(profile.kernel, profile.grid, profile.block))


def subtitle(profile: Profile) -> str:
    """Return the size of the launch and the location of the kernel, in words."""
    threads = math.prod(profile.block)
    warps = -(-threads // WARP)
    line = profile.source[0][0] if profile.source else 0
    return (
        f"{many(math.prod(profile.grid), 'block')} of {many(threads, 'thread')}, "
        f"{many(warps, 'warp')} each, at {content.clean(content.place(profile.file, line))}"
    )
