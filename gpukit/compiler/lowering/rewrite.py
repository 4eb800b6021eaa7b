"""Rewrite thread indices and array accesses of a kernel for its loops over threads."""

from __future__ import annotations

import ast
import builtins
import contextlib
from collections.abc import Collection, Iterable, Iterator
from types import FunctionType
from typing import Any

from numba.core.extending import _Intrinsic

from gpukit.compiler import (
    checker_state,
    facts,
    intrinsics,
    kinds,
    locations,
    reductions,
    refuse,
    tree,
)
from gpukit.compiler.analysis import arrays, block_order, expressions
from gpukit.compiler.lowering import access, device, scalar, trips, waiting, warps
from gpukit.compiler.runtime import views
from gpukit.compiler.unit import Unit


class Rewriter(scalar.Scalar):
    """Rewrites expressions and statements of one kernel.

    `thread_arrays` are the names of per-thread storage, `shared` of shared arrays; `hoisted` holds
    the keys of the accesses that were checked before the loop. With `readable` the result is for
    display: accesses and atomics stay as in the source.
    """

    def __init__(self, unit: Unit, *, readable: bool, boundscheck: bool) -> None:
        super().__init__(unit, device.native)
        self.readable = readable
        self.boundscheck = boundscheck
        self.thread_arrays: set[str] = set()
        self.shared: set[str] = set()
        self.hoisted: Collection[Any] = ()
        self.in_thread = True
        self.uses_thread = False
        self.uses_origin = False  # whether an error may have to name the thread
        # The numbers that an instrumented kernel gives its locations.
        self.own_locations: dict[tuple[int, str, int, str, str, int], int] = {}
        self.decided: set[int] = set()  # those that `analysis.decided` has marked
        self.rounding: set[int] = set()  # those of atomic sums of floats
        self.stores: set[str] = set()  # names of arrays that are written, and that are read
        self.loads: set[str] = set()
        self.atomics = False  # whether the kernel has atomics
        self.unseen: set[str] = set()  # functions that access memory and are not instrumented
        self.prints = False
        self.returned = ""  # the thread array with the flags of threads that have returned

    # ---- values ---------------------------------------------------------------------------

    def value(self, name: str) -> ast.expr:
        if name == "laneid":
            return self._lane()
        if name == "lanemask_lt":
            mask = tree.expr("(1 << lane) - 1", lane=self._lane())
            return mask if self.readable else self._cast("uint32", mask)
        if name.startswith("threadIdx") and not self.in_thread:
            return tree.const(0)
        return tree.name(name.replace(".", "_"))

    def _lane(self) -> ast.expr:
        self.uses_thread = True
        return tree.expr("(thread - first_thread) % 32" if self.many_blocks else "thread % 32")

    many_blocks = False  # threads are counted through several blocks: `first_thread` moves

    def _cast(self, kind: str, value: ast.expr) -> ast.expr:
        from numba.core import types

        name = self.unit.named("rt_{}", kind)
        self.globals[name] = getattr(types, kind)
        return tree.call(tree.name(name), value)

    def context(self) -> ast.expr:
        values: list[ast.expr] = [tree.name("_context")]
        for name in tree.GEOMETRY:
            thread = name.startswith("threadIdx")
            values.append(tree.name(name) if self.in_thread or not thread else tree.const(0))
        return ast.Tuple(values, ast.Load())

    def origin(self, node: ast.AST, array: str, what: str) -> ast.Tuple:
        location = self.location(node, array, what)
        self.uses_origin = True
        no_thread = ast.Tuple([tree.const(0)] * 3, ast.Load())
        thread = tree.name("_thread_index") if self.in_thread else no_thread
        parts = [tree.name("_context"), tree.const(location), thread]
        if self.instrumented:
            parts.append(tree.const(True))
        return ast.Tuple(parts, ast.Load())

    def location(self, node: ast.AST, array: str, what: str) -> int:
        """Return the number of a source location, in instrumented kernels with the kernel's own."""
        location = locations.number(self.unit, node, array, what)
        self.used_locations.add(location)
        if not self.instrumented:
            return location
        # Equal accesses in one line are two locations, so are the two of `a[i] += v`, and one
        # access in a function that is inlined twice: its array may be global, then shared.
        context, column = type(getattr(node, "ctx", None)).__name__, getattr(node, "col_offset", 0)
        key = (location, context, column, array, what, facts.of(node).library_line)
        own = self.own_locations.setdefault(
            key, min(len(self.own_locations), checker_state.MAX_LOCATIONS - 1)
        )
        if facts.of(node).decided:
            self.decided.add(own)
        return location | own << checker_state.LOCATION_SHIFT

    def _check_origin(self, node: ast.AST, array: str, what: str) -> ast.expr:
        return self.origin(node, array, what) if self.boundscheck else tree.const(None)

    # ---- calls ----------------------------------------------------------------------------

    def visit_Call(self, node: ast.Call) -> ast.AST:
        name = tree.called(node) or ""
        self._note_unseen(node)
        if name.startswith("warp.") and not self.readable:
            node.args = [self.visit(a) for a in node.args]
            self.uses_thread = True
            return tree.at(warps.lower(self, name[5:], node), node)  # type: ignore[no-any-return]
        if self.readable and (name.startswith(("atomic.", "warp.", "fp16.")) or name in _PLAIN):
            self.generic_visit_arguments(node)
            return node
        if reductions.reads_array(node):
            return self._reduction(node)
        return super().visit_Call(node)

    def _note_unseen(self, node: ast.Call) -> None:
        """Record a function that is passed arrays and whose accesses are not instrumented."""
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        called = self.unit.globals.get(name)
        self.prints = self.prints or (called or getattr(builtins, name, None)) is print
        compiled = isinstance(called, (FunctionType, _Intrinsic)) and not _is_ours(called)
        if not self.instrumented or not (name in self.unit.devices or compiled):
            return
        given = [n for a in node.args for n in (a, *getattr(a, "args", ()))]
        passed = [a for a in given if self.expressions.is_view(a)]
        if passed:
            self.unseen.add(getattr(called, "__name__", name))
            self.loads.update(map(arrays.root, passed))
            self.stores.add("?")

    def _reduction(self, node: ast.Call) -> ast.AST:
        """Record the reads of `tile.sum()`."""
        what, array = refuse.written(node, self.unit), reductions.operand(node)
        text = ast.unparse(array)
        self.loads.add(arrays.root(array))
        made = super().visit_Call(node)
        if self.instrumented:
            read, origin = self.helper("views", "whole_read"), self.origin(node, text, what)
            seen = tree.call(read, origin, reductions.operand(node))
            reductions.replace(node, tree.at(seen, node))
        return made

    def generic_visit_arguments(self, node: ast.Call) -> None:
        node.args = [self.visit(a) for a in node.args]

    def plain_call(self, node: ast.Call) -> ast.expr:
        if isinstance(node.func, ast.Name) and node.func.id in self.unit.devices:
            self.stores.add("?")  # an unknown array
        return node if self.readable else super().plain_call(node)

    def function(self, name: str, node: ast.Call) -> ast.expr:
        from numba.core import types

        if name in trips.CALLS:
            return trips.lower(self, name, node)
        if self.instrumented and name in intrinsics.FENCE_NAMES:
            self.uses_thread = True
            wide = tree.const(int(name != "threadfence_block"))
            who = ast.Tuple([tree.expr("thread - first_thread"), wide], ast.Load())
            return tree.call(self.helper("hooks", "fence"), tree.name("_context"), who)

        if name in kinds.ON_BITS:
            for k, a in enumerate(node.args):
                kind = self.unit.types.get(a.id) if isinstance(a, ast.Name) else None
                small = isinstance(a, ast.Name) and a.id in tree.GEOMETRY
                if kind == types.int32 or small:
                    node.args[k] = self._cast("int32", a)
        return super().function(name, node)

    def array(self, name: str, node: ast.Call) -> ast.expr:
        raise AssertionError(f"cuda.{name} was left inside a loop over threads")

    def synchronised(self, name: str, node: ast.Call) -> ast.expr:
        raise AssertionError(f"cuda.{name} was left inside a loop over threads")

    def atomic(self, name: str, node: ast.Call) -> ast.expr:
        base = node.args[0]
        self.stores.add(arrays.root(base))
        self.loads.add(arrays.root(base))
        self.atomics = True
        shared = isinstance(base, ast.Name) and base.id in self.shared
        rounds = self.instrumented == "access" and block_order.rounds(self.unit, name, node)
        made = device.atomic_call(self, name, node, shared=shared)
        if rounds:
            origin: ast.Tuple = made.args[0]  # type: ignore[attr-defined]
            self.rounding.add(origin.elts[1].value >> checker_state.LOCATION_SHIFT)  # type: ignore[attr-defined]
        return made

    # ---- accesses -------------------------------------------------------------------------

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        if isinstance(node.value, ast.Name) and node.value.id in self.thread_arrays:
            self.uses_thread = True
            if self.readable:
                return node
            get = self.helper("storage", "get")
            return tree.at(tree.call(get, node.value, self.visit(node.slice)), node)  # type: ignore[no-any-return]
        if self.instrumented and self.record_field(node) is not None:
            return self._recorded_field(node)
        what = refuse.written(node, self.unit)
        is_hoisted = bool(self.hoisted) and tree.key(node) in self.hoisted
        if isinstance(node.ctx, ast.Store):
            self.stores.add(arrays.root(node.value))
        elif not self.expressions.is_view(node):
            self.loads.add(arrays.root(node.value))
        self.generic_visit(node)
        if self.readable:
            return node
        if self.boundscheck:
            access.check_beside_slices(self, node, what)
        if not isinstance(node.ctx, ast.Load):
            return node
        if is_hoisted:
            load = self.helper("memory", "load")
            return tree.at(tree.call(load, node.value, node.slice), node)  # type: ignore[no-any-return]
        if not access.is_element(self, node):
            return node
        origin = self._check_origin(node, ast.unparse(node.value), what)
        form = self._form(node)
        load = self.helper(*form[0])
        return tree.at(tree.call(load, origin, node.value, node.slice), node)  # type: ignore[no-any-return]

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """Record which field of a record is read or written, not the whole record."""
        if not self.instrumented or self.record_field(node) is None:
            return super().visit_Attribute(node)
        return self._recorded_field(node)

    def _recorded_field(self, node: ast.Attribute | ast.Subscript) -> ast.AST:
        """Record an access to a field; a record or array in a record is only referred to."""
        name, what = self.record_field(node), refuse.written(node, self.unit)
        reading, view = isinstance(node.ctx, ast.Load), self.expressions.is_view(node)
        base = arrays.base(node)  # before a call replaces the node
        array, root = ast.unparse(base), arrays.root(base)
        node.value = self.visit(node.value)
        if isinstance(node, ast.Subscript):
            node.slice = tree.const(name)
        if reading and view:
            return node
        (self.loads if reading else self.stores).add(root)
        origin = self.origin(node, array, what)
        kind = checker_state.LOAD if reading else checker_state.STORE
        made = self.bind("field", views.record_field(name, kind))
        node.value = tree.at(tree.call(made, origin, node.value), node)
        return node

    def record_field(self, node: ast.AST) -> str | None:
        """Return the name of the field in `r.x`, `r["x"]` and `r[0]`, where `r` is a record."""
        if isinstance(node, ast.Attribute):
            return expressions.field_name(self.expressions.type_of(node.value), node.attr)
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            return expressions.field_name(self.expressions.type_of(node.value), node.slice.value)
        return None

    def whole_read(self, node: ast.expr, value: ast.expr) -> ast.expr:
        """Return an expression's value, and record a read of the whole record or array."""
        if not self.instrumented or not self.expressions.is_view(node):
            return value
        self.loads.add(arrays.root(node))
        first = arrays.base(node)
        origin = self.origin(node, ast.unparse(first), refuse.written(node, self.unit))
        return tree.at(tree.call(self.helper("views", "whole_read"), origin, value), node)  # type: ignore[no-any-return]

    def _form(self, node: ast.Subscript) -> tuple[tuple[str, str], tuple[str, str]]:
        """Return the runtime functions to read and write a subscript."""
        if arrays.is_whole(self.unit, node):
            return ("memory", "load_checked"), ("memory", "store_checked")
        return ("generic", "item"), ("generic", "set_item")

    def visit_Assign(self, node: ast.Assign) -> Any:
        target = node.targets[0]
        if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            if target.value.id in self.thread_arrays:
                return self._put(node, target)
        if self.readable:
            return self.generic_visit(node)
        return access.rewrite_assign(self, node)

    def _put(self, node: ast.Assign, target: ast.Subscript) -> ast.stmt:
        self.uses_thread = True
        node.value = self.visit(node.value)
        if self.readable:
            return node
        put = tree.call(self.helper("storage", "put"), target.value, target.slice, node.value)
        return tree.at(ast.Expr(put), node)  # type: ignore[no-any-return]

    def element_store(
        self, target: ast.Subscript, value: ast.expr, what: str, key: Any
    ) -> ast.stmt:
        """Return the statement that writes one element (see `access`); `key` as in `hoisted`."""
        self.stores.add(arrays.root(target.value))
        if key in self.hoisted:
            store = self.helper("memory", "store")
            call = tree.call(store, target.value, target.slice, value)
        else:
            origin = self._check_origin(target, ast.unparse(target.value), what)
            store = self.helper(*self._form(target)[1])
            call = tree.call(store, origin, target.value, target.slice, value)
        return tree.at(ast.Expr(call), target)  # type: ignore[no-any-return]

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        if self.readable:
            return self.generic_visit(node)
        if isinstance(node.target, ast.Subscript):
            self.loads.add(arrays.root(node.target.value))
            self.stores.add(arrays.root(node.target.value))
        return access.rewrite_aug_assign(self, node)

    def waiting(self, loop: ast.While | None) -> tuple[list[ast.stmt], list[ast.stmt]]:
        if self.instrumented != "access" or loop is None or not waiting.is_wait(loop):
            return [], []
        begin = tree.call(self.helper("control", "begin_waiting"), tree.name("_context"))
        origin = self.origin(loop, "", f"while {refuse.written(loop.test, self.unit)}")
        most = tree.const(waiting.MOST_ROUNDS)
        rounds = tree.call(self.helper("control", "wait"), origin, most)
        first = [begin]
        if facts.of(loop).keeps_lock:
            first.append(tree.call(self.helper("control", "take_lock"), origin))
        return [tree.at(ast.Expr(call), loop) for call in first], [tree.at(ast.Expr(rounds), loop)]

    def visit_For(self, node: ast.For) -> Any:
        found = super().visit_For(node)
        why = facts.of(node).why_inside
        if not self.readable or not why:
            return found
        return [tree.comment(f"inside the loop over threads: {why}"), node]

    def address(self) -> ast.expr:
        return tree.name("_context")

    def visit_Raise(self, node: ast.Raise) -> Any:
        return node if self.readable else device.raise_call(self, node)

    def visit_Assert(self, node: ast.Assert) -> Any:
        return node if self.readable else device.assert_call(self, node)

    def divisor(self, node: ast.BinOp | ast.AugAssign, value: ast.expr) -> ast.expr:
        return value if self.readable else device.divisor_call(self, node, value)

    @contextlib.contextmanager
    def for_block(self) -> Iterator[None]:
        """Rewrite, inside a `with` block, statements that run once per block."""
        self.in_thread = False
        try:
            yield
        finally:
            self.in_thread = True

    def statements(self, body: Iterable[ast.stmt]) -> list[ast.stmt]:
        """Rewrite statements; copies, so that a body can be rewritten more than once."""
        new: list[ast.stmt] = []
        for s in body:
            made = self.visit(tree.clone(s))
            if isinstance(made, list):
                new += made
            elif made is not None:
                new.append(made)
        return new

    def expression(self, e: ast.expr) -> ast.expr:
        """Rewrite a copy of an expression."""
        return self.visit(tree.clone(e))  # type: ignore[no-any-return]


def _is_ours(function: Any) -> bool:
    module = getattr(function, "__module__", None) or ""
    return module.partition(".")[0] in ("gpukit", "numba", "numpy", "math")


_PLAIN = frozenset(["popc", "clz", "brev", "ffs", "fma", "selp", "threadfence"]) | kinds.ARRAYS
