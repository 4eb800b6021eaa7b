"""Find variables that are cheaper to compute again than to keep, one for each thread.

`i = cuda.grid(1)` needs no memory across a barrier: whoever needs `i` computes it again from
the indices. Such a variable is set once, from values that are set once, without reading
memory; every use stands after it, in the same innermost loop.

>>> from gpukit.compiler import intrinsics as cuda
>>> def kernel(a, n):
...     i = cuda.grid(1)
...     last = n - 1
...     x = a[i]
...     j = i + last
...     i2 = i
...     i2 += 1
>>> from gpukit.compiler.frontend import inline, resolve
>>> unit = resolve.run(kernel)
>>> inline.run(unit)
>>> sorted(run(unit, Uniformity(unit)))
['i', 'j', 'last']
"""

from __future__ import annotations

import ast

from gpukit.compiler import tree
from gpukit.compiler.analysis.uniformity import Uniformity
from gpukit.compiler.unit import Unit

PURE_NODES = (
    ast.Constant, ast.Name, ast.BinOp, ast.UnaryOp, ast.Tuple, ast.Attribute, ast.expr_context,
    ast.operator, ast.unaryop, ast.Compare, ast.cmpop, ast.BoolOp, ast.boolop,
)  # fmt: skip
PURE_CALLS = frozenset(
    [
        "int", "float", "bool", "min", "max", "abs", "len", "int8", "int16", "int32", "int64",
        "uint8", "uint16", "uint32", "uint64", "float32", "float64", "intp", "uintp",
    ]
)  # fmt: skip
_MAX_NODES = 60


def run(unit: Unit, uniformity: Uniformity) -> dict[str, ast.expr]:
    """Return the rematerialised variables with the expressions that make them."""
    return _Finder(unit, uniformity).find()


def is_shape(node: ast.AST) -> bool:
    """Tell whether an expression reads the shape of an array: `a.shape[0]`, `a.size`."""
    if isinstance(node, ast.Subscript):
        base = node.value
        return (
            isinstance(base, ast.Attribute)
            and base.attr in ("shape", "strides")
            and isinstance(base.value, ast.Name)
        )
    return isinstance(node, ast.Attribute) and node.attr in ("size", "ndim", "shape", "itemsize")


def call_name(node: ast.Call) -> str:
    """Return the last part of the name of a called function: `int32` for `np_int32(x)`.

    Methods have none, and neither has what reads an array: `tile.max()`, `max(tile)`.
    """
    spelled = tree.dotted(node.func) or ""
    name = spelled.rpartition(".")[2].rpartition("_")[2]
    reads = name in ("max", "min") and (spelled != name or len(node.args) < 2)
    return "" if reads else name


class _Finder:
    def __init__(self, unit: Unit, uniformity: Uniformity) -> None:
        self.unit = unit
        self.uniformity = uniformity
        self.counts: dict[str, int] = {}
        self.definitions: dict[str, ast.expr] = {}
        self.read_ok: dict[str, bool] = {}
        self._count()
        self._scan(unit.tree.body, set())

    def _count(self) -> None:
        for p in self.unit.parameters:
            self.counts[p] = 1
        for node in ast.walk(self.unit.tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self.counts[node.id] = self.counts.get(node.id, 0) + 1

    def _scan(self, body: list[ast.stmt], visible: set[str]) -> None:
        """Walk in order; a read of a variable outside `visible` makes it unfit.

        `visible` are the variables set before, in this loop or around it.
        """
        for s in body:
            self._check_reads(s, visible)
            if isinstance(s, ast.Assign) and len(s.targets) == 1:
                target = s.targets[0]
                if isinstance(target, ast.Name):
                    self.definitions[target.id] = s.value
            if isinstance(s, (ast.For, ast.While)):
                inner = set(visible)
                inner |= tree.writes(s.target) if isinstance(s, ast.For) else set()
                self._scan(s.body, inner)
                self._scan(s.orelse, set(visible))
            elif isinstance(s, ast.If):
                self._scan(s.body, visible)
                self._scan(s.orelse, visible)
            else:
                visible |= tree.writes(s)

    def _check_reads(self, s: ast.stmt, visible: set[str]) -> None:
        read = tree.reads(tree.heads(s)) if tree.blocks(s) else tree.reads(s)
        for name in read - visible:
            self.read_ok[name] = False

    def find(self) -> dict[str, ast.expr]:
        rematerialised: dict[str, ast.expr] = {}
        parameters = set(self.unit.parameters)
        for name, value in self.definitions.items():
            if self.counts[name] != 1 or name in parameters:
                continue
            if self.read_ok.get(name, True) and self._is_pure(value, rematerialised):
                rematerialised[name] = value
        return rematerialised

    def _is_pure(self, value: ast.expr, rematerialised: dict[str, ast.expr]) -> bool:
        if sum(1 for _ in ast.walk(value)) > _MAX_NODES:
            return False
        return self._pure(value, rematerialised)

    def _pure(self, node: ast.AST, rematerialised: dict[str, ast.expr]) -> bool:
        if tree.intrinsic(node) is not None:
            return True
        if isinstance(node, ast.Name):
            return self._name_is_stable(node.id, rematerialised)
        if is_shape(node):
            inner = [n for n in ast.walk(node) if isinstance(n, ast.Name)]
            return all(self._name_is_stable(n.id, rematerialised) for n in inner)
        if isinstance(node, ast.Call):
            if node.keywords or call_name(node) not in PURE_CALLS:
                return False
            return all(self._pure(a, rematerialised) for a in node.args)
        if not isinstance(node, PURE_NODES) or isinstance(node, ast.Attribute):
            return False
        return all(self._pure(child, rematerialised) for child in ast.iter_child_nodes(node))

    def _name_is_stable(self, name: str, rematerialised: dict[str, ast.expr]) -> bool:
        if name in rematerialised or name not in self.counts:
            return True  # not counted: a captured object
        if self.counts[name] != 1:
            return False
        return name not in self.uniformity.varying
