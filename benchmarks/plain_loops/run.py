"""Kernels on gpukit's CPU target against plain numba loops, one thread against one thread.

    python benchmarks/plain_loops [--only sobel] [--rounds 15] [--clock processor] [--write]

Loops of kernels whose threads do not meet are made of the kernel's own body (`plain.py`); the
others are written by hand (`by_hand.py`, and beside the kernels in `cases_*.py`). Both sides run
in turns in this one process, on the same arrays, which hold before each run what they held before
the first; who begins changes from round to round. The answers of both are checked first against
NumPy. Ratios are those of medians: above 1 the kernel is slower than its loops.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import statistics
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from benchmarks import speed
from benchmarks.plain_loops import (
    book,
    cases_algorithms,
    cases_blocks,
    cases_grids,
    cases_matrices,
    cases_memory,
    cases_numbers,
    cases_pictures,
    cases_shared,
    cases_simulation,
    cases_tiles,
    cases_windows,
    plain,
)
from benchmarks.plain_loops.case import Case, mistake, ours, theirs
from benchmarks.plain_loops.reasons import REASONS
from gpukit.bench import register

TOPICS = (
    cases_windows,
    cases_grids,
    cases_memory,
    cases_matrices,
    cases_pictures,
    cases_simulation,
    cases_algorithms,
    cases_numbers,
    cases_shared,
    cases_tiles,
    cases_blocks,
)
GOOD = 1.25  # a kernel that takes more times its loops' time needs a reason
LEAST_ROUNDS = 5


@dataclass
class Row:
    """One kernel measured, or what was wrong with it: seconds of each round of each side."""

    name: str
    group: str
    by_hand: bool = False
    seconds: dict[str, list[float]] = field(default_factory=dict)
    wrong: str = ""

    @property
    def median(self) -> dict[str, float]:
        """The median seconds of each side."""
        return {side: statistics.median(times) for side, times in self.seconds.items()}

    @property
    def ratio(self) -> float:
        """Our time over that of the loops."""
        return self.median["ours"] / self.median["plain"]


# --- Which kernels ------------------------------------------------------------------------------


def makers() -> dict[str, tuple[str, Callable[[], Case]]]:
    """Return all cases by name, each with its group and a function that makes it."""
    found: dict[str, tuple[str, Callable[[], Case]]] = {}
    for name in register.CASES:
        found[name] = ("book", lambda name=name: book.make(name))
    for topic in TOPICS:
        group = topic.__name__.rpartition("cases_")[2]
        found.update({f"{maker.__name__}": (group, maker) for maker in topic.CASES})
    return found


# --- Measuring ----------------------------------------------------------------------------------


def measure(
    name: str,
    group: str,
    case: Case,
    rounds: int,
    seconds: float,
    clock: speed.Clock = time.perf_counter,
    **options: Any,
) -> Row:
    """Check the answers of both sides, then time them in turns.

    Raises plain.Together where nobody has written loops for a kernel whose threads meet.
    """
    sides = {"plain": theirs(case), "ours": ours(case, **options)}
    row = Row(name, group, case.by_hand)
    arrays = {id(a): a for launch in case.launches for a in launch.arguments if _is_array(a)}
    before = {key: array.copy() for key, array in arrays.items()}
    changed: set[int] = set()

    def restore() -> None:
        for key in changed:
            arrays[key][...] = before[key]

    for side, work in sides.items():
        work()  # which compiles
        wrong = mistake(case)
        if wrong:
            row.wrong = f"{side}: {wrong}"
            return row
        changed |= {key for key, a in arrays.items() if a.tobytes() != before[key].tobytes()}
        restore()
    before = {key: before[key] for key in changed}
    row.seconds = in_turns(sides, restore, rounds, seconds, clock)
    return row


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray)


def in_turns(
    sides: dict[str, Callable[[], None]],
    restore: Callable[[], None],
    rounds: int,
    seconds: float,
    clock: speed.Clock,
) -> dict[str, list[float]]:
    """Return the seconds of every round of each side, after two that warm up.

    No round begins after so many seconds, but LEAST_ROUNDS do.
    """
    samples: dict[str, list[float]] = {side: [] for side in sides}
    names = list(sides)
    begin = time.perf_counter()
    gc.disable()
    for number in range(rounds + 2):
        late = time.perf_counter() - begin > seconds
        if late and number >= min(rounds, LEAST_ROUNDS) + 2:
            break
        for side in names if number % 2 else reversed(names):
            restore()
            start = clock()
            sides[side]()
            samples[side].append(clock() - start)
    gc.enable()
    return {side: times[2:] for side, times in samples.items()}


# --- Telling ------------------------------------------------------------------------------------


def table(rows: list[Row]) -> str:
    """Return the rows as a Markdown table, the slowest first within each group."""
    lines = [
        "| kernel | group | loops | ours ms | plain ms | ours / plain | reason |",
        "|---|---|---|---:|---:|---:|---|",
    ]
    groups = list(dict.fromkeys(row.group for row in rows))
    for row in sorted(rows, key=lambda row: (groups.index(row.group), -row.ratio)):
        reason = REASONS.get(row.name, "?") if row.ratio > GOOD else ""
        times = " | ".join(f"{1e3 * row.median[side]:.3f}" for side in ("ours", "plain"))
        loops = "by hand" if row.by_hand else "its own"
        lines.append(
            f"| {row.name} | {row.group} | {loops} | {times} | {row.ratio:.2f} | {reason} |"
        )
    return "\n".join(lines)


def summary(rows: list[Row]) -> Iterator[str]:
    """Yield a line for all kernels, and one for each group."""
    for group in dict.fromkeys(["all", *(row.group for row in rows)]):
        ratios = [row.ratio for row in rows if group in ("all", row.group)]
        mean = math.exp(statistics.fmean(map(math.log, ratios)))
        good = sum(ratio <= GOOD for ratio in ratios)
        yield f"| {group} | {len(ratios)} | {mean:.2f} | {good} | {max(ratios):.2f} |"


def report(rows: list[Row], wrong: list[Row], left_out: list[str], about: str) -> str:
    """Return all that was found as Markdown."""
    lines = [about, ""]
    if rows:
        lines += [
            f"| group | kernels | geometric mean | within {GOOD} | largest |",
            "|---|---:|---:|---:|---:|",
            *summary(rows),
            "",
            table(rows),
        ]
    if left_out:
        lines += ["", f"Without loops by hand, so not measured: {', '.join(left_out)}."]
    lines += [f"\n**WRONG: {row.name} ({row.wrong})**" for row in wrong]
    return "\n".join(lines)


def record(row: Row) -> dict[str, Any]:
    """Return a row for the JSON file, without the single rounds."""
    made = asdict(row)
    rounds = made.pop("seconds")
    if rounds:
        made["rounds"] = len(rounds["ours"])
        made["median"], made["ratio"] = row.median, row.ratio
        made["least"] = {side: min(times) for side, times in rounds.items()}
    return made


def main(arguments: list[str] | None = None) -> int:
    """Measure, print, and write what was asked for; 1 if an answer was wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", action="append", default=[], help="a part of names, or a group")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=1.0, help="a kernel, once it is compiled")
    parser.add_argument("--clock", choices=speed.CLOCKS, default="wall", help="processor when busy")
    parser.add_argument("--boundscheck", action="store_true", help="ours with checks: the default")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--write", action="store_true", help="write docs/speed.md")
    options = parser.parse_args(arguments)
    before = speed.load()
    rows, left_out = [], []
    for name, (group, make) in makers().items():
        if options.only and not any(part in name or part == group for part in options.only):
            continue
        try:
            row = measure(
                name,
                group,
                make(),
                options.rounds,
                options.seconds,
                speed.CLOCKS[options.clock],
                boundscheck=options.boundscheck,
            )
        except plain.Together:
            left_out.append(name)
            continue
        except Exception as error:  # one kernel's failure must not hide the others' figures
            traceback.print_exc()
            row = Row(name, group, wrong=f"{type(error).__name__}: {error}")
        rows.append(row)
        print(
            f"{name}: WRONG, {row.wrong}" if row.wrong else table([row]).splitlines()[-1],
            flush=True,
        )
    right, wrong = [r for r in rows if not r.wrong], [r for r in rows if r.wrong]
    about = (
        f"Processor: {llvm.get_host_cpu_name()} (as LLVM names it). {speed.machine()}. Load "
        f"average {before} before, {speed.load()} after. At most {options.rounds} rounds. Clock: "
        f"{options.clock}."
    )
    text = report(right, wrong, left_out, about)
    print(f"\n{text}")
    if options.write:
        speed.put("plain loops", text)
    if options.json:
        made = {"processor": llvm.get_host_cpu_name(), "about": about, "left_out": left_out}
        made["rows"] = list(map(record, rows))
        options.json.write_text(json.dumps(made, indent=1) + "\n")
    return 1 if wrong else 0
