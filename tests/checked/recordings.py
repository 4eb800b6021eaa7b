"""Recordings for the player's tests, made by small simulations independent of the engine."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

WARP = 32
BLOCK = 64


class Recorder:
    """Executes the steps of a launch on plain lists, and records them."""

    def __init__(self, kernel: str, source: str, grid: int, block: int = BLOCK) -> None:
        lines = [
            {"line": number, "text": text} for number, text in enumerate(source.split("\n"), 10)
        ]
        self.grid, self.block = grid, block
        self.values: list[list[Any]] = []
        self.registers: dict[tuple[int, int, str], Any] = {}
        self.out: dict[str, Any] = {
            "version": 1,
            "kernel": kernel,
            "file": f"lessons/{kernel}.py",
            "source": lines,
            "grid": [grid, 1, 1],
            "block": [block, 1, 1],
            "warp_size": WARP,
            "arrays": [],
            "variables": [],
            "steps": [],
            "findings": [],
            "truncated": None,
        }

    def array(
        self, name: str, space: str, before: list[Any], shape: Iterable[int] = (), owner: Any = None
    ) -> int:
        """Declare an array and return its number."""
        self.out["arrays"].append(
            {
                "name": name,
                "space": space,
                "shape": list(shape) or [len(before)],
                "dtype": "float32",
                "before": list(before),
                "owner": owner,
            }
        )
        self.values.append(list(before))
        return len(self.values) - 1

    def line_of(self, text: str) -> int:
        """Return the number of the first source line that contains this text."""
        return next(row["line"] for row in self.out["source"] if text in row["text"])

    def step(
        self, block: int, warp: int, text: str, lanes: Iterable[int], kind: str = "run"
    ) -> Any:
        """Add a step on the line that contains `text`."""
        step = {
            "block": block,
            "warp": warp,
            "line": self.line_of(text),
            "kind": kind,
            "lanes": sum(1 << lane for lane in lanes),
            "reads": [],
            "writes": [],
            "set": {},
        }
        self.out["steps"].append(step)
        return step

    def read(self, step: Any, array: int, index: int, lane: int) -> Any:
        value = self.values[array][index]
        step["reads"].append([array, index, lane, value])
        return value

    def write(
        self, step: Any, array: int, index: int, lane: int, value: Any, atomic: int = 0
    ) -> None:
        self.values[array][index] = value
        step["writes"].append([array, index, lane, value, atomic])

    def set(self, step: Any, name: str, lane: int, value: Any) -> None:
        if name not in self.out["variables"]:
            self.out["variables"].append(name)
        step["set"].setdefault(name, {})[str(lane)] = value
        self.registers[step["block"], step["warp"] * WARP + lane, name] = value


def lanes_of(warp: int, block: int = BLOCK) -> range:
    """Return the lanes of a warp that have a thread."""
    return range(min(WARP, block - warp * WARP))


REDUCE = '''@cuda.jit
def reduce_kernel(a, out):
    """Sum of a: each block sums its part in shared memory."""
    tile = cuda.shared.array(BLOCK, dtype=np.float32)
    tx = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[tx] = a[i] if i < a.size else np.float32(0)
    cuda.syncthreads()  # the tile is filled
    step = BLOCK // 2
    while step > 0:
        if tx < step:
            tile[tx] += tile[tx + step]
        cuda.syncthreads()  # this round is in
        step //= 2
    if tx == 0:
        cuda.atomic.add(out, 0, tile[0])'''


def reduction(size: int = 100, *, forgotten_barrier: bool = False) -> dict[str, Any]:
    """Sum of 100 numbers by two blocks of 64 threads, the second one partly idle.

    Without the barrier of the loop, warp 0 reads what warp 1 has not yet written.
    """
    source = REDUCE.replace("        cuda.syncthreads()  # this round is in\n", "")
    rec = Recorder(
        "reduce_kernel", source if forgotten_barrier else REDUCE, math.ceil(size / BLOCK)
    )
    a = rec.array("a", "global", [float(i % 7) + 0.5 for i in range(size)])
    out = rec.array("out", "global", [0.0])
    for block in range(rec.grid):
        tile = rec.array("tile", "shared", [None] * BLOCK, owner=block)
        _fill(rec, block, a, tile, size)
        _rounds(rec, block, tile, not forgotten_barrier)
        _finish(rec, block, tile, out)
    if forgotten_barrier:
        rec.out["findings"] = [_race(rec)]
    return rec.out


def _fill(rec: Recorder, block: int, a: int, tile: int, size: int) -> None:
    for warp in range(2):
        for name, text in (("tx", "tx = "), ("i", "i = ")):
            step = rec.step(block, warp, text, range(WARP))
            for lane in range(WARP):
                own = warp * WARP + lane
                rec.set(step, name, lane, own if name == "tx" else block * BLOCK + own)
        step = rec.step(block, warp, "tile[tx] = a", range(WARP))
        for lane in range(WARP):
            i = block * BLOCK + warp * WARP + lane
            value = rec.read(step, a, i, lane) if i < size else 0.0
            rec.write(step, tile, warp * WARP + lane, lane, value)
    _barrier(rec, block, "# the tile is filled")


def _barrier(rec: Recorder, block: int, text: str) -> None:
    for warp in range(2):
        rec.step(block, warp, text, range(WARP), "barrier")


def _rounds(rec: Recorder, block: int, tile: int, with_barrier: bool) -> None:
    half = BLOCK // 2
    for warp in range(2):
        step = rec.step(block, warp, "step = BLOCK", range(WARP))
        for lane in range(WARP):
            rec.set(step, "step", lane, half)
    while half:
        for warp in range(2):
            rec.step(block, warp, "if tx < step", range(WARP), "branch")
            adding = [lane for lane in range(WARP) if warp * WARP + lane < half]
            if adding:
                _add(rec, rec.step(block, warp, "tile[tx] += ", adding), tile, half, adding)
        if with_barrier:
            _barrier(rec, block, "# this round is in")
        half //= 2
        for warp in range(2):
            step = rec.step(block, warp, "step //= 2", range(WARP))
            for lane in range(WARP):
                rec.set(step, "step", lane, half)


def _add(rec: Recorder, step: Any, tile: int, half: int, lanes: list[int]) -> None:
    sums = [
        rec.read(step, tile, lane, lane) + rec.read(step, tile, lane + half, lane) for lane in lanes
    ]
    for lane, value in zip(lanes, sums, strict=True):
        rec.write(step, tile, lane, lane, value)


def _finish(rec: Recorder, block: int, tile: int, out: int) -> None:
    for warp in range(2):
        rec.step(block, warp, "if tx == 0", range(WARP), "branch")
        if warp == 0:
            step = rec.step(block, warp, "cuda.atomic.add", [0])
            value = rec.values[out][0] + rec.read(step, tile, 0, 0)
            rec.write(step, out, 0, 0, value, 1)
        rec.step(block, warp, "cuda.atomic.add", range(WARP), "return")


def _race(rec: Recorder) -> dict[str, Any]:
    """Return the race in the first addition of the second iteration, as the checker reports it."""
    line = rec.line_of("tile[tx] += ")
    additions = [n for n, step in enumerate(rec.out["steps"]) if step["line"] == line]
    return finding(
        "shared-race",
        "data race in shared memory",
        line=line,
        source="            tile[tx] += tile[tx + step]",
        other_line=line,
        other_source="            tile[tx] += tile[tx + step]",
        array="tile",
        index=[16],
        threads=[[0, 0, 0], [16, 0, 0]],
        blocks=[[0, 0, 0], [0, 0, 0]],
        message="Thread 0 reads tile[16], which thread 16 writes, and no barrier lies between.",
        fix="Put cuda.syncthreads() at the end of the loop's body.",
        step=additions[1],
    )


def finding(kind: str, title: str, **rest: Any) -> dict[str, Any]:
    """Return a finding in the form of `Finding.as_dict`, with its step."""
    usual = {"tool": "racecheck", "kind": kind, "title": title, "severity": "error"}
    place = {"kernel": "k", "file": "k.py", "line": 10, "source": "", "other_line": 0}
    more = {"other_source": "", "array": "", "index": [], "threads": [], "blocks": [], "count": 1}
    return {**usual, **place, **more, "message": "", "fix": "", "details": {}, "step": None, **rest}


TRANSPOSE = """@cuda.jit
def transpose_kernel(a, out):
    tile = cuda.shared.array((8, 8), dtype=np.float32)
    row = cuda.local.array(2, dtype=np.int64)
    ty, tx = cuda.threadIdx.x // 8, cuda.threadIdx.x % 8
    if ty < 5:
        tile[ty, tx] = a[ty, tx]
    cuda.syncthreads()
    row[0] = tx
    out[tx, ty] = tile[ty, tx]"""


def transpose() -> dict[str, Any]:
    """40 threads in 5 rows of 8: a second warp of 8 lanes, 2-D and local arrays, NaN."""
    rec = Recorder("transpose_kernel", TRANSPOSE, 1, 40)
    numbers = [float(i) / 3 for i in range(40)]
    numbers[7] = "nan"
    a = rec.array("a", "global", numbers, (5, 8))
    out = rec.array("out", "global", ["nan"] * 40, (8, 5))
    tile = rec.array("tile", "shared", [None] * 64, (8, 8), owner=0)
    rows = [rec.array("row", "local", [None, None], owner=[0, thread]) for thread in range(40)]

    def each(text: str, act: Callable[[Any, int, int], None]) -> None:
        for warp in range(2):
            step = rec.step(0, warp, text, lanes_of(warp, 40))
            for lane in lanes_of(warp, 40):
                act(step, warp * WARP + lane, lane)

    def load(step: Any, thread: int, lane: int) -> None:
        rec.write(step, tile, thread, lane, rec.read(step, a, thread, lane))

    def store(step: Any, thread: int, lane: int) -> None:
        value = rec.read(step, tile, thread, lane)
        rec.write(step, out, thread % 8 * 5 + thread // 8, lane, value)

    each("ty, tx =", lambda step, thread, lane: rec.set(step, "tx", lane, thread % 8))
    each("tile[ty, tx] = a", load)
    for warp in range(2):
        rec.step(0, warp, "cuda.syncthreads()", lanes_of(warp, 40), "barrier")
    each(
        "row[0] = tx", lambda step, thread, lane: rec.write(step, rows[thread], 0, lane, thread % 8)
    )
    each("out[tx, ty] =", store)
    return rec.out


def long(steps: int = 20_000, size: int = 4_096) -> dict[str, Any]:
    """Many steps over two long arrays, one of them 64 x 64."""
    rec = Recorder("long_kernel", "@cuda.jit\ndef long_kernel(a, b):\n    b[j] = a[i]", 4)
    a = rec.array("a", "global", [i % 10 for i in range(size)])
    b = rec.array("b", "global", [None] * size, (64, size // 64))
    for number in range(steps):
        step = rec.step(number // 2 % 4, number % 2, "b[j] = a[i]", range(WARP))
        for lane in range(WARP):
            value = rec.read(step, a, (number * WARP + lane) % size, lane)
            rec.write(step, b, (number * WARP + 7 * lane) % size, lane, value)
    return rec.out


VOTE = """@cuda.jit
def vote_kernel(total):
    if lane < 5:
        total[0] += 1
        cuda.syncwarp(31)
    if lane >= 5:
        seen = 0
    grid.sync()
    total[1] = total[0]"""


def vote() -> dict[str, Any]:
    """Five lanes of each warp write one element in one step, followed by a grid sync."""
    rec = Recorder("vote_kernel", VOTE, 2)
    total = rec.array("total", "global", [0, None])
    places = [(block, warp) for block in range(2) for warp in range(2)]
    for place in places:
        rec.step(*place, "if lane < 5", range(WARP), "branch")
        step = rec.step(*place, "total[0] += 1", range(5))
        for lane in range(5):
            rec.write(step, total, 0, lane, rec.read(step, total, 0, lane) + 1)
            rec.set(step, "seen", lane, rec.values[total][0])
        rec.step(*place, "cuda.syncwarp", range(5), "syncwarp")
        step = rec.step(*place, "seen = 0", range(5, WARP))
        for lane in range(5, WARP):
            rec.set(step, "seen", lane, 0)
        rec.step(*place, "grid.sync", range(WARP), "grid_sync")
    for place in places:
        step = rec.step(*place, "total[1]", range(WARP))
        for lane in range(WARP):
            rec.write(step, total, 1, lane, rec.read(step, total, 0, lane))
    return rec.out
