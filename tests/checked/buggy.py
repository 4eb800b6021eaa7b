"""Kernels made at random with random mistakes, each with a launch and arguments to match.

    program = buggy.make(seed=1, number=17)
    print(program.script())          # the text of a file that checks it

The same seed and number always give the same kernel. `module` puts many into one file.
"""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.checked.buggy_statements import Array, Mistakes
from tests.compiler.expressions import INDICES, LANE, Scope

HEAD = '''"""Kernels made at random with random mistakes; tests/checked/buggy.py made this file."""

import math

import numpy as np

import gpukit
from gpukit import cuda

GUARD = 64
GUARDED = []
TABLE = np.linspace(-1, 1, 9).astype(np.float32)
PAIR = np.dtype([("x", np.float32), ("k", np.int32)], align=True)
PACKED = np.dtype([("c", np.int8), ("v", np.float64), ("w", np.int32, (3,))])


def made(shape, dtype, order="C"):
    """Return an array of chance numbers that lies between two guards."""
    n = int(np.prod(shape))
    whole = np.empty(n + 2 * GUARD, dtype)
    whole.view(np.uint8)[:] = 77
    array = whole[GUARD : GUARD + n].reshape(shape, order=order)
    numbers = np.random.default_rng(n).integers(-3, 60, shape)
    if whole.dtype.names:
        array[...] = np.zeros((), dtype)
        array[whole.dtype.names[0]] = numbers
    else:
        array[...] = numbers.astype(dtype)
    if whole.dtype.kind == "f" and n > 4:
        array.flat[1:4] = np.nan, np.inf, -0.0
    GUARDED.append(whole)
    return array


def as_bytes(array):
    """Return the bytes of an array, in place where they are one block of the host's memory."""
    host = array if isinstance(array, np.ndarray) else array.copy_to_host()
    return np.ravel(host, order="K").view(np.uint8)


def intact():
    """Tell whether all guards are as they were made, and forget them."""
    sound = all((w[part].view(np.uint8) == 77).all() for w in GUARDED
                for part in (slice(GUARD), slice(-GUARD, None)))
    GUARDED.clear()
    return sound


@cuda.jit(device=True)
def twist(x, y):
    for k in range(3):
        x = x * 3 + y // (k + 1)
        if x % 3 == 0:
            return x - y
        y += x >> 2
    return x


@cuda.jit(device=True)
def meet(flag, x):
    if flag:
        cuda.syncthreads()
        return x
    return x + 1


@cuda.jit(device=True)
def own(v):
    slots = cuda.shared.array(33, np.int32)
    slots[cuda.threadIdx.x] = v
    cuda.syncthreads()
    return slots[cuda.threadIdx.x + 1]


@cuda.jit(device=True)
def total(v, mask):
    for step in (16, 8, 4, 2, 1):
        v += cuda.shfl_down_sync(mask, v, step)
    return v


@cuda.jit(device=True)
def fall(n):
    if n <= 0:
        return 0
    return fall(n - 1) + 1


@cuda.jit(device=True)
def put(buf, i, v):
    buf[i] = v
    return buf[i - 1]


@cuda.jit(device=True)
def swap(buf, nt, v, shift, n):
    t = cuda.threadIdx.x + cuda.blockDim.x * cuda.threadIdx.y
    if n % 3 == 0:
        return v + 1
    buf[t] = v
    cuda.syncthreads()
    return buf[(t + shift) % nt]
'''
BEGIN = (
    *INDICES,
    ("i0", "i0 = np.int64(n) + tid"),
    ("i1", "i1 = bid - 1"),
    ("i2", "i2 = gid"),
    ("s0", "s0 = np.float32(tid)"),
    ("s1", "s1 = np.float32(x)"),
    ("d0", "d0 = x + gid"),
    ("b0", "b0 = tid % 3 == 1"),
)
BYTES = "as_bytes"
DTYPES = """
    float32 int32 int64 float64 int32 float32 uint8 int16 uint32 uint64 int8 bool_ float16 complex64
    PAIR PACKED
""".split()
SHAPES = {
    1: ((40,), (64,), (7,), (33,), (1,), (0,), (100,)),
    2: ((8, 8), (5, 6), (0, 3), (33, 2)),
    3: ((2, 3, 4), (5, 1, 3)),
}
GRIDS = ((1,), (2,), (3,), (2, 2), (1, 1, 2))
BLOCKS = ((32,), (64,), (7,), (33,), (1,), (40,), (8, 4), (5, 3), (16, 3), (4, 3, 2), (2, 5, 7))
REFUSED = ((0,), (-1,), (2000,), (1, 1, 65), (1, 2, 3, 4), (2.5,), ())
NUMBERS = (
    "5",
    "0",
    "-1",
    "33",
    "2**31",
    "-2**63",
    "2**63 - 1",
    "2**64 - 1",
    "np.int8(-7)",
    "True",
    "np.uint16(40)",
)
FLOATS = ("1.5", "np.float32(0.25)", "math.nan", "-math.inf", "3", "1e300")
PAIRS = ("(3, 4)", "(0, -1)", "(1, 2**40)", "(np.int32(5), np.int32(9))", "(2, 1.5)")
WRONG = ("None", '"text"', "[1, 2]", "{}", "object()", "np.array(['a'])", "np.zeros(3, '>i4')")


@dataclass(frozen=True)
class Program:
    """One kernel: its text, how to launch it, and the text of its arguments."""

    number: int
    kernel: str
    launch: str
    arguments: str

    @property
    def text(self) -> str:
        """The kernel and the function that makes its arguments, without `HEAD`."""
        return f"\n\n@cuda.jit\n{self.kernel}\n\n\n{self.arguments}\n"

    def script(self, command: str = "check") -> str:
        """Return a whole file that checks the kernel."""
        run = f"print(gpukit.{command}(kernel_{self.number})[{self.launch}]"
        return f"{HEAD}{self.text}\n\n{run}(*arguments_{self.number}()))\nassert intact()\n"


def module(programs: Sequence[Program]) -> str:
    """Return the text of a file with several kernels."""
    launches = "".join(f"    {p.number}: ({p.launch}),\n" for p in programs)
    return HEAD + "".join(p.text for p in programs) + f"\n\nLAUNCHES = {{\n{launches}}}\n"


def make(seed: int, number: int, budget: int = 6) -> Program:
    """Make a kernel of up to `budget` statements, and some more inside them.

    Every third begins with a walk of the whole grid besides.
    """
    maker = _Maker(random.Random(f"{seed} {number}").randint)
    return maker.program(number, budget, walks=number % 3 == 1)


class _Maker:
    """Puts statements, arrays and a launch together."""

    def __init__(self, chosen: Callable[[int, int], int]) -> None:
        self.mistakes = Mistakes(chosen)
        self.pick, self.chance = self.mistakes.pick, self.mistakes.chance
        self.number = chosen

    def program(self, number: int, budget: int, *, walks: bool) -> Program:
        arguments, given = self._arguments()
        made, own = self._own_arrays()
        self.mistakes.known = (*given, *own)
        self.mistakes.wildness = self.pick((2, 3, 5, 9))
        self.mistakes.begin(self.number(2, budget))
        if walks:
            self.mistakes.walk()
        while self.mistakes.budget > 0:
            self.mistakes.body(Scope(level=LANE))
        names = [*(a.name for a in given), "n", "x", "pair"]
        lines = _frame(made, self.mistakes.lines)
        kernel = "\n".join([f"def kernel_{number}({', '.join(names)}):", *lines])
        ast.parse(kernel)
        values = [*(a.name for a in given), self.pick(NUMBERS), self.pick(FLOATS), self.pick(PAIRS)]
        if self.chance(25):
            values[self.number(0, len(values) - 1)] = self.pick(WRONG)
        if self.chance(40):
            values.pop()
        text = "\n".join(
            [f"def arguments_{number}():", *arguments, f"    return {', '.join(values)}"]
        )
        return Program(number, kernel, self._launch(), text)

    def _launch(self) -> str:
        grid, block = self.pick(GRIDS), self.pick(BLOCKS)
        if self.chance(25):
            grid, block = self.pick(((grid, self.pick(REFUSED)), (self.pick(REFUSED), block)))
        shared = self.pick((0, 0, 64, 100, 256, 3, 60000 if self.chance(9) else 512))
        return f"{grid}, {block}, 0, {shared}"

    def _own_arrays(self) -> tuple[list[str], list[Array]]:
        """Return the lines and the arrays of shared, local and constant memory."""
        lines, arrays = [], []
        for k in range(self.number(0, 3)):
            space = self.pick(("shared", "shared", "dynamic", "local"))
            dtype = self.pick(DTYPES)
            shape: str = self.pick(("32", "64", "7", "33", "1", "(5, 7)", "(2, 3, 4)", "96"))
            if space == "dynamic":
                space, shape = "shared", "0"
            array = Array(f"own{k}", dtype, shape.count(",") + 1)
            kind = dtype if dtype.isupper() else f"np.{dtype}"
            lines.append(f"    {array.name} = cuda.{space}.array({shape}, {kind})")
            arrays.append(array)
        if self.chance(8):
            lines.append("    fixed = cuda.const.array_like(TABLE)")
            arrays.append(Array("fixed", "float32"))
        return lines, arrays

    def _arguments(self) -> tuple[list[str], list[Array]]:
        """Return the lines that make the arrays given to the kernel, and those arrays."""
        lines, arrays = [], []
        for k in range(self.number(1, 3)):
            array = Array(f"a{k}", self.pick(DTYPES), self.pick((1, 1, 1, 2, 2, 3)))
            text = self._layout(array)
            if arrays and self.chance(4):
                array, text = self._again(array.name, arrays[-1])
            elif self.chance(12):  # another number of axes than the kernel expects
                text = self._layout(Array("", array.dtype, self.number(1, 3)))
            lines.append(f"    {array.name} = {text}")
            arrays.append(array)
        return lines, arrays

    def _again(self, name: str, other: Array) -> tuple[Array, str]:
        """An argument that overlaps another one."""
        cut = self.pick(("", "[1:]", "[::-1]", "[::2]", BYTES))
        if cut == BYTES:
            return Array(name, "uint8"), f"{BYTES}({other.name})"
        return Array(name, other.dtype, other.ndim), other.name + cut

    def _layout(self, array: Array) -> str:
        shape = self.pick(SHAPES[array.ndim])
        dtype = array.dtype if array.kind == "r" else f"np.{array.dtype}"
        plain = f"made({shape}, {dtype})"
        forms = (
            plain,
            plain,
            plain,
            plain,
            f"made({shape}, {dtype}, 'F')",
            f"{plain}[::2]",
            f"{plain}[::-1]",
            f"{plain}.T",
            f"cuda.device_array({shape}, {dtype})",
            f"cuda.to_device({plain})",
            f"np.broadcast_to(made((1,), {dtype}), {shape})",
            f"np.lib.stride_tricks.as_strided({plain}, {shape}, {(0,) * array.ndim})",
            f"np.zeros(1003, np.int8)[1:-2].view({dtype})" if array.kind in "ib" else plain,
            f"np.lib.stride_tricks.sliding_window_view(made((9,), {dtype}), 3, writeable=True)"
            if array.ndim == 2
            else plain,
        )
        return self.pick(forms)


def _names(lines: Sequence[str]) -> set[str]:
    return set(re.findall(r"[A-Za-z_]\w*", "\n".join(lines)))


def _frame(made: Sequence[str], body: Sequence[str]) -> list[str]:
    """Return the body below the definitions that it needs."""
    used = _names(body)
    own = [line for line in made if line.split()[0] in used]
    lines = [*own, *body]
    for name, text in reversed(BEGIN):
        if name in _names(lines):
            lines.insert(0, "    " + text)
    return lines
