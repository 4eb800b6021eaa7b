"""Python inside kernels: control flow, tuples, closures, classes, recursion, odd spellings."""

import functools
import math
from collections import namedtuple

import numpy as np
from numba import cuda, float64, int64

from tests.programs.registry import program


@cuda.jit
def smallest_factor(numbers, factors):
    i = cuda.grid(1)
    if i < numbers.size:
        n = numbers[i]
        for d in range(2, int(math.sqrt(n)) + 1):
            if n % d == 0:
                factors[i] = d
                break
        else:
            factors[i] = n


@program()
def for_else_finds_primes():
    numbers = np.arange(2, 300, dtype=np.int64)
    factors = np.zeros_like(numbers)
    smallest_factor[5, 64](numbers, factors)
    yield factors, [min(d for d in range(2, n + 1) if n % d == 0) for n in range(2, 300)]


@cuda.jit
def collatz(out):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i >= out.shape[0]:
        return
    n, steps = i + 1, 0
    while True:
        if n == 1:
            break
        if n & 1:
            n = 3 * n + 1
            steps += 1
            continue
        n >>= 1
        steps += 1
    out[i] = steps


@program()
def while_true_with_break_and_continue():
    @functools.cache
    def length(n):
        return 0 if n == 1 else 1 + length(n // 2 if n % 2 == 0 else 3 * n + 1)

    out = np.full(1000, -1, np.int32)
    collatz[8, 128](out)
    yield out, [length(n) for n in range(1, 1001)]


@cuda.jit(device=True)
def fib(n):
    if n < 2:
        return n
    return fib(n - 1) + fib(n - 2)


@cuda.jit(int64(int64, int64), device=True)
def ackermann(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))


@cuda.jit
def recurse(fibs, acks):
    i = cuda.grid(1)
    if i < fibs.size:
        fibs[i] = fib(i)
    if i < acks.shape[0]:
        for j in range(acks.shape[1]):
            acks[i, j] = ackermann(i, j)


@program()
def device_functions_that_call_themselves():
    fibs = np.zeros(15, np.int64)
    acks = np.zeros((3, 5), np.int64)
    recurse[1, 32](fibs, acks)
    golden = (1 + 5**0.5) / 2
    yield fibs, np.rint(golden ** np.arange(15) / 5**0.5).astype(np.int64)
    n = np.arange(5)
    yield acks, np.array([n + 1, n + 2, 2 * n + 3])


Params = namedtuple("Params", ["scale", "shift", "window"])


@cuda.jit
def apply_params(x, p, out):
    i = cuda.grid(1)
    if i < x.size:
        lo, hi = p.window
        y = p.scale * x[i] + p.shift
        out[i] = y if lo <= y < hi else -1.0


@program()
def namedtuple_and_nested_tuple_as_arguments():
    x = np.linspace(0, 10, 73)
    out = np.full(73, np.nan)
    apply_params[3, 32](x, Params(2.0, 1, (3.5, 15.0)), out)
    y = x * 2 + 1
    yield out, np.where((y >= 3.5) & (y < 15), y, -1)


@cuda.jit
def pick_array(arrays, out):
    i = cuda.grid(1)
    if i < out.size:
        total = 0.0
        for a in arrays:
            total += a[i % a.size]
        out[i] = total + len(arrays) * arrays[0][0]


@program()
def tuple_of_arrays_in_a_loop():
    a, b, c = np.arange(5.0), np.arange(7.0) * 10, np.arange(3.0) * 100
    out = np.full(29, np.nan)
    pick_array[1, 32]((a, b, c), out)
    yield out, np.resize(a, 29) + np.resize(b, 29) + np.resize(c, 29)


def make_stencil(weights, operation):
    w0, w1, w2 = weights

    @cuda.jit
    def stencil(x, y):
        i = cuda.grid(1)
        if 0 < i < x.size - 1:
            y[i] = operation(w0 * x[i - 1], operation(w1 * x[i], w2 * x[i + 1]))
        elif i in (0, x.size - 1):
            y[i] = x[i]

    return stencil


add = cuda.jit(device=True)(lambda a, b: a + b)
larger = cuda.jit(lambda a, b: a if a > b else b, device=True)


@program()
def factory_with_lambdas_and_captured_weights():
    x = np.random.default_rng(3).normal(size=101)
    inside = np.stack([x[:-2], x[1:-1], x[2:]])
    weights = np.array([[0.25], [0.5], [-0.25]])
    for operation, reference in ((add, np.sum), (larger, np.max)):
        y = np.full(101, np.nan)
        make_stencil((0.25, 0.5, -0.25), operation)[4, 32](x, y)
        middle = reference(inside * weights, axis=0)
        yield y, np.concatenate([x[:1], middle, x[-1:]])


class Lattice:
    """A class whose methods launch its kernels, the usual shape of a simulation."""

    THREADS = (8, 4)

    def __init__(self, h, w):
        self.d_cells = cuda.to_device(np.arange(h * w, dtype=np.float32).reshape(h, w))
        self.blocks = (math.ceil(w / self.THREADS[0]), math.ceil(h / self.THREADS[1]))

    @staticmethod
    @cuda.jit(device=True)
    def _wrapped(cells, r, c):
        return cells[r % cells.shape[0], c % cells.shape[1]]

    @staticmethod
    @cuda.jit
    def _roll(cells, out, dr, dc):
        c, r = cuda.grid(2)
        if r < cells.shape[0] and c < cells.shape[1]:
            out[r, c] = wrapped(cells, r - dr, c - dc)

    def roll(self, dr, dc):
        out = cuda.device_array_like(self.d_cells)
        self._roll[self.blocks, self.THREADS](self.d_cells, out, dr, dc)
        return out


wrapped = Lattice._wrapped


@program()
def kernels_as_static_methods():
    cells = np.arange(9 * 14, dtype=np.float32).reshape(9, 14)
    lattice = Lattice(9, 14)
    for shift in ((2, 3), (-4, 5), (0, -20)):
        yield lattice.roll(*shift), np.roll(cells, shift, (0, 1))


@cuda.jit
def gcd_swap(a, b, out):
    i = cuda.grid(1)
    if not i < a.size:
        return
    x, y = a[i], b[i]
    while y:
        x, y = y, x % y
    out[i] = x


@program()
def euclid_by_tuple_assignment():
    rng = np.random.default_rng(4)
    a, b = rng.integers(0, 5000, (2, 333))
    out = np.zeros(333, np.int64)
    gcd_swap[11, 32](a, b, out)
    yield out, np.gcd(a, b)


@cuda.jit
def enumerate_and_zip(rows, weights, out):
    r = cuda.grid(1)
    if r < rows.shape[0]:
        acc = 0
        for k, (v, w) in enumerate(zip(rows[r], weights)):
            if v < 0:
                continue
            acc += (k + 1) * v * w
        out[r] = acc


@program()
def loops_over_a_row_with_enumerate_and_zip():
    rng = np.random.default_rng(5)
    rows = rng.integers(-9, 10, (21, 6))
    weights = rng.integers(1, 5, 6)
    out = np.zeros(21, np.int64)
    enumerate_and_zip[1, 32](rows, weights, out)
    yield out, np.clip(rows, 0, None) @ (weights * np.arange(1, 7))


@cuda.jit(device=True)
def minmax(a, b, c):
    lo = hi = a
    lo, hi = min(lo, b, c), max(hi, b, c)
    return lo, hi, (hi - lo, 0.5 * (hi + lo))


@cuda.jit(device=True)
def spread(a, b, c):
    _, _, (width, middle) = minmax(a, b, c)
    return width / middle if middle != 0 else math.inf


@cuda.jit
def spreads(x, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        triple = (x[i, 0], x[i, 1], x[i, 2])
        out[i] = spread(*triple)


@program()
def device_functions_return_nested_tuples():
    x = np.random.default_rng(6).integers(-3, 9, (57, 3)).astype(np.float64)
    out = np.full(57, np.nan)
    spreads[2, 32](x, out)
    lo, hi = x.min(1), x.max(1)
    yield out, np.where(lo + hi == 0, np.inf, 2 * (hi - lo) / np.where(lo + hi == 0, 1, lo + hi))


@cuda.jit
def shared_late(x, out):
    t = cuda.threadIdx.x
    b = cuda.blockIdx.x
    if b % 2 == 0:
        even = cuda.shared.array(32, dtype=float64)
        even[t] = x[b * 32 + t]
        cuda.syncthreads()
        out[b * 32 + t] = even[31 - t]
    else:
        for half in range(2):
            odd = cuda.shared.array(16, dtype=float64)
            if t // 16 == half:
                odd[t % 16] = x[b * 32 + t]
            cuda.syncthreads()
            if t // 16 == half:
                out[b * 32 + t] = odd[15 - t % 16]
            cuda.syncthreads()


@program()
def shared_arrays_in_branches_and_loops_of_whole_blocks():
    x = np.random.default_rng(8).random(32 * 5)
    out = np.full_like(x, np.nan)
    shared_late[5, 32](x, out)
    blocks = x.reshape(5, 32)
    wanted = np.where(
        np.arange(5)[:, None] % 2 == 0,
        blocks[:, ::-1],
        blocks.reshape(5, 2, 16)[..., ::-1].reshape(5, 32),
    )
    yield out, wanted.ravel()


@cuda.jit
def views(m, out):
    r = cuda.grid(1)
    if r < m.shape[0]:
        row = m[r]
        tail = row[2:]
        every = row[::-2]
        block = m[max(r - 1, 0) : r + 1, 1:3]
        s = 0.0
        for v in tail:
            s += v
        for j in range(every.shape[0]):
            s -= every[j]
        for p in range(block.shape[0]):
            for q in range(block.shape[1]):
                s += 100 * block[p, q]
        out[r, 0] = s
        out[r, 1:3] = row[0]


@program()
def slices_and_views_inside_a_kernel():
    m = np.random.default_rng(9).integers(0, 9, (13, 7)).astype(np.float64)
    out = np.full((13, 3), np.nan)
    views[1, 16](m, out)
    pairs = m[:, 1:3].sum(1)
    above = np.concatenate([[0], pairs[:-1]])
    s = m[:, 2:].sum(1) - m[:, ::2].sum(1) + 100 * (pairs + above)
    yield out, np.column_stack([s, m[:, 0], m[:, 0]])


@cuda.jit
def nested_breaks(grid, target, out):
    k = cuda.grid(1)
    if k < grid.shape[0]:
        found = False
        for i in range(grid.shape[1]):
            for j in range(grid.shape[2]):
                if grid[k, i, j] == target:
                    found = True
                    break
                elif grid[k, i, j] < 0:
                    continue
            if found:
                break
        out[k, 0] = i if found else -1
        out[k, 1] = j if found else -1


@program()
def break_out_of_two_loops_and_use_the_variables():
    grid = np.random.default_rng(10).integers(-2, 30, (40, 5, 6))
    out = np.full((40, 2), -7)
    nested_breaks[2, 32](grid, 11, out)
    wanted = [next(iter(np.argwhere(g == 11).tolist()), [-1, -1]) for g in grid]
    yield out, wanted
