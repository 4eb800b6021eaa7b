"""The kernels of the book as text and syntax tree, and edits of them.

An operator examines the tree and returns edits of the text, so that a mutant differs from its
kernel only by the mistake: comments and line numbers are kept.
"""

from __future__ import annotations

import ast
import functools
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from gpukit.compiler import intrinsics

BARRIERS = frozenset(intrinsics.BARRIER_NAMES)
Node = ast.expr | ast.stmt


@dataclass(frozen=True)
class Edit:
    """Replace the text from `start` to `end`, two offsets in the text of the module."""

    start: int
    end: int
    text: str


class Code:
    """One kernel or device function of a module.

    `kernel` is the full name of the kernel to launch: itself, or one that calls it.
    """

    def __init__(self, module: ModuleType, name: str, kernel: str = "", text: str = "") -> None:
        self.module, self.name = module, name
        self.kernel = kernel or f"{module.__name__}.{name}"
        self.text = text or Path(str(module.__file__)).read_text(encoding="utf-8")
        self.lines = self.text.splitlines(keepends=True)
        self.tree = definition(self.text, name)
        self.env = {**vars(module)}
        body = self.tree.body
        self.body = body[1:] if ast.get_docstring(self.tree) is not None else body
        self.parents = {
            child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)
        }

    @property
    def subject(self) -> str:
        """Its name in reports: `matmul.matmul_tiled`, `reduce.add_up`."""
        return f"{package_of(self.module.__name__)}.{self.name.removesuffix('_kernel')}"

    # ---- the text -----------------------------------------------------------------------------

    def _place(self, line: int, column: int) -> int:
        before = sum(len(text) for text in self.lines[: line - 1])
        return before + len(self.lines[line - 1].encode()[:column].decode())

    def start(self, node: Node) -> int:
        """Return the offset where a node begins."""
        return self._place(node.lineno, node.col_offset)

    def end(self, node: Node) -> int:
        """Return the offset where a node ends."""
        return self._place(node.end_lineno or 0, node.end_col_offset or 0)

    def of(self, node: Node) -> str:
        """Return the text of a node."""
        return self.text[self.start(node) : self.end(node)]

    def replace(self, node: Node, text: str) -> Edit:
        """Return the edit that replaces a node by `text`."""
        return Edit(self.start(node), self.end(node), text)

    def after(self, node: ast.stmt, text: str, *, like: ast.stmt) -> Edit:
        """Return the edit that adds a line after a statement, indented as `like`."""
        indent = " " * like.col_offset
        return Edit(self.end(node), self.end(node), f"\n{indent}{text}")

    def before(self, node: ast.stmt, text: str) -> Edit:
        """Return the edit that adds a line before a statement."""
        return Edit(self.start(node), self.start(node), f"{text}\n{' ' * node.col_offset}")

    # ---- the tree -----------------------------------------------------------------------------

    def walk(self, *kinds: type) -> Iterator[Any]:
        """Yield the nodes of these kinds, in the order of the text."""
        found: list[Any] = [n for s in self.body for n in ast.walk(s) if isinstance(n, kinds)]
        yield from sorted(found, key=lambda n: (n.lineno, n.col_offset, n.end_lineno or 0))

    def blocks(self) -> Iterator[list[ast.stmt]]:
        """Yield every list of statements: of the function, of each branch and each loop."""
        yield self.body
        for node in self.walk(ast.If, ast.For, ast.While):
            yield from (part for part in (node.body, node.orelse) if part)

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yield the ancestors of a node, the nearest first."""
        while node in self.parents:
            node = self.parents[node]
            yield node

    def resolve(self, node: ast.AST) -> Any:
        """Return the object that a dotted name refers to, or None."""
        if isinstance(node, ast.Name):
            return self.env.get(node.id)
        if isinstance(node, ast.Attribute):
            return getattr(self.resolve(node.value), node.attr, None)
        return None

    def intrinsic(self, node: ast.AST) -> str:
        """Return the name of `cuda.name` or of a call of it, or an empty string."""
        found = self.resolve(node.func if isinstance(node, ast.Call) else node)
        return (found is not None and intrinsics.name_of(found)) or ""

    def is_barrier(self, statement: ast.stmt) -> bool:
        """Tell whether a statement is one call of syncthreads."""
        return isinstance(statement, ast.Expr) and self.intrinsic(statement.value) in BARRIERS

    def waits(self, node: ast.AST) -> bool:
        """Tell whether a node contains a barrier, or calls a device function that does."""
        for call in ast.walk(node):
            if isinstance(call, ast.Call):
                if self.intrinsic(call) in BARRIERS:
                    return True
                value = self.resolve(call.func)
                function = device_name(value)
                if function and Code(home(value), function).has_barrier:
                    return True
        return False

    @functools.cached_property
    def has_barrier(self) -> bool:
        """Whether there is a barrier in the function."""
        return any(self.waits(statement) for statement in self.body)

    @functools.cached_property
    def parameters(self) -> set[str]:
        """The names of the arguments."""
        return {argument.arg for argument in self.tree.args.args}

    def made_by(self, maker: str) -> set[str]:
        """Return the names of the arrays that `cuda.shared.array` or `local.array` made."""
        return {
            node.targets[0].id
            for node in self.walk(ast.Assign)
            if self.intrinsic(node.value) == maker and isinstance(node.targets[0], ast.Name)
        }

    @functools.cached_property
    def tuples(self) -> set[str]:
        """Arguments of which only constant indices are read: tuples, not arrays."""
        subscripts = [n for n in self.walk(ast.Subscript) if isinstance(n.value, ast.Name)]
        seen = {n.value.id for n in subscripts} & self.parameters
        return seen - {
            node.value.id
            for node in subscripts
            if isinstance(node.ctx, ast.Store) or not isinstance(node.slice, ast.Constant)
        }

    def accesses(self) -> Iterator[tuple[Any, list[ast.expr]]]:
        """Yield the loads and stores of arrays, with the index for each axis."""
        for node in self.walk(ast.Subscript):
            if isinstance(node.value, ast.Name) and node.value.id not in self.tuples:
                yield node, indices(node.slice)

    def touches_memory(self, node: ast.AST) -> bool:
        """Tell whether a node loads, stores, or calls a function that may."""
        inside = set(ast.walk(node))
        if any(access in inside for access, _ in self.accesses()):
            return True
        calls = (n for n in inside if isinstance(n, ast.Call))
        return any(
            device_name(self.resolve(call.func)) or self.intrinsic(call).startswith("atomic.")
            for call in calls
        )

    def is_integer(self, node: ast.AST) -> bool:
        """Tell whether an expression is an integer index: no loads and no floats."""
        for inner in ast.walk(node):
            if isinstance(inner, ast.Subscript):
                shape = isinstance(inner.value, ast.Attribute) and inner.value.attr == "shape"
                named = isinstance(inner.value, ast.Name) and inner.value.id in self.tuples
                if not (shape or named):
                    return False
            if isinstance(inner, ast.Constant) and not isinstance(inner.value, int):
                return False
            if isinstance(inner, ast.Call) and not (
                self.intrinsic(inner) or getattr(inner.func, "id", "") in ("min", "max")
            ):
                return False
            if isinstance(inner, ast.Name) and inner.id in self.floats:
                return False
        return True

    @functools.cached_property
    def floats(self) -> set[str]:
        """Names that hold loaded or computed values, such as accumulators."""
        named: set[str] = set()
        for node in self.walk(ast.Assign, ast.AugAssign):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            calls = [n for n in ast.walk(node.value) if isinstance(n, ast.Call)]
            casts = any(self.of(c.func).startswith("np.float") for c in calls)
            loads = any(a in set(ast.walk(node.value)) for a, _ in self.accesses())
            if isinstance(target, ast.Name) and (loads or casts):
                named.add(target.id)
        return named


@functools.lru_cache(maxsize=32)  # parsed once for all functions of a module
def _parsed(text: str) -> ast.Module:
    return ast.parse(text)


def definition(text: str, name: str) -> ast.FunctionDef:
    """Return the tree of one function in a module's text, where it may be nested in a branch."""
    for node in ast.walk(_parsed(text)):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return node
    raise LookupError(f"There is no function {name!r}")


def package_of(module: str) -> str:
    """Return the name of a module of the book in reports: `matmul.tiled`, `collectives`."""
    return module.removeprefix("gpukit.").removeprefix("kernels.")


def home(function: Any) -> ModuleType:
    """Return the module of a kernel or device function."""
    return sys.modules[function.py_func.__module__]


def name_of(function: Any) -> str:
    """Return the name of a kernel or device function in its module."""
    return str(function.py_func.__name__)


def full_name(function: Any) -> str:
    """Return a kernel's qualified name: `gpukit.kernels.vector.fill_kernel`."""
    return f"{home(function).__name__}.{name_of(function)}"


def device_name(value: Any) -> str:
    """Return the name of a device function, or an empty string for anything else."""
    return value.py_func.__name__ if getattr(value, "device", False) is True else ""


def indices(node: ast.expr) -> list[ast.expr]:
    """Return the index for each axis of a subscript."""
    return list(node.elts) if isinstance(node, ast.Tuple) else [node]
