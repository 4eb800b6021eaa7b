"""Races in global memory in the training of networks: gradients that many threads add to."""

import numpy as np

from gpukit import cuda
from tests.bugs.case import Launch, case, counts, reals, zeros

TILE = 8
HALF = 32
N = 2 * HALF
TWO = Launch(2, HALF)


@cuda.jit
def bias_gradient_plain_kernel(dy, db):
    """Adds a column's gradients with one thread an element, all into one cell."""
    col, row = cuda.grid(2)
    if row < dy.shape[0] and col < dy.shape[1]:
        db[col] += dy[row, col]  # BUG


@cuda.jit
def bias_gradient_kernel(dy, db):
    """Gives each column to one thread."""
    col, row = cuda.grid(2)
    if row == 0 and col < dy.shape[1]:
        acc = np.float32(0)
        for k in range(dy.shape[0]):
            acc += dy[k, col]
        db[col] = acc


case(
    bias_gradient_plain_kernel, bias_gradient_kernel, "global-race",
    Launch((1, 2), (TILE, TILE)), fixed_launch=Launch((1, 1), (TILE, TILE)),
    arguments=lambda: (reals(2 * TILE, TILE), zeros(TILE)),
    expected=lambda dy, db: dy.sum(0),
)  # fmt: skip


@cuda.jit
def weight_gradient_plain_kernel(x, dy, dw):
    """Shares the batch between threads, which all add to the same weights."""
    sample = cuda.grid(1)
    if sample < x.shape[0]:
        for j in range(x.shape[1]):
            dw[j] += dy[sample] * x[sample, j]  # BUG


@cuda.jit
def weight_gradient_kernel(x, dy, dw):
    """Shares the weights between threads, each of which adds up the batch."""
    j = cuda.grid(1)
    if j < x.shape[1]:
        acc = np.float32(0)
        for sample in range(x.shape[0]):
            acc += dy[sample] * x[sample, j]
        dw[j] = acc


case(
    weight_gradient_plain_kernel, weight_gradient_kernel, "global-race", TWO,
    fixed_launch=Launch(1, HALF),
    arguments=lambda: (reals(N, 5), reals(N, seed=8), zeros(5)),
    expected=lambda x, dy, dw: dy @ x,
)  # fmt: skip


@cuda.jit
def embedding_gradient_plain_kernel(ids, dy, dtable):
    """Scatters gradients to the rows of a table; two samples may name one row."""
    i = cuda.grid(1)
    if i < ids.shape[0]:
        dtable[ids[i]] = dtable[ids[i]] + dy[i]  # BUG


@cuda.jit
def embedding_gradient_kernel(ids, dy, dtable):
    """Scatters with an atomic."""
    i = cuda.grid(1)
    if i < ids.shape[0]:
        cuda.atomic.add(dtable, ids[i], dy[i])


case(
    embedding_gradient_plain_kernel, embedding_gradient_kernel, "global-race", TWO,
    arguments=lambda: (counts(N, 10), counts(N, 50, seed=8), zeros(10, dtype=np.int32)),
    expected=lambda ids, dy, dtable: np.bincount(ids, dy, 10),
)  # fmt: skip


@cuda.jit
def pool_gradient_overlap_kernel(best, dy, dx):
    """Adds to the input of overlapping pooling windows, as if each had its own input."""
    i = cuda.grid(1)
    if i < dy.shape[0]:
        dx[i + best[i]] += dy[i]  # BUG


@cuda.jit
def pool_gradient_kernel(best, dy, dx):
    """Asks from the input's side which windows chose it."""
    j = cuda.grid(1)
    if j < dx.shape[0]:
        acc = 0
        for offset in range(3):
            i = j - offset
            if 0 <= i < dy.shape[0] and best[i] == offset:
                acc += dy[i]
        dx[j] = acc


def pool_gradient(best, dy, dx):
    np.add.at(dx, np.arange(N - 2) + best, dy)
    return dx


case(
    pool_gradient_overlap_kernel, pool_gradient_kernel, "global-race", TWO,
    arguments=lambda: (
        2 - (np.arange(N - 2, dtype=np.int32) + 2) % 3, counts(N - 2, 50),
        zeros(N, dtype=np.int32),
    ),
    expected=pool_gradient,
)  # fmt: skip


@cuda.jit
def hogwild_step_kernel(x, error, rate, w):
    """Lets every sample step the weights in place, one after the other as it seems."""
    sample = cuda.grid(1)
    if sample < x.shape[0]:
        for j in range(w.shape[0]):
            w[j] -= rate * error[sample] * x[sample, j]  # BUG


@cuda.jit
def batch_step_kernel(x, error, rate, w):
    """Gives each weight to one thread, which steps once for the whole batch."""
    j = cuda.grid(1)
    if j < w.shape[0]:
        acc = np.float32(0)
        for sample in range(x.shape[0]):
            acc += error[sample] * x[sample, j]
        w[j] -= rate * acc


case(
    hogwild_step_kernel, batch_step_kernel, "global-race", TWO, fixed_launch=Launch(1, HALF),
    arguments=lambda: (reals(N, 4), reals(N, seed=8), np.float32(0.01), reals(4, seed=9)),
    expected=lambda x, error, rate, w: w - rate * (error @ x),
)  # fmt: skip
