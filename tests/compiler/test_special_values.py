"""Results at the edges of the types are those of a GPU: the table is in `special_values`."""

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
AT_ONCE = 16  # rows per kernel


def kernel_of(rows: tuple[Row, ...]):
    """Return a kernel that evaluates the expressions of these rows, with one output per row."""
    takes = rows[0].takes
    parameters = [f"{v}_" for v in "xyz"[: len(takes)]]
    outs = [f"out{k}" for k in range(len(rows))]
    lines = [f"def special_values_kernel({', '.join([*parameters, *outs])}):"]
    lines += ["    i = cuda.grid(1)", "    if i < x_.size:"]
    lines += [f"        {v[0]} = {v}[i]" for v in parameters]
    lines += [f"        {out}[i] = {row.text}" for out, row in zip(outs, rows, strict=True)]
    text = "\n".join(lines) + "\n"
    file = f"<special values {abs(hash(text))}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    scope = {"np": np, "math": math, "cuda": cuda}
    exec(compile(text, file, "exec"), scope)
    return cuda.jit(scope["special_values_kernel"])


def groups() -> list[tuple[Row, ...]]:
    """Return the rows in groups with the same input types."""
    ordered = sorted(ROWS, key=lambda row: row.takes)
    found = []
    for _, rows in itertools.groupby(ordered, key=lambda row: row.takes):
        several = list(rows)
        found += [tuple(several[k : k + AT_ONCE]) for k in range(0, len(several), AT_ONCE)]
    return found


GROUPS = groups()


def wrong(row: Row, arguments, out) -> list[str]:
    """Return the wrong results of a row, as text."""
    found = []
    with np.errstate(all="ignore"):
        for k, values in enumerate(zip(*arguments, strict=True)):
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
    """Return the wrong results of a group of rows, by expression."""
    rows = GROUPS[number]
    arguments = inputs(rows[0].takes)
    outs = [np.full(arguments[0].size, 77, KINDS[row.gives]) for row in rows]
    kernel = kernel_of(rows)
    launch = gpukit.check(kernel) if checked else kernel
    launch[-(-arguments[0].size // 128), 128](*arguments, *outs)
    pairs = zip(rows, outs, strict=True)
    found = {f"{row.text} of {row.takes}": wrong(row, arguments, out) for row, out in pairs}
    return {text: lines[:4] for text, lines in found.items() if lines}


@pytest.mark.parametrize("number", range(len(GROUPS)), ids=named)
@pytest.mark.costly
def test_results_at_the_edges_of_the_types_are_those_of_a_gpu(number):
    assert not mistakes(number, checked=False)


@pytest.mark.parametrize("takes", [("f4", "f8"), ("f8", "f4"), ("i4", "f4")], ids="-".join)
@pytest.mark.costly
def test_checked_launches_give_the_same_results(takes):
    number = next(k for k, rows in enumerate(GROUPS) if rows[0].takes == takes)
    assert not mistakes(number, checked=True)


def test_every_row_asserts_something():
    idle = []
    with np.errstate(all="ignore"):
        for row in ROWS:
            if all(row.rule(*v) is None for v in zip(*inputs(row.takes), strict=True)):
                idle.append(row.text)
    assert idle == []
