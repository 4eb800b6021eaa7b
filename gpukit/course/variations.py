"""Small changes of a solution: the mistakes that nobody wrote down.

Each variation is the solution with one thing different: another operator, name, bound, start or
type, or a statement that is missing, in another place or in another order. Where an answer leaves
just what a variation leaves, the line that differs says what the answer does.
"""

from __future__ import annotations

import ast
import copy
import difflib
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from gpukit.course.replacements import OPERATORS, Names, is_infinite, is_memory, through

_OTHER_START = "  # or another initial value that is not below all numbers"

Place = tuple[ast.AST, str, int | None]  # a node, its field, and the place in a list there


class Variation(NamedTuple):
    """The solution with one thing different: the lines as they are and as they would be.

    Of several that leave the same, those of the lowest `rank` are the likeliest.
    """

    rank: int
    right: str
    wrong: str
    text: str
    still: str = ""  # a line of the starter that is as wrong as before

    def is_like(self, other: Variation) -> bool:
        """Tell whether this is no less likely than another that leaves the same."""
        return (self.rank, self.still) == (other.rank, other.still)


def of(text: str) -> Iterator[Variation]:
    """Yield the variations of a solution.

    >>> text = "def kernel(x, out):\\n    i = cuda.grid(1)\\n    out[i] = x[i] + 1\\n"
    >>> [v.wrong for v in of(text) if v.right == "out[i] = x[i] + 1"][:3]
    ['', 'out[i] = x[i]', 'out[i] = 1']
    """
    tree = ast.parse(text)
    constants = [
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    ]
    seen = {ast.unparse(tree)}
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    for function in functions:
        for variation in _Function(tree, function, constants).variations():
            if variation.text not in seen:
                seen.add(variation.text)
                yield variation


def unfixed(starter: str, solution: str) -> Iterator[Variation]:
    r"""Yield the solution of a detective with one of the starter's wrong lines in it.

    >>> [v.still for v in unfixed("a = 1\nb = 2\nc = 3\n", "a = 1\nb = 5\nc = 6\n")]
    ['b = 2', 'c = 3']
    """
    old, new = starter.splitlines(), solution.splitlines()
    for word, a, b, c, d in difflib.SequenceMatcher(None, old, new).get_opcodes():
        if word != "replace":
            continue
        for ours, theirs in zip(range(a, b), range(c, d), strict=False):
            text = "\n".join([*new[:theirs], old[ours], *new[theirs + 1 :], ""])
            line = old[ours].strip()
            if not _is_python(text):  # the line stands deeper than the one before it now
                continue
            yield Variation(0, new[theirs].partition("  #")[0].strip(), line, text, line)


def _is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


class _Function:
    """A function of a solution, which is changed in place, written out and restored."""

    def __init__(self, tree: ast.Module, function: ast.FunctionDef, constants: list[str]) -> None:
        self._tree, self._function = tree, function
        self._names = Names(function, constants)

    def variations(self) -> Iterator[Variation]:
        """Yield the likeliest first: one line, then the same in several, then odd operations."""
        yield from self._of_statements(self._function)
        places: dict[str, list[tuple[ast.stmt, Place]]] = defaultdict(list)
        for statement in _statements(self._function):
            for place in _places(statement):
                places[ast.dump(_get(place))].append((statement, place))
                comment = _OTHER_START if is_infinite(_get(place)) else ""
                for new in self._names.others(_get(place)):
                    found = self._with([statement], [(place, new)])
                    yield found._replace(wrong=found.wrong + comment)
        for same in places.values():
            node = _get(same[0][1])
            if len(same) > 1 and not (isinstance(node, ast.Name) and self._names.is_local(node)):
                for new in self._names.others(_get(same[0][1])):
                    changes = [(place, copy.deepcopy(new)) for _, place in same]
                    yield self._with([statement for statement, _ in same], changes, rank=1)
        yield from self._exchanged(places)
        for same in places.values():
            for statement, place in same:
                parent, field, _ = place
                is_assigned = field == "value" and isinstance(parent, ast.Assign | ast.AugAssign)
                for new in through(_get(place), is_assigned):
                    yield self._with([statement], [(place, new)], rank=2)
            if len(same) > 1:
                for new in through(_get(same[0][1]), False):
                    changes = [(place, copy.deepcopy(new)) for _, place in same]
                    yield self._with([statement for statement, _ in same], changes, rank=2)

    def _exchanged(self, places: dict[str, list[tuple[ast.stmt, Place]]]) -> Iterator[Variation]:
        """Yield what has two names, or two axes, exchanged everywhere."""
        uses: dict[str, list[tuple[ast.stmt, Place]]] = defaultdict(list)
        for same in places.values():
            node = _get(same[0][1])
            if isinstance(node, ast.Name | ast.Attribute):
                uses[ast.unparse(node)] += same
        names = list(uses)
        for k, one in enumerate(names):
            for other in names[k + 1 :]:
                first, second = (_get(uses[name][0][1]) for name in (one, other))
                changes = [(place, copy.deepcopy(second)) for _, place in uses[one]]
                changes += [(place, copy.deepcopy(first)) for _, place in uses[other]]
                statements = [s for name in (one, other) for s, _ in uses[name]]
                if type(first) is type(second) and self._names.are_alike(first, second):
                    yield self._with(statements, changes, rank=1)

    def _with(
        self, statements: list[ast.stmt], changes: list[tuple[Place, ast.AST]], rank: int = 0
    ) -> Variation:
        """Return the solution with changes in some of its statements."""
        changed = sorted({s.lineno: s for s in statements}.items())
        right = [_header(statement) for _, statement in changed]
        before = [(place, _get(place)) for place, _ in changes]
        for place, new in changes:
            _set(place, new)
        wrong = [_header(statement) for _, statement in changed]
        text = ast.unparse(self._tree)
        for place, old in reversed(before):
            _set(place, old)
        return Variation(rank, "\n".join(right), "\n".join(wrong), text)

    # ---- statements -------------------------------------------------------------------------

    def _of_statements(self, parent: ast.AST) -> Iterator[Variation]:
        """Yield what has a statement missing, in another place, or in another order."""
        for field in ("body", "orelse"):
            block: list[ast.stmt] = getattr(parent, field, [])
            for k, statement in enumerate(list(block)):
                if _is_said(statement):
                    continue
                before, after = block[:k], block[k + 1 :]
                yield self._of_blocks(statement, [(block, [*before, ast.Pass(), *after])], "")
                if after and not _is_said(after[0]):
                    both = [*before, after[0], statement, *after[1:]]
                    lines = f"{_header(after[0])}\n{_header(statement)}"
                    yield self._of_blocks(statement, [(block, both)], lines, 2)
                if isinstance(statement, ast.AugAssign):
                    yield from self._of_update(statement, block, before, after)
                if isinstance(statement, ast.For | ast.While):
                    yield from self._of_loop(statement, block, before, after)
                if isinstance(statement, ast.If):
                    inner = [*before, *statement.body, *after]
                    yield self._of_blocks(statement, [(block, inner)], "if True:")
                yield from self._of_statements(statement)

    def _of_update(
        self,
        update: ast.AugAssign,
        block: list[ast.stmt],
        before: list[ast.stmt],
        after: list[ast.stmt],
    ) -> Iterator[Variation]:
        """Yield what replaces the value instead of updating it, or updates it in another way."""
        others: list[ast.stmt] = [ast.Assign([update.target], update.value, lineno=update.lineno)]
        others += [
            ast.AugAssign(update.target, operator(), update.value)
            for operator in OPERATORS.get(type(update.op), ())
        ]
        for other in others:
            yield self._of_blocks(update, [(block, [*before, other, *after])], _header(other))

    def _of_loop(
        self,
        loop: ast.For | ast.While,
        block: list[ast.stmt],
        before: list[ast.stmt],
        after: list[ast.stmt],
    ) -> Iterator[Variation]:
        """Yield what has a statement inside a loop instead of outside, or the other way round."""
        if before and not _is_said(before[-1]):
            moved = [(block, [*before[:-1], loop, *after]), (loop.body, [before[-1], *loop.body])]
            lines = f"{_header(loop)}\n    {_header(before[-1])}"
            yield self._of_blocks(before[-1], moved, lines, 2)
        if after and not _is_said(after[0]):
            moved = [(block, [*before, loop, *after[1:]]), (loop.body, [*loop.body, after[0]])]
            lines = f"{_header(loop)}\n    ...\n    {_header(after[0])}"
            yield self._of_blocks(after[0], moved, lines)
        last = loop.body[-1]
        if len(loop.body) > 1 and not _is_said(last):
            moved = [(block, [*before, loop, last, *after]), (loop.body, loop.body[:-1])]
            lines = f"{_header(last)}  # after the loop"
            yield self._of_blocks(last, moved, lines)

    def _of_blocks(
        self,
        statement: ast.stmt,
        changes: list[tuple[list[ast.stmt], list[ast.stmt]]],
        wrong: str,
        lines: int = 1,
    ) -> Variation:
        """Return the solution with other statements in some of its blocks."""
        before = [(block, list(block)) for block, _ in changes]
        following = before[0][1][before[0][1].index(statement) + 1 :] if lines > 1 else []
        right = "\n".join(_header(s) for s in [statement, *following[: lines - 1]])
        for block, new in changes:
            block[:] = new
        text = ast.unparse(self._tree)
        for block, old in before:
            block[:] = old
        return Variation(0, right, wrong, text)


def _is_said(statement: ast.stmt) -> bool:
    """Tell whether the checker speaks of this statement, or it is no step of the computation."""
    written = ast.unparse(statement)
    docstring = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    memory = isinstance(statement, ast.Assign) and is_memory(statement.value)
    return docstring or memory or written.startswith(("cuda.sync", "import", "from", "def"))


def _statements(function: ast.FunctionDef) -> Iterator[ast.stmt]:
    for node in ast.walk(function):
        if isinstance(node, ast.stmt) and node is not function:
            yield node


def _places(statement: ast.stmt) -> Iterator[Place]:
    """Yield the places of the expressions of a statement, those of its blocks left out."""
    if _is_said(statement) or isinstance(statement, ast.FunctionDef):
        if "shared.array" not in ast.unparse(statement):
            return
    todo: list[ast.AST] = [statement]
    while todo:
        parent = todo.pop(0)
        for field, value in ast.iter_fields(parent):
            for k, node in enumerate(value if isinstance(value, list) else [value]):
                if not isinstance(node, ast.expr):
                    continue
                todo.append(node)
                if _may_change(parent, field, node):
                    yield parent, field, k if isinstance(value, list) else None


def _may_change(parent: ast.AST, field: str, node: ast.expr) -> bool:
    """Tell whether an expression is no callee, module, target or axis of `cuda.grid`."""
    if isinstance(getattr(node, "ctx", None), ast.Store):
        return False
    if isinstance(parent, ast.Call) and ast.unparse(parent.func) in ("cuda.grid", "cuda.gridsize"):
        return False
    if field == "func" or (
        isinstance(parent, ast.Attribute) and parent.attr not in ("size", "shape")
    ):
        return False
    return not isinstance(parent, ast.For) or field != "target"


def _header(statement: ast.stmt) -> str:
    return ast.unparse(statement).splitlines()[0]


def _get(place: Place) -> ast.AST:
    node, field, k = place
    value = getattr(node, field)
    found: ast.AST = value if k is None else value[k]
    return found


def _set(place: Place, new: ast.AST) -> None:
    node, field, k = place
    if k is None:
        setattr(node, field, new)
    else:
        getattr(node, field)[k] = new
