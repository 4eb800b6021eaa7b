"""Random expressions and conditions for the kernels of `strategies.py`.

Four kinds of value: `i` integers, `s` float32, `d` float64, `b` booleans. A variable never changes
its kind, so that Numba unifies nothing but integer widths. No expression can trap, index outside
an array or depend on the order of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

T = TypeVar("T")
LANE, WARP, BLOCK = 0, 1, 2  # guaranteed to be active: one thread, all live lanes, all threads
# Indices of a thread: names, and the lines that define them.
INDICES = (
    (
        "tid",
        "tid = cuda.threadIdx.x + cuda.blockDim.x * "
        "(cuda.threadIdx.y + cuda.blockDim.y * cuda.threadIdx.z)",
    ),
    ("nt", "nt = cuda.blockDim.x * cuda.blockDim.y * cuda.blockDim.z"),
    (
        "bid",
        "bid = cuda.blockIdx.x + cuda.gridDim.x * "
        "(cuda.blockIdx.y + cuda.gridDim.y * cuda.blockIdx.z)",
    ),
    ("gid", "gid = bid * nt + tid"),
    ("lane", "lane = cuda.laneid"),
    ("warp", "warp = tid // cuda.warpsize"),
)
VARIABLES = {"i": ("i0", "i1", "i2"), "s": ("s0", "s1"), "d": ("d0",), "b": ("b0",)}


@dataclass(frozen=True)
class Scope:
    """What statements are allowed at one point of a kernel."""

    level: int = BLOCK
    readable: tuple[str, ...] = ()  # shared arrays that every thread may read and none writes
    integers: tuple[str, ...] = ("tid", "gid", "lane")
    uniform: tuple[str, ...] = ("n", "bid", "nt")
    varying: tuple[str, ...] = ("lane", "tid")  # indices in divergent conditions
    loop: int | None = None  # the level of the loop around, if break and continue are allowed
    top: bool = False  # directly in the body of that loop
    mask: str | None = None  # the variable with the mask of active lanes
    may_return: bool = True
    in_device: bool = False

    def inside(self, **changes: Any) -> Scope:
        return replace(self, **{"top": False, **changes})


@dataclass(frozen=True)
class Exchange:
    """An array with one slot per thread of the block, for exchanging values at barriers."""

    name: str
    kind: str
    index: str  # how slot {k} is spelled

    def slot(self, k: str) -> str:
        return f"{self.name}[{self.index.format(k=k)}]"


EXCHANGES = (
    Exchange("sh_i", "i", "{k}"),
    Exchange("sh_s", "s", "({k}) // 8, ({k}) % 8"),
    Exchange("sh_w", "i", "{k}"),
    Exchange("scratch", "i", "bid * nt + {k}"),
)


class Expressions:
    """Generates expressions as text."""

    def __init__(self, number: Callable[[int, int], int]) -> None:
        self.number = number  # draws an integer from low to high, inclusive
        self.arrays: tuple[Exchange, ...] = ()
        self.has_local = False
        self.helpers: tuple[str, ...] = ()

    def pick(self, options: Sequence[T]) -> T:
        """Return one of the options; the first is the simplest."""
        return options[self.number(0, len(options) - 1)]

    def chance(self, one_in: int) -> bool:
        return self.number(0, one_in - 1) == one_in - 1

    def value(self, kind: str, scope: Scope, depth: int = 2) -> str:
        make = {"i": self.integer, "s": self.single, "d": self.double, "b": self.condition}
        return make[kind](scope, depth)

    def integer(self, scope: Scope, depth: int = 2) -> str:
        if depth == 0 or self.chance(4):
            return self._integer_leaf(scope)
        left, right = self.integer(scope, depth - 1), self._integer_leaf(scope)
        small = self.number(1, 9)
        forms = (
            f"{left} + {right}",
            f"{left} - {right}",
            f"{left} * {small}",
            f"{left} ^ {right}",
            f"{left} & {right}",
            f"{left} | {right}",
            f"{left} // {small}",
            f"{left} % {small + 1}",
            f"{left} >> {small}",
            f"({left} & 63) << {small}",
            f"-{left}",
            f"~{left}",
            f"min({left}, {right})",
            f"max({left}, {right})",
            f"abs({left})",
            f"({left} if {self.condition(scope, 0)} else {right})",
            f"({left} & 255) * ({right} & 255)",
            f"np.int32({left})",
        )
        return f"({self.pick(forms)})"

    def _integer_leaf(self, scope: Scope) -> str:
        names = () if scope.in_device else (*VARIABLES["i"], *scope.uniform)
        options = [*names, *scope.integers, f"({self.number(-5, 40)})"]
        if not scope.in_device:
            options += self._loads("i", scope)
        if self.has_local and not scope.in_device:
            options.append(f"la[{self.pick(VARIABLES['i'])} & 3]")
        if self.helpers and not scope.in_device:
            options.append(f"{self.pick(self.helpers)}({self.pick(VARIABLES['i'])}, {options[0]})")
        return self.pick(options)

    def _loads(self, kind: str, scope: Scope) -> list[str]:
        index = f"({self.pick(VARIABLES['i'])} + {self.number(0, 7)})"
        fixed = {
            "i": ["data[{} % data.size]", "wide[{} % wide.shape[0]]", "row[{} % row.size]"],
            "s": ["real[{} % real.size]"],
        }
        found = [text.format(index) for text in fixed[kind]]
        for array in self.arrays:
            if array.kind == kind:
                shared = array.name in scope.readable
                found.append(array.slot(f"{index} % nt" if shared else "tid"))
        return found

    def single(self, scope: Scope, depth: int = 2) -> str:
        if depth == 0 or self.chance(4):
            return self.pick([*VARIABLES["s"], *self._loads("s", scope)])
        left, right = self.single(scope, depth - 1), self.single(scope, 0)
        forms = (
            f"{left} + {right}",
            f"{left} - {right}",
            f"{left} * np.float32(0.5)",
            f"-{left}",
            f"abs({left})",
            f"{left} * {right}",
            f"np.float32({self.integer(scope, 0)} & 15)",
            f"math.sqrt(abs({left}))",
            f"({left} if {self.condition(scope, 0)} else {right})",
            f"np.float32({left} * {self.pick(VARIABLES['i'])})",
        )
        return f"({self.pick(forms)})"

    def double(self, scope: Scope, depth: int = 2) -> str:
        left = self.single(scope, 1) if depth == 0 else self.pick(VARIABLES["d"])
        forms = (
            f"{left} + 0.25",
            f"{left} * {self.integer(scope, 0)}",
            f"{left} - {self.single(scope, 1)} * 0.5",
            f"{self.integer(scope, 1)} / 8",
            f"np.float64({left})",
        )
        text = self.pick(forms)
        return f"np.float64({text})" if depth == 0 else text

    def condition(self, scope: Scope, depth: int = 1) -> str:
        """Return a condition that may differ from thread to thread."""
        if scope.in_device:
            return f"{self.pick(scope.integers)} % {self.number(2, 4)} == 0"
        if depth and self.chance(3):
            left, right = self.condition(scope, 0), self.condition(scope, 0)
            return self.pick((f"({left} and {right})", f"({left} or {right})", f"not ({left})"))
        name = self.pick((*scope.varying, *VARIABLES["i"]))
        options = (
            f"{name} % {self.number(2, 5)} == {self.number(0, 1)}",
            f"{name} < {self.number(0, 40)}",
            f"{self.pick(VARIABLES['b'])}",
            f"({name} & {self.number(1, 7)}) != 0",
            f"{VARIABLES['s'][0]} > {VARIABLES['s'][1]}",
            f"0 <= {name} < {self.number(1, 32)}",
        )
        return self.pick(options)

    def agreed(self, scope: Scope) -> str:
        """Return a condition that is uniform at the scope's level."""
        options = [
            f"{self.pick(scope.uniform)} % {self.number(2, 4)} == 0",
            "n > 4",
            "trips[bid] > 1",
        ]
        if scope.level == WARP:
            test = self.condition(scope)
            options += [f"cuda.any_sync(0xffffffff, {test})", f"cuda.all_sync(0xffffffff, {test})"]
            options.append(f"warp % 2 == {self.number(0, 1)}")
        if scope.level == BLOCK:
            options += [self.vote(scope), f"{self.vote(scope)} and n > 1"]
        return self.pick(options)

    def vote(self, scope: Scope) -> str:
        """Return a barrier that votes, as a condition."""
        test = self.condition(scope)
        argument = f"1 if {test} else 0"
        forms = (
            f"cuda.syncthreads_or({argument})",
            f"cuda.syncthreads_and({argument}) != 0",
            f"cuda.syncthreads_count({argument}) > {self.number(0, 9)}",
        )
        return self.pick(forms)
