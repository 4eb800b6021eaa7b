"""Runs a kernel as CUDA specifies it: blocks, warps of 32, one generator per thread.

A thread runs until it must wait for others. The lanes of a warp synchronize at warp operations, the
live threads of a block at barriers, the blocks of a grid at `grid.sync()`. Threads that have
returned are not waited for. A synchronization that cannot complete raises instead of hanging.

The order in which threads are resumed is an argument: a kernel without races gives the same
results in every order.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np

from gpukit.compiler.intrinsics import BARRIER_NAMES
from tests.oracle import memory
from tests.oracle.arithmetic import dtype_of
from tests.oracle.memory import View
from tests.oracle.transform import Translator, python_function
from tests.oracle.warp import FULL, collective

_NUMBERS = (bool, int, float, complex, np.generic)
WARP = 32
Order = str | int
Site = tuple[Any, ...]


class OracleError(Exception):
    """The kernel does something that CUDA leaves undefined."""


class BarrierDivergence(OracleError):
    """Live threads of a block wait at different barriers."""


class WarpDivergence(OracleError):
    """Lanes in a mask do not arrive at the warp operation."""


@dataclass
class Request:
    """What a thread waits for: the operation, its location and its arguments."""

    name: str
    site: Site
    args: tuple[Any, ...]

    @property
    def mask(self) -> int:
        mask = self.args[0] if self.args else FULL
        return int(mask) & FULL


class Dim3:
    """Three int32 values with the names x, y, z."""

    def __init__(self, values: Sequence[int]) -> None:
        self.x, self.y, self.z = (np.int32(v) for v in values)


def _three(shape: Any) -> tuple[int, int, int]:
    sizes = tuple(int(s) for s in shape) if isinstance(shape, (tuple, list)) else (int(shape),)
    return (*sizes, 1, 1, 1)[:3]  # type: ignore[return-value]


def _permute(items: list[Any], order: Order) -> list[Any]:
    if order == "forward":
        return list(items)
    if order == "reverse":
        return items[::-1]
    seed = 0 if order == "shuffle" else int(order)
    return random.Random(seed).sample(items, len(items))


class Thread:
    """One CUDA thread: its coordinates, and every intrinsic a kernel can name."""

    def __init__(self, block: Block, number: int) -> None:
        bx, by, _ = block.shape
        self.block, self.number = block, number
        self.index = (number % bx, number // bx % by, number // (bx * by))
        self.warp, self.lane = divmod(number, WARP)
        self.path: list[Any] = []
        self.compiled: list[Any] = [()]  # the call stack: functions and types of arguments
        self.waiting: Request | None = None
        self.answer: Any = None
        self.done = False
        self.body: Generator[Request, Any, Any] | None = None
        self.threadIdx, self.blockIdx = Dim3(self.index), Dim3(block.index)
        self.blockDim, self.gridDim = Dim3(block.shape), Dim3(block.grid)
        self.laneid, self.warpsize = np.int32(self.lane), np.int32(WARP)
        self.local = SimpleNamespace(
            array=lambda shape, dtype, alignment=None: memory.poisoned(shape, dtype)
        )
        self.const = SimpleNamespace(array_like=lambda array: array)
        self.cg = SimpleNamespace(this_grid=lambda: "grid")

    def step(self) -> None:
        """Run until the thread waits or ends."""
        assert self.body is not None
        try:
            self.waiting = self.body.send(self.answer)
        except StopIteration:
            self.done, self.waiting = True, None
        self.answer = None

    def resume(self, answer: Any) -> None:
        self.answer, self.waiting = answer, None

    def wait(self, name: str, site: Site, *args: Any) -> Request:
        return Request(name, (*self.path, site), args)

    def enter(self, site: Site, number: int, *args: Any, **kwargs: Any) -> Any:
        """Run a device function; its call sites are part of where the thread waits."""
        self.path.append(site)
        self.compiled.append((number, *map(_kind, (*args, *kwargs.values()))))
        try:
            return (yield from self.block.devices[number](self, *args, **kwargs))
        finally:
            self.path.pop()
            self.compiled.pop()

    def shared_array(self, site: Site, shape: Any, dtype: Any, _alignment: int = 0) -> View:
        """Return a shared array: one per site and per argument types of its function."""
        where = (self.compiled[-1], site)
        return self.block.shared_array(where, shape, memory.to_dtype(dtype))

    def atomic(self, op: str, array: View, *args: Any) -> Any:
        return memory.atomic(op, array, *args)

    def grid(self, ndim: int) -> Any:
        sizes = zip(self.index, self.block.index, self.block.shape, strict=True)
        found = tuple(index + block * size for index, block, size in sizes)
        return found[0] if ndim == 1 else found[:ndim]

    def gridsize(self, ndim: int) -> Any:
        sizes = tuple(n * m for n, m in zip(self.block.shape, self.block.grid, strict=True))
        return sizes[0] if ndim == 1 else sizes[:ndim]

    def lanemask_lt(self) -> Any:
        return np.uint32((1 << self.lane) - 1)

    def threadfence(self) -> None:
        """Do nothing: memory is sequentially consistent here."""

    threadfence_block = threadfence_system = threadfence

    def nanosleep(self, ns: Any) -> None:
        """Do nothing: the oracle has no clock."""

    def popc(self, value: Any) -> Any:
        return dtype_of(value).type(_bits(value).count("1"))

    def clz(self, value: Any) -> Any:
        bits = _bits(value)
        return dtype_of(value).type(len(bits) - len(bits.lstrip("0")))

    def ffs(self, value: Any) -> Any:
        return np.uint32(_bits(value)[::-1].find("1") + 1)

    def brev(self, value: Any) -> Any:
        bits = _bits(value)
        return (np.uint32 if len(bits) == 32 else np.uint64)(int(bits[::-1], 2))

    def selp(self, test: Any, a: Any, b: Any) -> Any:
        return a if test else b


def _bits(value: Any) -> str:
    width = 8 * dtype_of(value).itemsize
    return format(int(value) & ((1 << width) - 1), f"0{width}b")


def _kind(argument: Any) -> Any:
    """Return the type of an argument; device functions are compiled per type."""
    if isinstance(argument, View):
        return argument.dtype, argument.ndim, argument.array.flags.c_contiguous
    return dtype_of(argument) if isinstance(argument, _NUMBERS) else type(argument)


@dataclass
class Block:
    """The threads and shared memory of one block."""

    shape: tuple[int, int, int]
    grid: tuple[int, int, int]
    index: tuple[int, int, int]
    devices: list[Any]
    shared_bytes: int
    order: Order
    shared: dict[Site, View] = field(default_factory=dict)
    threads: list[Thread] = field(default_factory=list)

    def start(self, kernel: Callable[..., Any], args: tuple[Any, ...]) -> None:
        count = self.shape[0] * self.shape[1] * self.shape[2]
        self.dynamic = memory.poisoned(self.shared_bytes, np.uint8)
        threads = [Thread(self, number) for number in range(count)]
        for thread in threads:
            thread.body = kernel(thread, *args)
        self.threads = _permute(threads, self.order)

    def shared_array(self, site: Site, shape: Any, dtype: np.dtype[Any]) -> View:
        if shape == 0:
            usable = self.shared_bytes // dtype.itemsize * dtype.itemsize
            return View(self.dynamic.array[:usable].view(dtype))
        if site not in self.shared:
            self.shared[site] = memory.poisoned(shape, dtype)
        return self.shared[site]

    def run(self) -> Generator[None, None, None]:
        """Run the block to its end; yield when all its live threads wait for the grid."""
        while True:
            self._settle()
            live = [t for t in self.threads if not t.done]
            if not live:
                return
            name = self._common_wait(live)
            if name == "grid_sync":
                yield
            self._release(name, live)

    def _settle(self) -> None:
        """Run every thread until it ends or waits at a barrier."""
        while True:
            for thread in self.threads:
                if not thread.done and thread.waiting is None:
                    thread.step()
            warps = {t.warp for t in self.threads}
            if not [w for w in warps if self._synchronize_warp(w)]:
                return

    def _synchronize_warp(self, warp: int) -> bool:
        """Complete the warp operations of one warp whose lanes have all arrived."""
        lanes = [t for t in self.threads if t.warp == warp and not t.done]
        groups: dict[Any, list[Thread]] = {}
        for thread in lanes:
            request = thread.waiting
            if request and request.name not in (*BARRIER_NAMES, "grid_sync"):
                groups.setdefault((request.name, request.site, request.mask), []).append(thread)
        live = sum(1 << t.lane for t in lanes)
        completed = False
        for (name, _, mask), group in groups.items():
            present = sum(1 << t.lane for t in group)
            if name == "activemask":
                continue
            if present & ~mask:
                raise WarpDivergence(f"{name}: lanes {present:#x} are not all in mask {mask:#x}")
            if mask & live == present:
                _answer(name, group)
                completed = True
        return completed or self._activemask(groups)

    def _activemask(self, groups: dict[Any, list[Thread]]) -> bool:
        """Complete `activemask` only when no other lane can join."""
        waiting = [group for (name, _, _), group in groups.items() if name == "activemask"]
        for group in waiting:
            mask = np.uint32(sum(1 << t.lane for t in group))
            for thread in group:
                thread.resume(mask)
        return bool(waiting)

    def _common_wait(self, live: list[Thread]) -> str:
        where: dict[tuple[str, Site], list[int]] = {}
        for thread in live:
            assert thread.waiting is not None
            where.setdefault((thread.waiting.name, thread.waiting.site), []).append(thread.number)
        report = "; ".join(f"threads {sorted(w)} at {n} {s}" for (n, s), w in where.items())
        stuck = [name for name, _ in where if name not in (*BARRIER_NAMES, "grid_sync")]
        if stuck:
            raise WarpDivergence(report)
        if len(where) > 1:
            raise BarrierDivergence(report)
        return next(iter(where))[0]

    def _release(self, name: str, live: list[Thread]) -> None:
        votes = [bool(t.waiting.args[0]) for t in live if t.waiting and t.waiting.args]
        counts = {
            "syncthreads_count": sum(votes),
            "syncthreads_and": int(all(votes)),
            "syncthreads_or": int(any(votes)),
        }
        answer = np.int32(counts[name]) if name in counts else None
        for thread in live:
            thread.resume(answer)


def _answer(name: str, group: list[Thread]) -> None:
    arguments = {t.lane: t.waiting.args[1:] for t in group if t.waiting is not None}
    answers = collective(name, arguments)
    for thread in group:
        thread.resume(answers[thread.lane])


def _wrap(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(_wrap(v) for v in value)
    return View(value) if isinstance(value, np.ndarray) else value


def launch(
    func: Any, grid: Any, block: Any, *args: Any, shared_bytes: int = 0, order: Order = "forward"
) -> None:
    """Run `func[grid, block](*args)`; arrays are changed in index.

    order is "forward", "reverse" or the seed of a shuffle.
    """
    function = python_function(func)
    if function is None:
        raise TypeError(f"expected a kernel or a Python function, got {func!r}")
    translator = Translator()
    kernel = translator.translate(function)
    blocks, shape = _three(grid), _three(block)
    wrapped = tuple(_wrap(a) for a in args)
    indices = [(x, y, z) for z, y, x in product(*(range(n) for n in blocks[::-1]))]
    waiting = []
    for index in _permute(indices, order):
        started = Block(shape, blocks, index, translator.devices, shared_bytes, order)
        started.start(kernel, wrapped)
        waiting.append(started.run())
    while waiting:
        waiting = [run for run in waiting if next(run, "ended") is None]
