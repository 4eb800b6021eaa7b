"""Loops by hand for the book's attention (`by_hand.py`): 32 rows at a time, 16 keys in a step."""

# mypy: ignore-errors
# ruff: noqa: ARG001  (not all loops need the shape of the launch)

from __future__ import annotations

import math

import numba
import numpy as np

from benchmarks import handwritten
from benchmarks.plain_loops.by_hand_matrices import _load
from benchmarks.plain_loops.plain import OPTIONS

njit = numba.njit(**OPTIONS)
U = np.uint64  # as in handwritten.py
BM, BN = 32, 16


@njit
def attention_softmax(grid, block, scores, weights, logsumexp):
    for row in range(scores.shape[0]):
        best = scores[row].max()
        total = scores.dtype.type(0)
        for k in range(scores.shape[1]):
            weights[row, k] = math.exp(scores[row, k] - best)
            total += weights[row, k]
        for k in range(scores.shape[1]):
            weights[row, k] /= total
        logsumexp[row] = best + math.log(total)


@njit
def _products(rows, first, others, t, rows_tile, others_tile, acc):
    """Set acc to the products of BM rows and BN others."""
    _load(rows, U(first), U(0), rows_tile)
    _load(others.T, U(0), U(t), others_tile)
    acc[:] = 0
    handwritten.multiply(acc, rows_tile, others_tile)


@njit
def _is_seen(row, k, rows, keys, causal):
    return row < rows and k < keys and (not causal or k <= row)


@njit
def attention_tiled(grid, block, query, key, value, scale, causal, out, logsumexp):
    (b, h, rows, d), (keys, dv) = query.shape, value.shape[2:]
    q_tile, k_tile = np.empty((BM, d), out.dtype), np.empty((d, BN), out.dtype)
    v_tile, scores = np.empty((BN, dv), out.dtype), np.empty((BM, BN), out.dtype)
    acc, highest, total = np.empty((BM, dv), out.dtype), np.empty(BM, out.dtype), np.empty(BM)
    for pair in range(b * h):
        i, j = pair // h, pair % h
        for first in range(0, rows, BM):
            acc[:], highest[:], total[:] = 0, -np.inf, 0
            for t in range(0, min(keys, first + BM) if causal else keys, BN):
                _products(query[i, j], first, key[i, j], t, q_tile, k_tile, scores)
                _load(value[i, j], U(t), U(0), v_tile)
                for r in range(BM):
                    best = highest[r]
                    for n in range(BN):
                        seen = _is_seen(first + r, t + n, first + BM, keys, causal)
                        scores[r, n] = scale * scores[r, n] if seen else -np.inf
                        best = max(best, scores[r, n])
                    factor = math.exp(highest[r] - best)
                    highest[r] = best
                    total[r] *= factor
                    for n in range(BN):
                        scores[r, n] = math.exp(scores[r, n] - best)
                        total[r] += scores[r, n]
                    for c in range(dv):
                        acc[r, c] *= factor
                handwritten.multiply(acc, scores, v_tile)
            for r in range(min(BM, rows - first)):
                logsumexp[i, j, first + r] = highest[r] + math.log(total[r])
                for c in range(dv):
                    out[i, j, first + r, c] = acc[r, c] / total[r]


@njit
def attention_tiled_grad_query(
    grid, block, grad_out, query, key, value, logsumexp, delta, scale, causal, grad_query
):
    (b, h, rows, d), (keys, dv), dtype = query.shape, value.shape[2:], query.dtype
    q_tile, g_tile = np.empty((BM, d), dtype), np.empty((BM, dv), dtype)
    k_tile, v_tile = np.empty((d, BN), dtype), np.empty((dv, BN), dtype)
    scores, slopes = np.empty((BM, BN), dtype), np.empty((BM, BN), dtype)
    k_rows, acc = np.empty((BN, d), dtype), np.empty((BM, d), dtype)
    for pair in range(b * h):
        i, j = pair // h, pair % h
        for first in range(0, rows, BM):
            acc[:] = 0
            for t in range(0, min(keys, first + BM) if causal else keys, BN):
                _products(query[i, j], first, key[i, j], t, q_tile, k_tile, scores)
                _products(grad_out[i, j], first, value[i, j], t, g_tile, v_tile, slopes)
                _load(key[i, j], U(t), U(0), k_rows)
                for r in range(BM):
                    row = first + r
                    for n in range(BN):
                        grad = dtype.type(0)
                        if _is_seen(row, t + n, rows, keys, causal):
                            weight = math.exp(scale * scores[r, n] - logsumexp[i, j, row])
                            grad = scale * weight * (slopes[r, n] - delta[i, j, row])
                        scores[r, n] = grad
                handwritten.multiply(acc, scores, k_rows)
            for r in range(min(BM, rows - first)):
                grad_query[i, j, first + r] = acc[r]


@njit
def attention_tiled_grad_key_value(
    grid, block, grad_out, query, key, value, logsumexp, delta, scale, causal, grad_key, grad_value
):
    (b, h, rows, d), (keys, dv), dtype = query.shape, value.shape[2:], query.dtype
    k_tile, v_tile = np.empty((BM, d), dtype), np.empty((BM, dv), dtype)
    q_tile, g_tile = np.empty((d, BN), dtype), np.empty((dv, BN), dtype)
    q_rows, g_rows = np.empty((BN, d), dtype), np.empty((BN, dv), dtype)
    scores, slopes = np.empty((BM, BN), dtype), np.empty((BM, BN), dtype)
    of_keys, of_values = np.empty((BM, d), dtype), np.empty((BM, dv), dtype)
    for pair in range(b * h):
        i, j = pair // h, pair % h
        for first in range(0, keys, BM):
            of_keys[:], of_values[:] = 0, 0
            for t in range(first if causal else 0, rows, BN):
                _products(key[i, j], first, query[i, j], t, k_tile, q_tile, scores)
                _products(value[i, j], first, grad_out[i, j], t, v_tile, g_tile, slopes)
                _load(query[i, j], U(t), U(0), q_rows)
                _load(grad_out[i, j], U(t), U(0), g_rows)
                for r in range(BM):
                    for n in range(BN):
                        row, weight = t + n, dtype.type(0)
                        if _is_seen(row, first + r, rows, keys, causal):
                            weight = math.exp(scale * scores[r, n] - logsumexp[i, j, row])
                            slopes[r, n] = scale * weight * (slopes[r, n] - delta[i, j, row])
                        else:
                            slopes[r, n] = 0
                        scores[r, n] = weight
                handwritten.multiply(of_values, scores, g_rows)
                handwritten.multiply(of_keys, slopes, q_rows)
            for r in range(min(BM, keys - first)):
                grad_key[i, j, first + r] = of_keys[r]
                grad_value[i, j, first + r] = of_values[r]


LOOPS = {
    "attention_softmax": attention_softmax,
    "attention_tiled": attention_tiled,
    "attention_tiled_grad_query": attention_tiled_grad_query,
    "attention_tiled_grad_key_value": attention_tiled_grad_key_value,
}
