"""Small launches of every kernel of the book, in awkward sizes, with the right answers.

A launch here is as small as shows every branch: several blocks, the last one partial, no two
sizes alike. Outputs are device arrays, which start as NaN on the CPU targets, so an element that
no thread writes is wrong.

A kernel that has no launch here is launched as `gpukit bench --quick` launches it, and its own
answer on the cpu target is the reference. So a new kernel joins when it joins the benchmarks.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any
from unittest import mock

import numpy as np

from benchmarks.mutation.code import full_name
from gpukit import cuda, launch
from gpukit.bench.cases import CASES
from gpukit.cpu.dispatcher import Configured
from gpukit.kernels import (
    activations,
    activations_grad,
    backprop,
    dot,
    extremes,
    histogram,
    image,
    matvec,
    reduce,
    reduce_trees,
    scan,
    transpose,
    vector,
)
from gpukit.kernels.backprop import columns, dense
from gpukit.kernels.conv import direct
from gpukit.kernels.matmul import batched, bf16, naive, nt, registers, tensor_tf32, tiled, tn, wide

Array = Any


@dataclass(frozen=True)
class Case:
    """One launch: `make` gives fresh arguments, `expected` the answers by argument number.

    `shape` is what stands between the brackets: grid, block, and where needed stream and shared
    bytes. `terms` is how many values are added into one element. `interpreted` is whether the
    oracle runs it too, which takes a minute for a block of tensor cores.
    """

    shape: tuple[Any, ...]
    make: Callable[[], tuple[Any, ...]]
    expected: dict[int, Array]
    terms: int = 1
    interpreted: bool = True

    def wrong(self, arguments: tuple[Any, ...]) -> bool:
        """Tell whether any answer is off by more than rounding; NaN is, where none belongs."""
        found = {at: launch.to_host(arguments[at]) for at in self.expected}
        return any(self._differs(found[at], right) for at, right in self.expected.items())

    def _differs(self, found: Array, right: Array) -> bool:
        if not np.issubdtype(found.dtype, np.inexact):
            return not np.array_equal(found, right)
        largest = np.max(np.abs(right), initial=0, where=np.isfinite(right))
        room = (self.terms + 3) * np.finfo(found.dtype).eps * largest
        same = (found == right) | (np.isnan(found) & np.isnan(right))
        with np.errstate(invalid="ignore"):  # inf - inf, where both are
            return not np.all(same | (np.abs(found - right) <= room))


Maker = Callable[[], Iterator[Case]]
MAKERS: dict[str, Maker] = {}


def of(kernel: Any) -> Callable[[Maker], Maker]:
    """Register the launches of one kernel."""

    def register(maker: Maker) -> Maker:
        MAKERS[full_name(kernel)] = maker
        return maker

    return register


@functools.cache
def find(name: str) -> tuple[Case, ...]:
    """Return the launches of a kernel, `gpukit.kernels.vector.fill_kernel` for example."""
    if name in MAKERS:
        return tuple(MAKERS[name]())
    for case, entry in CASES.items():
        if full_name(entry.kernel) == name:
            return tuple(_recorded(case, entry.kernel))
    raise LookupError(
        f"{name} has no launch to try its mutants on. Register it with a family in "
        "gpukit/bench/cases.py, or give it a function with @of(...) in "
        "benchmarks/mutation/cases.py."
    )


# ---- making launches ------------------------------------------------------------------------


def values(*shape: int, dtype: Any = np.float32) -> Array:
    """Return numbers from 0.5 to 2, all different: no sum is nearly zero, no swap is hidden."""
    rng = np.random.default_rng([20261121, *shape])
    if np.issubdtype(dtype, np.integer):
        return rng.integers(1, 255, shape).astype(dtype)
    return rng.uniform(0.5, 2, shape).astype(dtype)


def case(
    grid: Any,
    block: Any,
    inputs: tuple[Any, ...],
    right: Array,
    terms: int = 1,
    start: float | None = None,
    dtype: Any = np.float32,
) -> Case:
    """Return a launch whose last argument is the output: empty, or filled with `start`."""
    right = np.asarray(right)

    def make() -> tuple[Any, ...]:
        copies = (a.copy() if isinstance(a, np.ndarray) else a for a in inputs)
        if start is None:
            return (*copies, cuda.device_array(right.shape, dtype))
        return (*copies, np.full(right.shape, start, dtype))

    return Case((grid, block), make, {len(inputs): right}, terms)


def _recorded(name: str, kernel: Any) -> Iterator[Case]:
    """Yield what the benchmark case launches of a kernel, with the kernel's own answers."""
    launches: list[tuple[Any, tuple[Any, ...]]] = []
    genuine = Configured.__call__

    def record(self: Configured, *arguments: Any) -> None:
        if self.kernel.py_func is kernel.py_func:
            launches.append((self.shape, _copied(arguments)))
        genuine(self, *arguments)

    contest = CASES[name].make(True)
    with mock.patch.object(Configured, "__call__", record):
        contest.ours()
    for shape, arguments in launches:
        after = _copied(arguments)
        brackets = (shape.grid, shape.block, 0, shape.shared)
        kernel[brackets](*after)
        arrays = {at: a for at, a in enumerate(after) if isinstance(a, np.ndarray)}
        yield Case(brackets, functools.partial(_copied, arguments), arrays, contest.terms)


def _copied(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(a.copy() if isinstance(a, np.ndarray) else a for a in arguments)


# ---- the kernels of the book ----------------------------------------------------------------

FACTOR = np.float32(2.5)


@of(vector.fill_kernel)
def _fill() -> Iterator[Case]:
    yield case(2, vector.BLOCK, (FACTOR,), vector.fill_reference(300, 2.5))


@of(vector.vector_add_kernel)
def _vector_add() -> Iterator[Case]:
    a, b = values(2, 300)
    yield case(2, vector.BLOCK, (a, b), vector.vector_add_reference(a, b))


@of(vector.saxpy_kernel)
def _saxpy() -> Iterator[Case]:
    x, y = values(2, 300)
    yield case(2, vector.BLOCK, (FACTOR, x, y), vector.saxpy_reference(2.5, x, y))


@of(vector.saxpy_grid_stride_kernel)
def _saxpy_grid_stride() -> Iterator[Case]:
    x, y = values(2, 1300)
    yield case(2, vector.BLOCK, (FACTOR, x, y), vector.saxpy_reference(2.5, x, y))


def _pixels(cols: int, rows: int) -> tuple[Any, Any]:
    block = (image.BLOCK_X, image.BLOCK_Y)
    return launch.grid_2d("mutants", cols, rows, block), block


@of(image.invert_kernel)
def _invert() -> Iterator[Case]:
    plane = values(11, 37)
    yield case(*_pixels(37, 11), (plane, np.float32(255)), image.invert_reference(plane))


@of(image.grey_kernel)
def _grey() -> Iterator[Case]:
    colour = values(11, 37, 3, dtype=np.uint8)
    yield case(*_pixels(37, 11), (colour,), image.grey_reference(colour), 3)


@of(image.box_blur_kernel)
def _box_blur() -> Iterator[Case]:
    plane = values(11, 37)
    for radius in (1, 2):
        yield case(*_pixels(37, 11), (plane, radius), image.box_blur_reference(plane, radius), 25)


def _signed(n: int) -> Array:
    """Return numbers of both signs from -3 to 3, none of them near 0."""
    x = 2 * values(n) - 1
    return np.where(np.arange(n) % 2, x, -x).astype(np.float32)


def _activation(name: str) -> Iterator[Case]:
    # Some beyond the limits of gelu, where float32 gives 0 and x.
    x = _signed(300)
    x[:2] = -50, 50
    reference = getattr(activations, f"{name}_reference")
    yield case(2, activations.BLOCK, (x,), reference(x))
    yield case(1, activations.BLOCK, (x[2:13],), reference(x[2:13]))


for _rung in activations.LADDER[::2]:  # those with one thread for an element
    of(_rung.kernel)(functools.partial(_activation, _rung.name))


def _activation_grad(name: str) -> Iterator[Case]:
    grad, x = values(300), _signed(300)
    x[5] = 0  # where relu has no slope, and the gradient is 0 by agreement
    if name in ("sigmoid_grad", "tanh_grad"):
        x = (1 / (1 + np.exp(-x))).astype(np.float32)
    reference = getattr(activations_grad, f"{name}_reference")
    yield case(2, activations.BLOCK, (grad, x), reference(grad, x))
    if name == "gelu_grad":
        x = np.array([-1e20, -50, 50, 1e20], np.float32)
        yield case(1, activations.BLOCK, (grad[:4], x), reference(grad[:4], x))


for _rung in activations_grad.LADDER[::2]:
    of(_rung.kernel)(functools.partial(_activation_grad, _rung.name))


def _moved(rung: launch.Rung) -> Iterator[Case]:
    """Yield launches of a copy or transpose."""
    for rows, cols in ((35, 41), (9, 70)):
        x = values(rows, cols)
        right = rung.reference(x).astype(np.float32)
        yield case(rung.grid("mutants", cols, rows), rung.block, (x,), right)


for _rung in transpose.LADDER:
    if not _rung.instead:
        of(_rung.kernel)(functools.partial(_moved, _rung))


def _tiles(cols: int, rows: int, tile: int) -> tuple[Any, Any]:
    return launch.grid_2d("mutants", cols, rows, (tile, tile)), (tile, tile)


def _matmul(rung: launch.Rung) -> Iterator[Case]:
    """Yield products of two blocks and more along every axis along which a block has a tile."""
    cols, rows = _tile(rung)
    for m, n, k in ((rows + 2, cols + 19, 17), (3, 20, 5)):
        a, b = values(m, k), values(k, n)
        yield case(rung.grid("mutants", n, m), rung.block, (a, b), rung.reference(a, b), k)


def _tile(rung: launch.Rung) -> tuple[int, int]:
    return rung.tile or rung.block  # type: ignore[return-value]


def _matmul_wide(rung: launch.Rung) -> Iterator[Case]:
    """Yield the same for rows in quads."""
    cols, rows = _tile(rung)
    # Tensor cores are slow in an interpreter: two blocks down or two across, never both.
    rounds = rung in tensor_tf32.LADDER
    large = [(rows + 2, 24, 20), (3, cols + 4, 4)] if rounds else [(rows + 2, cols + 20, 20)]
    for m, n, k in (*large, (3, 8, 4)):
        a, b = values(m, k), values(k, n)
        yield case(rung.grid("mutants", n, m), rung.block, (a, b), rung.reference(a, b), k)


def _matmul_bf16(rung: launch.Rung) -> Iterator[Case]:
    """Yield four blocks with more tiles than stages, and for the oracle one with two tiles."""
    cols, rows = _tile(rung)
    for m, n, tiles in ((rows + 3, cols + 11, 6), (3, 11, 2)):
        k = (tiles - 1) * bf16.DEPTH + 8  # the last is a part
        a, b = values(m, k), values(k, n)
        given = bf16.as_bf16("a", a, 0), bf16.as_bf16("b", b, 0)
        grid = rung.grid("mutants", n, m)
        launched = case(grid, rung.block, given, rung.reference(a, b), k)
        yield replace(launched, interpreted=m < rows)


@of(bf16.round_bf16_kernel)
def _round_bf16() -> Iterator[Case]:
    rung = bf16.LADDER[0]
    for rows, cols in ((9, 35), (1, 8)):
        x, wider = values(rows, cols), bf16.padded(cols)
        right = np.zeros((rows, wider), np.uint16)
        right[:, :cols] = rung.reference(x)
        yield case(rung.grid("mutants", wider, rows), rung.block, (x,), right, dtype=np.uint16)


for _rung in bf16.MATMUL_LADDER:
    of(_rung.kernel)(functools.partial(_matmul_bf16, _rung))
for _rung in (*wide.LADDER, *tensor_tf32.LADDER):
    of(_rung.kernel)(functools.partial(_matmul_wide, _rung))
for _rung in (*naive.LADDER, *tiled.LADDER, *registers.LADDER):
    of(_rung.kernel)(functools.partial(_matmul, _rung))


@of(batched.matmul_batched_kernel)
def _batched_matmul() -> Iterator[Case]:
    tile = batched.TILE
    for batches, m, n, k in ((2, 18, 35, 17), (3, 3, 20, 5)):
        a, b = values(batches, m, k), values(batches, k, n)
        (cols, rows), block = _tiles(n, m, tile)
        right = batched.batched_matmul_reference(a, b)
        yield case((cols, rows, batches), (*block, 1), (a, b), right, k)


def _row_sums(rows: int, cols: int, grid: int, block: int | tuple[int, int]) -> Case:
    """Return one launch of a product of a matrix and a vector."""
    a, x = values(rows, cols), values(cols)
    return case(grid, block, (a, x), matvec.matvec_reference(a, x), cols)


@of(matvec.matvec_thread_a_row_kernel)
def _thread_a_row() -> Iterator[Case]:
    yield _row_sums(70, 11, 3, 32)
    yield _row_sums(5, 37, 1, 32)


@of(matvec.matvec_warp_a_row_kernel)
def _warp_a_row() -> Iterator[Case]:
    yield _row_sums(11, 70, 2, (32, 8))
    yield _row_sums(41, 7, 11, (32, 4))


@of(matvec.matvec_vectorised_kernel)
def _vectorised_rows() -> Iterator[Case]:
    yield _row_sums(11, 140, 2, matvec.BLOCK)
    yield _row_sums(41, 39, 11, 128)  # no quads, and more columns than lanes


@of(matvec.matvec_block_a_row_kernel)
def _block_a_row() -> Iterator[Case]:
    # As many warps as there are places for partial sums, and then as few as need them.
    yield _row_sums(3, 1100, 3, 1024)
    yield _row_sums(5, 300, 5, matvec.BLOCK)
    yield _row_sums(7, 101, 7, 64)


def _partials(share: int) -> Iterator[Case]:
    # Three blocks; of the last one more than half is there, and then less.
    for n in (3 * share - 68, 2 * share + 100):
        x = values(n)
        right = reduce_trees.partials_reference(x, share)
        yield case(3, reduce_trees.BLOCK, (x,), right, share)


for _rung in reduce_trees.LADDER:
    of(_rung.kernel)(functools.partial(_partials, _rung.tile or _rung.block))


def _sum(n: int, blocks: int) -> Iterator[Case]:
    x = values(n)
    yield case(blocks, reduce.BLOCK, (x,), [reduce.sum_reference(x)], n, start=0)


@of(reduce.sum_atomic_kernel)
def _sum_atomic() -> Iterator[Case]:
    return _sum(700, 3)


@of(reduce.sum_grid_stride_kernel)
def _sum_grid_stride() -> Iterator[Case]:
    return _sum(1300, 2)


of(reduce.sum_shuffle_kernel)(_sum_grid_stride)
of(reduce.sum_vectorised_kernel)(functools.partial(_sum, 2303, 2))


def _dot(n: int, blocks: int) -> Iterator[Case]:
    x, y = values(2, n)
    yield case(blocks, dot.BLOCK, (x, y), [dot.dot_reference(x, y)], n, start=0)


of(dot.dot_tree_kernel)(functools.partial(_dot, 700, 3))
of(dot.dot_shuffle_kernel)(functools.partial(_dot, 1300, 2))


# Where the extremes of the two blocks lie: every step of the shuffles has to find one of them, and
# the larger of the first block also where only a second one that walks astray would come by.
_EXTREMES = ((255, 256 + 16), (0, 1299), (517, 300))


def _extremes() -> Iterator[Array]:
    """Yield vectors for two blocks, none with a number above 0: none may win that is not there."""
    for at in _EXTREMES:
        x = -1 - values(1300)
        x[list(at)] = -1, -1.25
        yield x
    yield np.full(300, -np.inf, np.float32)
    x = -values(549)
    x[[37, 40, 200]] = np.nan, np.inf, np.nan  # all in the first block, on lanes far apart
    x[301] = np.inf  # not NaN: an answer that nobody wrote is NaN
    yield x


def _shares(x: Array) -> list[Array]:
    """Return where the elements lie that each of two blocks looks at."""
    block = np.arange(len(x)) // extremes.BLOCK % 2
    return [np.flatnonzero(block == number) for number in (0, 1)]


@of(extremes.max_kernel)
def _max() -> Iterator[Case]:
    for x in _extremes():
        right = [extremes.max_reference(x[share]) for share in _shares(x)]
        yield case(2, extremes.BLOCK, (x,), right)


@of(extremes.min_kernel)
def _min() -> Iterator[Case]:
    for x in _extremes():
        right = [extremes.min_reference(-x[share]) for share in _shares(x)]
        yield case(2, extremes.BLOCK, (-x,), right)


def _ties() -> Iterator[Array]:
    """Yield vectors in which the first of equal elements comes later in its lane, or earlier."""
    yield np.ones(1300, np.float32)
    x = -values(1300)
    x[[200, 1027, 511, 770]] = np.nan, np.nan, 3, 3
    yield x


@of(extremes.argmax_kernel)
def _argmax() -> Iterator[Case]:
    for x in (*_extremes(), *_ties()):
        right = [share[extremes.argmax_reference(x[share])] for share in _shares(x)]
        yield _places((2, extremes.BLOCK), x, (), right, np.int32)


@of(extremes.argmax_finish_kernel)
def _argmax_finish() -> Iterator[Case]:
    for x in (*_extremes(), *_ties()):
        # Also backwards: the first of equal elements, even of neighbours, is then looked at last.
        for places in (np.arange(len(x))[::-1], np.arange(len(x))):
            right = [extremes.argmax_reference(x)]
            yield _places((1, extremes.BLOCK), x, (places,), right, np.int64)


def _places(
    shape: tuple[Any, ...], x: Array, more: tuple[Array, ...], right: Any, dtype: Any
) -> Case:
    """Return a launch whose last argument takes places in x."""

    def make() -> tuple[Any, ...]:
        return x.copy(), *(a.copy() for a in more), np.full(len(right), -1, dtype)

    return Case(shape, make, {1 + len(more): np.asarray(right)})


def _scan() -> Iterator[Case]:
    # Three blocks, the last one partial. Whole numbers: their sums are exact in every order.
    for shift in (0, 1):
        x = values(549, dtype=np.uint8).astype(np.float32)
        moved = np.pad(x, (shift, scan.BLOCK))[: 3 * scan.BLOCK].astype(np.float64)
        sums = moved.reshape(3, scan.BLOCK).cumsum(axis=1)

        def make(x: Array = x, shift: int = shift) -> tuple[Any, ...]:
            out, totals = cuda.device_array(549, np.float32), cuda.device_array(3, np.float32)
            return x.copy(), shift, out, totals

        yield Case((3, scan.BLOCK), make, {2: sums.ravel()[:549], 3: sums[:, -1]})


for _rung in scan.IN_BLOCKS:
    of(_rung.kernel)(_scan)


@of(scan.ADD_OFFSETS.kernel)
def _add_offsets() -> Iterator[Case]:
    x, offsets = values(549), values(3)
    right = x + np.repeat(offsets, scan.BLOCK)[:549]
    yield Case((3, scan.BLOCK), lambda: (offsets.copy(), x.copy()), {1: right})


@of(scan.COMPACT_SCATTER.kernel)
def _compact_scatter() -> Iterator[Case]:
    x, keep = values(300), values(300) > 1.2
    keep[[0, -1]] = True  # the elements that a wrong guard would leave out
    places = np.cumsum(keep, dtype=np.int32) - keep
    yield case(2, scan.BLOCK, (x, keep, places), x[keep])


@of(histogram.histogram_atomic_kernel)
def _histogram() -> Iterator[Case]:
    # 299 bins, more than a block has threads; values at both ends, and outside on either side.
    x = values(549, dtype=np.uint8).astype(np.int32) * 2 - 60
    x[:4] = 0, -1, 298, 299
    right = histogram.bincount_reference(x, 299)
    yield Case((3, 256), lambda: (x.copy(), np.zeros(299, np.int32)), {1: right})


@of(histogram.histogram_privatised_kernel)
def _privatised() -> Iterator[Case]:
    for one in _histogram():
        yield Case((2, 256, 0, 1196), one.make, one.expected)


@of(direct.conv2d_direct_kernel)
def _conv2d() -> Iterator[Case]:
    picture, weight, bias = values(2, 2, 9, 33), values(3, 2, 3, 2), values(3)
    for stride, padding in (((1, 1), (1, 2)), ((2, 3), (0, 1))):
        right = direct.conv2d_reference(picture, weight, bias, stride=stride, padding=padding)
        block = (direct.BLOCK_X, direct.BLOCK_Y, 1)
        grid = (*launch.grid_2d("mutants", right.shape[3], right.shape[2], block[:2]), 4)
        yield case(grid, block, (picture, weight, bias, stride, padding, (1, 1)), right, 13)


def _layer(n: int, i: int, o: int) -> tuple[Array, ...]:
    """Return x, weight, bias and grad_out; sizes that need unlike numbers of tiles."""
    return values(n, i), values(o, i), values(o), values(n, o)


def _linear() -> Iterator[Case]:
    x, weight, bias, _ = _layer(18, 17, 35)
    right = backprop.linear_reference(x, weight, bias)
    yield case(*_tiles(35, 18, naive.TILE), (x, weight, bias), right, 18)


of(dense.linear_naive_kernel)(_linear)
of(nt.matmul_nt_tiled_kernel)(_linear)


@of(nt.matmul_nt_vectorised_kernel)
def _matmul_nt_vectorised() -> Iterator[Case]:
    a, b, bias = values(wide.SIDE + 3, 20), values(wide.SIDE + 8, 20), values(wide.SIDE + 8)
    right = nt.matmul_nt_reference(a, b, bias)
    yield case((2, 2), (wide.THREADS, wide.THREADS), (a, b, bias), right, 21)


@of(tn.matmul_tn_tiled_kernel)
def _matmul_tn_tiled() -> Iterator[Case]:
    a, b = values(17, 18), values(17, 35)
    yield case(*_tiles(35, 18, naive.TILE), (a, b), tn.matmul_tn_reference(a, b), 17)


@of(tn.matmul_tn_vectorised_kernel)
def _matmul_tn_vectorised() -> Iterator[Case]:
    a, b = values(19, wide.SIDE + 4), values(19, wide.SIDE + 8)
    block = (wide.THREADS, wide.THREADS)
    yield case((2, 2), block, (a, b), tn.matmul_tn_reference(a, b), 19)


@of(dense.linear_grad_x_kernel)
def _linear_grad_x() -> Iterator[Case]:
    x, weight, _, grad = _layer(18, 35, 5)
    right = backprop.linear_backward_reference(grad, x, weight)[0]
    yield case(*_tiles(35, 18, naive.TILE), (grad, weight), right, 5)


@of(dense.linear_grad_weight_kernel)
def _linear_grad_weight() -> Iterator[Case]:
    x, weight, _, grad = _layer(5, 18, 35)
    right = backprop.linear_backward_reference(grad, x, weight)[1]
    yield case(*_tiles(18, 35, naive.TILE), (grad, x), right, 5)


@of(columns.column_sum_kernel)
def _column_sum() -> Iterator[Case]:
    x = values(39, 35)
    right = np.stack([x[:20].sum(axis=0, dtype=np.float64), x[20:].sum(axis=0, dtype=np.float64)])
    yield case((2, 2), (columns.WIDTH, columns.HEIGHT), (x,), right, 20)
