"""Rewrite what a kernel says about threads and arrays into what its loops provide."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from gpukit.compiler import checker_state, facts, intrinsics, kinds, locations, tree
from gpukit.compiler.analysis import arrays
from gpukit.compiler.lowering import access, device, scalar, waiting
from gpukit.compiler.runtime import memory, storage
from gpukit.compiler.unit import Unit

_ZERO = tree.const(0)


class Rewriter(scalar.Scalar):
    """Rewrites expressions and statements of one kernel.

    `thread_arrays` are names of per-thread storage, `shared` of shared arrays; `hoisted` holds the
    keys of the accesses that were checked before the loop. With `readable` the result is for
    people: accesses and atomics stay as they were written.
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
        self.uses_origin = False  # whether an error might have to say which thread it was
        self.instrumented = ""  # as `Unit.instrumented`
        # The numbers that an instrumented kernel gives its locations.
        self.own_locations: dict[tuple[int, str, int, str, str], int] = {}
        self.decided: set[int] = set()  # of those, what `analysis.decided` has marked
        self.stores: set[str] = set()  # names of arrays that are written, and that are read
        self.loads: set[str] = set()
        self.atomics = False  # whether it has any
        self.returned = ""  # the thread array of the flags of threads that have returned

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
        return (
            tree.expr("(thread - first_thread) % 32")
            if self.many_blocks
            else tree.expr("thread % 32")
        )

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
        nobody = ast.Tuple([tree.const(0)] * 3, ast.Load())
        thread = tree.name("_thread_index") if self.in_thread else nobody
        parts = [tree.name("_context"), tree.const(location), thread]
        if self.instrumented:
            parts.append(tree.const(True))
        return ast.Tuple(parts, ast.Load())

    def location(self, node: ast.AST, array: str, what: str) -> int:
        """Return the number of a source location; of an instrumented kernel with its own number."""
        location = locations.number(self.unit, node, array, what)
        self.used_locations.add(location)
        if not self.instrumented:
            return location
        # Two accesses of one text in one line are two places, so are the two of `a[i] += v`, and
        # one access in a function that is inlined twice: its array may be global, then shared.
        context, column = type(getattr(node, "ctx", None)).__name__, getattr(node, "col_offset", 0)
        key = (location, context, column, array, what)
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
        if name.startswith("warp.") and not self.readable:
            node.args = [self.visit(a) for a in node.args]
            from gpukit.compiler.lowering import warps

            self.uses_thread = True
            return tree.at(warps.lower(self, name[5:], node), node)  # type: ignore[no-any-return]
        if self.readable and (name.startswith(("atomic.", "warp.", "fp16.")) or name in _PLAIN):
            self.generic_visit_arguments(node)
            return node
        return super().visit_Call(node)

    def generic_visit_arguments(self, node: ast.Call) -> None:
        node.args = [self.visit(a) for a in node.args]

    def plain_call(self, node: ast.Call) -> ast.expr:
        if isinstance(node.func, ast.Name) and node.func.id in self.unit.devices:
            self.stores.add("?")  # whatever it is given
        return node if self.readable else super().plain_call(node)

    def function(self, name: str, node: ast.Call) -> ast.expr:
        from numba.core import types

        if self.instrumented and name in intrinsics.FENCE_NAMES:
            self.uses_thread = True
            wide = tree.const(int(name != "threadfence_block"))
            who = ast.Tuple([tree.expr("thread - first_thread"), wide], ast.Load())
            return tree.call(self.helper("hooks", "fence"), tree.name("_context"), who)

        if name in ("clz", "brev", "ffs", "popc"):
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
        return device.atomic_call(self, name, node, shared=shared)

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
        text = ast.unparse(node)
        is_hoisted = bool(self.hoisted) and tree.key(node) in self.hoisted
        (self.loads if isinstance(node.ctx, ast.Load) else self.stores).add(arrays.root(node.value))
        self.generic_visit(node)
        if self.readable:
            return node
        if self.boundscheck:
            access.check_beside_slices(self, node, text)
        if not isinstance(node.ctx, ast.Load):
            return node
        if is_hoisted:
            load = self.helper("memory", "load")
            return tree.at(tree.call(load, node.value, node.slice), node)  # type: ignore[no-any-return]
        if not access.is_element(self, node):
            return node
        origin = self._check_origin(node, ast.unparse(node.value), access.source_text(node))
        form = self._form(node)
        load = self.helper(*form[0])
        return tree.at(tree.call(load, origin, node.value, node.slice), node)  # type: ignore[no-any-return]

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """Let the checker see which field of a record is read or written, not the whole record."""
        if not self.instrumented or self.record_field(node) is None:
            return super().visit_Attribute(node)
        return self._recorded_field(node)

    def _recorded_field(self, node: ast.Attribute | ast.Subscript) -> ast.AST:
        field = self.record_field(node)
        assert field is not None
        base: ast.Subscript = node.value  # type: ignore[assignment]
        reading = isinstance(node.ctx, ast.Load)
        (self.loads if reading else self.stores).add(arrays.root(base.value))
        origin = self.origin(node, ast.unparse(base.value), ast.unparse(node))
        kind = checker_state.LOAD if reading else checker_state.STORE
        made = self.bind("field", memory.record_field(*field, kind))
        self.generic_visit(base)
        node.value = tree.at(tree.call(made, origin, base.value, base.slice), base)
        return node

    def record_field(self, node: ast.AST) -> tuple[int, int] | None:
        """Return offset and size of the field of `a[i].x` or `a[i]["x"]`.

        The size is 0 where the field is an array: nothing is read before that has an index.
        """
        base, name = getattr(node, "value", None), getattr(node, "attr", "")
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            name = node.slice.value
        if (
            not isinstance(name, str)
            or not isinstance(base, ast.Subscript)
            or not arrays.is_whole(self.unit, base)
        ):
            return None
        kind = self.unit.types[base.value.id].dtype  # type: ignore[attr-defined]
        fields = getattr(kind, "fields", None) or {}
        if name not in fields:
            return None
        if hasattr(kind.typeof(name), "ndim"):
            return 0, 0
        return int(kind.offset(name)), int(storage.value_bytes(kind.typeof(name)))

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
        """Return the statement that writes one element (see `access`)."""
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
        origin = self.origin(loop, "", f"while {ast.unparse(loop.test)}")
        most = tree.const(waiting.MOST_ROUNDS)
        rounds = tree.call(self.helper("control", "wait"), origin, most)
        return [tree.at(ast.Expr(begin), loop)], [tree.at(ast.Expr(rounds), loop)]

    def visit_For(self, node: ast.For) -> Any:
        found = super().visit_For(node)
        why = facts.of(node).why_inside
        if not self.readable or not why:
            return found
        return [tree.comment(f"inside of the loop over threads: {why}"), node]

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
        """Rewrite, inside a `with` block, what is done once for all threads of a block."""
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


_PLAIN = frozenset(["popc", "clz", "brev", "ffs", "fma", "selp", "threadfence"]) | kinds.ARRAYS
