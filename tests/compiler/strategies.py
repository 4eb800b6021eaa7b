"""Hypothesis strategies that generate whole kernels with their launches and arguments.

    @given(programs())
    def test(program):
        kernel = program.load(cuda)
        kernel[program.grid, program.block](*program.arguments())

A program is text that can be printed and pasted into a file as a script. The text is put into
`linecache` under a made-up file name, so that `inspect` finds the source as it does for a
notebook cell.
"""

from __future__ import annotations

import ast
import hashlib
import linecache
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.compiler.expressions import EXCHANGES, INDICES, LANE, Scope
from tests.compiler.statements import Statements

SHAPES = (
    (1,),
    (7,),
    (32,),
    (33,),
    (40,),
    (64,),
    (96,),
    (5, 3),
    (8, 8),
    (16, 3),
    (33, 2),
    (4, 3, 2),
    (3, 3, 5),
    (2, 5, 7),
    (1, 1, 3),
)
GRIDS = ((1,), (2,), (3,), (2, 2), (1, 3), (2, 1, 2))
FLAT = ((7,), (32,), (33,), (64,))  # blocks of kernels that begin with grid-stride loops
LONG = ((1,), (3,), (17,), (35,))
MOST_THREADS = 96

# The first lines of a kernel, by the names that they define. Only those used are written.
HEADER = (
    *INDICES,
    ("row", "row = table[gid % table.shape[0]]"),
    ("i0 i1", "i0, i1 = data[gid % data.size], wide[gid % wide.size]"),
    ("i2", "i2 = gid"),
    ("s0", "s0 = real[gid % real.size]"),
    ("s1", "s1 = np.float32(lane)"),
    ("d0", "d0 = np.float64(real[gid % real.size]) + 0.5"),
    ("b0", "b0 = lane % 3 == 1"),
    ("sh_i", f"sh_i = cuda.shared.array({MOST_THREADS}, np.int32)\nsh_i[tid] = tid * 7"),
    (
        "sh_s",
        f"sh_s = cuda.shared.array(({MOST_THREADS // 8}, 8), np.float32)\n"
        "sh_s[tid // 8, tid % 8] = np.float32(tid)",
    ),
    ("sh_w", f"sh_w = cuda.shared.array({MOST_THREADS}, np.int64)\nsh_w[tid] = gid"),
    ("scratch", "scratch[gid] = tid"),
    (
        "sh_n",
        "sh_n = cuda.shared.array(8, np.int32)\n"
        "if tid == 0:\n    for j in range(8):\n        sh_n[j] = 0",
    ),
    ("sh_i sh_s sh_w sh_n scratch", "cuda.syncthreads()"),
    ("la", "la = cuda.local.array(4, np.int64)\nfor j in range(4):\n    la[j] = gid + j"),
)
# The lines before the loops of a kernel that begins with grid-stride loops, in which threads use
# only their index in the grid. Names for the rest of the kernel come from HEADER, after the loops.
OPENING = (
    ("gid", "gid = cuda.grid(1)"),
    *((names, text) for names, text in HEADER if names in ("row", "i0 i1", "i2", "s0", "d0")),
    ("s1", "s1 = np.float32(gid)"),
    ("b0", "b0 = gid % 3 == 1"),
)
FOOTER = {
    "i0": "out_i[gid, 0] = i0",
    "i1": "out_i[gid, 1] = i1",
    "i2": "out_i[gid, 2] = i2",
    "s0": "out_s[gid, 0] = s0",
    "s1": "out_s[gid, 1] = s1",
    "d0": "out_d[gid] = d0",
    "b0": "out_b[gid] = b0",
}
SWAP = """
@cuda.jit(device=True)
def swap(buf, nt, v, shift, n):
    t = cuda.threadIdx.x + cuda.blockDim.x * (cuda.threadIdx.y + cuda.blockDim.y * cuda.threadIdx.z)
    cuda.syncthreads()
    buf[t] = v
    cuda.syncthreads()
    return buf[(t + shift) % nt]


@cuda.jit(device=True)
def swap_or_leave(buf, nt, v, shift, n):
    if n % 3 == 0:
        return v + 1
    got = swap(buf, nt, v, shift, n)
    if got % 2 == 0:
        return got // 2
    return got
"""
NAMES = """
    n trips data wide real table scratch adds tops flips sums out_i out_s out_d out_b
""".split()


def register(text: str) -> str:
    """Register a source text under a file name for `linecache` and `inspect`; return the name."""
    name = f"<random kernel {hashlib.sha256(text.encode()).hexdigest()[:12]}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    return name


def execute(text: str, cuda: Any) -> dict[str, Any]:
    """Execute a text with `cuda` bound to a namespace; return its globals."""
    scope = {"cuda": cuda, "np": np, "math": math}
    exec(compile(text, register(text), "exec"), scope)
    return scope


def plain_cuda() -> SimpleNamespace:
    """Return the intrinsics with a `jit` that leaves the function as it is."""
    from gpukit.compiler import intrinsics

    def jit(function: Any = None, **_: Any) -> Any:
        return function if callable(function) else lambda f: f

    return SimpleNamespace(**intrinsics.namespace(), jit=jit)


@dataclass(frozen=True, repr=False)
class Program:
    """A kernel named `random_kernel` as text, and its launch."""

    text: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    n: int
    seed: int

    def load(self, cuda: Any) -> Any:
        return execute(self.text, cuda)["random_kernel"]

    def arguments(self) -> dict[str, Any]:
        """Return new arguments; outputs are filled with poison."""
        rng = np.random.default_rng(self.seed)
        blocks = math.prod(self.grid)
        total = blocks * math.prod(self.block)
        values: tuple[Any, ...] = (
            self.n,
            rng.integers(0, 4, blocks, dtype=np.int32),
            rng.integers(-1000, 1000, 37, dtype=np.int32),
            rng.integers(-(2**40), 2**40, 23),
            rng.normal(size=41).astype(np.float32),
            rng.integers(-50, 50, (5, 6)),
            np.full(total, -77, np.int64),
            np.zeros(8, np.int64),
            np.full(8, -(2**62), np.int64),
            np.zeros((8, 1), np.int32),
            np.zeros(8, np.float32),
            np.full((total, 4), -77, np.int64),
            np.full((total, 2), np.nan, np.float32),
            np.full(total, np.nan, np.float64),
            np.full(total, 77, np.int8),
        )
        return dict(zip(NAMES, values, strict=True))

    def __str__(self) -> str:
        launch = f"random_kernel[{self.grid}, {self.block}]  # n={self.n}, seed={self.seed}"
        return f"{self.text}\n{launch}\n"

    __repr__ = __str__


def _indented(text: str) -> list[str]:
    return ["    " + line if line else line for line in text.splitlines()]


def _helper(maker: Statements) -> str:
    """Return a device function without barriers, with early returns."""
    scope = Scope(level=LANE, integers=("x", "y"), uniform=(), in_device=True)
    lines = ["", "@cuda.jit(device=True)", "def twist(x, y):", "    for k in range(3):"]
    lines += [f"        x = {maker.integer(scope)}", f"        if {maker.condition(scope)}:"]
    lines += [f"            return {maker.integer(scope)}"]
    lines += [f"        y += {maker.integer(scope, 1)}", "    return x - y", ""]
    return "\n".join(lines)


def _names(lines: list[str]) -> set[str]:
    return set(re.findall(r"[A-Za-z_]\w*", "\n".join(lines)))


def _frame(body: list[str], opening: Sequence[str] = ()) -> list[str]:
    """Return the body between the definitions it needs and the stores of changed variables."""
    changed = _names([*opening, *body])
    footer = [text for name, text in FOOTER.items() if name in changed]
    lines = [*body, *_indented("\n".join(footer))]
    defined = OPENING if opening else ()
    lines = _defined(lines, [h for h in HEADER if h[0] not in dict(defined)])
    needed = _names([*opening, *lines])
    return [*_defined(list(opening), defined, needed), *lines]


def _defined(
    lines: list[str], header: Sequence[tuple[str, str]], needed: Iterable[str] = ()
) -> list[str]:
    """Return the lines after those header lines that define names which they use, or `needed`."""
    for names, text in reversed(header):
        if (_names(lines) | set(needed)) & set(names.split()):
            lines = _indented(text) + lines
    return lines


def make_program(
    number: Callable[[int, int], int], budget: int = 9, *, strides: bool = False
) -> Program:
    """Generate a deterministic kernel of up to `budget` statements.

    With `strides` it begins with grid-stride loops that use only the thread's index in the grid.
    """
    maker = Statements(number)
    block, grid = maker.pick(FLAT if strides else SHAPES), maker.pick(LONG if strides else GRIDS)
    # A thread that returns in such a loop leaves its slots uninitialised.
    leaves = strides and maker.chance(2)
    opening = _strides(maker, leaves) if strides else []
    maker.arrays = () if leaves or maker.chance(5) else EXCHANGES
    maker.has_local = maker.chance(3)
    text = []
    if maker.chance(3):
        text += _helper(maker).splitlines()
        maker.helpers = ("twist",)
    maker.begin(number(1, budget))
    if strides:
        maker.barrier(Scope())
    while maker.budget > 0:
        maker.body(Scope())
    if "swap" in "".join(maker.lines):
        text += SWAP.splitlines()
    text += ["", "@cuda.jit", f"def random_kernel({', '.join(NAMES)}):"]
    source = "\n".join([*text, *_frame(maker.lines, opening)]).strip("\n") + "\n"
    ast.parse(source)
    return Program(source, grid, block, number(0, 9), number(0, 1000))


def _strides(maker: Statements, leaves: bool) -> list[str]:
    """Return grid-stride loops with statements between; with `leaves`, threads may return there."""
    known = {"integers": ("gid",), "uniform": ("n",), "varying": ("gid",)}
    scope = Scope(level=LANE, may_return=leaves, **known)
    maker.begin(maker.number(2, 4))
    maker.stride(scope)
    while maker.budget > 0:
        maker.body(scope)
        maker.stride(scope)
    return maker.lines


@st.composite
def programs(draw: Callable[[st.SearchStrategy[int]], int], budget: int = 9) -> Program:
    """Deterministic kernels, simplest first."""
    return make_program(lambda low, high: draw(st.integers(low, high)), budget)


@st.composite
def striding_programs(draw: Callable[[st.SearchStrategy[int]], int], budget: int = 6) -> Program:
    """Deterministic kernels that begin with grid-stride loops."""
    return make_program(lambda low, high: draw(st.integers(low, high)), budget, strides=True)
