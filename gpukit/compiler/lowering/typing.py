"""Infer the type of every variable with Numba, as its CUDA target would.

Numba's own type inference runs on the kernel as one thread runs it, with the thread indices
as int32 arguments. Nothing is compiled.
"""

from __future__ import annotations

import ast
import contextlib
from typing import Any

from numba.core import bytecode, compiler, typed_passes, types, untyped_passes
from numba.core.compiler_machinery import PassManager
from numba.core.errors import NumbaError

from gpukit import errors
from gpukit.compiler import kinds, lean, pyfunc, shapes, tree
from gpukit.compiler.frontend import renaming
from gpukit.compiler.kernel_target import forms, kernel_target
from gpukit.compiler.lowering import device, new_arrays, scalar
from gpukit.compiler.runtime import mathematics, probe
from gpukit.compiler.unit import Unit

_MET_TYPES = {
    "ballot_sync": types.int32,
    "match_any_sync": types.int32,
    "activemask": types.uint32,
    "all_sync": types.boolean,
    "any_sync": types.boolean,
    "eq_sync": types.boolean,
    "vote_sync_intrinsic": types.Tuple((types.int32, types.boolean)),
    "match_all_sync": types.Tuple((types.int32, types.boolean)),
}
_VOTES = frozenset(["all_sync", "any_sync", "eq_sync", "ballot_sync"])


def run(unit: Unit, arguments: dict[str, types.Type]) -> dict[str, types.Type]:
    """Return the type of every variable; one of several types gets their common type.

    If possible, a variable of several types is split into several variables first.
    """
    found = _by_variable(_infer(unit, arguments))
    mixed = {name for name, kinds_ in found.items() if len(kinds_) > 1}
    if mixed and renaming.versions(unit, mixed):
        found = _by_variable(_infer(unit, arguments))
    return {name: _common(kinds_) for name, kinds_ in found.items()}


def of_variables(unit: Unit, arguments: dict[str, types.Type]) -> dict[str, types.Type]:
    """Return the types of the variables that have only one; the unit is not changed."""
    found = _by_variable(dict(typed(unit, arguments).typemap))
    return {name: next(iter(kinds_)) for name, kinds_ in found.items() if len(kinds_) == 1}


def _infer(unit: Unit, arguments: dict[str, types.Type]) -> dict[str, types.Type]:
    inferred = typed(unit, arguments)
    new_arrays.check_types(unit, inferred)
    return dict(inferred.typemap)


def typed(unit: Unit, arguments: dict[str, types.Type]) -> Any:
    """Return Numba's compiler state for the kernel as one thread runs it, with types inferred."""
    form = _Probe(unit)
    copy = ast.Module(tree.clone(unit.tree.body), [])
    form.generic_visit(copy)
    everything = {**arguments, **form.arguments}
    scope = {**unit.globals, **form.globals}
    made = pyfunc.build(unit.tree.name, list(everything), copy.body, scope, unit)
    return infer(made, tuple(everything.values()))


def of_one_thread(function: Any) -> Any:
    """Return a function with the types of one that uses CUDA's names, for Numba to infer.

    Thread indices and the like have a type and no value: running it raises an exception. A function
    that uses none of CUDA's names, or that gpukit cannot read, is returned unchanged.
    """
    from gpukit.compiler.frontend import inline, resolve

    try:
        unit = resolve.run(function, device=True)
        if not unit.devices and not any(map(tree.intrinsic, ast.walk(unit.tree))):
            return function
        inline.run(unit)
    except errors.GpukitError:
        return function
    form = _Form(unit)
    body = ast.Module(unit.tree.body, [])
    form.generic_visit(body)
    scope = {**unit.globals, **form.globals}
    made = pyfunc.build(unit.tree.name, list(unit.parameters), body.body, scope, unit)
    made.__defaults__ = function.__defaults__
    return made


forms.append(of_one_thread)


def infer(function: Any, arguments: tuple[types.Type, ...]) -> Any:
    """Run Numba's front end and type inference; return its state: func_ir, typemap, calltypes."""
    typing_context, target_context = kernel_target.typing_context, kernel_target.target_context
    lean.fill_tables()
    flags = compiler.Flags()
    flags.nrt = True
    flags.error_model = "numpy"
    pipeline = compiler.Compiler(typing_context, target_context, None, arguments, None, flags, {})
    state = pipeline.state
    state.lifted, state.lifted_from = (), None
    state.func_id = bytecode.FunctionIdentity.from_function(function)
    untyped_passes.ExtractByteCode().run_pass(state)
    manager = PassManager("gpukit-typing")
    manager.passes = list(compiler.DefaultPassBuilder.define_untyped_pipeline(state).passes)
    manager.add_pass(lean.FindTypes, "find types")
    manager.finalize()
    with lean.kernel_code():  # inference also compiles device functions
        try:
            manager.run(state)
        except NumbaError as error:
            error.inferred = _inferred(state)  # for the error message
            raise
    return state


def _inferred(state: Any) -> tuple[Any, dict[str, types.Type]] | None:
    """Return the IR of a function that failed to type, and the types inferred so far."""
    with contextlib.suppress(Exception):  # there may be no IR yet
        found = typed_passes.type_inference_stage(
            state.typingctx, state.targetctx, state.func_ir, state.args, None, raise_errors=False
        )
        return state.func_ir, found.typemap
    return None


def _by_variable(typemap: dict[str, types.Type]) -> dict[str, set[types.Type]]:
    """Return the types of the versions `x`, `x.1`, ... into which Numba splits a variable."""
    found: dict[str, set[types.Type]] = {}
    for versioned, kind in typemap.items():
        name, _, version = versioned.partition(".")
        parameter = version and not version[0].isdigit()  # "arg.x", from which "x" is set
        if name and not name.startswith("$") and not parameter:
            found.setdefault(name, set()).add(types.unliteral(kind))
    return {
        name: {k for k in kinds_ if not isinstance(k, types.Undefined)} or kinds_
        for name, kinds_ in found.items()
    }


def _common(kinds_: set[types.Type]) -> types.Type:
    several = sorted(kinds_, key=str)
    common = kernel_target.typing_context.unify_types(*several) if len(several) > 1 else None
    return several[0] if common is None else common


class _Probe(scalar.Scalar):
    """Replace what depends on the thread by arguments of the right type."""

    def __init__(self, unit: Unit) -> None:
        super().__init__(unit, device.native)
        self.arguments: dict[str, types.Type] = {}

    def _argument(self, base: str, kind: types.Type) -> ast.expr:
        name = self.unit.named("_{}", base)
        if self.arguments.setdefault(name, kind) != kind:
            name = self.unit.fresh(name)
            self.arguments[name] = kind
        return tree.name(name)

    def form(self, function: Any, count: int) -> ast.Name | None:
        """Keep functions that have the types of their replacement: errors then name the source."""
        same = mathematics.formula(function, count) is not None
        return None if same else super().form(function, count)

    def value(self, name: str) -> ast.expr:
        if name == "lanemask_lt":
            return self._argument("lanemask", types.uint32)
        return self._argument("index", types.int32)

    def array(self, name: str, node: ast.Call) -> ast.expr:
        shape, dtype = shapes.request(self.unit, node)
        return self._argument(
            f"{name[:5]}_{len(shape)}_{_word(dtype)}", types.Array(dtype, len(shape), "C")
        )

    def synchronised(self, name: str, node: ast.Call) -> ast.expr:
        if name in kinds.SHUFFLES:
            value = node.args[2] if name == "shfl_sync_intrinsic" else node.args[1]
            if name == "shfl_sync_intrinsic":
                return ast.Tuple([value, self._argument("flag", types.boolean)], ast.Load())
            return value
        if name in _VOTES and len(node.args) == 2:
            return tree.call(self.helper("probe", name), *node.args)
        if name in _MET_TYPES:
            return self._argument(name, _MET_TYPES[name])
        if name in kinds.BARRIERS and name != "syncthreads":
            return self._argument("index", types.int32)
        return tree.const(None)

    def atomic(self, name: str, node: ast.Call) -> ast.expr:
        if name == "compare_and_swap":
            return ast.Subscript(node.args[0], tree.const(0), ast.Load())
        idx = device.place(self, node.args[1])
        return ast.Subscript(node.args[0], idx, ast.Load())

    def context(self) -> ast.expr:
        return self._argument("context", device.CONTEXT)


class _Form(_Probe):
    """Replace what depends on the thread by expressions that have a type and no value."""

    def _argument(self, base: str, kind: types.Type) -> ast.expr:
        return tree.call(self.bind(base, probe.no_value(kind)))

    def synchronised(self, name: str, node: ast.Call) -> ast.expr:
        if name in _VOTES:
            return self._argument(name, _MET_TYPES[name])
        return super().synchronised(name, node)


def _word(dtype: Any) -> str:
    return "".join(c if c.isalnum() else "_" for c in str(dtype))
