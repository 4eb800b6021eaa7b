"""Run a kernel in plain Python, thread by thread and without a compiler, on a small case.

To compile a kernel takes a second, and an exercise has up to thirty mistakes to try. This is for
kernels that belong to an exercise: it looks for no races, and does what `exercises` need of CUDA.
A kernel that waits for other threads becomes a generator, which says at each `yield` what it waits
for. Threads and blocks run in the order of their numbers.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import types
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from gpukit.course.case import Array, Case

WARP = 32
ROUNDS = 300  # of the `while` loops of a thread, on average; more are taken for an endless loop
BARRIER = "syncthreads"
# From which lane a shuffle takes its value, by the lane that asks and the number it gives.
_SOURCES: dict[str, Callable[[int, int], int]] = {
    "shfl_sync": lambda _, number: number % WARP,
    "shfl_down_sync": lambda lane, number: lane + number,
    "shfl_up_sync": lambda lane, number: lane - number,
    "shfl_xor_sync": lambda lane, number: lane ^ number,
    "syncwarp": lambda lane, _: lane,
}
_MATH = (
    "exp",
    "log",
    "log1p",
    "log2",
    "sqrt",
    "tanh",
    "sinh",
    "cosh",
    "floor",
    "ceil",
    "fabs",
    "isnan",
    "isinf",
)

Wait = tuple[Any, ...]  # what a thread waits for, and the arguments that it gave


class Dim(NamedTuple):
    """A place or a size in three dimensions."""

    x: int
    y: int
    z: int


def launch(text: str, entry: str, case: Case) -> dict[str, Array] | None:
    """Return the outputs that the kernel `entry` of a file leaves in a case.

    None where the kernel raises, such as at an index outside an array, or does not end.
    """
    args = {k: _stored(v.copy()) if isinstance(v, np.ndarray) else v for k, v in case.args.items()}
    try:
        with np.errstate(all="ignore"):
            cuda = _Cuda(case)
            cuda.run(_loaded(text, entry, cuda), tuple(args.values()))
    except Exception:
        return None
    return {name: np.asarray(args[name]) for name in case.expected}


def _loaded(text: str, entry: str, cuda: _Cuda) -> Callable[..., Any]:
    """Return the function of a kernel, with `cuda`, `dot4` and functions of float32 in globals."""
    tree = ast.fix_missing_locations(_Waiting().visit(ast.parse(text)))
    functions = {name: getattr(np, name) for name in _MATH}
    names = {
        "cuda": cuda,
        "dot4": _dot4,
        "math": types.SimpleNamespace(**functions, inf=np.inf, nan=np.nan, pi=np.pi),
    }
    exec(compile(tree, "<a mistake>", "exec"), names)
    found: Callable[..., Any] = names[entry]  # type: ignore[assignment]
    return found


class _Waiting(ast.NodeTransformer):
    """Makes a `yield` of each call that waits for other threads, and counts rounds of `while`."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        name = ast.unparse(node.func).removeprefix("cuda.")
        if name not in (BARRIER, *_SOURCES):
            return node
        return ast.Yield(ast.Tuple([ast.Constant(name), *node.args], ast.Load()))

    def visit_While(self, node: ast.While) -> ast.While:
        self.generic_visit(node)
        going = ast.parse("cuda.goes_on()", mode="eval").body
        node.test = ast.BoolOp(ast.And(), [going, node.test])
        return node

    def visit_Import(self, node: ast.Import) -> ast.Import | None:
        return None if node.names[0].name == "math" else node

    def visit_ImportFrom(self, _node: ast.ImportFrom) -> None:
        return None


class _Cuda:
    """What stands for `cuda` in a kernel: where the thread is, memory, atomic operations."""

    def __init__(self, case: Case) -> None:
        self.gridDim, self.blockDim = _dim(case.grid), _dim(case.block)
        self.threadIdx = self.blockIdx = Dim(0, 0, 0)
        self.laneid, self._thread, self._rounds = 0, 0, 0
        self._most_rounds = ROUNDS * case.blocks * case.threads
        self._shared: list[Array] = []
        self._asked: dict[int, int] = {}  # how many shared arrays a thread has asked for
        self.shared = types.SimpleNamespace(array=self._shared_array)
        self.local = types.SimpleNamespace(array=_poisoned)
        self.const = types.SimpleNamespace(array_like=np.array)
        self.atomic = types.SimpleNamespace(
            add=_atomic(np.add), max=_atomic(np.maximum), min=_atomic(np.minimum)
        )

    def jit(self, *function: Any, **_options: Any) -> Any:
        return function[0] if function else lambda decorated: decorated

    def grid(self, axes: int) -> Any:
        """Return the place of the thread in the grid, x first."""
        places = zip(self.blockIdx, self.blockDim, self.threadIdx, strict=True)
        at = tuple(block * size + thread for block, size, thread in places)
        return at[0] if axes == 1 else at[:axes]

    def gridsize(self, axes: int) -> Any:
        """Return how many threads the grid has along each axis."""
        sizes = tuple(a * b for a, b in zip(self.gridDim, self.blockDim, strict=True))
        return sizes[0] if axes == 1 else sizes[:axes]

    def goes_on(self) -> bool:
        """Count a round of a loop; raise after too many."""
        self._rounds += 1
        if self._rounds > self._most_rounds:
            raise RuntimeError("a loop does not end")
        return True

    def _shared_array(self, shape: Any, dtype: Any) -> Array:
        number = self._asked[self._thread]
        self._asked[self._thread] += 1
        if number == len(self._shared):
            self._shared.append(_poisoned(shape, dtype))
        return self._shared[number]

    def run(self, kernel: Callable[..., Any], args: tuple[Any, ...]) -> None:
        """Run all blocks, one after another."""
        for place in _places(self.gridDim):
            self.blockIdx = place
            self._shared, self._asked = [], defaultdict(int)
            self._block(kernel, args)

    def _block(self, kernel: Callable[..., Any], args: tuple[Any, ...]) -> None:
        """Run the threads of a block, each until it waits, until none goes on."""
        threads: dict[int, Any] = {}  # generators that yield a Wait
        places = list(_places(self.blockDim))
        for number, place in enumerate(places):
            self._be(number, place)
            running: Any = kernel(*args)
            if inspect.isgenerator(running):
                threads[number] = running
        answers: dict[int, Any] = dict.fromkeys(threads)
        waits: dict[int, Wait] = {}
        while answers:
            for number, answer in answers.items():
                self._be(number, places[number])
                waits.pop(number, None)
                try:
                    waits[number] = threads[number].send(answer)
                except StopIteration:
                    continue
            answers = _answers(waits)

    def _be(self, number: int, place: Dim) -> None:
        self._thread, self.laneid, self.threadIdx = number, number % WARP, place


def _answers(waits: dict[int, Wait]) -> dict[int, Any]:
    """Return what goes on and with which value: shuffles first, for a barrier needs all threads."""
    shuffles = {thread: wait for thread, wait in waits.items() if wait[0] != BARRIER}
    if not shuffles:
        return dict.fromkeys(waits)
    return {thread: _taken(thread, shuffles) for thread in shuffles}


def _taken(thread: int, shuffles: dict[int, Wait]) -> Any:
    """Return what a shuffle gives: a lane that has no other to take from gets its own value."""
    name, _mask, value, number = (*shuffles[thread], None, None, 0)[:4]
    first = thread // WARP * WARP
    source = first + _SOURCES[name](thread - first, int(number))
    other = shuffles[source] if first <= source < first + WARP and source in shuffles else None
    return other[2] if other and other[0] == name and len(other) > 2 else value


def _places(size: Dim) -> Iterator[Dim]:
    return (Dim(x, y, z) for z, y, x in itertools.product(*map(range, reversed(size))))


def _dim(size: int | tuple[int, ...]) -> Dim:
    given = size if isinstance(size, tuple) else (size,)
    return Dim(*(*given, 1, 1)[:3])


def _dot4(a: Any, b: Any, c: Any) -> np.int32:
    """Return what `gpukit.primitives.dot4` does."""
    x, y = (np.array([word], np.int32).view(np.int8).astype(np.int32) for word in (a, b))
    return np.int32(c + np.dot(x, y))


def _poisoned(shape: Any, dtype: Any) -> Array:
    array = np.empty(shape, dtype)
    array.view(np.uint8)[...] = 0xFF if array.dtype.kind in "fc" else 0x7E
    return _stored(array)


class _Wrapping(np.ndarray[Any, Any]):
    """An array of integers in which a number that is too large wraps around, as in a kernel."""

    def __setitem__(self, index: Any, value: Any) -> None:
        super().__setitem__(index, np.asarray(value).astype(self.dtype))


def _stored(array: Array) -> Array:
    """Return an array whose elements are stored as a kernel stores them; NumPy raises instead."""
    return array.view(_Wrapping) if array.dtype.kind in "iu" else array


def _atomic(join: np.ufunc) -> Callable[[Array, Any, Any], Any]:
    def update(array: Array, index: Any, value: Any) -> Any:
        before = array[index]
        array[index] = join(before, value)
        return before

    return update
