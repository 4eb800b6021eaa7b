"""Graphs and text: searches, shortest paths, ranks, alignments, matching, puzzles."""

import numpy as np
from numba import cuda, int32, uint8

from tests.programs.registry import program

INF = np.int32(2**30)


def graph(n, seed, degree=3):
    """Edges of a random graph as CSR arrays, and its matrix of weights."""
    rng = np.random.default_rng(seed)
    weights = np.where(rng.random((n, n)) < degree / n, rng.integers(1, 20, (n, n)), 0)
    np.fill_diagonal(weights, 0)
    rows, cols = np.nonzero(weights)
    start = np.searchsorted(rows, np.arange(n + 1)).astype(np.int32)
    return start, cols.astype(np.int32), weights[rows, cols].astype(np.int32), weights


def distances(weights):
    d = np.where(weights > 0, weights, INF).astype(np.int64)
    np.fill_diagonal(d, 0)
    for _ in range(7):
        d = np.minimum(d, (d[:, :, None] + d[None]).min(1))
    return np.minimum(d, INF)


@cuda.jit
def bfs_pull(start, edges, level, nxt, depth, more):
    v = cuda.grid(1)
    if v < level.size:
        nxt[v] = level[v]
        if level[v] < 0:
            for e in range(start[v], start[v + 1]):
                if level[edges[e]] == depth:
                    nxt[v] = depth + 1
                    cuda.atomic.add(more, 0, 1)
                    break


@program()
def breadth_first_search_that_pulls():
    start, edges, _, weights = graph(50, 1)
    n = 50
    reach = np.full((n, 1), -1)
    frontier = np.zeros((n, 1), bool)
    frontier[0] = reach[0] = True
    reach[0] = 0
    depth = 0
    while frontier.any():
        depth += 1
        frontier = (weights > 0) @ frontier & (reach < 0)
        reach[frontier] = depth
    level = cuda.to_device(np.where(np.arange(n) == 0, 0, -1).astype(np.int32))
    nxt = cuda.device_array_like(level)
    depth, more = 0, np.ones(1, np.int32)
    while more[0]:
        more[0] = 0
        bfs_pull[2, 32](start, edges, level, nxt, depth, more)
        level, nxt, depth = nxt, level, depth + 1
    yield level, reach[:, 0]


@cuda.jit
def bellman_ford(sources, edges, lengths, dist, out):
    e = cuda.grid(1)
    if e < edges.size:
        d = dist[sources[e]]
        if d < INF:
            cuda.atomic.min(out, edges[e], d + lengths[e])


@program()
def shortest_paths_by_relaxing_edges():
    start, edges, lengths, weights = graph(40, 2)
    sources = np.repeat(np.arange(40), np.diff(start)).astype(np.int32)
    dist = np.where(np.arange(40) == 3, 0, INF).astype(np.int32)
    d_dist = cuda.to_device(dist)
    for _ in range(40):
        out = cuda.to_device(d_dist.copy_to_host())
        bellman_ford[(edges.size + 63) // 64, 64](sources, edges, lengths, d_dist, out)
        if (out.copy_to_host() == d_dist.copy_to_host()).all():
            break
        d_dist = out
    yield d_dist, distances(weights)[3]


@cuda.jit
def floyd_warshall(d, nxt, k):
    i, j = cuda.grid(2)
    n = d.shape[0]
    if i < n and j < n and i != k and j != k:
        through = d[i, k] + d[k, j]
        if through < d[i, j]:
            d[i, j] = through
            nxt[i, j] = k


@program(warns="never-written")
def floyd_warshall_by_launches():
    _, _, _, weights = graph(21, 3, 4)
    d = np.where(weights > 0, weights, INF).astype(np.int32)
    np.fill_diagonal(d, 0)
    nxt = np.full((21, 21), -1, np.int32)
    for k in range(21):
        floyd_warshall[(3, 3), (8, 8)](d, nxt, k)
    wanted = distances(weights)
    yield np.minimum(d, INF), wanted
    paths = np.argwhere(nxt >= 0)
    through = [wanted[i, nxt[i, j]] + wanted[nxt[i, j], j] for i, j in paths]
    yield d[nxt >= 0], through


@cuda.jit
def pagerank(start, edges, degree, rank, out, damping):
    v = cuda.grid(1)
    if v < rank.shape[0]:
        s = 0.0
        for e in range(start[v], start[v + 1]):
            s += rank[edges[e]] / degree[edges[e]]
        out[v] = (1 - damping) / rank.shape[0] + damping * s


@program(tolerance=1e-6)
def pagerank_until_it_settles():
    start, edges, _, weights = graph(30, 4)
    links = (weights > 0).astype(float)
    degree = np.maximum(links.sum(0), 1)
    rank = cuda.to_device(np.full(30, 1 / 30))
    out = cuda.device_array(30)
    for _ in range(60):
        pagerank[1, 32](start, edges, degree, rank, out, 0.85)
        rank, out = out, rank
    yield rank, np.linalg.solve(np.eye(30) - 0.85 * links / degree, np.full(30, 0.15 / 30))


@cuda.jit
def triangles(adjacency, count):
    i, j, k = cuda.grid(3)
    if i < j < k < adjacency.shape[0]:
        if adjacency[i, j] and adjacency[j, k] and adjacency[i, k]:
            cuda.atomic.add(count, 0, 1)


@program()
def triangle_count_on_a_grid_of_three_axes():
    a = np.triu(np.random.default_rng(5).random((19, 19)) < 0.3, 1)
    a |= a.T
    count = np.zeros(1, np.int64)
    triangles[(5, 5, 5), (4, 4, 4)](a, count)
    m = a.astype(int)
    yield count, [np.trace(m @ m @ m) // 6]


@cuda.jit
def edit_distance_diagonals(a, b, table):
    t = cuda.threadIdx.x
    n, m = a.size, b.size
    for d in range(n + m + 1):
        i = d - t
        if t <= m and 0 <= i <= n:
            if i == 0 or t == 0:
                table[i, t] = d
            else:
                cost = 0 if a[i - 1] == b[t - 1] else 1
                table[i, t] = min(
                    table[i - 1, t] + 1, table[i, t - 1] + 1, table[i - 1, t - 1] + cost
                )
        cuda.syncthreads()


def letters(text):
    return np.frombuffer(text.encode(), np.uint8)


@program()
def edit_distance_by_diagonals_in_one_block():
    a, b = "intentionally", "executional"
    table = np.full((len(a) + 1, len(b) + 1), -1, np.int32)
    edit_distance_diagonals[1, 32](letters(a), letters(b), table)
    row, rows = list(range(len(b) + 1)), []
    rows.append(row)
    for i, x in enumerate(a, 1):
        new = [i]
        for j, y in enumerate(b):
            new.append(min(new[-1] + 1, row[j + 1] + 1, row[j] + (x != y)))
        row = new
        rows.append(row)
    yield table, rows


@cuda.jit
def smith_waterman(a, b, scores, best):
    row = cuda.shared.array((3, 32), int32)
    t = cuda.threadIdx.x
    for k in range(3):
        row[k, t] = 0
    top = 0
    cuda.syncthreads()
    for d in range(a.size + b.size - 1):
        i = d - t
        now, last, older = d % 3, (d + 2) % 3, (d + 1) % 3
        if t < b.size:
            h = 0
            if 0 <= i < a.size:
                diag = row[older, t - 1] if t > 0 and i > 0 else 0
                left = row[last, t - 1] if t > 0 else 0
                up = row[last, t] if i > 0 else 0
                h = max(0, diag + (2 if a[i] == b[t] else -1), left - 1, up - 1)
                scores[i, t] = h
                top = max(top, h)
            row[now, t] = h
        cuda.syncthreads()
    cuda.atomic.max(best, 0, top)


@program()
def smith_waterman_with_three_diagonals():
    a, b = "GGTTGACTAGGCATTCAAG", "TGTTACGGATCC"
    scores, best = np.full((len(a), len(b)), -9, np.int32), np.zeros(1, np.int32)
    smith_waterman[1, 32](letters(a), letters(b), scores, best)
    h = np.zeros((len(a) + 1, len(b) + 1), int)
    for i, j in np.ndindex(len(a), len(b)):
        match = h[i, j] + (2 if a[i] == b[j] else -1)
        h[i + 1, j + 1] = max(0, match, h[i, j + 1] - 1, h[i + 1, j] - 1)
    yield scores, h[1:, 1:]
    yield best, [h.max()]


@cuda.jit
def count_pattern(text, pattern, places, count):
    i = cuda.grid(1)
    if i > text.size - pattern.size:
        return
    for k in range(pattern.size):
        c = text[i + k]
        if uint8(65) <= c <= uint8(90):
            c += 32
        if c != pattern[k] and pattern[k] != ord("?"):
            break
    else:
        places[i] = 1
        cuda.atomic.add(count, 0, 1)


@program(warns="never-written")
def pattern_matching_with_for_else():
    import re

    text = "The cat sat; a CUT, a cot and a cit-cat. Cab? " * 3
    places, count = np.zeros(len(text), np.uint8), np.zeros(1, np.int32)
    count_pattern[5, 32](letters(text), letters("c?t"), places, count)
    wanted = [m.start() for m in re.finditer("(?=c.t)", text.lower())]
    yield count, [len(wanted)]
    yield np.flatnonzero(places), wanted


@cuda.jit
def caesar_and_count(text, shift, out, counts):
    tally = cuda.shared.array(26, int32)
    t = cuda.threadIdx.x
    if t < 26:
        tally[t] = 0
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < text.size:
        c = text[i]
        if c >= 97 and c <= 122:
            c = (c - 97 + shift) % 26 + 97
            cuda.atomic.add(tally, c - 97, 1)
        out[i] = c
    cuda.syncthreads()
    if t < 26:
        cuda.atomic.add(counts, t, tally[t])


@program()
def caesar_cipher_with_letter_counts():
    text = "the quick brown fox jumps over the lazy dog, twice. " * 2
    out, counts = np.zeros(len(text), np.uint8), np.zeros(26, np.int32)
    caesar_and_count[4, 32](letters(text), -5, out, counts)
    plain = "abcdefghijklmnopqrstuvwxyz"
    coded = text.translate(str.maketrans(plain, plain[-5:] + plain[:-5]))
    yield out, letters(coded)
    yield counts, [coded.count(c) for c in plain]


@cuda.jit
def sudoku_candidates(board, out):
    r, c = cuda.threadIdx.y, cuda.threadIdx.x
    seen = 0
    for k in range(9):
        seen |= 1 << board[r, k] | 1 << board[k, c]
        seen |= 1 << board[r // 3 * 3 + k // 3, c // 3 * 3 + k % 3]
    out[r, c] = 0 if board[r, c] else ~seen & 0b1111111110


@program()
def sudoku_candidates_as_bits():
    board = (
        np.random.default_rng(6).permutation(9)[
            (np.add.outer(np.arange(9) * 3 % 8, np.arange(9))) % 9
        ]
        + 1
    )
    board[np.random.default_rng(7).random((9, 9)) < 0.5] = 0
    out = np.full((9, 9), -1)
    sudoku_candidates[1, (9, 9)](board, out)
    wanted = np.zeros((9, 9), int)
    for r, c in np.argwhere(board == 0):
        block = board[r // 3 * 3 :, c // 3 * 3 :][:3, :3]
        left = set(range(1, 10)) - {*board[r], *board[:, c], *block.ravel()}
        wanted[r, c] = sum(1 << int(v) for v in left)
    yield out, wanted


@cuda.jit
def knapsack_row(values, weight, gain, out):
    w = cuda.grid(1)
    if w < values.size:
        take = values[w - weight] + gain if w >= weight else -1
        out[w] = max(values[w], take)


@program()
def knapsack_by_rows():
    rng = np.random.default_rng(8)
    weights, gains = rng.integers(1, 12, 9), rng.integers(1, 30, 9)
    a, b = cuda.to_device(np.zeros(41, np.int64)), cuda.device_array(41, np.int64)
    for w, g in zip(weights, gains):
        knapsack_row[2, 32](a, w, g, b)
        a, b = b, a
    choices = np.array(np.meshgrid(*[[0, 1]] * 9)).reshape(9, -1)
    totals, worth = weights @ choices, gains @ choices
    yield a, [worth[totals <= w].max() for w in range(41)]
