"""What the benchmark scripts share: sides timed in turns, options, tables, documents and JSON."""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import platform
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SPEED = ROOT / "docs" / "speed.md"
Clock = Callable[[], Any]
Work = Callable[[], object]
CLOCKS: dict[str, Clock] = {"wall": time.perf_counter, "processor": time.process_time}
WARM_UP = 2  # rounds that are not counted
LEAST_ROUNDS = 5
NUMBER = re.compile(r"-|-?[\d.,]+[ %]?\w*")


# ---- Timing ----------------------------------------------------------------------------------


def one_thread() -> None:
    """Give gpukit, BLAS and OpenMP one thread each. Call it before NumPy is imported."""
    libraries = ("OPENBLAS", "OMP", "MKL", "NUMEXPR", "VECLIB_MAXIMUM", "NUMBA")
    os.environ.update({f"{library}_NUM_THREADS": "1" for library in libraries})
    os.environ["GPUKIT_THREADS"] = "1"


def on_threads(work: Work, threads: int) -> Work:
    """Return the same work on a number of threads, which gpukit reads at each launch."""

    def run() -> None:
        os.environ["GPUKIT_THREADS"] = str(threads)
        work()

    return run


def interleave(
    sides: Mapping[str, Work],
    rounds: int,
    clock: Clock = time.perf_counter,
    *,
    seconds: float = math.inf,
    prepare: Work = lambda: None,
) -> dict[str, list[Any]]:
    """Return the time of each round for each side, without the rounds that warm up.

    The side that goes first changes from round to round. `prepare` runs before each sample and is
    not timed. After `seconds`, no round begins once there are LEAST_ROUNDS.
    """
    from gpukit.bench.timing import no_collector  # imports NumPy, before which one_thread() runs

    samples: dict[str, list[Any]] = {side: [] for side in sides}
    names, begin = list(sides), time.perf_counter()
    with no_collector():
        for number in range(WARM_UP + rounds):
            late = time.perf_counter() - begin > seconds
            if late and number >= WARM_UP + min(rounds, LEAST_ROUNDS):
                break
            turn = number % len(names)
            for side in names[turn:] + names[:turn]:
                prepare()
                start = clock()
                sides[side]()
                samples[side].append(clock() - start)
    return {side: times[WARM_UP:] for side, times in samples.items()}


def machine() -> str:
    """Return in one line what the figures were measured on, without host names or paths."""
    import numba
    import numpy as np

    return (
        f"{_processor()}, {os.cpu_count()} cores, Python {platform.python_version()}, "
        f"NumPy {np.__version__}, numba {numba.__version__}, {platform.system()}"
    )


def _processor() -> str:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def load() -> str:
    """Return the load average of the last minute."""
    return f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"


# ---- Options, tables and files ---------------------------------------------------------------


def parser(description: str | None, document: str = "docs/speed.md") -> argparse.ArgumentParser:
    """Return a parser with `--json` and `--write`; the description is a docstring's first line."""
    made = argparse.ArgumentParser(description=(description or "").partition("\n")[0])
    made.add_argument("--json", type=Path, help="file for all figures")
    made.add_argument("--write", action="store_true", help=f"write the table into {document}")
    return made


def markdown(headers: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table; columns of numbers are aligned to the right.

    >>> print(markdown(["kernel", "ms"], [["fill", 1.25], ["copy", "-"]]))
    | kernel | ms |
    |---|---:|
    | fill | 1.25 |
    | copy | - |
    """
    cells = [[str(cell) for cell in row] for row in rows]
    numbers = [all(NUMBER.fullmatch(row[k]) for row in cells) for k in range(len(headers))]
    lines = [f"| {' | '.join(row)} |" for row in [headers, *cells]]
    return "\n".join([lines[0], f"|{'|'.join(['---', '---:'][n] for n in numbers)}|", *lines[1:]])


def yes(met: bool) -> str:
    """Return the cell that says whether a figure was reached."""
    return "yes" if met else "NO"


def put(section: str, text: str, document: Path | None = None) -> None:
    """Replace a section of docs/speed.md, or of another document, between its markers."""
    document = document or SPEED
    begin, end = f"<!-- {section} begin -->", f"<!-- {section} end -->"
    old = document.read_text(encoding="utf-8")
    before, after = old.partition(begin)[0], old.partition(end)[2]
    document.write_text(f"{before}{begin}\n\n{text.strip()}\n\n{end}{after}", encoding="utf-8")


def section(name: str, document: Path | None = None) -> str:
    """Return the text of a section, without its markers."""
    text = (document or SPEED).read_text(encoding="utf-8")
    return text.partition(f"<!-- {name} begin -->")[2].partition(f"<!-- {name} end -->")[0].strip()


def rows_of(table: str) -> list[dict[str, str]]:
    """Return the rows of a Markdown table, each as a mapping from header to cell.

    >>> rows_of(markdown(["kernel", "ms"], [["fill", 1.25]]))
    [{'kernel': 'fill', 'ms': '1.25'}]
    """
    lines = [[c.strip() for c in line.strip("| ").split(" | ")] for line in table.splitlines()]
    heads, _, *rows = lines
    return [dict(zip(heads, row, strict=True)) for row in rows]


def save(path: Path, record: Any) -> None:
    """Write a record as JSON."""
    path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def finish(
    options: argparse.Namespace,
    section: str,
    text: str,
    record: Any,
    *,
    document: Path = SPEED,
    results: Path | None = None,
) -> None:
    """Print a report, and write its section of a document and the JSON that were asked for.

    `results` is the file of the record that belongs to the section.
    """
    print(f"\n{text}")
    if options.write:
        put(section, text, document)
        if results is not None:
            save(results, record)
    if options.json:
        save(options.json, record)
