"""What limits the occupancy of a launch, in words."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gpukit.checked.occupancy import sm_limits

if TYPE_CHECKING:
    from gpukit.checked.occupancy import Occupancy, OccupancyTable


def in_words(o: Occupancy, limit: str) -> str:
    """Say why this limit allows no further block, or none at all."""
    return _WORDS[limit](o)


def _blocks_of_warps(o: Occupancy) -> str:
    return f"{_count(o.blocks, 'block')} of {_count(o.warps_per_block, 'warp')}"


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def _words_warps(o: Occupancy) -> str:
    gpu, empty = o.gpu, o.gpu.warps_per_sm - o.warps
    if not o.blocks:
        return (
            f"threads: {o.threads:,} per block, and a block may have at most "
            f"{gpu.threads_per_block:,}"
        )
    rest = f", and {empty} stay unused" if empty else ""
    return f"warps: an SM holds {gpu.warps_per_sm}, which is {_blocks_of_warps(o)}{rest}"


def _words_registers(o: Occupancy) -> str:
    gpu, need = o.gpu, sm_limits.of_block(o.gpu, o.warps_per_block, o.registers)
    if o.registers > sm_limits.MOST_REGISTERS:
        return f"registers: {o.registers:,} per thread, and a thread can have at most 255"
    if not o.blocks:
        step = gpu.register_granularity // gpu.warp
        return (
            f"registers: {o.registers:,} per thread x {o.threads:,} threads need {need:,} of "
            f"{gpu.registers_per_block:,} (allocated {step} at a time per thread, to "
            f"{gpu.partitions} warps at a time)"
        )
    warps = _count(sm_limits.warps_with(gpu, o.registers), "warp")
    blocks = _blocks_of_warps(o)
    return f"registers: {o.registers:,} per thread leave room for {warps}, which is {blocks}"


def _words_shared(o: Occupancy) -> str:
    gpu, wanted = o.gpu, o.shared_static + o.shared_dynamic
    if not o.blocks:
        return (
            f"shared memory: {wanted:,} bytes per block, and a block may have at most "
            f"{gpu.shared_per_block:,}"
        )
    given = sm_limits.given_shared(gpu, wanted)
    more = f" (allocated as {given:,})" if given != wanted else ""
    return (
        f"shared memory: {wanted:,} bytes per block{more} of an SM's {gpu.shared_per_sm:,} allow "
        f"{_count(o.blocks, 'block')}"
    )


def _words_blocks(o: Occupancy) -> str:
    warps = _count(o.warps_per_block, "warp")
    return f"blocks: an SM holds at most {o.blocks}, here of {warps} each"


_WORDS: dict[str, Callable[[Occupancy], str]] = {
    "warps": _words_warps,
    "registers": _words_registers,
    "shared memory": _words_shared,
    "blocks": _words_blocks,
}


# ---- a table in plain text -----------------------------------------------------------------------

_HEADERS = (
    "GPU",
    "SMs",
    "registers",
    "blocks/SM",
    "warps/SM",
    "occupancy",
    "limited by",
    "best block",
)
_LEFT = (0, 6)


def show_percent(percent: float) -> str:
    """Return a percentage without needless digits.

    Only the whole is 100 %.

    >>> show_percent(100.0), show_percent(12.5), show_percent(200 / 3), show_percent(99.99)
    ('100 %', '12.5 %', '66.7 %', '99.9 %')
    """
    return f"{min(round(percent, 1), 99.9 if percent < 100 else percent):g} %"


def as_text(table: OccupancyTable) -> str:
    """Return the table, and below it what limits the occupancy on which GPUs."""
    lines = [_HEADERS, *(_cells(row) for row in table.rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(_HEADERS))]
    text = [_launch(table), ""]
    for cells in lines:
        padded = [
            cell.ljust(width) if i in _LEFT else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        text.append("  ".join(padded).rstrip())
    below = [textwrap.fill(line, 100, subsequent_indent="  ") for line in _below(table)]
    return "\n".join([*text, "", *below])


def _launch(table: OccupancyTable) -> str:
    one = table.results[0]
    shared = one.shared_static + one.shared_dynamic
    return f"Blocks of {_count(one.threads, 'thread')} with {shared:,} bytes of shared memory"


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    best = f"{row['best_threads']} ({show_percent(row['best_percent'])})"
    return (
        row["gpu"],
        str(row["sms"]),
        "?" if row["registers"] is None else str(row["registers"]),
        str(row["blocks"]),
        f"{row['warps']} of {row['max_warps']}",
        show_percent(row["percent"]),
        ", ".join(row["limited_by"]),
        best if row["best_threads"] else "none",
    )


def _reasons(table: OccupancyTable) -> list[str]:
    """Return every distinct reason once, with the GPUs that it holds for."""
    holds: dict[str, list[str]] = {}
    for one in table.results:
        holds.setdefault(one.reason, []).append(one.gpu.name)
    return [f"{', '.join(names)}: {reason}." for reason, names in holds.items()]


def _below(table: OccupancyTable) -> list[str]:
    """Return the reasons, and what else is needed to read the table."""
    one, notes = table.results[0], _reasons(table)
    last = one.threads % one.gpu.warp
    if last:
        notes.append(
            f"Occupancy counts warps. A block of {_count(one.threads, 'thread')} has "
            f"{_count(one.warps_per_block, 'warp')}, the last with {_count(last, 'thread')} of "
            f"{one.gpu.warp}."
        )
    if not all(table.known):
        notes.append(
            "Where the registers of the kernel are not known (?), the occupancy is the upper limit "
            "that the other resources set."
        )
    if any(one.must_ask for one in table.results):
        notes.append(
            "More than 48 KB of shared memory per block requires a launch that opts in "
            "(cudaFuncSetAttribute in CUDA C++); numba-cuda 0.30 does not."
        )
    return notes
