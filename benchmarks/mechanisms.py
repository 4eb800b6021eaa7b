"""What each mechanism of the compiler gains: the kernels of the book with it and without it.

    python -m benchmarks.mechanisms [MECHANISM or KERNEL ...] [--json out.json]

A mechanism is disabled by replacing the function that decides on it. Each kernel is compiled again
without it; if its code differs, both versions run in turns on data of their own, on one thread and
on two, after their answers were checked. The table gives the time without a mechanism over the time
with it. The rule of docs/mechanisms.md: a mechanism that reaches 1.3 in fewer than three kernels is
removed.
"""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import os
from collections.abc import Iterator
from typing import Any

if __name__ == "__main__":
    os.environ.update(GPUKIT_CACHE="0", GPUKIT_TARGET="cpu")

import llvmlite.binding as llvm
import numpy as np

from benchmarks import harness
from benchmarks.speed import compiled
from gpukit.bench import cases, timing
from gpukit.compiler import pyfunc
from gpukit.compiler.analysis import ranges, rematerialise
from gpukit.compiler.emit import accesses, threads, unroll_and_jam
from gpukit.compiler.frontend import choices, strides
from gpukit.compiler.lowering import coarsening, rows
from gpukit.cpu.launch import pool

# The function that decides on a mechanism, and a replacement that declines.
MECHANISMS: dict[str, tuple[Any, str, Any]] = {
    "rematerialise": (rematerialise, "run", lambda *_: {}),
    "grid-stride loops exchanged": (rows.RowPlanner, "_grid_stride", lambda *_: None),
    "loops in step exchanged": (rows.RowPlanner, "_why_in_thread", lambda *_: "disabled"),
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
    """Disable a mechanism inside a `with` block."""
    owner, name, instead = MECHANISMS[mechanism]
    before = getattr(owner, name)
    setattr(owner, name, instead)
    try:
        yield
    finally:
        setattr(owner, name, before)


@contextlib.contextmanager
def recorded() -> Iterator[list[str]]:
    """Yield a list that receives the text of all loops compiled inside a `with` block."""
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


def first(name: str) -> tuple[timing.Comparison, list[str]]:
    """Compile the kernels of a case anew and check its answer; return the case and its loops."""
    comparison = cases.make(name)
    comparison = dataclasses.replace(comparison, ours=compiled(comparison))
    with recorded() as texts:
        _, error = timing.first_answer(comparison)
    if error:
        raise AssertionError(f"{name}: {error}")
    return comparison, sorted(texts)


def in_turns(one: Any, other: Any) -> list[float]:
    """Return the time of the second over the first, on one thread and on two."""
    found = []
    workers = pool.workers
    for number in (1, 2):
        pool.workers = lambda number=number: number
        measured = timing.compare(one, other, seconds=SECONDS)
        found.append(measured.numpy / measured.ours)
    pool.workers = workers
    return found


def measure(name: str, mechanisms: list[str]) -> dict[str, list[float]]:
    """Return the ratios without each mechanism that changes a kernel's loops, and of `numpy`."""
    with_all, texts = first(name)
    found = {"numpy": in_turns(with_all.ours, with_all.on(np))}
    for mechanism in mechanisms:
        with without(mechanism):
            other, changed = first(name)
        if changed != texts:
            found[mechanism] = in_turns(with_all.ours, other.ours)
    return found


def table(found: dict[str, dict[str, list[float]]], mechanisms: list[str]) -> str:
    """Return a row for each mechanism, with the kernels that lose most."""
    lines = []
    for mechanism in mechanisms:
        ratios = {kernel: sides[mechanism] for kernel, sides in found.items() if mechanism in sides}
        many = sum(max(both) >= FEW for both in ratios.values())
        most = sorted(ratios, key=lambda kernel: max(ratios[kernel]), reverse=True)[:4]
        texts = ("{} {:.2f} / {:.2f}".format(kernel, *ratios[kernel]) for kernel in most)
        lines.append([mechanism, len(ratios), many, ", ".join(texts)])
    headers = ["mechanism", "kernels changed", f"from {FEW} on", "the largest, one thread / two"]
    return harness.markdown(headers, lines)


def main() -> None:
    """Measure, print, and write the JSON after the last kernel."""
    parser = harness.parser(__doc__)
    parser.add_argument("names", nargs="*", help="mechanisms and kernels; default: all")
    options = parser.parse_args()
    mechanisms = [n for n in options.names if n in MECHANISMS] or list(MECHANISMS)
    found = {}
    for name in cases.choose([n for n in options.names if n not in MECHANISMS]):
        found[name] = measure(name, mechanisms)
        print(name, {k: [round(r, 2) for r in v] for k, v in found[name].items()}, flush=True)
    print(f"\nProcessor: {llvm.get_host_cpu_name()}\n\n{table(found, mechanisms)}")
    if options.json:
        harness.save(options.json, {"processor": llvm.get_host_cpu_name(), "kernels": found})


if __name__ == "__main__":
    main()
