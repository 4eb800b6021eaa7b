"""Learning and statistics: clusters, neighbours, networks, densities, alignments in time."""

import itertools
import math

import numpy as np
from numba import cuda, float32, float64

from tests.programs.registry import program


@cuda.jit
def assign_clusters(points, centres, labels, sums, counts):
    i = cuda.grid(1)
    if i >= points.shape[0]:
        return
    best, nearest = math.inf, -1
    for c in range(centres.shape[0]):
        d = 0.0
        for k in range(points.shape[1]):
            d += (points[i, k] - centres[c, k]) ** 2
        if d < best:
            best, nearest = d, c
    labels[i] = nearest
    cuda.atomic.add(counts, nearest, 1)
    for k in range(points.shape[1]):
        cuda.atomic.add(sums, (nearest, k), points[i, k])


@cuda.jit
def move_centres(centres, sums, counts):
    c, k = cuda.grid(2)
    if c < centres.shape[0] and k < centres.shape[1] and counts[c] > 0:
        centres[c, k] = sums[c, k] / counts[c]


@program(warns="never-written")
def k_means():
    points = np.random.default_rng(1).normal(size=(90, 3)) + np.repeat(np.eye(3) * 4, 30, 0)
    centres, wanted = points[::30].copy(), points[::30].copy()
    labels = np.full(90, -1, np.int32)
    for _ in range(4):
        sums, counts = np.zeros((3, 3)), np.zeros(3, np.int32)
        assign_clusters[3, 32](points, centres, labels, sums, counts)
        move_centres[(1, 1), (4, 4)](centres, sums, counts)
        near = ((points[:, None] - wanted) ** 2).sum(-1).argmin(1)
        wanted = np.stack([points[near == c].mean(0) for c in range(3)])
    yield labels, near
    yield centres, wanted


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


@cuda.jit
def gradient_step(x, y, w, grad):
    shared = cuda.shared.array(4, float64)
    t = cuda.threadIdx.x
    if t < 4:
        shared[t] = 0.0
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < x.shape[0]:
        z = 0.0
        for k in range(4):
            z += x[i, k] * w[k]
        error = 1 / (1 + math.exp(-z)) - y[i]
        for k in range(4):
            cuda.atomic.add(shared, k, error * x[i, k])
    cuda.syncthreads()
    if t < 4:
        cuda.atomic.add(grad, t, shared[t] / x.shape[0])


@program()
def logistic_regression_by_gradient_descent():
    x = np.random.default_rng(7).normal(size=(77, 4))
    y = (x @ [1, -2, 0.5, 0] > 0).astype(np.float64)
    w, v = np.zeros(4), np.zeros(4)
    for _ in range(5):
        grad = np.zeros(4)
        gradient_step[3, 32](x, y, w, grad)
        w -= 0.5 * grad
        v -= 0.5 * x.T @ (1 / (1 + np.exp(-x @ v)) - y) / 77
    yield w, v


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
def time_warp(a, b, table):
    j = cuda.threadIdx.x
    for d in range(a.size + b.size - 1):
        i = d - j
        if 0 <= i < a.size and j < b.size:
            cost = abs(a[i] - b[j])
            if i == 0 and j == 0:
                table[i, j] = cost
            elif i == 0:
                table[i, j] = cost + table[i, j - 1]
            elif j == 0:
                table[i, j] = cost + table[i - 1, j]
            else:
                table[i, j] = cost + min(table[i - 1, j], table[i, j - 1], table[i - 1, j - 1])
        cuda.syncthreads()


@program()
def dynamic_time_warping_by_diagonals():
    a, b = np.random.default_rng(9).random(23), np.random.default_rng(10).random(17)
    table = np.full((23, 17), np.nan)
    time_warp[1, 17](a, b, table)
    t = np.full((24, 18), np.inf)
    t[0, 0] = 0
    for i, j in np.ndindex(23, 17):
        t[i + 1, j + 1] = abs(a[i] - b[j]) + t[i : i + 2, j : j + 2].ravel()[:3].min()
    yield table, t[1:, 1:]


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


@cuda.jit
def count_inliers(points, pairs, tolerance, votes):
    h = cuda.grid(1)
    if h >= pairs.shape[0]:
        return
    p, q = points[pairs[h, 0]], points[pairs[h, 1]]
    nx, ny = q[1] - p[1], p[0] - q[0]
    norm = math.sqrt(nx * nx + ny * ny)
    if norm == 0:
        votes[h] = 0
        return
    n = 0
    for i in range(points.shape[0]):
        if abs((points[i, 0] - p[0]) * nx + (points[i, 1] - p[1]) * ny) < tolerance * norm:
            n += 1
    votes[h] = n


@program()
def ransac_line_hypotheses():
    rng = np.random.default_rng(12)
    points = rng.random((50, 2))
    points[:30, 1] = 0.5 * points[:30, 0] + 0.2
    pairs, votes = rng.integers(0, 50, (64, 2)), np.full(64, -1)
    pairs[7] = 4
    count_inliers[2, 32](points, pairs, 0.01, votes)
    a, b = points[pairs[:, 0]], points[pairs[:, 1]]
    d = np.linalg.norm(b - a, axis=1)
    cross = np.cross(
        np.pad(b - a, ((0, 0), (0, 1)))[:, None],
        np.pad(points - a[:, None], ((0, 0), (0, 0), (0, 1))),
    )
    yield votes, (np.abs(cross[..., 2]) < 0.01 * d[:, None]).sum(1)


@cuda.jit
def evolve(genes, fitness, picks, cut, out):
    i = cuda.grid(1)
    if i < genes.shape[0]:
        a, b = picks[i, 0], picks[i, 1]
        mother = a if fitness[a] >= fitness[b] else b
        a, b = picks[i, 2], picks[i, 3]
        father = a if fitness[a] >= fitness[b] else b
        for k in range(genes.shape[1]):
            out[i, k] = genes[mother, k] if k < cut[i] else genes[father, k] ^ (k == cut[i])


@program()
def genetic_algorithm_step():
    rng = np.random.default_rng(13)
    genes, picks = rng.integers(0, 2, (40, 12), np.uint8), rng.integers(0, 40, (40, 4))
    fitness, cut = genes.sum(1), rng.integers(0, 12, 40)
    out = np.full_like(genes, 9)
    evolve[2, 32](genes, fitness, picks, cut, out)
    f = fitness[picks]
    mother = np.where(f[:, 0] >= f[:, 1], picks[:, 0], picks[:, 1])
    father = np.where(f[:, 2] >= f[:, 3], picks[:, 2], picks[:, 3])
    k = np.arange(12)
    child = np.where(k < cut[:, None], genes[mother], genes[father])
    yield out, np.where(k == cut[:, None], 1 - child, child)
