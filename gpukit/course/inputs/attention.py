"""Queries, keys and values of causal attention, for the cases of several exercises."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gpukit.course.case import Array, Case, poison


def vectors(
    rng: np.random.Generator, n: int, size: int, around: ArrayLike
) -> tuple[Array, Array, Array]:
    """Return queries, keys and values of n positions; the scores of queries lie `around` these.

    Queries and keys are multiples of 1 / 16, so that the products and their sums are exact in
    float32.
    """
    q, k = np.round(rng.normal(0, 16, (2, n, size))) / 16
    k[:, 0] = 4 + np.round(rng.normal(0, 4, n)) / 16
    q[:, 0] += np.round(np.resize(around, n) * 16 * np.sqrt(size) / 4) / 16
    return q, k, rng.normal(0, 1, (n, size)) + 1


def case(q: Array, k: Array, v: Array, **launch: Any) -> Case:
    """Return the case of these queries, keys and values, rounded to float32, with this launch."""
    q, k, v = (array.astype(np.float32) for array in (q, k, v))
    wide_q, wide_k, wide_v = (array.astype(np.float64) for array in (q, k, v))
    scores = wide_q @ wide_k.T / np.sqrt(q.shape[1])
    scores[np.triu_indices(len(q), 1)] = -np.inf
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    out = e / e.sum(axis=1, keepdims=True) @ wide_v
    return Case(
        args={"q": q, "k": k, "v": v, "out": poison(q.shape)},
        expected={"out": out.astype(np.float32)},
        scale={"out": np.full(q.shape, np.abs(wide_v).max())},
        per="block",
        **launch,
    )
