"""Cases of chapter 07: numbers by chance, dropout, embeddings, normalisation."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpukit.bench.register import (
    Launches,
    contest,
    family,
    launched,
    pick,
    poisoned,
    random,
    zeroed,
)
from gpukit.bench.timing import Contest
from gpukit.kernels import dropout, embedding, philox
from gpukit.launch import Rung

SEED = 20261125


def _draw(xp: Any, mine: Any) -> None:
    """Fill an array with a library's own random numbers."""
    xp.random.default_rng(SEED).random(dtype=np.float32, out=mine)


@family(*philox.LADDER)
def _rand(name: str, rung: Rung, quick: bool) -> Contest:
    n = pick(quick, 100_000, 10_000_000, 100_000_000)
    chance, out = philox.rand_reference(n, SEED).astype(np.float32), poisoned((n,), np.float32)

    def rand(xp: Any, chance: Any, mine: Any) -> Any:
        _draw(xp, mine)  # others than ours, so the answer are the right ones
        return chance

    return contest(
        name, f"{n:,}", launched(rung, (n,), np.uint64(SEED), np.uint64(0), out), rand, out,
        given=(chance, np.empty(n, np.float32)), expected=lambda: rung.reference(n, SEED),
        cost=rung.cost(n),
    )  # fmt: skip


@family(*dropout.LADDER)
def _dropout(name: str, rung: Rung, quick: bool) -> Contest:
    n = pick(quick, 100_000, 10_000_000, 100_000_000)
    x, out = random(n), poisoned((n,), np.float32)
    chance = philox.rand_reference(n, SEED).astype(np.float32)
    arguments = x, np.float32(0.5), np.float32(2), np.uint64(SEED), np.uint64(0), out

    def work(xp: Any, x: Any, chance: Any, mine: Any) -> None:
        _draw(xp, mine)  # it costs what it costs; but with our numbers the answers are the same
        kept = chance >= np.float32(0.5)
        xp.multiply(x, kept, out=mine)
        xp.multiply(mine, np.float32(2), out=mine)

    return contest(
        name, f"{n:,}", launched(rung, (n,), *arguments), work, out,
        given=(x, chance, np.empty(n, np.float32)),
        expected=lambda: rung.reference(x, 0.5, SEED), cost=rung.cost(n),
    )  # fmt: skip


def _table(quick: bool) -> tuple[int, int, int, Any]:
    """Return how many indices there are, the height and width of the table, and the indices."""
    n, rows, cols = pick(quick, (500, 700, 96), (13_000, 5000, 768), (65_536, 50_257, 768))
    return n, rows, cols, np.random.default_rng(SEED).integers(0, rows, n)


@family(embedding.LADDER[0])
def _embedding(name: str, rung: Rung, quick: bool) -> Contest:
    n, rows, cols, index = _table(quick)
    weight, out = random(rows, cols), poisoned((n, cols), np.float32)
    return contest(
        name, f"{n} of {rows} x {cols}", launched(rung, (cols, n), index, weight, out),
        lambda xp, index, weight, mine: xp.take(weight, index, axis=0, out=mine), out,
        given=(index, weight, np.empty((n, cols), np.float32)),
        expected=lambda: rung.reference(index, weight), cost=rung.cost(n, cols),
        least=2 * 4 * n * cols + index.nbytes,
    )  # fmt: skip


@family(*embedding.GRAD_LADDER)
def _embedding_grad(name: str, rung: Rung, quick: bool) -> Contest:
    n, rows, cols, index = _table(quick)
    grad, out = random(n, cols), poisoned((rows, cols), np.float32)
    mine = np.empty((rows, cols), np.float32)
    sizes = (cols,) if name.endswith("column") else (cols, n)

    def add_at(xp: Any, grad: Any, index: Any, mine: Any) -> None:
        mine[:] = 0
        xp.add.at(mine, index, grad)

    return contest(
        name, f"{n} to {rows} x {cols}",
        Launches(zeroed(out.reshape(-1)), launched(rung, sizes, grad, index, out)), add_at, out,
        given=(grad, index, mine), terms=8, expected=lambda: rung.reference(grad, index, rows),
        cost=rung.cost(n, cols), least=grad.nbytes + index.nbytes + mine.nbytes,
    )  # fmt: skip
