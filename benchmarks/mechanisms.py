"""What each mechanism of the compiler gains: the kernels of the book with it and without it.

    python benchmarks/mechanisms.py [mechanism or kernel ...] [--json out.json]

A mechanism is switched off by putting something in place of the function that decides on it. Each
kernel is compiled anew so; where its code is another then, both run in turns on data of their own,
one thread and two, after the answers were checked. The table gives how many times as long a kernel
takes without it. The rule of docs/mechanisms.md: what does not reach 1.3 in three kernels goes.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    os.environ["GPUKIT_TARGET"] = "cpu"

import llvmlite.binding as llvm  # noqa: E402
import numpy as np  # noqa: E402

from gpukit import cuda  # noqa: E402
from gpukit.bench import cases, register, timing  # noqa: E402
from gpukit.compiler import pyfunc  # noqa: E402
from gpukit.compiler.analysis import ranges, rematerialise  # noqa: E402
from gpukit.compiler.emit import accesses, threads, unroll_and_jam  # noqa: E402
from gpukit.compiler.frontend import choices, strides  # noqa: E402
from gpukit.compiler.lowering import coarsening, rows  # noqa: E402
from gpukit.cpu.launch import pool  # noqa: E402

# Where a mechanism is decided on, and what says no.
MECHANISMS: dict[str, tuple[Any, str, Any]] = {
    "rematerialise": (rematerialise, "run", lambda *_: {}),
    "grid-stride loops exchanged": (rows.RowPlanner, "_grid_stride", lambda *_: None),
    "loops in step exchanged": (rows.RowPlanner, "_why_in_thread", lambda *_: "switched off"),
    "guards narrow rows": (rows.RowPlanner, "_row_if", lambda *_: None),
    "one check a row": (accesses, "affine", lambda *_: {}),
    "proofs of ranges": (ranges.Ranges, "holds", lambda *_: False),
    "stored choices": (choices, "run", lambda *_: None),
    "while loops as for loops": (strides, "run", lambda *_: None),
    "shuffles of a row": (threads.ThreadLoops, "_shuffled", lambda *_: None),
    "block coarsening": (coarsening, "run", lambda *_: 0),
    "unroll and jam": (unroll_and_jam, "pays", lambda *_: False),
}
SECONDS = 0.5
FEW = 1.3


@contextlib.contextmanager
def without(mechanism: str) -> Iterator[None]:
    """Switch a mechanism off inside a `with` block."""
    owner, name, instead = MECHANISMS[mechanism]
    before = getattr(owner, name)
    setattr(owner, name, instead)
    try:
        yield
    finally:
        setattr(owner, name, before)


@contextlib.contextmanager
def compiled() -> Iterator[list[str]]:
    """Give the texts of all loops that are compiled inside a `with` block."""
    texts: list[str] = []
    build = pyfunc.build

    def noted(name: str, parameters: Any, body: Any, scope: Any, unit: Any) -> Any:
        texts.append("\n".join(map(ast.unparse, body)))
        return build(name, parameters, body, scope, unit)

    pyfunc.build = noted
    try:
        yield texts
    finally:
        pyfunc.build = build


def comparison_of(name: str) -> timing.Comparison:
    """Return a case of the benchmarks whose kernels nobody has compiled yet."""
    comparison = register.make(name)
    new: dict[int, Any] = {}
    for part in register.parts_of(comparison.ours):
        kernel = part.kernel
        if id(kernel) not in new:
            new[id(kernel)] = cuda.jit(**kernel.targetoptions)(kernel.py_func)
        part.kernel = new[id(kernel)]
    return comparison


def first(name: str) -> tuple[timing.Comparison, list[str]]:
    """Return a case that was launched once and gave the right answer, and its loops."""
    comparison = comparison_of(name)
    with compiled() as texts:
        _, error = timing.first_answer(comparison)
    if error:
        raise AssertionError(f"{name}: {error}")
    return comparison, sorted(texts)


def in_turns(one: Any, other: Any) -> list[float]:
    """Return how many times as long the second takes as the first, with one thread and two."""
    found = []
    workers = pool.workers
    for number in (1, 2):
        pool.workers = lambda number=number: number
        measured = timing.compare(one, other, seconds=SECONDS)
        found.append(measured.numpy / measured.ours)
    pool.workers = workers
    return found


def measure(name: str, mechanisms: list[str]) -> dict[str, list[float]]:
    """Return what a kernel loses without each mechanism that changes its loops, and `numpy`."""
    with_all, texts = first(name)
    found = {"numpy": in_turns(with_all.ours, with_all.on(np))}
    for mechanism in mechanisms:
        with without(mechanism):
            other, changed = first(name)
        if changed != texts:
            found[mechanism] = in_turns(with_all.ours, other.ours)
    return found


def table(rows_: dict[str, dict[str, list[float]]], mechanisms: list[str]) -> str:
    """Return a row for each mechanism, the kernels that lose most first."""
    lines = ["| mechanism | kernels changed | from 1.3 on | the largest, one thread / two |"]
    lines.append("|---|---|---|---|")
    for mechanism in mechanisms:
        found = {n: r[mechanism] for n, r in rows_.items() if mechanism in r}
        many = sum(max(ratios) >= FEW for ratios in found.values())
        most = sorted(found, key=lambda n: max(found[n]), reverse=True)[:4]
        texts = (f"{n} {found[n][0]:.2f} / {found[n][1]:.2f}" for n in most)
        lines.append(f"| {mechanism} | {len(found)} | {many} | {', '.join(texts)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", help="mechanisms and kernels; all where none is named")
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    os.environ["GPUKIT_CACHE"] = "0"
    mechanisms = [n for n in chosen.names if n in MECHANISMS] or list(MECHANISMS)
    kernels = register.choose([n for n in chosen.names if n not in MECHANISMS])
    found = {}
    for name in kernels:
        found[name] = measure(name, mechanisms)
        print(name, {k: [round(r, 2) for r in v] for k, v in found[name].items()}, flush=True)
    print(f"\nProcessor: {llvm.get_host_cpu_name()}\n\n{table(found, mechanisms)}")
    if chosen.json:
        record = {"processor": llvm.get_host_cpu_name(), "kernels": found}
        chosen.json.write_text(json.dumps(record, indent=1) + "\n")


assert cases  # registers the kernels

if __name__ == "__main__":
    main()
