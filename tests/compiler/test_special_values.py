"""Kernels give at the edges of the types what a GPU gives: the table is in `special_values`."""

from __future__ import annotations

import itertools
import linecache
import math

import numpy as np
import pytest

import gpukit
from gpukit import cuda
from tests.compiler.special_values import KINDS, ROWS, Row, inputs

pytestmark = pytest.mark.cpu
AT_ONCE = 16  # rows of one kernel


def kernel_of(rows: tuple[Row, ...]):
    """Return a kernel with an output of its own for each row, and all of their inputs."""
    takes = rows[0].takes
    given = [f"{v}_" for v in "xyz"[: len(takes)]]
    outs = [f"out{k}" for k in range(len(rows))]
    lines = [f"def special_values_kernel({', '.join([*given, *outs])}):", "    i = cuda.grid(1)"]
    lines += ["    if i < x_.size:"]
    lines += [f"        {v[0]} = {v}[i]" for v in given]
    lines += [f"        {out}[i] = {row.text}" for out, row in zip(outs, rows, strict=True)]
    text = "\n".join(lines) + "\n"
    file = f"<special values {abs(hash(text))}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    scope = {"np": np, "math": math, "cuda": cuda}
    exec(compile(text, file, "exec"), scope)
    return cuda.jit(scope["special_values_kernel"])


def groups() -> list[tuple[Row, ...]]:
    """Return the rows in groups of the same inputs."""
    ordered = sorted(ROWS, key=lambda row: row.takes)
    found = []
    for _, rows in itertools.groupby(ordered, key=lambda row: row.takes):
        several = list(rows)
        found += [tuple(several[k : k + AT_ONCE]) for k in range(0, len(several), AT_ONCE)]
    return found


GROUPS = groups()


def wrong(row: Row, given, out) -> list[str]:
    """Return what a row got wrong, in words."""
    found = []
    with np.errstate(all="ignore"):
        for k, values in enumerate(zip(*given, strict=True)):
            expected = row.rule(*values)
            if expected is None:
                continue
            expected = KINDS[row.gives](expected)
            got = out[k]
            same = got == expected or (got != got and expected != expected)
            if row.gives[0] == "f" and same and expected == 0:
                same = np.signbit(got) == np.signbit(expected)
            if not same:
                found.append(f"{values}: {got!r} for {expected!r}")
    return found


def named(number: int) -> str:
    rows = GROUPS[number]
    return f"{'-'.join(rows[0].takes)}-{rows[0].text.replace(' ', '')}"


def mistakes(number: int, *, checked: bool) -> dict[str, list[str]]:
    """Return what a group of rows got wrong, by expression."""
    rows = GROUPS[number]
    given = inputs(rows[0].takes)
    outs = [np.full(given[0].size, 77, KINDS[row.gives]) for row in rows]
    kernel = kernel_of(rows)
    launch = gpukit.check(kernel) if checked else kernel
    launch[-(-given[0].size // 128), 128](*given, *outs)
    pairs = zip(rows, outs, strict=True)
    found = {f"{row.text} of {row.takes}": wrong(row, given, out) for row, out in pairs}
    return {text: lines[:4] for text, lines in found.items() if lines}


@pytest.mark.parametrize("number", range(len(GROUPS)), ids=named)
@pytest.mark.costly
def test_kernels_give_what_a_gpu_gives_at_the_edges_of_the_types(number):
    assert not mistakes(number, checked=False)


@pytest.mark.parametrize("takes", [("f4", "f8"), ("f8", "f4"), ("i4", "f4")], ids="-".join)
@pytest.mark.costly
def test_checked_kernels_give_the_same(takes):
    number = next(k for k, rows in enumerate(GROUPS) if rows[0].takes == takes)
    assert not mistakes(number, checked=True)


def test_every_row_asserts_something():
    idle = []
    with np.errstate(all="ignore"):
        for row in ROWS:
            if all(row.rule(*v) is None for v in zip(*inputs(row.takes), strict=True)):
                idle.append(row.text)
    assert idle == []
