"""Kernels renamed with hostile names, which the compiler could confuse with its own.

`Exchange(choose)` rebuilds a kernel and the device functions that it calls: every variable,
parameter, function and module in them gets the name that `choose` returns. A kernel's meaning does
not depend on names, so neither its generated code (`form`) nor its results may.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import asdict
from types import ModuleType
from typing import Any
from unittest import mock

from gpukit.compiler import locations, pipeline, refuse, tree
from gpukit.compiler.emit.kernel import Options
from gpukit.compiler.frontend import source
from gpukit.cpu import dispatcher
from gpukit.cpu.launch import build, marshal
from tests.compiler.strategies import register

Choose = Callable[[str, list[str]], dict[str, str]]
MODES = ("", "access", "every", "values")
# Names of variables that a compiler could recognise by prefix or suffix.
NAMES = """
    x_len place_int is_done left_1 skip_2 returned in_if_1 in_else_1 in_while_1 at_1 end_1 by_1
    temp_1 published_1 max min float int bool abs len range print sum threadIdx blockIdx blockDim
    gridDim cuda cuda_ math np my_float32 np_int32 _ _x context block np_ atomic shared local
    lockstep in_step nested np_float32 lambda_ assigned_ seen_ device_ rt_memory_load_checked
    rt_control_poll whole_int32
""".split()
BESIDE = """
    {}_of {}_at {}_of_all _step_{} _given_{} assigned_{} seen_{} device_{} own_{}_1 {}_1 {}_2 {}_
    {}_done {}_len {}_row
""".split()


def same(_function: str, names: list[str]) -> dict[str, str]:
    """Choose the original names."""
    return dict(zip(names, names, strict=True))


def hostile(seed: int, generated: frozenset[str] = frozenset()) -> Choose:
    """Return a function that draws hostile names; `generated` are the compiler's own names."""

    def choose(function: str, names: list[str]) -> dict[str, str]:
        rng = random.Random(f"{seed} {function}")
        free = sorted({*NAMES, *generated, *tree.RESERVED})
        rng.shuffle(free)
        found: list[str] = []
        while len(found) < len(names):
            beside = rng.choice(BESIDE).format(rng.choice(found)) if found else ""
            name = beside if beside and (rng.random() < 0.25 or not free) else free.pop()
            if name not in found and name.isidentifier():
                found.append(name)
        return dict(zip(names, found, strict=True))

    return choose


class Exchange:
    """Rebuilds kernels under other names; `names` maps each function's new names to the old."""

    def __init__(self, choose: Choose) -> None:
        self.choose = choose
        self.names: dict[str, dict[str, str]] = {}
        self._rebuilt: dict[int, Any] = {}
        self._chosen: dict[int, dict[str, str]] = {}

    def __call__(self, kernel: Any) -> Any:
        """Return a kernel or device function with other names."""
        if id(kernel) in self._rebuilt:
            return self._rebuilt[id(kernel)]
        old = kernel.py_func
        function = tree.clone(source.find(old).tree)
        function.decorator_list, function.returns, function.args.defaults = [], None, []
        names, scope = self._names(kernel), _scope(old)
        function = _Rename(self, names, scope).visit(function)
        text = ast.unparse(ast.fix_missing_locations(function))
        globals_: dict[str, Any] = {}
        exec(compile(text, register(text), "exec"), globals_)
        new = globals_[function.name]
        new.__defaults__ = old.__defaults__
        rebuilt = dispatcher._make(new, _signatures(kernel), kernel.targetoptions)
        self._rebuilt[id(kernel)] = rebuilt
        for name in _free(old, names):
            globals_[names[name]] = self.value(scope(name))
        globals_.update({names[str(id(d))]: self(d) for d in _devices(old, scope)})
        return rebuilt

    def value(self, value: Any) -> Any:
        """Return a captured object, rebuilt if it is a kernel or device function."""
        return self(value) if _is_ours(value) else value

    def _names(self, kernel: Any) -> dict[str, str]:
        if id(kernel) not in self._chosen:
            function, scope = source.find(kernel.py_func).tree, _scope(kernel.py_func)
            found = [function.name, *_spelled(function)]
            found += [str(id(d)) for d in _devices(kernel.py_func, scope)]
            chosen = self.choose(kernel.py_func.__name__, list(dict.fromkeys(found)))
            self._chosen[id(kernel)] = chosen
            self.names.setdefault(chosen[function.name], {v: k for k, v in chosen.items()})
        return self._chosen[id(kernel)]


class _Rename(ast.NodeTransformer):
    def __init__(self, exchange: Exchange, names: dict[str, str], scope: Any) -> None:
        self.exchange, self.names, self.scope = exchange, names, scope

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self.names[node.id]
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.arg, node.annotation = self.names[node.arg], None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.name, node.returns = self.names[node.name], None
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        if node.value is None:
            return None
        return self.visit(ast.copy_location(ast.Assign([node.target], node.value), node))

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        device = _static(node, self.scope)
        if _is_ours(device):
            return ast.copy_location(ast.Name(self.names[str(id(device))], node.ctx), node)
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        device = _static(node.func, self.scope)
        if _is_ours(device):
            names = self.exchange._names(device)
            for keyword in node.keywords:
                keyword.arg = names.get(keyword.arg or "", keyword.arg)
        return self.generic_visit(node)


def _spelled(function: ast.FunctionDef) -> list[str]:
    found: list[str] = []
    for node in ast.walk(function):
        if isinstance(node, ast.Name):
            found.append(node.id)
        elif isinstance(node, ast.arg):
            found.append(node.arg)
        elif isinstance(node, ast.FunctionDef):
            found.append(node.name)
    return found


def _scope(function: Any) -> Callable[[str], Any]:
    """Return a function that resolves a free name of `function` to its object."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    scope = {**vars(builtins), **function.__globals__, **{n: c.cell_contents for n, c in cells}}
    own = {*function.__code__.co_varnames, *function.__code__.co_cellvars}
    return lambda name: None if name in own else scope.get(name)


def _free(function: Any, names: dict[str, str]) -> list[str]:
    scope = _scope(function)
    return [n for n in names if scope(n) is not None]


def _static(node: ast.AST, scope: Callable[[str], Any]) -> Any:
    if isinstance(node, ast.Name):
        return scope(node.id)
    if isinstance(node, ast.Attribute):
        base = _static(node.value, scope)
        return getattr(base, node.attr, None) if isinstance(base, ModuleType) else None
    return None


def _devices(function: Any, scope: Callable[[str], Any]) -> list[Any]:
    """Return the device functions that a function accesses as attributes of a module."""
    nodes = [n for n in ast.walk(source.find(function).tree) if isinstance(n, ast.Attribute)]
    found = (_static(n, scope) for n in nodes)
    return list({id(d): d for d in found if _is_ours(d)}.values())


def _is_ours(value: Any) -> bool:
    return isinstance(value, (dispatcher.Kernel, dispatcher.DeviceFunction))


def _signatures(kernel: Any) -> list[Any]:
    return list(kernel.signatures) if isinstance(kernel, dispatcher.DeviceFunction) else []


# ---- generated code ------------------------------------------------------------------------------


@contextlib.contextmanager
def own_locations() -> Iterator[list[Any]]:
    """Number locations from 0 on inside a `with` block; yield them.

    Two locations in one line are distinct here, whatever the names of their variables.
    """
    found: list[Any] = []
    numbers: dict[Any, int] = {}
    usual = locations.number

    def number(unit: Any, node: ast.AST, array: str = "", what: str = "") -> int:
        index = usual(unit, node, array, what)
        key = refuse.where(unit, node), array, what
        if key not in numbers:
            found.append(locations.get(index))
        return numbers.setdefault(key, len(numbers))

    fresh = mock.patch.multiple(locations, _locations=[], _numbers={})
    with fresh, mock.patch.object(locations, "number", number):
        yield found


def form(
    exchange: Exchange, kernel: Any, arguments: tuple[Any, ...], block: Any, mode: str = ""
) -> tuple[Any, frozenset[str]]:
    """Return a kernel's generated code without names, and the names that the compiler generated."""
    kernel = exchange(kernel)
    packed = marshal.pack(arguments)
    with own_locations() as found:
        captured = build._captured(kernel, mode)
        options = Options(block, distinct=True, instrumented=mode)
        unit, emitter, loops = pipeline._loops(
            kernel.py_func,
            tuple(map(marshal.numba_type, packed.kinds)),
            options,
            [marshal.numba_type(k) for k in captured.kinds],
        )
        metadata = asdict(pipeline._instrumentation(unit, emitter))
    scope = {**tree.BUILTINS, **unit.globals, **emitter.rewriter.globals}
    names = {n.id for n in ast.walk(loops) if isinstance(n, ast.Name)}
    code = _without_names(loops, scope)
    back = exchange.names[kernel.py_func.__name__]
    lines = [_line(location, kernel.py_func.__code__.co_filename, back) for location in found]
    generated = frozenset((names | unit.made) - unit.spelled)
    return (code, _original(metadata, back), lines), generated


def _line(location: Any, file: str, back: dict[str, str]) -> tuple[Any, ...]:
    """Return the line of a location, and its array if that is one of the kernel's own.

    Each function has a file of its own; a device function may get the name of the kernel.
    """
    return location.line, back.get(location.array, "") if location.file == file else ""


_NAMES = frozenset(
    ["spelled", "variable", "stores", "loads", "by_data", "by_shape", "unseen", "variables"]
)


def _original(metadata: Any, back: dict[str, str]) -> Any:
    """Return the checker's metadata of a kernel, with the original names."""
    if isinstance(metadata, dict):
        entries = {k: v for k, v in metadata.items() if k not in ("name", "locations")}
        return {
            k: _before(v, back) if k in _NAMES else _original(v, back) for k, v in entries.items()
        }
    return [_original(v, back) for v in metadata] if isinstance(metadata, list) else metadata


def _before(names: Any, back: dict[str, str]) -> Any:
    """Return the original names of the kernel's variables; `?` for those of inlined functions."""
    if isinstance(names, str):
        return back.get(names, "?")
    return sorted(back.get(name, "?") for name in names)


def _without_names(loops: ast.FunctionDef, scope: dict[str, Any]) -> str:
    """Return loops as text, with names replaced by numbers in order of appearance."""
    numbers: dict[Any, str] = {}
    loops.name = "loops"
    for node in ast.walk(loops):
        if isinstance(node, ast.Name):
            known = node.id in scope
            key = id(scope[node.id]) if known else node.id  # an object may have several names
            number = f"g{len(numbers)}_{_kind(scope[node.id])}" if known else f"n{len(numbers)}"
            node.id = numbers.setdefault(key, number)
        elif isinstance(node, ast.arg):
            node.arg = numbers.setdefault(node.arg, f"n{len(numbers)}")
    return ast.unparse(loops)


def _kind(value: Any) -> str:
    """Return the kind of an object, without its name if it is a device function."""
    if _is_ours(value) or hasattr(value, "gpukit_locations"):
        return "device"
    return re.sub(r"\W", "_", str(getattr(value, "__name__", type(value).__name__)))
