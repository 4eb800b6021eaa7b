"""Graphs and text: searches, shortest paths, ranks, alignments, matching, puzzles."""

import numpy as np
from numba import cuda, uint8

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
