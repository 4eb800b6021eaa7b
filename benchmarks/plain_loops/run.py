"""Kernels on gpukit's CPU target against plain Numba loops, one thread against one thread.

    python -m benchmarks.plain_loops [--only sobel] [--rounds 15] [--clock processor] [--write]

For kernels that do not synchronize threads, `plain.py` makes the loops from the kernel's own body;
for others they are written by hand (`by_hand_*.py`). Both sides run in turns in this process, on
the same arrays, which are restored before each run. The answers of both are checked against NumPy
first. Ratios are ratios of medians: above 1 the kernel is slower than its loops.
"""

from __future__ import annotations

import math
import statistics
import time
import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from benchmarks import harness
from benchmarks.plain_loops import book, cases_arrays, cases_loops, plain
from benchmarks.plain_loops.case import Case, mistake, ours, theirs
from benchmarks.plain_loops.reasons import REASONS
from gpukit.bench import register

TOPICS = {"arrays": cases_arrays, "loops": cases_loops}
GOOD = 1.25  # the ratio above which a kernel needs a reason


@dataclass
class Row:
    """The seconds of each round of each side for one kernel, or what was wrong with it."""

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
        """The kernel's time over that of the loops."""
        return self.median["ours"] / self.median["plain"]


def makers() -> dict[str, tuple[str, Callable[[], Case]]]:
    """Return all cases by name, each with its group and a function that makes it."""
    found: dict[str, tuple[str, Callable[[], Case]]] = {}
    for name in register.CASES:
        found[name] = ("book", lambda name=name: book.make(name))
    for group, topic in TOPICS.items():
        found.update({maker.__name__: (group, maker) for maker in topic.CASES})
    return found


def measure(
    name: str,
    group: str,
    case: Case,
    rounds: int,
    seconds: float,
    clock: harness.Clock = time.perf_counter,
    **options: Any,
) -> Row:
    """Check the answers of both sides, then time them in turns.

    Raises plain.Synchronizes for a kernel that needs loops written by hand and has none.
    """
    sides = {"plain": theirs(case), "ours": ours(case, **options)}
    row = Row(name, group, case.by_hand)
    given = (a for launch in case.launches for a in launch.arguments)
    arrays = {id(a): a for a in given if isinstance(a, np.ndarray)}
    before = {key: array.copy() for key, array in arrays.items()}
    changed: set[int] = set()

    def restore() -> None:
        for key in changed:
            arrays[key][...] = before[key]

    for side, work in sides.items():
        work()  # which compiles
        if wrong := mistake(case):
            row.wrong = f"{side}: {wrong}"
            return row
        changed |= {key for key, a in arrays.items() if a.tobytes() != before[key].tobytes()}
        restore()
    row.seconds = harness.interleave(sides, rounds, clock, seconds=seconds, prepare=restore)
    return row


def table(rows: list[Row]) -> str:
    """Return the rows as a Markdown table, the slowest first within each group."""
    headers = ["kernel", "group", "loops", "gpukit ms", "loops ms", "ratio", "reason"]
    groups = list(dict.fromkeys(row.group for row in rows))
    lines = []
    for row in sorted(rows, key=lambda row: (groups.index(row.group), -row.ratio)):
        times = [f"{1e3 * row.median[side]:.3f}" for side in ("ours", "plain")]
        reason = REASONS.get(row.name, "?") if row.ratio > GOOD else ""
        loops = "handwritten" if row.by_hand else "generated"
        lines.append([row.name, row.group, loops, *times, f"{row.ratio:.2f}", reason])
    return harness.markdown(headers, lines)


def summary(rows: list[Row]) -> str:
    """Return a table with a row for all kernels and one for each group."""
    lines = []
    for group in dict.fromkeys(["all", *(row.group for row in rows)]):
        ratios = [row.ratio for row in rows if group in ("all", row.group)]
        mean = math.exp(statistics.fmean(map(math.log, ratios)))
        good = sum(ratio <= GOOD for ratio in ratios)
        lines.append([group, len(ratios), f"{mean:.2f}", good, f"{max(ratios):.2f}"])
    headers = ["group", "kernels", "geometric mean", f"within {GOOD}", "largest"]
    return harness.markdown(headers, lines)


def report(rows: list[Row], left_out: list[str], about: str) -> str:
    """Return all results as Markdown."""
    right = [row for row in rows if not row.wrong]
    parts = [about, *([summary(right), table(right)] if right else [])]
    if left_out:
        parts.append(
            f"Not measured, because they have no handwritten loops: {', '.join(left_out)}."
        )
    parts += [f"**WRONG: {row.name} ({row.wrong})**" for row in rows if row.wrong]
    return "\n\n".join(parts)


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
    parser = harness.parser(__doc__)
    parser.add_argument("--only", action="append", default=[], help="part of a name, or a group")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=1.0, help="per kernel, after compiling")
    parser.add_argument("--clock", choices=harness.CLOCKS, default="wall", help="processor if busy")
    parser.add_argument("--boundscheck", action="store_true", help="with bounds checks")
    options = parser.parse_args(arguments)
    before, clock = harness.load(), harness.CLOCKS[options.clock]
    rows: list[Row] = []
    left_out = []
    for name, (group, make) in makers().items():
        if options.only and not any(part in name or part == group for part in options.only):
            continue
        limits = options.rounds, options.seconds, clock
        try:
            row = measure(name, group, make(), *limits, boundscheck=options.boundscheck)
        except plain.Synchronizes:
            left_out.append(name)
            continue
        except Exception as error:  # one kernel's failure must not hide the others' figures
            traceback.print_exc()
            row = Row(name, group, wrong=f"{type(error).__name__}: {error}")
        rows.append(row)
        said = f"{name}: WRONG, {row.wrong}" if row.wrong else table([row]).splitlines()[-1]
        print(said, flush=True)
    processor = llvm.get_host_cpu_name()
    about = (
        f"Processor: {processor} (LLVM's name). {harness.machine()}. Load average {before} before, "
        f"{harness.load()} after. At most {options.rounds} rounds. Clock: {options.clock}."
    )
    found = {"processor": processor, "about": about, "left_out": left_out}
    found["rows"] = list(map(record, rows))
    harness.finish(options, "plain loops", report(rows, left_out, about), found)
    return 1 if any(row.wrong for row in rows) else 0
