"""Estimates in a terminal, in at most 80 columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gpukit.checked.messages.phrases import some
from gpukit.checked.report.as_text import fitting, wrapped
from gpukit.table import layout

if TYPE_CHECKING:
    from gpukit.estimates.estimated import Estimate

WIDEST = 80
_LABEL = 8
HEADERS = ("launch", "GPU", "floor", "likely", "worst", "limited by")
# How many terms are worth a place, and the fraction of the longest that is the least.
_TERMS, _LEAST = 4, 0.05


def one(estimate: Estimate, width: int | None = None) -> str:
    """Return one estimate: times, limit, what comes next, and what it rests on."""
    width = min(fitting(width), WIDEST)
    lines = [wrapped(heading(estimate), width)]
    for label, text in rows(estimate):
        body = wrapped(text, width, " " * (_LABEL + 2)).lstrip()
        lines.append(f"  {label:<{_LABEL}}{body}")
    lines += [wrapped(note, width, "  ") for note in notes(estimate)]
    return "\n".join(lines)


def several(estimates: Sequence[Estimate], width: int | None = None) -> str:
    """Return a table with a row per estimate, and below it the notes, each once."""
    width = min(fitting(width), WIDEST)
    heads, bodies = layout(HEADERS, [cells(e) for e in estimates], right=(2, 3, 4), width=width)
    lines = [*heads, *(line for body in bodies for line in body), ""]
    lines += [wrapped(note, width) for note in shared_notes(estimates)]
    return "\n".join(lines)


def heading(estimate: Estimate) -> str:
    """Say what was estimated, and for which GPU."""
    if estimate.parts:
        launches = some(len(estimate.parts), "launch", "launches")
        return f"{estimate.kernel}, {launches}, estimated for {estimate.gpu}"
    shape = f"grid {shown(estimate.grid)}, block {shown(estimate.block)}"
    return f"{estimate.kernel}, {shape}, estimated for {estimate.gpu}"


def shown(shape: tuple[int, int, int]) -> str:
    """Return a grid or block without trailing ones.

    >>> shown((4, 1, 1)), shown((4, 1, 2)), shown((8, 8, 1))
    ('4', '(4, 1, 2)', '(8, 8)')
    """
    kept = list(shape)
    while len(kept) > 1 and kept[-1] == 1:
        kept.pop()
    return str(kept[0]) if len(kept) == 1 else f"({', '.join(map(str, kept))})"


def rows(estimate: Estimate) -> list[tuple[str, str]]:
    """Return the times and what limits them, as labels and texts."""
    if estimate.likely is None or estimate.worst is None:
        floor = "none" if estimate.floor is None else seconds(estimate.floor)
        return [("floor", f"{floor}; no likely time"), ("refused", estimate.refused)]
    band = f"floor {seconds(estimate.floor)}, worst {seconds(estimate.worst)}"
    found = [("likely", f"{seconds(estimate.likely)} ({band})"), ("limit", estimate.bound)]
    if after := estimate.help():
        found.append(("then", after))
    found.append(("terms", terms(estimate)))
    if estimate.wide:
        found.append(("wide", f"the band is wide: {'; '.join(estimate.wide)}"))
    return found


def terms(estimate: Estimate) -> str:
    """Return the longest terms with their times."""
    longest = sorted(estimate.terms.items(), key=lambda item: -item[1])[:_TERMS]
    kept = [pair for pair in longest if pair[1] >= _LEAST * longest[0][1]]
    return ", ".join(f"{name} {seconds(time)}" for name, time in kept)


def notes(estimate: Estimate) -> list[str]:
    """Return what an estimate rests on: input, cache, source or SASS, the tables that tested it."""
    return [_scope(estimate), _basis(estimate), _tested(estimate)]


def shared_notes(estimates: Sequence[Estimate]) -> list[str]:
    """Return the notes and refusals of several estimates, each once."""
    refused = [f"{e.gpu}, {e.kernel}: {e.refused}." for e in estimates if e.refused]
    wide = [f"{e.gpu}, wide band: {'; '.join(e.wide)}." for e in estimates if e.wide]
    scope = [note for e in estimates for note in (_scope(e), _basis(e))]
    return list(dict.fromkeys([*refused, *wide, *scope, *map(_tested, estimates)]))


def _scope(estimate: Estimate) -> str:
    cache = "repeated launches, with what fits left in L2" if estimate.repeated else "a cold L2"
    launches = estimate.parts or (estimate,)
    some_only = any(0 < part.blocks_run < part.blocks for part in launches)
    sampled = " Counted on some of the blocks." if some_only else ""
    library = " Copies and calls of libraries are not in it." if estimate.parts else ""
    return f"An estimate for this input only, with {cache}.{sampled}{library}"


def _basis(estimate: Estimate) -> str:
    if estimate.basis == "source":
        return (
            "From the counters of the source, as nvcc would compile it from C++: the code that "
            "numba-cuda generates may be slower."
        )
    return f"From {estimate.basis}: registers and instructions as NVIDIA's compilers generate them."


def _tested(estimate: Estimate) -> str:
    known = estimate.tested
    if known:
        times, medians = sum(one.times for one in known), [one.median for one in known]
        tables = some(len(known), "table")
        names = ", ".join(dict.fromkeys(one.gpu for one in known))
        return (
            f"Tested on {some(times, 'time')} of {tables} ({names}): off by a factor of "
            f"{min(medians):.2f} to {max(medians):.2f} in the medians, "
            f"{max(one.largest for one in known):.2f} at most (docs/estimates.md)."
        )
    blind = estimate.machine.blind
    if blind:
        tested = some(blind, "published time")
        return f"{estimate.gpu}: no table in docs/estimates.md; {tested} in an earlier blind test."
    return f"{estimate.gpu}: no published times were compared with estimates."


def cells(estimate: Estimate) -> tuple[str, ...]:
    """Return the cells of an estimate's row in a table."""
    times = [seconds(t) for t in (estimate.floor, estimate.likely, estimate.worst)]
    return (estimate.kernel, estimate.gpu, *times, estimate.bound or "refused")


def seconds(value: float | None) -> str:
    """Return a time in a suitable unit, two significant digits.

    >>> seconds(0.00000123), seconds(0.0456), seconds(0.456), seconds(12.3), seconds(None)
    ('1.2 us', '46 ms', '460 ms', '12 s', '-')
    """
    if value is None:
        return "-"
    rounded = float(f"{value:.2g}")
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if rounded >= size:
            return f"{float(f'{value / size:.2g}'):g} {unit}"
    return f"{float(f'{value / 1e-6:.2g}'):g} us"
