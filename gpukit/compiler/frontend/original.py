"""Find the definition of a function object in a source text, and verify it.

Every `def` and `lambda` in the text is compiled, and its code is compared with the function's:
instructions, constants and names, but not lines. If the text was edited since, there is no match;
a definition that only moved is found, and so is the right one of several lambdas on a line.

>>> code = (lambda x: x + 1).__code__
>>> ast.unparse(definition("f, g = lambda x: x + 2, lambda x: x + 1", code, {}))
'lambda x: x + 1'
"""

from __future__ import annotations
import __future__

import ast
import functools
import itertools
import sys
import warnings
from collections.abc import Iterator
from types import CodeType
from typing import Any

Definition = ast.FunctionDef | ast.Lambda
_PARTS = (
    "co_name",
    "co_code",
    "co_names",
    "co_varnames",
    "co_freevars",
    "co_cellvars",
    "co_argcount",
    "co_posonlyargcount",
    "co_kwonlyargcount",
    "co_flags",
)
_FUTURE = 0
for _name in __future__.all_feature_names:
    _FUTURE |= getattr(__future__, _name).compiler_flag
_CELL = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT  # outside functions, in a cell of a notebook
_FAR = 1 << 20  # a line number beyond any source text


def definition(text: str, code: CodeType, scope: dict[str, Any]) -> Definition | None:
    """Return the definition in `text` that compiles to `code`; None if there is none.

    `scope` are the function's globals. Of several equal ones, the nearest to the code's line.
    The text may have been compiled as a whole, like a file, or statement by statement, like a
    notebook cell: Python compiles `cuda.grid` differently if it sees the import of `cuda`.
    """
    # The examples in the docstrings of a module that pytest rewrote are not rewritten.
    loaders = dict.fromkeys((_pytest_loader(scope), None))
    for loader, apart in itertools.product(loaders, (False, True)):
        try:
            known = _definitions(text, code.co_flags & _FUTURE, loader, apart)
        except (SyntaxError, ValueError):
            continue
        found = [node for node, made in known if same(made, code)]
        if found:
            return min(found, key=lambda n: abs(_line(n) - code.co_firstlineno))
    return None


def same(one: CodeType, other: CodeType) -> bool:
    """Tell whether two code objects are equal apart from their lines."""
    return (
        all(getattr(one, part) == getattr(other, part) for part in _PARTS)
        and len(one.co_consts) == len(other.co_consts)
        and all(map(_same_constant, one.co_consts, other.co_consts))
    )


def _same_constant(one: Any, other: Any) -> bool:
    if isinstance(one, CodeType) and isinstance(other, CodeType):
        return same(one, other)
    if isinstance(one, frozenset) and isinstance(other, frozenset):
        return sorted(map(repr, one)) == sorted(map(repr, other))
    return type(one) is type(other) and repr(one) == repr(other)  # 1, 1.0 and True are equal


@functools.lru_cache(maxsize=32)
def _definitions(
    text: str, flags: int, loader: Any, apart: bool
) -> list[tuple[Definition, CodeType]]:
    """Return every definition in a text with the code that it compiles to.

    With `apart` every statement of the text is compiled separately.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they were issued when the text was run
        tree = ast.parse(text)
        nodes = [n for n in ast.walk(tree) if isinstance(n, Definition)]
        keys = [(_line(n), getattr(n, "name", "<lambda>")) for n in nodes]
        plain: Any = tree if apart else text
        if loader is not None or len(set(keys)) < len(keys):
            keys, plain = _set_apart(keys), _marked(text, loader)
        units = [ast.Module([node], []) for node in plain.body] if apart else [plain]
        codes = [
            compile(unit, "<source>", "exec", flags | _CELL, dont_inherit=True) for unit in units
        ]
    made = {(c.co_firstlineno, c.co_name): c for code in codes for c in _codes(code)}
    return [(node, made[key]) for node, key in zip(nodes, keys, strict=True) if key in made]


def _line(node: Any) -> int:
    """Return the line that Python records as the start of a function."""
    first = node.decorator_list[0] if getattr(node, "decorator_list", None) else node
    return int(first.lineno)


def _set_apart(keys: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Return keys of definitions, with lambdas moved to unique lines."""
    return [
        (_FAR + k, name) if name == "<lambda>" else (line, name)
        for k, (line, name) in enumerate(keys)
    ]


def _marked(text: str, loader: Any) -> ast.Module:
    """Return the tree of a text with its lambdas moved to the lines of `_set_apart`."""
    tree = ast.parse(text)
    for k, node in enumerate(n for n in ast.walk(tree) if isinstance(n, Definition)):
        if isinstance(node, ast.Lambda):
            node.lineno = node.end_lineno = _FAR + k
            node.col_offset = node.end_col_offset = 0
    if loader is not None:
        rewrite = sys.modules["_pytest.assertion.rewrite"].rewrite_asserts
        rewrite(tree, text.encode(), None, getattr(loader, "config", None))
    return tree


def _codes(code: CodeType) -> Iterator[CodeType]:
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield inner
            yield from _codes(inner)


def _pytest_loader(scope: dict[str, Any]) -> Any:
    """Return the loader of a module whose `assert` statements pytest rewrote; else None."""
    return scope.get("__loader__") if "@pytest_ar" in scope else None
