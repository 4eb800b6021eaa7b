"""The README's table of variants: one problem, with a row per variant and a column per machine.

The table stands between two markers. A run replaces or adds the column of its own machine and
target, so that figures of a GPU stay when somebody measures a laptop.
"""

from __future__ import annotations

import datetime
import os
import platform
from collections.abc import Sequence
from pathlib import Path

from gpukit import files
from gpukit.bench.register import BenchError, name_of
from gpukit.bench.timing import Result
from gpukit.kernels.matmul import VARIANTS

BEGIN, END = "<!-- variants begin -->", "<!-- variants end -->"
PROBLEM = "matmul"  # of float32: its other forms compute other products
MISSING = "-"


def machine(target: str, device: str = "") -> str:
    """Return the key of a column: the target and the device."""
    return f"{target}, {device or f'{os.cpu_count()} cores, {platform.machine()}'}"


def check(path: Path) -> None:
    """Raise an error if the table of a file cannot be written, before anything is timed."""
    files.check(path)
    _parts(_read(path))


def _read(path: Path) -> str:
    if not path.exists():
        raise BenchError(
            f"bench: expected {path} in this folder, got none. Go to your clone of gpukit, or "
            f"make a file with the lines {BEGIN} and {END}."
        )
    return path.read_text(encoding="utf-8")


def _parts(text: str) -> tuple[str, str, str]:
    """Return the text before the table, the table, and the text after it."""
    before, begin, rest = text.partition(BEGIN)
    table, end, after = rest.partition(END)
    if not begin or not end:
        raise BenchError(f"bench: expected {BEGIN} and {END} in the file, got neither. Add them.")
    return before, table, after


def merged(text: str, results: Sequence[Result], where: str, day: datetime.date) -> str:
    """Return a file's text with this machine's column in its table.

    Raises BenchError if the markers are missing, or a variant is missing or wrong.
    """
    before, old, after = _parts(text)
    names = {name_of(variant): variant.name.replace("_", " ") for variant in VARIANTS}
    shown = [r for r in results if r.name in names]
    wrong = [r.name for r in shown if r.timing is None]
    if wrong or not shown:
        found = f"wrong ones of {', '.join(wrong)}" if wrong else "none"
        raise BenchError(f"bench: expected right answers of {PROBLEM}, got {found}.")
    columns = _columns(old)
    columns = {key: columns[key] for key in columns if not key.startswith(f"{where}, ")}
    variants = [names[r.name] for r in shown]
    rates = [_rate(r.flops_rate) for r in shown]
    new = f"{where}, {shown[0].size}, {day.isoformat()}"
    columns[new] = dict(zip(variants, rates, strict=True))
    keys = sorted(columns)
    table = [["Gflop/s", *keys], ["---", *["---:"] * len(keys)]]
    table += [[name, *(columns[key].get(name, MISSING) for key in keys)] for name in variants]
    written = "\n".join(f"| {' | '.join(cells)} |" for cells in table)
    return f"{before}{BEGIN}\n{written}\n{END}{after}"


def _columns(table: str) -> dict[str, dict[str, str]]:
    """Return the columns of a table by machine, each as a mapping from variant to cell."""
    rows = [
        [cell.strip() for cell in line.strip().strip("|").split("|")]
        for line in table.strip().splitlines()
    ]
    machines = rows[0][1:] if rows else []
    return {machine: {row[0]: row[k] for row in rows[2:]} for k, machine in enumerate(machines, 1)}


def _rate(flops: float) -> str:
    """Return operations per second in units of 1e9, to three digits.

    >>> _rate(1.234e9), _rate(2.8e9), _rate(4e11), _rate(5.1e13)
    ('1.23', '2.80', '400', '51000')
    """
    rounded = float(f"{flops / 1e9:.3g}")
    return f"{rounded:.0f}" if rounded >= 100 else f"{rounded:#.3g}"


def write(path: Path, results: Sequence[Result], where: str) -> None:
    """Write this machine's column into the table of a file."""
    files.write(path, merged(_read(path), results, where, datetime.date.today()))
