"""Learning and statistics: clusters, neighbours, networks, densities, alignments in time."""

import itertools
import math

import numpy as np
from numba import cuda, float32

from tests.programs.registry import program


@cuda.jit
def knn_vote(train, labels, test, out):
    q = cuda.grid(1)
    best_d = cuda.local.array(3, float32)
    best_l = cuda.local.array(3, float32)
    if q < test.shape[0]:
        for k in range(3):
            best_d[k] = np.inf
            best_l[k] = -1
        for i in range(train.shape[0]):
            d = float32(0)
            for f in range(train.shape[1]):
                d += (train[i, f] - test[q, f]) ** 2
            k = 2
            if d < best_d[k]:
                while k > 0 and best_d[k - 1] > d:
                    best_d[k], best_l[k] = best_d[k - 1], best_l[k - 1]
                    k -= 1
                best_d[k], best_l[k] = d, labels[i]
        out[q] = 1 if best_l[0] + best_l[1] + best_l[2] >= 2 else 0


@program()
def nearest_neighbours_by_insertion():
    rng = np.random.default_rng(2)
    train, test = rng.random((60, 2), np.float32), rng.random((33, 2), np.float32)
    labels, out = (train[:, 0] > 0.5).astype(np.int32), np.full(33, -1, np.int32)
    knn_vote[2, 32](train, labels, test, out)
    d = ((test[:, None] - train) ** 2).sum(-1)
    yield out, np.median(labels[np.argsort(d, 1)[:, :3]], axis=1).astype(int)


@cuda.jit
def softmax_rows(x, out):
    row = cuda.blockIdx.x
    t = cuda.threadIdx.x
    buf = cuda.shared.array(32, float32)
    m = float32(-math.inf)
    for c in range(t, x.shape[1], 32):
        m = max(m, x[row, c])
    buf[t] = m
    cuda.syncthreads()
    for s in (16, 8, 4, 2, 1):
        if t < s:
            buf[t] = max(buf[t], buf[t + s])
        cuda.syncthreads()
    m = buf[0]
    cuda.syncthreads()
    total = float32(0)
    for c in range(t, x.shape[1], 32):
        total += math.exp(x[row, c] - m)
    buf[t] = total
    cuda.syncthreads()
    for s in (16, 8, 4, 2, 1):
        if t < s:
            buf[t] += buf[t + s]
        cuda.syncthreads()
    for c in range(t, x.shape[1], 32):
        out[row, c] = math.exp(x[row, c] - m) / buf[0]


@program()
def softmax_a_block_a_row():
    x = np.random.default_rng(3).normal(0, 4, (5, 71)).astype(np.float32)
    out = np.full_like(x, np.nan)
    softmax_rows[5, 32](x, out)
    e = np.exp(x.astype(np.float64))
    yield out, e / e.sum(1, keepdims=True)


@cuda.jit
def conv_layer(x, w, b, out):
    n_f, i, j = cuda.grid(3)
    images, filters = x.shape[0], w.shape[0]
    if n_f < images * filters and i < out.shape[2] and j < out.shape[3]:
        n, f = n_f // filters, n_f % filters
        acc = b[f]
        for c in range(x.shape[1]):
            for p in range(w.shape[2]):
                for q in range(w.shape[3]):
                    acc += x[n, c, i + p, j + q] * w[f, c, p, q]
        out[n, f, i, j] = acc if acc > 0 else 0.1 * acc


@cuda.jit
def max_pool(x, out, places):
    flat = cuda.grid(1)
    if flat >= out.size:
        return
    n_c, r = divmod(flat, out.shape[2] * out.shape[3])
    n, c = divmod(n_c, out.shape[1])
    i, j = divmod(r, out.shape[3])
    best, where = x[n, c, 2 * i, 2 * j], 0
    for k in range(1, 4):
        v = x[n, c, 2 * i + k // 2, 2 * j + k % 2]
        if v > best:
            best, where = v, k
    out[n, c, i, j], places[n, c, i, j] = best, where


@program()
def convolution_and_pooling_of_four_axes():
    rng = np.random.default_rng(4)
    x, w, b = rng.normal(size=(2, 3, 8, 9)), rng.normal(size=(4, 3, 3, 2)), rng.normal(size=4)
    y = np.full((2, 4, 6, 8), np.nan)
    conv_layer[(2, 2, 2), (4, 4, 4)](x, w, b, y)
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 2), axis=(2, 3))
    z = np.einsum("ncijpq,fcpq->nfij", windows, w) + b[:, None, None]
    z = np.where(z > 0, z, z / 10)
    yield y, z
    pooled, places = np.full((2, 4, 3, 4), np.nan), np.full((2, 4, 3, 4), -1, np.int8)
    max_pool[3, 32](y, pooled, places)
    tiles = z.reshape(2, 4, 3, 2, 4, 2).swapaxes(3, 4).reshape(2, 4, 3, 4, 4)
    yield pooled, tiles.max(-1)
    yield places, tiles.argmax(-1)


class Perceptron:
    def __init__(self, sizes, seed):
        rng = np.random.default_rng(seed)
        self.weights = [rng.normal(size=s) for s in itertools.pairwise(sizes)]

    @staticmethod
    @cuda.jit
    def forward(x, w, out, activate):
        i, j = cuda.grid(2)
        if i < x.shape[0] and j < w.shape[1]:
            s = 0.0
            for k in range(w.shape[0]):
                s += x[i, k] * w[k, j]
            out[i, j] = 1 / (1 + math.exp(-s)) if activate else s

    def __call__(self, x):
        for k, w in enumerate(self.weights):
            out = cuda.device_array((x.shape[0], w.shape[1]))
            grid = tuple(math.ceil(n / 8) for n in out.shape)
            self.forward[grid, (8, 8)](x, w, out, k < len(self.weights) - 1)
            x = out
        return x


@program()
def perceptron_in_a_class():
    net = Perceptron((5, 9, 4, 2), 5)
    x = np.random.default_rng(6).normal(size=(11, 5))
    y = x
    for w in net.weights[:-1]:
        y = 0.5 * (1 + np.tanh(y @ w / 2))
    yield net(x), y @ net.weights[-1]


@cuda.jit(fastmath=True)
def density(samples, grid, bandwidth, out):
    i = cuda.grid(1)
    if i < grid.size:
        s = 0.0
        for x in samples:
            u = (grid[i] - x) / bandwidth
            s += math.exp(-0.5 * u * u)
        out[i] = s / (samples.size * bandwidth * math.sqrt(2 * math.pi))


@program()
def kernel_density_with_fastmath():
    samples, grid = np.random.default_rng(8).normal(size=60), np.linspace(-3, 3, 41)
    out = np.full(41, np.nan)
    density[2, 32](samples, grid, 0.3, out)
    u = np.subtract.outer(grid, samples) / 0.3
    yield out, np.exp(-(u**2) / 2).mean(1) / (0.3 * np.sqrt(2 * np.pi))


@cuda.jit
def squared_exponential(x, y, out, lengths, noise):
    i, j = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        r2 = 0.0
        for k, length in enumerate(lengths):
            r2 += ((x[i, k] - y[j, k]) / length) ** 2
        out[i, j] = math.exp(-0.5 * r2) + (noise if i == j else 0)


@program()
def gaussian_process_kernel_with_a_tuple():
    x = np.random.default_rng(11).normal(size=(19, 2))
    out = np.full((19, 19), np.nan)
    squared_exponential[(3, 3), (8, 8)](x, x, out, (0.5, 2.0), 1e-2)
    d = x[:, None] / [0.5, 2] - x / [0.5, 2]
    yield out, np.exp(-(d**2).sum(-1) / 2) + 0.01 * np.eye(19)
