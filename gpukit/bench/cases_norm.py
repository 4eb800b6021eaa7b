"""Cases of chapter 07: numbers by chance, dropout, embeddings, normalisation."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpukit.bench.register import contest, family, launched, pick, poisoned, random
from gpukit.bench.timing import Contest
from gpukit.kernels import dropout, philox
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
