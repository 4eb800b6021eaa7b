"""Random statements for the kernels of `strategies.py`, free of races by construction.

Each array for exchanging values has one slot per thread. Between barriers a thread accesses only
its own slot; after a barrier all threads may read all slots and none writes, until the next one.
Barriers are generated only where every live thread of the block arrives, warp operations only
where every live lane does, or under a mask of exactly the active lanes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tests.compiler.expressions import BLOCK, EXCHANGES, LANE, VARIABLES, WARP, Expressions, Scope

FULL = "0xffffffff"
Statement = Callable[[Scope], Scope]


class Statements(Expressions):
    """Generates statements, line by line."""

    def begin(self, budget: int) -> None:
        self.lines: list[str] = []
        self.depth, self.budget = 1, budget

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def fresh(self, letter: str) -> str:
        """Return the name of a variable for this depth of nesting."""
        return f"{letter}{self.depth}"

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        self.line(head)
        self.depth += 1
        yield
        self.depth -= 1

    def body(self, scope: Scope, most: int = 4) -> None:
        """Generate one to `most` statements, within the budget."""
        wrote = len(self.lines)
        for _ in range(self.number(1, most)):
            if self.budget <= 0:
                break
            self.budget -= 1
            scope = self.statement(scope)
        if len(self.lines) == wrote:
            self.line(f"i0 += {self.number(1, 9)}")

    def statement(self, scope: Scope) -> Scope:
        options: list[Statement] = [self.assign, self.assign, self.several, self.branch]
        options += [self.late, self.lane_loop, self.own_slot, self.atomic]
        if scope.may_return:
            options.append(self.leave)
        if scope.loop is not None and scope.level >= scope.loop:
            options.append(self.jump)
        if scope.loop is not None and scope.top and scope.level > LANE:
            options.append(self.skip_rest)
        if scope.level >= WARP:
            options += [self.shuffle, self.vote_lanes, self.masked_branch, self.masked_loop]
            options += [self.agreed_branch, self.agreed_loop]
        elif scope.mask:
            options += [self.shuffle, self.shuffle]
        if scope.level == BLOCK:
            options += [self.exchange, self.exchange, self.vote_loop, self.agreed_loop]
            options += [self.uniform, self.swap, self.warp_loop]
        return self.pick(options)(scope)

    # Statements of one thread

    def assign(self, scope: Scope) -> Scope:
        kind = self.pick("iiisdb")
        name = self.pick(VARIABLES[kind])
        value = self.value(kind, scope)
        ops = {
            "i": ("=", "+=", "-=", "^=", "|="),
            "s": ("=", "+=", "-="),
            "d": ("=", "+="),
            "b": ("=",),
        }
        if kind == "b":
            value = f"bool({value})"
        self.line(f"{name} {self.pick(ops[kind])} {value}")
        return scope

    def several(self, scope: Scope) -> Scope:
        forms = (("i0", "i1"), ("i1", "s0"), ("s1", "s0"), ("i2", "i0", "s1"))
        names = self.pick(forms)
        values = [self.value(name[0], scope, 1) for name in names]
        self.line(f"{', '.join(names)} = {', '.join(values)}")
        return scope

    def branch(self, scope: Scope) -> Scope:
        inner = scope.inside(level=LANE, mask=None)
        self._if(self.condition(scope), inner)
        return scope

    def _if(self, test: str, inner: Scope) -> None:
        with self.block(f"if {test}:"):
            self.body(inner)
        if self.chance(3) and inner.level == LANE:
            with self.block(f"elif {self.condition(inner)}:"):
                self.body(inner, 2)
        if self.chance(2):
            with self.block("else:"):
                self.body(inner, 3)

    def late(self, scope: Scope) -> Scope:
        """First assign a variable in both branches, for reads after them."""
        name = self.fresh("v")
        with self.block(f"if {self.condition(scope)}:"):
            self.line(f"{name} = {self.integer(scope)}")
        with self.block("else:"):
            self.line(f"{name} = {self.integer(scope)}")
        return scope.inside(integers=(*scope.integers, name), top=scope.top)

    def lane_loop(self, scope: Scope) -> Scope:
        """A loop with a divergent trip count."""
        trips = f"{self.integer(scope, 1)} & 3"
        if not self.chance(3):
            self._count(trips, scope.inside(level=LANE, loop=LANE, mask=None))
            return scope
        # Like a stride, but the body may change the bound, and the counter is read after it.
        name = self.fresh("k")
        inner = scope.inside(level=LANE, loop=None, mask=None, integers=(*scope.integers, name))
        self.line(f"{name} = 0")
        with self.block(f"while {name} < ({trips}):"):
            self.body(inner)
            self.line(f"{name} += 1")
        self.line(f"i0 += {name}")
        return scope

    def _count(self, trips: str, inner: Scope) -> None:
        name = self.fresh("k")
        inner = inner.inside(integers=(*inner.integers, name), top=True)
        form = self.pick(("for", "while", "endless"))
        if form != "for":
            self.line(f"{name} = {trips}")
            with self.block(f"while {name} > 0:" if form == "while" else "while True:"):
                if form == "endless":
                    with self.block(f"if {name} <= 0:"):
                        self.line("break")
                self.line(f"{name} -= 1")
                self.body(inner)
            return
        ranges = (
            f"range({trips})",
            f"range({trips}, -1, -1)",
            f"range(2, 2 + ({trips}))",
            f"range(0, 2 * ({trips}), 2)",
            f"range(-({trips}), 1)",
        )
        with self.block(f"for {name} in {self.pick(ranges)}:"):
            self.body(inner)

    def own_slot(self, scope: Scope) -> Scope:
        free = [a for a in self.arrays if a.name not in scope.readable]
        if not free or self.chance(4):
            target, kind = "out_i[gid, 3]", "i"
        else:
            array = self.pick(free)
            target, kind = array.slot("tid"), array.kind
        if self.has_local and self.chance(3):
            target, kind = f"la[{self.integer(scope, 0)} & 3]", "i"
        self.line(f"{target} {self.pick(('=', '+='))} {self.value(kind, scope)}")
        return scope

    def atomic(self, scope: Scope) -> Scope:
        where = f"{self.pick(VARIABLES['i'])} & 7"
        value = self.integer(scope, 1)
        forms = [
            f"cuda.atomic.add(adds, {where}, {value})",
            f"cuda.atomic.max(tops, {where}, {value})",
            f"cuda.atomic.xor(flips, ({where}, 0), {value} & 1023)",
            f"cuda.atomic.add(sums, {where}, np.float32({value} & 7))",
        ]
        if self.arrays and "sh_n" not in scope.readable:
            forms.append(f"cuda.atomic.add(sh_n, {where}, {value})")
        self.line(self.pick(forms))
        return scope

    def leave(self, scope: Scope) -> Scope:
        with self.block(f"if {self.condition(scope)} and {self.condition(scope, 0)}:"):
            self.line(f"out_i[gid, 0] = {self.integer(scope)}")
            self.line("return")
        return scope

    def jump(self, scope: Scope) -> Scope:
        """Break or continue, uniformly for all threads that run the loop in step."""
        test = self.condition(scope) if scope.loop == LANE else self.agreed(scope)
        with self.block(f"if {test}:"):
            if self.chance(2):
                self.assign(scope.inside())
            self.line(self.pick(("break", "continue")))
        return scope

    def skip_rest(self, scope: Scope) -> Scope:
        """Some threads continue early; the others run the rest of the body."""
        with self.block(f"if {self.condition(scope)}:"):
            self.line("continue")
        return scope.inside(level=LANE, top=True)

    def stride(self, scope: Scope) -> None:
        """A stride loop, with the stride of the grid or a smaller one."""
        name, end = self.fresh("g"), self.number(0, 300)
        step = self.pick(("cuda.gridsize(1)", "cuda.gridsize(1)", "cuda.gridsize(1) * 2", "97"))
        inner = scope.inside(loop=LANE, integers=(*scope.integers, name), top=True)
        with self.block(
            f"for {name} in range({self.pick(('cuda.grid(1)', 'gid'))}, {end}, {step}):"
        ):
            self.body(inner, 3)

    # Statements of a whole warp

    def shuffle(self, scope: Scope) -> Scope:
        kind = self.pick("iisd")
        name, got, lanes = self.pick(VARIABLES[kind]), f"got_{kind}", scope.mask
        if lanes is None:
            lanes = self.fresh("m")
            self.line(
                f"{lanes} = " + self.pick((f"cuda.ballot_sync({FULL}, True)", "cuda.activemask()"))
            )
        mode, step = self.pick(("down", "up", "xor", "idx")), self.number(1, 17)
        mask = lanes if scope.mask else FULL
        value = self.value(kind, scope, 1)
        if mode == "idx":
            source = self.fresh("f")
            self.line(f"{source} = {self.integer(scope, 1)} & 31")
            self.line(f"{got} = cuda.shfl_sync({mask}, {value}, {source})")
            here = f"({lanes} >> {source}) & 1"
        else:
            self.line(f"{got} = cuda.shfl_{mode}_sync({mask}, {value}, {step})")
            sign = {"down": "+", "up": "-", "xor": "^"}[mode]
            outside = {"down": f"lane + {step} > 31", "up": f"lane < {step}", "xor": "False"}[mode]
            here = f"{outside} or ({lanes} >> (lane {sign} {step})) & 1"
        with self.block(f"if {here}:"):
            self.line(f"{name} = {name} + {got}")
        return scope

    def vote_lanes(self, scope: Scope) -> Scope:
        test, part = self.condition(scope), f"{self.integer(scope, 0)} & 3"
        name, got = self.pick(VARIABLES["i"]), self.fresh("p")
        forms = (
            f"{name} = cuda.ballot_sync({FULL}, {test})",
            f"{name} += cuda.popc(cuda.ballot_sync({FULL}, {test}))",
            f"b0 = cuda.any_sync({FULL}, {test}) and not cuda.all_sync({FULL}, b0)",
            f"b0 = cuda.eq_sync({FULL}, {test})",
            f"{name} = cuda.match_any_sync({FULL}, {part})",
            f"{got}, b0 = cuda.match_all_sync({FULL}, {part})",
            "cuda.syncwarp()",
        )
        self.line(self.pick(forms))
        return scope

    def masked_branch(self, scope: Scope) -> Scope:
        """Shuffles in a branch, under a mask of the lanes that take it."""
        test, mask = self.fresh("q"), self.fresh("m")
        self.line(f"{test} = bool({self.condition(scope)})")
        self.line(f"{mask} = cuda.ballot_sync({FULL}, {test})")
        inner = scope.inside(level=LANE, mask=mask, may_return=False, loop=None)
        with self.block(f"if {test}:"):
            self.shuffle(inner)
            self.body(inner, 2)
        return scope

    def masked_loop(self, scope: Scope) -> Scope:
        """Lanes leave a loop one by one while the others continue to shuffle."""
        count, trips, mask = self.fresh("c"), self.fresh("t"), self.fresh("m")
        self.line(f"{count}, {trips} = 0, {self.integer(scope, 1)} & 3")
        self.line(f"{mask} = cuda.ballot_sync({FULL}, {count} < {trips})")
        inner = scope.inside(level=LANE, mask=mask, may_return=False, loop=None)
        with self.block(f"while {count} < {trips}:"):
            self.line(f"{count} += 1")
            self.shuffle(inner)
            self.body(inner, 2)
            self.line(f"{mask} = cuda.ballot_sync({mask}, {count} < {trips})")
        return scope

    def agreed_branch(self, scope: Scope) -> Scope:
        self._if(self.agreed(scope), scope.inside())
        return scope

    def agreed_loop(self, scope: Scope) -> Scope:
        """A loop with a uniform trip count, which the text does not always show."""
        trips = self.pick(("trips[bid]", "n % 4", "1 + bid % 3", "nt // 30"))
        if scope.level == WARP:
            trips = f"(warp + {trips}) % 4"
        self._count(trips, scope.inside(loop=scope.level, top=True))
        return scope

    def warp_loop(self, scope: Scope) -> Scope:
        """A loop with a trip count per warp."""
        inner = scope.inside(level=WARP, loop=WARP, top=True)
        self._count(f"(warp + {self.number(0, 3)}) % 4", inner)
        return scope

    # Statements of a whole block

    def uniform(self, scope: Scope) -> Scope:
        name = self.fresh("u")
        source = self.pick(("n + 3", "trips[bid] * 5", "data[bid % data.size] & 15", "bid ^ 1"))
        self.line(f"{name} = {source}")
        return scope.inside(uniform=(*scope.uniform, name), top=scope.top)

    def barrier(self, scope: Scope) -> None:
        if self.chance(4):
            name = self.pick(VARIABLES["i"])
            self.line(f"{name} = cuda.syncthreads_count(1 if {self.condition(scope)} else 0)")
        else:
            self.line("cuda.syncthreads()")

    def exchange(self, scope: Scope) -> Scope:
        """Write slots, synchronize, let all threads read all slots, synchronize."""
        free = [a for a in EXCHANGES if a in self.arrays and a.name not in scope.readable]
        if not free:
            return self.assign(scope)
        array = self.pick(free)
        thread, value = "tid", self.value(array.kind, scope)
        if self.chance(2):  # write another thread's slot, after a barrier
            saved = self.fresh(f"y{array.kind}")
            self.line(f"{saved} = {value}")
            self.barrier(scope)
            thread, value = f"(tid + {self.number(1, 9)}) % nt", saved
        self.line(f"{array.slot(thread)} = {value}")
        self.barrier(scope)
        inner = scope.inside(readable=(*scope.readable, array.name, "sh_n"), loop=None)
        name = self.pick(VARIABLES[array.kind])
        self.line(f"{name} = " + array.slot(f"(tid * 3 + {self.number(0, 20)}) % nt"))
        self.line(f"i2 ^= sh_n[{self.pick(VARIABLES['i'])} & 7]")
        self.body(inner)
        self.barrier(scope)
        return scope

    def swap(self, scope: Scope) -> Scope:
        """Exchange values through a device function that contains barriers."""
        free = [
            a for a in self.arrays if a.name in ("sh_i", "sh_w") and a.name not in scope.readable
        ]
        if not free:
            return self.assign(scope)
        name, array = self.pick(VARIABLES["i"]), self.pick(free)
        helper = self.pick(("swap", "swap_or_leave"))
        value, shift = self.integer(scope, 1), self.number(0, 9)
        self.line(f"{name} = {helper}({array.name}, nt, {value}, {shift}, n)")
        self.line("cuda.syncthreads()")
        return scope

    def vote_loop(self, scope: Scope) -> Scope:
        """A loop that runs as long as any thread has work left."""
        left = self.fresh("w")
        self.line(f"{left} = {self.integer(scope, 1)} & 3")
        test = self.pick(
            (
                f"cuda.syncthreads_or(1 if {left} > 0 else 0)",
                f"cuda.syncthreads_count(1 if {left} > 0 else 0) > 0",
                f"cuda.syncthreads_or(1 if {left} > 0 else 0) != 0",
            )
        )
        inner = scope.inside(loop=BLOCK, top=True, integers=(*scope.integers, left))
        with self.block(f"while {test}:"):
            self.line(f"{left} -= 1")
            self.body(inner)
        return scope
