"""Helpers to read and build Python syntax trees."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator
from typing import Any, cast

from gpukit.compiler import facts

# Names that the compiler gives to its own variables; a kernel's own are renamed if they clash.
AXES = ("x", "y", "z")
GEOMETRY = [f"{n}_{a}" for n in ("threadIdx", "blockIdx", "blockDim", "gridDim") for a in AXES]
# Python's functions that a tree calls by their original names, even if the user renames them.
BUILTINS = {f.__name__: f for f in (range, min, max, abs, len, int, float, bool)}
RESERVED = frozenset(
    [
        *GEOMETRY,
        *(f"_{name}" for name in GEOMETRY),
        *BUILTINS,
        "_args",
        "_first",
        "_last",
        "_context",
        "_scratch",
        "_block",
        "_at",
        "_thread_index",
        "_dynamic",
        "_dynamic_bytes",
        "_all_threads",
        "_coarsened",
        "_neighbour",
        "_wide",
        "thread",
        "threads",
        "row_start",
        "first_thread",
        "first_block",
        "cuda",
    ]
)


def name(text: str) -> ast.Name:
    """Return a name node that is read."""
    return ast.Name(text, ast.Load())


def store(text: str) -> ast.Name:
    """Return a name node that is written."""
    return ast.Name(text, ast.Store())


def const(value: Any) -> ast.Constant:
    """Return a literal."""
    return ast.Constant(value)


def expr(text: str, **parts: ast.expr) -> ast.expr:
    """Parse an expression and substitute `parts` for the names of their keywords.

    >>> ast.unparse(expr("a < b", a=name("i"), b=const(3)))
    'i < 3'
    """
    return _Fill(parts).visit(_placeless(ast.parse(text, mode="eval")).body)  # type: ignore[no-any-return]


def fill(node: ast.expr, **parts: ast.expr) -> ast.expr:
    """Return an expression with `parts` substituted for the names of their keywords.

    >>> ast.unparse(fill(expr("a < b"), a=const(1)))
    '1 < b'
    """
    return _Fill(parts).visit(clone(node))  # type: ignore[no-any-return]


def stmts(text: str, **parts: ast.expr) -> list[ast.stmt]:
    """Parse statements and substitute `parts` for the names of their keywords.

    >>> [ast.unparse(at(s, const(0))) for s in stmts("x = v", v=const(1), x=store("k"))]
    ['k = 1']
    """
    return [_Fill(parts).visit(s) for s in _placeless(ast.parse(text)).body]


def _placeless(node: Any) -> Any:
    """Remove the positions from a tree parsed from a template: `at` sets others."""
    for n in ast.walk(node):
        for name in ("lineno", "end_lineno", "col_offset", "end_col_offset"):
            n.__dict__.pop(name, None)
    return node


class _Fill(ast.NodeTransformer):
    def __init__(self, parts: dict[str, ast.expr]) -> None:
        self.parts = parts

    def visit_Name(self, node: ast.Name) -> ast.expr:
        part = self.parts.get(node.id)
        if part is None:
            return node
        part = cast("ast.expr", clone(part))
        if isinstance(part, ast.Name):
            part.ctx = node.ctx
        return part


def assign(target: str, value: ast.expr, like: ast.AST | None = None) -> ast.Assign:
    """Return `target = value`, with the line of `like`."""
    node = ast.Assign([store(target)], value)
    return at(node, like) if like is not None else node


def updated(s: ast.AugAssign) -> ast.BinOp:
    """Return the value that `a += b` stores; messages show the statement for it.

    >>> ast.unparse(updated(ast.parse("a[i] += b").body[0]))
    'a[i] + b'
    """
    old = clone(s.target)
    old.ctx = ast.Load()
    value: ast.BinOp = at(ast.BinOp(old, s.op, s.value), s)
    facts.note(value, **facts.of(s)._asdict())
    return value


def at(node: Any, like: ast.AST) -> Any:
    """Give `node` and all new nodes in it the position of `like`; return it."""
    line, known = getattr(like, "lineno", 1), facts.of(like)
    for child in ast.walk(node):
        if not hasattr(child, "lineno"):
            child.lineno = line  # type: ignore[attr-defined]
            child.col_offset = 0  # type: ignore[attr-defined]
            if known.inlined_from and isinstance(child, (ast.expr, ast.stmt)):
                facts.note(child, inlined_from=known.inlined_from)
            if known.library_line and isinstance(child, (ast.expr, ast.stmt)):
                facts.note(child, library_line=known.library_line)
    return node


def comment(text: str) -> ast.stmt:
    """Return a statement that `unparse` prints as a comment."""
    return ast.Expr(ast.Constant(f"# {text}"))


def unparse(node: ast.AST) -> str:
    """Return a tree as Python, with its comments.

    >>> print(unparse(ast.Module([ast.Pass(), comment("why"), comment("that's why")], [])))
    pass
    # why
    # that's why
    """
    return re.sub(r"^( *)(['\"])(# .*)\2$", r"\1\3", ast.unparse(node), flags=re.MULTILINE)


def settle(module: ast.Module) -> ast.Module:
    """Give every node of a generated tree a valid position: one line, no width."""
    ast.fix_missing_locations(module)
    for node in ast.walk(module):
        if hasattr(node, "lineno"):
            node.col_offset = node.end_col_offset = 0  # type: ignore[attr-defined]
            node.end_lineno = node.lineno  # type: ignore[attr-defined]
    return module


def builtin(function: Any) -> ast.Name:
    """Return the name of one of Python's functions, such as `range`."""
    made = name(function.__name__)
    facts.note(made, means=function)
    return made


def over(*arguments: ast.expr) -> ast.Call:
    """Return a call of `range`.

    >>> ast.unparse(over(const(0), name("n"))), calls(over(name("n")), range)
    ('range(0, n)', True)
    """
    return ast.Call(builtin(range), list(arguments), [])


def function_of(node: ast.AST) -> Any:
    """Return the captured object that `node` calls, or None."""
    return facts.of(node.func).means if isinstance(node, ast.Call) else None


def calls(node: ast.AST, *functions: Any) -> bool:
    """Tell whether `node` calls one of these objects, whatever its name."""
    function = function_of(node)
    return function is not None and any(function is f for f in functions)


def call(function: ast.expr | str, *arguments: ast.expr) -> ast.Call:
    """Return a call with positional arguments."""
    callee = expr(function) if isinstance(function, str) else function
    return ast.Call(callee, list(arguments), [])


def dotted(node: ast.AST) -> str | None:
    """Return `a.b.c` for a chain of attributes on a name, else None."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([node.id, *reversed(parts)])


def intrinsic(node: ast.AST) -> str | None:
    """Return the name of the intrinsic that a resolved expression refers to.

    >>> intrinsic(expr("cuda.atomic.add")), intrinsic(expr("a.b"))
    ('atomic.add', None)
    """
    path = dotted(node)
    return path[5:] if path and path.startswith("cuda.") else None


def called(node: ast.AST) -> str | None:
    """Return the name of the intrinsic that `node` calls, if it is such a call."""
    return intrinsic(node.func) if isinstance(node, ast.Call) else None


def reads(node: ast.AST | Iterable[ast.AST]) -> set[str]:
    """Return the names read anywhere in a node or nodes."""
    found = set()
    for n in walk(node):
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load):
            found.add(n.id)
        elif isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name):
            found.add(n.target.id)
    found.discard("cuda")
    return found


def writes(node: ast.AST | Iterable[ast.AST]) -> set[str]:
    """Return the names written anywhere in a node or nodes."""
    return {n.id for n in walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def in_order(names: Collection[str], node: ast.AST | Iterable[ast.AST]) -> list[str]:
    """Return those of `names` that occur in a node or nodes, in order of occurrence."""
    found = (n.id for n in walk(node) if isinstance(n, ast.Name) and n.id in names)
    return list(dict.fromkeys(found))


def key(node: Any) -> Any:
    """Return a key that is equal for equal expressions, read or written.

    >>> load, stored = expr("a[i + 1]"), stmts("a[i+1] = 0")[0].targets[0]
    >>> key(load) == key(stored), key(expr("a[1]")) == key(expr("a[True]"))
    (True, False)
    """
    if isinstance(node, ast.Constant):
        return type(node.value), repr(node.value)
    if isinstance(node, list):
        return tuple(map(key, node))
    if not isinstance(node, ast.AST):
        return node
    fields = (f for f in node._fields if f != "ctx")
    return type(node), *(key(getattr(node, f, None)) for f in fields)


def walk(node: ast.AST | Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield all nodes of a tree or of several."""
    for n in [node] if isinstance(node, ast.AST) else node:
        yield from ast.walk(n)


def blocks(node: ast.stmt) -> list[list[ast.stmt]]:
    """Return the statement lists directly inside a statement."""
    found = []
    for field in ("body", "orelse", "finalbody"):
        value = getattr(node, field, None)
        if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
            found.append(value)
    return found


def statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield every statement in a body, outer before inner."""
    for s in body:
        yield s
        for inner in blocks(s):
            yield from statements(inner)


def heads(node: ast.stmt) -> list[ast.expr]:
    """Return the expressions that a compound statement evaluates itself."""
    if isinstance(node, (ast.If, ast.While)):
        return [node.test]
    if isinstance(node, ast.For):
        return [node.iter]
    return []


def exits(body: list[ast.stmt], *, inner: bool = False) -> set[str]:
    """Return which of `break`, `continue`, `return` leave this body.

    `break` and `continue` of loops inside the body do not count.
    """
    found: set[str] = set()
    for s in body:
        if isinstance(s, ast.Return):
            found.add("return")
        elif isinstance(s, (ast.Break, ast.Continue)) and not inner:
            found.add("break" if isinstance(s, ast.Break) else "continue")
        else:
            loop = inner or isinstance(s, (ast.For, ast.While))
            for b in blocks(s):
                found |= exits(b, inner=loop)
    return found


def function(name: str, arguments: ast.arguments | list[str], body: list[ast.stmt]) -> Any:
    """Return a `def` with these parameters and statements."""
    if isinstance(arguments, list):
        arguments = ast.arguments(
            posonlyargs=[],
            args=[ast.arg(a) for a in arguments],
            kwonlyargs=[],
            kw_defaults=[],
            defaults=[],
        )
    made = ast.FunctionDef(
        name=name, args=arguments, body=body or [ast.Pass()], decorator_list=[], returns=None
    )
    if "type_params" in ast.FunctionDef._fields:
        setattr(made, "type_params", [])  # noqa: B010  (Python 3.12)
    return made


def of_lambda(name: str, node: ast.Lambda) -> ast.FunctionDef:
    """Return `def name(...): return ...` for a lambda."""
    body = ast.copy_location(ast.Return(node.body), node)
    made: ast.FunctionDef = ast.copy_location(function(name, node.args, [body]), node)
    return ast.fix_missing_locations(made)


def rename(node: ast.AST | Iterable[ast.AST], names: dict[str, str]) -> None:
    """Rename names everywhere in a node or nodes, in place."""
    for n in walk(node):
        if isinstance(n, ast.Name):
            n.id = names.get(n.id, n.id)


def clone(node: Any) -> Any:
    """Return a deep copy of a tree or list of trees, much faster than `copy.deepcopy`."""
    if isinstance(node, list):
        return [clone(n) for n in node]
    if not isinstance(node, ast.AST) or isinstance(node, _SHARED):
        return node
    made = type(node).__new__(type(node))
    made.__dict__.update({name: clone(value) for name, value in vars(node).items()})
    return made


_SHARED = (ast.expr_context, ast.operator, ast.cmpop, ast.unaryop, ast.boolop)


def read_outside_loops(body: list[ast.stmt], inside: frozenset[str] = frozenset()) -> set[str]:
    """Return names that are read somewhere outside a `for` loop over them."""
    found: set[str] = set()
    for s in body:
        if not blocks(s):
            found |= reads(s) - inside
            continue
        found |= reads(heads(s)) - inside
        if isinstance(s, ast.For):
            names = frozenset(writes(s.target))
            found |= read_outside_loops(s.body, inside | names)
            found |= read_outside_loops(s.orelse, inside)
        else:
            for block in blocks(s):
                found |= read_outside_loops(block, inside)
    return found
