"""Loops in a kernel: inside or outside the loop over threads, bounds-checked once per row."""

import ast

import numpy as np
import pytest
from numba import typeof

import gpukit
from gpukit import cuda, errors, target
from gpukit.compiler import pipeline
from gpukit.compiler.emit.kernel import Options
from tests.compiler.texts import kernel_of

pytestmark = pytest.mark.skipif(
    target.wanted() == "cuda", reason="Numba generates no loops over threads"
)
RNG = np.random.default_rng(5)
ROWS, COLS = 37, 53


def image():
    return RNG.standard_normal((ROWS, COLS)).astype(np.float32)


def poisoned(like):
    return np.full_like(like, np.nan)


@cuda.jit
def window_kernel(x, out):
    col, row = cuda.grid(2)
    if 0 < row < x.shape[0] - 1 and 0 < col < x.shape[1] - 1:
        total = np.float32(0)
        for dy in range(-1, 2):
            for dx in range(-1, 2):
                total += x[row + dy, col + dx]
        out[row, col] = total


@cuda.jit
def unguarded_windows_kernel(x, radius, out):
    col, row = cuda.grid(2)
    if row < x.shape[0] and col < x.shape[1]:
        total = np.float32(0)
        for dy in range(-radius, radius + 1):
            for dx in range(-radius, radius + 1):
                total += x[row + dy, col + dx]
        out[row, col] = total


@cuda.jit
def guarded_windows_kernel(x, radius, out):
    col, row = cuda.grid(2)
    if row < x.shape[0] and col < x.shape[1]:
        total = np.float32(0)
        for dy in range(-radius, radius + 1):
            r = row + dy
            for dx in range(-radius, radius + 1):
                c = col + dx
                if 0 <= r < x.shape[0] and 0 <= c < x.shape[1]:
                    total += x[r, c]
        out[row, col] = total


@cuda.jit
def flat_windows_kernel(x, width, out):
    i = cuda.grid(1)
    height = x.size // width
    if i < (height - 2) * width:
        total = np.float32(0)
        for k in range(3):
            total += x[i + k * width]
        out[i] = total


@cuda.jit
def rows_kernel(x, out):
    row = cuda.grid(1)
    if row < x.shape[0]:
        total = np.float32(0)
        for k in range(x.shape[1]):
            total += x[row, k]
        out[row, 0] = total


@cuda.jit
def local_array_kernel(x, out):
    row = cuda.grid(1)
    last = cuda.local.array(40, np.float32)
    if row < x.shape[0]:
        for k in range(40):
            last[k] = x[row, k]
        out[row, 0] = last[row]


def padded_sum(x, radius):
    padded = np.pad(x.astype(float), radius)
    size = (2 * radius + 1,) * 2
    return np.lib.stride_tricks.sliding_window_view(padded, size).sum(axis=(2, 3))


GRID, BLOCK = (4, 5), (16, 8)


def test_a_window_of_constant_size_is_summed_around_each_pixel():
    x = image()
    out = poisoned(x)
    window_kernel[GRID, BLOCK](x, out)
    assert np.allclose(out[1:-1, 1:-1], padded_sum(x, 1)[1:-1, 1:-1], atol=1e-5)
    assert np.isnan(out[[0, -1]]).all()
    assert np.isnan(out[:, [0, -1]]).all()


@pytest.mark.parametrize("radius", [0, 1, 2, 60])
@pytest.mark.costly
def test_a_window_whose_size_is_an_argument_is_guarded_at_the_edges(radius):
    x = image()
    out = poisoned(x)
    guarded_windows_kernel[GRID, BLOCK](x, radius, out)
    assert np.allclose(out, padded_sum(x, radius), atol=1e-3)


@pytest.mark.slow
def test_a_window_past_the_edge_is_an_error_that_names_its_first_index():
    x = image()
    with pytest.raises(errors.OutOfBounds) as caught:
        unguarded_windows_kernel[GRID, BLOCK](x, 40, poisoned(x))
    assert caught.value.index == (-40, -40)
    assert caught.value.thread == (0, 0, 0)


def test_a_window_that_ends_at_the_last_element_is_in_bounds():
    x = np.arange(24, dtype=np.float32)
    out = poisoned(x)
    flat_windows_kernel[1, 32](x, 8, out)
    assert out[:8].tolist() == (x[:8] + x[8:16] + x[16:]).tolist()
    assert np.isnan(out[8:]).all()


@pytest.mark.parametrize("width", [1 << 61, -(1 << 61), 1 << 62, (1 << 63) - 1])
def test_an_index_that_overflows_64_bits_accesses_nothing_outside(width):
    @cuda.jit
    def kernel(x, width, rounds, out):
        i = cuda.grid(1)
        if i < out.size:
            for k in range(rounds):
                out[i] = x[i + k * width]

    # In iterations 0 and 8 the index is i, in between it is far outside.
    with pytest.raises(errors.OutOfBounds):
        kernel[1, 4](np.zeros(4), width, 9, np.zeros(4))


@pytest.mark.parametrize("width", [8, 9])
def test_a_range_whose_index_overflows_64_bits_accesses_nothing_outside(width):
    @cuda.jit
    def kernel(x, width, out):
        i = cuda.grid(1)
        if i < out.size:
            for k in range(0, 2305843009213693953, 1152921504606846976):
                out[i] = x[k * width]

    with pytest.raises(errors.OutOfBounds):
        kernel[1, 4](np.zeros(8), width, np.zeros(4))


@pytest.mark.slow
def test_a_loop_that_runs_is_checked_though_another_over_the_same_range_does_not():
    @cuda.jit
    def kernel(n, m, step, x, out):
        i = cuda.grid(1)
        own = cuda.local.array(1, np.float64)
        if i < out.size:
            for k in range(n):
                own[0] = x[k * step]
            for _ in range(m):
                for _ in range(n):
                    own[0] = 1
            out[i] = own[0]

    # k * step is 0 in the first iteration and after 2**34 iterations, and outside in between.
    with pytest.raises(errors.OutOfBounds):
        kernel[1, 4]((1 << 34) + 1, -1, 1 << 30, np.zeros(8), np.zeros(4))


def test_a_negative_step_through_an_array_is_in_bounds():
    @cuda.jit
    def kernel(x, n, out):
        i = cuda.grid(1)
        if i < out.size:
            total = 0.0
            for k in range(n):
                total += x[n - k + i - 1]
            out[i] = total

    x, out = np.arange(10.0), np.full(4, np.nan)
    kernel[1, 8](x, 7, out)
    assert out.tolist() == [sum(range(i, i + 7)) for i in range(4)]


def test_a_loop_without_iterations_reads_nothing():
    @cuda.jit
    def kernel(x, n, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = 1
            for k in range(5, n):
                out[i] += x[100 * k]

    out = np.full(4, np.nan)
    kernel[1, 8](np.zeros(1), 3, out)
    assert out.tolist() == [1] * 4


@pytest.mark.parametrize("rounds", [1, 63, 64, 65, 4095, 4096, 4097, 70_000])
@pytest.mark.costly
def test_a_range_is_evaluated_once_though_the_loop_changes_its_bound(rounds):
    @cuda.jit
    def kernel(n, counts):
        for k in range(counts.size):
            for _ in range(n[k]):
                n[k] += 1
                counts[k] += 1
            end = n[k]
            for _ in range(end):
                end += 1
                counts[k] += 1

    n, counts = np.full(2, rounds), np.zeros(2, np.int64)
    kernel[1, 1](n, counts)
    assert counts.tolist() == [3 * rounds] * 2


@pytest.mark.parametrize("step", [1, 3, -1, -3])
@pytest.mark.costly
def test_long_nested_ranges_visit_every_number_once(step):
    @cuda.jit
    def kernel(start, stop, out):
        for outer in range(out.shape[0]):
            for k in range(start, stop, step):
                out[outer, k] += 1

    n = 9001
    out = np.zeros((3, n))
    start, stop = (0, n) if step > 0 else (n - 1, -1)
    kernel[1, 1](start, stop, out)
    expected = np.zeros(n)
    expected[start::step] = 1
    assert (out == expected).all()


@pytest.mark.parametrize(
    ("kernel", "arguments", "reason"),
    [
        (window_kernel, (), "inside the loop over threads: LLVM unrolls so few iterations"),
        (
            rows_kernel,
            (),
            "inside the loop over threads: adjacent threads do not access adjacent memory",
        ),
        (
            local_array_kernel,
            (),
            "inside the loop over threads: it uses an array private to a thread",
        ),
        (
            unguarded_windows_kernel,
            (2,),
            "outside the loop over threads: adjacent threads access adjacent memory",
        ),
    ],
)
def test_explain_says_where_a_loop_is_placed_and_why(kernel, arguments, reason):
    x = image()
    lines = gpukit.explain(kernel, x, *arguments, x, block=BLOCK).splitlines()
    assert f"# {reason}" in [line.strip() for line in lines]


def test_an_array_selected_at_run_time_is_checked_by_its_own_size():
    @cuda.jit
    def kernel(small, large, choose, out):
        i = cuda.grid(1)
        if i < out.size:
            if choose:
                data = small
            else:
                data = large
            total = 0.0
            for k in range(3):
                total += data[i + k]
            out[i] = total

    small, large, out = np.ones(4), np.ones(40), np.full(8, np.nan)
    kernel[1, 8](small, large, False, out)
    assert out.tolist() == [3] * 8
    with pytest.raises(errors.OutOfBounds):
        kernel[1, 8](small, large, True, out)


@cuda.jit(device=True)
def sum_around(x, row, col):
    total = x.dtype.type(0)
    for d in range(-1, 2):
        total += x[row, col + d]
    return total


@cuda.jit
def sums_around_kernel(x, beyond, out):
    col, row = cuda.grid(2)
    if row < x.shape[0] and 0 < col < x.shape[1] - 1:
        out[row, col] = sum_around(x, row, col + beyond)


def test_a_device_function_that_indexes_an_array_is_checked_once_per_row():
    lines = gpukit.explain(sums_around_kernel, image(), 0, image(), block=BLOCK)
    assert "sum_around(" not in lines


def test_an_error_in_a_device_function_names_its_own_line():
    x, out = image(), poisoned(image())
    sums_around_kernel[GRID, BLOCK](x, 0, out)
    np.testing.assert_allclose(out[:, 1:-1], x[:, :-2] + x[:, 1:-1] + x[:, 2:], rtol=1e-5)
    with pytest.raises(errors.OutOfBounds, match=r"total \+= x\[row, col \+ d\]"):
        sums_around_kernel[GRID, BLOCK](x, 1, out)


@cuda.jit(device=True)
def last_of_pairs(x, k):
    return x[k] if k + 2 >= x.shape[0] else last_of_pairs(x, k + 2)


def test_a_recursive_device_function_may_index_an_array():
    @cuda.jit
    def kernel(x, out):
        out[0] = last_of_pairs(x, 0)

    out = np.full(1, np.nan)
    kernel[1, 1](np.arange(7.0), out)
    assert out[0] == 6


# ---- long loops ------------------------------------------------------------------------------


def long_kernel(statements, checks):
    """Return a kernel with so many statements; if it `checks`, its last index is loaded data."""
    last = "table[indices[i]] = v" if checks else "table[i] = v"
    sums = "\n".join(f"    v = v * x[i] + {k}" for k in range(statements))
    return kernel_of(
        f"i = cuda.grid(1)\nif i < x.shape[0]:\n    v = x[i]\n{sums}\n    {last}",
        "x, indices, table",
    )


def versions_of(kernel):
    """Return in how many versions the loop over threads is generated."""
    kinds = tuple(typeof(a) for a in (np.zeros(1, np.float32), np.zeros(1, int), np.zeros(1)))
    _, _, loops = pipeline._loops(kernel.py_func, kinds, Options((0, 1, 1), distinct=True), [])
    stores = [
        node
        for node in ast.walk(loops)
        if isinstance(node, ast.Call) and "memory_store" in ast.unparse(node.func)
    ]
    return len(stores)


@pytest.mark.parametrize(
    ("statements", "checks", "versions"), [(3, True, 2), (80, True, 1), (80, False, 2)]
)
@pytest.mark.costly
def test_a_long_loop_with_unprovable_accesses_is_generated_in_one_version(
    statements, checks, versions
):
    assert versions_of(long_kernel(statements, checks)) == versions


@pytest.mark.parametrize("statements", [3, 80])
def test_a_long_loop_computes_the_same_as_a_short_one(statements):
    x, indices = np.linspace(-1, 1, 70), RNG.permutation(70)
    expected, v = np.empty(70), x.copy()
    for k in range(statements):
        v = v * x + k
    expected[indices] = v
    table = np.full(70, np.nan)
    long_kernel(statements, checks=True)[3, 32](x, indices, table)
    np.testing.assert_allclose(table, expected, rtol=1e-12)


@pytest.mark.slow
def test_a_long_loop_stops_before_an_out_of_bounds_access():
    indices = np.arange(40)
    indices[33] = 40
    table = np.full(41, np.nan)
    with pytest.raises(errors.OutOfBounds, match=r"table\[indices\[i\]\]"):
        long_kernel(80, checks=True)[2, 32](np.ones(40), indices, table[:40])
    assert np.isnan(table[40])
