"""Random statements full of mistakes, for the kernels of `buggy.py`.

Expressions and harmless statements come from `tests/compiler`. Those added here break all rules:
indices are out of bounds, barriers and warp operations are in divergent code, memory is read
before it is written. Only two things are guaranteed: Python can parse the code, and every loop
ends unless threads change each other's counters.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.compiler.expressions import LANE, VARIABLES, Scope
from tests.compiler.statements import Statement, Statements

KINDS = {
    "int8": "i",
    "uint8": "i",
    "int16": "i",
    "int32": "i",
    "uint32": "i",
    "int64": "i",
    "uint64": "i",
    "bool_": "b",
    "float16": "s",
    "float32": "s",
    "float64": "d",
    "complex64": "c",
    "PAIR": "r",
    "PACKED": "r",
}
FIELDS = {
    "PAIR": (("x", "s"), ("k", "i")),
    "PACKED": (("c", "i"), ("v", "d"), ("w", "i")),  # v is misaligned
}
MASKS = (
    "0xffffffff",
    "0xffffffff",
    "-1",
    "0xffff",
    "0x55555555",
    "1",
    "0",
    "2 ** 33",
    "{i} & 255",
    "cuda.activemask()",
    "1 << lane",
    "cuda.lanemask_lt()",
    "cuda.ballot_sync(-1, {c})",
)
WILD = ("2147483647", "-2147483648", "(2 ** 40)", "(2 ** 63 - 1)", "(-1)", "255")
ADDING = ("add", "sub", "max", "min", "exch")
BITS = ("and_", "or_", "xor", "inc", "dec")


@dataclass(frozen=True)
class Array:
    """An array that a kernel can name."""

    name: str
    dtype: str
    ndim: int = 1

    @property
    def kind(self) -> str:
        return KINDS[self.dtype]


class Mistakes(Statements):
    """Generates statements that may do anything."""

    known: tuple[Array, ...] = ()
    wildness = 2  # one index in this many may be out of bounds

    # Expressions

    def integer(self, scope: Scope, depth: int = 2) -> str:
        if scope.in_device or depth == 0 or not self.chance(3):
            return super().integer(scope, depth)
        left, right = self._integer_leaf(scope), self._integer_leaf(scope)
        forms = (
            f"{left} // {right}",
            f"{left} % {right}",
            f"{left} << {right}",
            f"{left} >> {right}",
            f"{left} * {self.pick(WILD)}",
            f"{left} + {self.pick(WILD)}",
            f"{left} * {left} * {right}",
            f"int({self.single(scope, 1)})",
            f"np.int8({left})",
            f"np.uint32({left})",
            f"cuda.popc({left})",
            f"cuda.ffs({left})",
            f"cuda.clz({left})",
            f"cuda.brev({left})",
            f"cuda.selp({self.condition(scope, 0)}, {left}, {right})",
            f"abs({left}) ** 2",
            f"{left} // (n - n)",
            f"round({self.single(scope, 0)})",
        )
        return f"({self.pick(forms)})"

    def single(self, scope: Scope, depth: int = 2) -> str:
        if depth == 0 or not self.chance(4):
            return super().single(scope, depth)
        value = self.single(scope, depth - 1)
        forms = (
            f"math.sqrt({value})",
            f"math.log({value})",
            f"1 / {value}",
            f"{value} % s1",
            f"math.pow({value}, s1)",
            f"math.exp({value})",
            f"{value} // s0",
            "s1 / (s0 - s0)",
            f"math.acos({value})",
            f"float({self.integer(scope, 0)})",
        )
        return f"({self.pick(forms)})"

    def _loads(self, kind: str, scope: Scope) -> list[str]:
        fitting = [a for a in self.known if a.kind in (kind, "r") or (kind, a.kind) == ("s", "d")]
        cells = [self.cell(self.pick(fitting), scope)] if fitting else []
        return [text for text, found in cells if found == kind or (kind, found) == ("s", "d")]

    def cell(self, array: Array, scope: Scope) -> tuple[str, str]:
        """Return an element, or a field of it, and its kind."""
        text = f"{array.name}[{self.index(array, scope)}]"
        if array.kind != "r":
            return text, array.kind
        name, kind = self.pick(FIELDS[array.dtype])
        rest = f"[{self.number(0, 3)}]" if name == "w" else ""
        return text + self.pick((f".{name}", f"['{name}']")) + rest, kind

    def index(self, array: Array, scope: Scope) -> str:
        """Return an index that is in bounds in about half of all cases."""
        return ", ".join(self._index(array, axis, scope) for axis in range(array.ndim))

    def _index(self, array: Array, axis: int, scope: Scope) -> str:
        name = self.pick(("tid", "gid", "lane", *VARIABLES["i"], *scope.integers))
        if not self.chance(self.wildness):
            shift = self.pick(("", "", f" + {self.number(1, 40)}", f" * {self.number(2, 9)}"))
            return f"({name}{shift}) % {array.name}.shape[{axis}]"
        forms = (
            name,
            "tid",
            "gid",
            f"-{name}",
            f"{name} + 1",
            f"{name} - 1",
            f"{name} * 1000003",
            f"{name} ^ 31",
            "n",
            "-n",
            "2 ** 31",
            f"{array.name}.shape[{axis}]",
            "0",
            f"{name} // 2",
            f"~{name}",
            "nt - 1 - tid",
        )
        return self.pick(forms)

    def mask(self, scope: Scope) -> str:
        leaf = self.pick(VARIABLES["i"])
        return self.pick(MASKS).format(i=leaf, c=self.condition(scope, 0))

    # Statements

    def statement(self, scope: Scope) -> Scope:
        options: list[Statement] = [self.assign, self.branch, self.branch, self.lane_loop]
        options += [self.store, self.store, self.store, self.load, self.load, self.atomic]
        options += [self.odd_loop, self.bounded_while, self.maybe_unset, self.view, self.several]
        options += [self.shuffle, self.vote, self.call, self.leave, self.rare]
        options += [self.barrier] * (3 if self.depth == 1 else 1)
        if scope.loop is not None:
            options += [self.jump, self.jump]
        return self.pick(options)(scope)

    def value_of(self, kind: str, scope: Scope) -> str:
        if kind == "c":
            return f"np.complex64({self.single(scope, 1)})"
        return f"bool({self.condition(scope)})" if kind == "b" else self.value(kind, scope, 1)

    def store(self, scope: Scope) -> Scope:
        text, kind = self.cell(self.pick(self.known), scope)
        operator = self.pick(("=", "=", "+=", "-=", "*=")) if kind in "isd" else "="
        self.line(f"{text} {operator} {self.value_of(kind, scope)}")
        return scope

    def load(self, scope: Scope) -> Scope:
        array = self.pick(self.known)
        text, kind = self.cell(array, scope)
        if kind == "c":
            text, kind = f"{text}.real", "s"
        self.line(f"{self.pick(VARIABLES[kind])} = {text}")
        return scope

    def atomic(self, scope: Scope) -> Scope:
        found = [a for a in self.known if a.kind in "isd" and a.dtype not in ("int8", "float16")]
        if not found:
            return self.store(scope)
        array = self.pick(found)
        where = self.index(array, scope)
        where = where if array.ndim == 1 else f"({where})"
        value = self.value_of(array.kind, scope)
        wide = array.dtype in ("int32", "uint32", "int64", "uint64")
        name = self.pick(
            (*ADDING, *BITS[: 5 if wide and array.dtype[0] == "u" else 3]) if wide else ADDING[:4]
        )
        text = f"cuda.atomic.{name}({array.name}, {where}, {value})"
        if wide and self.chance(6):
            text = f"cuda.atomic.cas({array.name}, {where}, {self.number(0, 3)}, {value})"
        target = f"{self.pick(VARIABLES[array.kind])} = " if self.chance(2) else ""
        self.line(target + text)
        return scope

    def barrier(self, scope: Scope) -> Scope:
        """A barrier or a warp synchronization, in any context."""
        leaf, test = self.pick(VARIABLES["i"]), self.condition(scope)
        forms = ["cuda.syncthreads()"] * 6 + [
            f"{leaf} = cuda.syncthreads_count({test})",
            f"b0 = cuda.syncthreads_and({test}) != 0",
            f"b0 = cuda.syncthreads_or({leaf}) != 0",
            "cuda.threadfence()",
            "cuda.threadfence_block()",
            "cuda.syncwarp()",
            f"cuda.syncwarp({self.mask(scope)})",
            "cuda.cg.this_grid().sync()" if self.chance(3) else "cuda.syncwarp()",
        ]
        self.line(self.pick(forms))
        return scope

    def shuffle(self, scope: Scope) -> Scope:
        kind = self.pick("iisd")
        name, mask, value = self.pick(VARIABLES[kind]), self.mask(scope), self.value(kind, scope, 1)
        by = self.pick(("1", "16", "31", "32", "0", "lane", "-1", self.pick(VARIABLES["i"])))
        mode = self.pick(("_down", "_up", "_xor", ""))
        self.line(f"{name} = cuda.shfl{mode}_sync({mask}, {value}, {by})")
        return scope

    def vote(self, scope: Scope) -> Scope:
        mask, test, leaf = self.mask(scope), self.condition(scope), self.pick(VARIABLES["i"])
        forms = (
            f"{leaf} = cuda.ballot_sync({mask}, {test})",
            f"b0 = cuda.any_sync({mask}, {test})",
            f"b0 = cuda.all_sync({mask}, {test})",
            f"b0 = cuda.eq_sync({mask}, {test})",
            f"{leaf} = cuda.match_any_sync({mask}, {leaf} & 3)",
            f"{leaf}, b0 = cuda.match_all_sync({mask}, {leaf} & 1)",
        )
        self.line(self.pick(forms))
        return scope

    def odd_loop(self, scope: Scope) -> Scope:
        """Loop over a range with any step, including 0."""
        a, b = self._integer_leaf(scope), self._integer_leaf(scope)
        step = self.pick(("1", "-1", "2", "-3", "(i0 & 3) - 1", "(lane & 1) * 2 - 1", "1 + tid"))
        name = self.fresh("r")
        inner = scope.inside(level=LANE, loop=LANE, integers=(*scope.integers, name))
        with self.block(f"for {name} in range({a} & 7, {b} & 7, {step}):"):
            self.body(inner, 3)
        return scope

    def walk(self) -> None:
        """A grid-stride loop over an array that accumulates, like the start of a reduction."""
        array = self.pick([a for a in self.known if a.kind in "isd"] or self.known)
        name, end = self.fresh("g"), self.number(0, 400)
        ends = (
            f"{array.name}.shape[0]",
            f"{array.name}.size",
            f"{end}",
            "n & 511",
            f"{array.name}.shape[0] + {end % 3}",
        )
        places = (
            name,
            f"{name} % {array.name}.shape[0]",
            f"{name} + {end % 5}",
            f"{name} - 1",
            f"{name} * {end}",
            f"-{name}",
        )
        index = ", ".join(self.pick((places[0], *places)) for _ in range(array.ndim))
        value = f"{array.name}[{index}]"
        if array.kind not in "isd":
            value = f"{name} if {index.partition(',')[0]} else {end}"
        self.line("own = 0" if array.kind != "s" else "own = np.float32(0)")
        with self.block(f"for {name} in range(cuda.grid(1), {self.pick(ends)}, cuda.gridsize(1)):"):
            self.line(self.pick((f"own += {value}", f"own = max(own, {value})")))
        self.line("s1 += np.float32(own)" if array.kind in "sd" else "i2 ^= np.int64(own)")

    def bounded_while(self, scope: Scope) -> Scope:
        name = self.fresh("w")
        text, _ = self.cell(self.pick(self.known), scope)
        test = self.pick(
            (
                self.condition(scope),
                f"{text} != 0",
                f"cuda.any_sync(-1, {name} < 2)",
                f"cuda.syncthreads_or({self.condition(scope, 0)})",
            )
        )
        self.line(f"{name} = 0")
        with self.block(f"while {name} < {self.number(1, 9)} and {test}:"):
            self.line(f"{name} += 1")
            self.body(scope.inside(level=LANE, loop=LANE), 3)
        return scope

    def maybe_unset(self, scope: Scope) -> Scope:
        """Read a variable, or an array, that only some threads have defined."""
        name = self.fresh("v")
        with self.block(f"if {self.condition(scope)}:"):
            self.line(f"{name} = {self.integer(scope)}")
        self.line(f"i2 ^= {name}")
        return scope

    def view(self, scope: Scope) -> Scope:
        """Read or write through a slice of an array, or through a choice of two arrays."""
        array, name = self.pick(self.known), self.fresh("u")
        a = self.pick((*VARIABLES["i"], "tid", str(self.number(-9, 9))))
        b = self.number(-4, 40)
        cuts = {
            1: (f"{a}:", f":{b}", "::-1", f"{a} & 7:{b}", "::2", f"{b}::-3"),
            2: (a, f":, {a} & 3", f"{a}:, 1:", "::-1, ::2", f"{a}, :"),
        }
        cut = self.pick(cuts.get(array.ndim, (f"{a}", f"{a}, ::-1", f"..., {b}")))
        ndim = array.ndim - sum(":" not in part and "..." not in part for part in cut.split(","))
        part = Array(name, array.dtype, ndim)
        self.line(f"{name} = {array.name}[{cut}]")
        text, kind = self.cell(part, scope)
        self.line(f"{text} = {self.value_of(kind, scope)}")
        return scope

    def call(self, scope: Scope) -> Scope:
        arrays = [a.name for a in self.known if a.kind == "i" and a.ndim == 1]
        i, j, mask = self._integer_leaf(scope), self._integer_leaf(scope), self.mask(scope)
        forms = [
            f"twist({i}, {j})",
            f"barrier_if({self.condition(scope)}, {i})",
            f"own({i})",
            f"total({i}, {mask})",
            f"fall({i} & 7)",
            f"fall({i})",
        ]
        for name in arrays:
            forms += [f"put({name}, {i}, {j})", f"swap({name}, nt, {i}, {j}, n)"]
        self.line(f"{self.pick(VARIABLES['i'])} = {self.pick(forms)}")
        return scope

    def leave(self, scope: Scope) -> Scope:
        with self.block(f"if {self.condition(scope)}:"):
            self.line("return" if not self.chance(6) else 'raise ValueError("made to fail")')
        return scope

    def rare(self, scope: Scope) -> Scope:
        """Statements that are rare in a kernel, or do not belong in one."""
        array, leaf = self.pick(self.known), self.pick(VARIABLES["i"])
        forms = (
            f"assert {self.condition(scope)}",
            "print(tid, i0)",
            f"i0 = len({array.name})",
            f"i1 = {array.name}.size // {leaf}",
            f"s0 = TABLE[{leaf}]",
            "i2 = cuda.gridsize(1)",
            f"i0, i1 = pair[{leaf} & 1], pair[1]",
            f"i1 = pair[{leaf}]",
            "x = x * 2",
            f"cuda.nanosleep({leaf})",
            f"i0 = min(i0, i1, {leaf})",
            "b0 = math.isnan(s0)",
            f"late = cuda.shared.array(5, np.int32)\n{{}}late[tid] = {leaf}",
            f"mine = cuda.local.array(3, np.int64)\n{{}}i0 = mine[{leaf}]",
            f"for value in {array.name}:\n{{}}    i0 += 1",
            f"i0 = {array.name}[{leaf}, 0, 0, 0]",
        )
        self.line(self.pick(forms).replace("{}", "    " * self.depth))
        return scope
