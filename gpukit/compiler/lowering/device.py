"""Compile device functions: ordinary functions that take the context of the calling thread."""

from __future__ import annotations

import ast
import contextlib
import linecache
from typing import Any

from numba.core import types

from gpukit import errors
from gpukit.compiler import checker_state, describe, locations, pyfunc, refuse, shapes, tree
from gpukit.compiler.kernel_target import jit
from gpukit.compiler.lowering import scalar
from gpukit.compiler.unit import Unit

# The context passed to a device function: the address of the error context, then threadIdx,
# blockIdx, blockDim and gridDim, x y z each.
CONTEXT = types.UniTuple(types.int64, 13)
_NAME = "_context"
_PLACES = {
    f"{n}.{a}": 1 + 3 * k + j
    for k, n in enumerate(("threadIdx", "blockIdx", "blockDim", "gridDim"))
    for j, a in enumerate(tree.AXES)
}


def native(dispatcher: Any) -> Any:
    """Return the Numba function for a device function; `gpukit_locations` are its locations.

    `gpukit_parameters` maps the parameters that were renamed.

    It is cached on the device function, and recompiled when captured values have changed: a kernel
    sees captured values as they are when it is compiled, independent of earlier kernels.
    """
    described = _described(dispatcher)
    made, of = getattr(dispatcher, "_gpukit_native", (None, None))
    if made is None or of != described:
        if any(dispatcher is d for d in _in_making):
            name, code = dispatcher.py_func.__name__, dispatcher.py_func.__code__
            raise errors.Unsupported(
                f"{name} calls itself through another function.",
                kernel=name,
                file=code.co_filename,
                line=code.co_firstlineno,
                source=linecache.getline(code.co_filename, code.co_firstlineno).strip(),
                fix="combine the two functions, or write a loop",
            )
        _in_making.append(dispatcher)
        try:
            made = _make(dispatcher)
        finally:
            _in_making.pop()
        with contextlib.suppress(AttributeError):
            dispatcher._gpukit_native = made, described
    return made


def _described(dispatcher: Any) -> str | None:
    try:
        return describe.device(dispatcher)
    except describe.Unkeepable:
        return None


_in_making: list[Any] = []


def _make(dispatcher: Any) -> Any:
    from gpukit.compiler.frontend import inline, own_arrays, resolve, returned
    from gpukit.compiler.runtime import half_rules
    from gpukit.compiler.runtime.compiled import OPTIONS, without_literals

    half_rules.install()
    unit = resolve.run(dispatcher.py_func, device=True)
    unit.debug = bool(getattr(dispatcher, "targetoptions", {}).get("debug", False))
    if own_arrays.has_frame(dispatcher):
        returned.check(unit)
    inline.run(unit)
    rewrite = DeviceBody(unit, native)
    # A recursive function refers to itself by its own name.
    itself = [n for n, d in unit.devices.items() if d.py_func is dispatcher.py_func]
    for name in itself:
        del unit.devices[name]
    rewrite.itself = frozenset(itself)
    body = rewrite.statements(unit.tree.body)
    if itself:
        begin = rewrite.stack_check(unit.tree), rewrite.poll(unit.tree)
        body = [*filter(None, begin), *body]
    scope = {"range": range, "min": min, "max": max, **unit.globals, **rewrite.globals}
    plain = pyfunc.build(unit.tree.name, [_NAME, *unit.parameters], body, scope, unit)
    plain.__defaults__ = unit.function.__defaults__
    options = {**OPTIONS, **getattr(dispatcher, "device_options", {})}
    made = without_literals(jit(nogil=True, **options)(plain), first=1)
    made.gpukit_locations = frozenset(rewrite.used_locations)
    made.gpukit_parameters = {unit.source_names[n]: n for n in unit.parameters if n in unit.moved}
    for name in itself:
        plain.__globals__[unit.named("device_{}", name)] = made
    if getattr(dispatcher, "device", False) and dispatcher.signatures:
        compile_for(made, dispatcher.signatures)
        made.disable_compile()  # calls with other types are cast, as on Numba's CUDA target
    return made


def compile_for(made: Any, signatures: Any) -> None:
    """Compile a device function for signatures of its own arguments."""
    from gpukit.compiler import lean, numba_types

    for given in signatures:
        kinds, result = numba_types.signature(given)
        whole = (CONTEXT, *kinds)
        with lean.kernel_code():
            made.compile(whole if result is None else result(*whole))


class DeviceBody(scalar.Scalar):
    """Rewrites a device function as one thread runs it, with bounds checks on all accesses."""

    def context(self) -> ast.expr:
        return tree.name(_NAME)

    def plain_call(self, node: ast.Call) -> ast.expr:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name in self.itself:
            parameters = {self.unit.source_names[n]: n for n in self.unit.moved}
            for keyword in node.keywords:
                keyword.arg = parameters.get(keyword.arg or "", keyword.arg)
            itself = self.unit.named("device_{}", name)
            return ast.Call(tree.name(itself), [self.context(), *node.args], node.keywords)
        return super().plain_call(node)

    def _part(self, k: int) -> ast.expr:
        return ast.Subscript(tree.name(_NAME), tree.const(k), ast.Load())

    def value(self, name: str) -> ast.expr:
        if name == "laneid":
            return tree.call(self.bind("int32", types.int32), self._lane())
        if name == "lanemask_lt":
            mask = tree.expr("(1 << lane) - 1", lane=self._lane())
            return tree.call(self.bind("uint32", types.uint32), mask)
        return tree.call(self.bind("int32", types.int32), self._part(_PLACES[name]))

    def _lane(self) -> ast.expr:
        linear = "(x + bx * (y + by * z)) % 32"
        parts = {"x": 1, "y": 2, "z": 3, "bx": 7, "by": 8}
        return tree.expr(linear, **{n: self._part(k) for n, k in parts.items()})

    def statements(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """Rewrite copies of statements."""
        made = [self.visit(s) for s in tree.clone(body)]
        return [s for m in made for s in (m if isinstance(m, list) else [m]) if s is not None]

    def stack_check(self, node: ast.FunctionDef) -> ast.stmt:
        """Return the statement that stops endless recursion."""
        origin = self.origin(node, "", f"{node.name}(...)")
        check = tree.call(self.helper("control", "check_stack"), origin)
        return tree.at(ast.Expr(check), node)  # type: ignore[no-any-return]

    def visit_Assert(self, node: ast.Assert) -> Any:
        return assert_call(self, node)

    def divisor(self, node: ast.BinOp | ast.AugAssign, value: ast.expr) -> ast.expr:
        return divisor_call(self, node, value)

    def origin(self, node: ast.AST, array: str, what: str) -> ast.expr:
        location = locations.number(self.unit, node, array, what)
        self.used_locations.add(location)
        return ast.Tuple([self._part(0), tree.const(location), self._thread()], ast.Load())

    def _thread(self) -> ast.expr:
        return ast.Tuple([self._part(k) for k in (1, 2, 3)], ast.Load())

    def array(self, name: str, node: ast.Call) -> ast.expr:
        from gpukit.compiler.runtime import storage

        shape, dtype = shapes.request(self.unit, node)
        kind = types.Array(dtype, len(shape), "C")
        return tree.call(self.bind("local", storage.local_array(kind, shape)))

    def synchronised(self, name: str, node: ast.Call) -> ast.expr:
        raise refuse.unsupported(
            self.unit, node, f"cuda.{name} in a device function that calls itself."
        )

    def atomic(self, name: str, node: ast.Call) -> ast.expr:
        return atomic_call(self, name, node, shared=False)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        from gpukit.compiler.lowering import access

        what = refuse.written(node, self.unit)
        self.generic_visit(node)
        return access.checked_load(self, node, what)

    def visit_Assign(self, node: ast.Assign) -> Any:
        from gpukit.compiler.lowering import access

        return access.rewrite_assign(self, node)

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        from gpukit.compiler.lowering import access

        return access.rewrite_aug_assign(self, node)

    def address(self) -> ast.expr:
        return self._part(0)

    def visit_Raise(self, node: ast.Raise) -> Any:
        return raise_call(self, node)


def atomic_call(rewrite: Any, name: str, node: ast.Call, *, shared: bool) -> ast.expr:
    """Return the runtime call for an atomic operation."""
    from gpukit.compiler.runtime import atomics

    arguments = list(node.args)
    array, what = ast.unparse(arguments[0]), refuse.written(node, rewrite.unit)
    if name == "compare_and_swap":
        name = "cas"
        arguments.insert(1, tree.const(0))
    arguments[1] = place(rewrite, arguments[1])
    # The checker runs all blocks on one core; locked misaligned accesses could take seconds.
    alone = shared or bool(rewrite.instrumented)
    table = atomics.SHARED if alone else atomics.GLOBAL
    if name not in table:
        raise refuse.invalid(rewrite.unit, node, f"There is no cuda.atomic.{name}.")
    key = rewrite.unit.named("rt_{}", f"{'shared' if alone else 'global'}_{name}")
    rewrite.globals[key] = table[name]
    origin = rewrite.origin(node, array, what)
    return tree.call(tree.name(key), origin, *arguments)


def place(rewrite: Any, idx: ast.expr) -> ast.expr:
    """Return the index of an atomic; a float is converted to an integer."""
    if isinstance(idx, (ast.Constant, ast.Tuple)):
        return idx
    return tree.call(rewrite.helper("atomics", "place"), idx)


def raise_call(rewrite: Any, node: ast.Raise) -> ast.stmt:
    """Return the statement that stops the kernel for a `raise`."""
    origin = rewrite.origin(node, "", refuse.written(node, rewrite.unit))
    location = checker_state.location_number(origin.elts[1].value)
    locations.raised[location] = exception(rewrite.unit, node)
    call = tree.call(rewrite.helper("control", "stop_raised"), origin)
    return tree.at(ast.Expr(call), node)  # type: ignore[no-any-return]


def assert_call(rewrite: Any, node: ast.Assert) -> ast.stmt:
    """Return the statement that stops the kernel where an `assert` does not hold."""
    origin = rewrite.origin(node, "", refuse.written(node, rewrite.unit))
    text = node.msg.value if isinstance(node.msg, ast.Constant) else refuse.written(node.test)
    locations.raised[checker_state.location_number(origin.elts[1].value)] = AssertionError, (text,)
    stop = ast.Expr(tree.call(rewrite.helper("control", "stop_raised"), origin))
    failed = ast.UnaryOp(ast.Not(), rewrite.visit(node.test))
    return tree.at(ast.If(failed, [stop], []), node)  # type: ignore[no-any-return]


def divisor_call(rewrite: Any, node: ast.BinOp | ast.AugAssign, value: ast.expr) -> ast.expr:
    """Return a divisor; in a function with `debug`, a zero stops the kernel."""
    if not (rewrite.unit.debug and isinstance(node.op, (ast.Div, ast.FloorDiv, ast.Mod))):
        return value
    origin = rewrite.origin(node, "", "")
    locations.raised[checker_state.location_number(origin.elts[1].value)] = (
        ZeroDivisionError,
        ("division by zero",),
    )
    return tree.call(rewrite.helper("control", "nonzero"), origin, value)


def exception(unit: Unit, node: ast.Raise) -> Any:
    value = node.exc
    arguments: list[Any] = []
    if isinstance(value, ast.Call):
        arguments = [shapes.constant(unit, a) for a in value.args]
        if None in arguments:
            value = ast.Constant(None)  # an argument is not a constant: rejected below
        else:
            value = value.func
    kind = unit.globals.get(value.id) if isinstance(value, ast.Name) else None
    if not (isinstance(kind, type) and issubclass(kind, BaseException)):
        raise refuse.invalid(
            unit,
            node,
            "A kernel can only raise an exception class with constant arguments.",
            "write raise ValueError('text')",
        )
    return kind, tuple(arguments)
