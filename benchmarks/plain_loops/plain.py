"""Make plain Numba loops of a kernel: its own body, in loops over blocks and threads.

    i = cuda.grid(1)                 for bx in range(grid_x):
    if i < out.shape[0]:       ->        for tx in range(block_x):
        out[i] = x[i]                        i = bx * block_x + tx
                                             if i < out.shape[0]:
                                                 out[i] = x[i]

The body stands in the innermost loop: if it were a function, Numba would count references to its
arrays for every thread. `return` therefore continues with the next thread. The indices are the loop
variables, which are int64 in Numba (in a kernel, threadIdx is int32). With one thread, an atomic
operation is a plain read, operation and write. A local array is allocated once, outside the loops,
as in loops written by hand: Numba has no arrays on the stack.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from typing import Any

import numba
import numpy as np

OPTIONS = {"error_model": "numpy", "boundscheck": False, "nogil": True}
PLACE = re.compile(r"cuda\.(threadIdx|blockIdx|blockDim|gridDim)\.([xyz])")
AXES = "xyz"
SIZES = {"_grid": "gridDim", "_block": "blockDim"}
RETURNED = "_returned"


class Synchronizes(Exception):
    """The kernel synchronizes threads: its loops have to be written by hand."""


# --- CUDA's atomic operations, for one thread -------------------------------------------------

one_thread = numba.njit(forceinline=True, **OPTIONS)


def _atomic(update):
    """Return the operation that stores `update(old, value)` and returns the old value."""

    @one_thread
    def operation(array, at, value):
        old = array[at]
        array[at] = update(old, value)
        return old

    return operation


@one_thread
def atomic_cas(array, at, expected, value):
    old = array[at]
    if old == expected:
        array[at] = value
    return old


ONE_THREAD = {
    "atomic_add": _atomic(one_thread(lambda old, value: old + value)),
    "atomic_max": _atomic(one_thread(lambda old, value: max(old, value))),
    "atomic_min": _atomic(one_thread(lambda old, value: min(old, value))),
    "atomic_exch": _atomic(one_thread(lambda _, value: value)),
    "atomic_cas": atomic_cas,
}


# --- From the kernel's tree to loops ----------------------------------------------------------


class _Replace(ast.NodeTransformer):
    """Replace the indices and sizes that CUDA provides by loop variables.

    >>> made = _Replace("k").visit(ast.parse("i, j = cuda.grid(2)"))
    >>> print(ast.unparse(made))
    i, j = (blockIdx_x * blockDim_x + threadIdx_x, blockIdx_y * blockDim_y + threadIdx_y)
    """

    def __init__(self, kernel: str) -> None:
        self.kernel = kernel
        self.arrays: dict[str, str] = {}  # the expression that makes each local array, by its name

    def visit_Call(self, node: ast.Call) -> ast.AST:
        called = ast.unparse(node.func)
        if called == "cuda.grid":
            return _each_axis(node, "blockIdx_{0} * blockDim_{0} + threadIdx_{0}")
        if called == "cuda.gridsize":
            return _each_axis(node, "blockDim_{0} * gridDim_{0}")
        if called == "cuda.const.array_like":
            return node.args[0]
        if called == "cuda.local.array":
            name = f"local_{len(self.arrays)}"
            self.arrays[name] = f"np.empty({', '.join(map(ast.unparse, node.args))})"
            return ast.Name(name, ast.Load())
        return self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        text = ast.unparse(node)
        place = PLACE.fullmatch(text)
        if place:
            return ast.Name("_".join(place.groups()), ast.Load())
        if not text.startswith("cuda."):
            return self.generic_visit(node)
        function = text.removeprefix("cuda.").replace(".", "_")
        if function not in ONE_THREAD:
            raise Synchronizes(f"{self.kernel} uses {text}")
        return ast.Name(function, ast.Load())


def _each_axis(node: ast.Call, text: str) -> ast.expr:
    """Return the expression for x, or a tuple for the number of axes in a call."""
    axes = AXES[: ast.literal_eval(node.args[0])]
    parts = ", ".join(map(text.format, axes))
    return ast.parse(f"({parts})" if len(axes) > 1 else parts, mode="eval").body


def loops(kernel: Any) -> Any:
    """Return the compiled loops of a kernel: a function of grid, block and the arguments.

    Raises Synchronizes for a kernel that synchronizes the threads of a block.
    """
    function = getattr(kernel, "py_func", kernel)
    tree, arrays = _replaced(function)
    return _compiled(_nested(tree, arrays), _scope(function))


def _nested(tree: ast.FunctionDef, arrays: dict[str, str]) -> ast.FunctionDef:
    """Put the body of a function into loops over blocks and threads.

    >>> kernel = ast.parse("def k(x): x[blockIdx_x] = 1").body[0]
    >>> lines = ast.unparse(_nested(kernel, {})).splitlines()
    >>> print(*lines[:2], "...", *(line.lstrip() for line in lines[-2:]), sep="\\n")
    def k(_grid, _block, x):
        gridDim_x, gridDim_y, gridDim_z = _grid
    ...
    for threadIdx_x in range(blockDim_x):
    x[blockIdx_x] = 1
    """
    stored = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and _is_stored(n)}
    body = _without_returns(tree.body)
    for argument in tree.args.args:
        if argument.arg in stored:  # a thread has its own variable
            body.insert(0, *ast.parse(f"{argument.arg} = _{argument.arg}").body)
            argument.arg = f"_{argument.arg}"
    if any(isinstance(n, ast.Name) and n.id == RETURNED for s in body for n in ast.walk(s)):
        body.insert(0, *ast.parse(f"{RETURNED} = False").body)
    for place, size in (("threadIdx", "blockDim"), ("blockIdx", "gridDim")):
        for a in AXES:
            loop: Any = ast.parse(f"for {place}_{a} in range({size}_{a}): pass").body[0]
            loop.body, body = body, [loop]
    head = [f"{', '.join(f'{name}_{a}' for a in AXES)} = {of}" for of, name in SIZES.items()]
    head += [f"{name} = {made}" for name, made in arrays.items()]
    tree.body = ast.parse("\n".join(head)).body + body
    tree.args.args[:0] = map(ast.arg, SIZES)
    return tree


def _is_stored(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


def _without_returns(body: list[ast.stmt], depth: int = 0) -> list[ast.stmt]:
    """Continue with the next thread instead of returning; a flag ends loops of the kernel."""
    made: list[ast.stmt] = []
    leave = ast.Break() if depth else ast.Continue()
    for s in body:
        returns = any(isinstance(node, ast.Return) for node in ast.walk(s))
        deeper = depth + isinstance(s, (ast.For, ast.While))
        for name in ("body", "orelse"):
            if getattr(s, name, None):
                setattr(s, name, _without_returns(getattr(s, name), deeper))
        if isinstance(s, ast.Return):
            made += [*(ast.parse(f"{RETURNED} = True").body if depth else ()), leave]
            continue
        made.append(s)
        if returns and deeper > depth:
            made.append(ast.If(ast.Name(RETURNED, ast.Load()), [leave], []))
    return made


def _replaced(function: Any) -> tuple[ast.FunctionDef, dict[str, str]]:
    """Return the tree of a function with loop variables for CUDA's names, and its local arrays."""
    tree: Any = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    tree.decorator_list.clear()
    replace = _Replace(function.__name__)
    return replace.visit(tree), replace.arrays


def _scope(function: Any) -> dict[str, Any]:
    """Return the globals of a function, with device functions compiled by `numba.njit`."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    scope = {**function.__globals__, **{name: cell.cell_contents for name, cell in cells}}
    scope.update(ONE_THREAD, np=np)
    for name in function.__code__.co_names:
        if getattr(scope.get(name), "device", False) is True:  # an array has such an attribute too
            device = scope[name].py_func
            tree, _ = _replaced(device)
            scope[name] = _compiled(tree, _scope(device), forceinline=True)
    return scope


def _compiled(tree: ast.FunctionDef, scope: dict[str, Any], **options: Any) -> Any:
    exec(ast.unparse(ast.fix_missing_locations(tree)), scope := dict(scope))
    return numba.njit(**OPTIONS, **options)(scope[tree.name])
