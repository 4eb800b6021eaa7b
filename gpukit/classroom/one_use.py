"""Imported names that may stand in one place only: above a definition, as a base, in a type hint.

`functools.wraps` sets any attribute of what it is given, `enum.Enum` called makes a class with any
attribute, and `numpy.ndarray` called makes an array at any address. Their honest uses are these:
`@wraps(function)`, `class Color(Enum)`, `x: np.ndarray`. There nothing can call them otherwise.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from gpukit.classroom import allowed

_OF_HINTS = (
    *(ast.Name, ast.Attribute, ast.Subscript, ast.BinOp, ast.BitOr, ast.Constant, ast.Tuple),
    *(ast.List, ast.Load),
)


@dataclass
class OneUse:
    """Finds where names for one use may stand, then tells which stand elsewhere."""

    host: bool
    modules: dict[str, str]  # by the name that an import gives them
    origins: dict[str, str]  # of other imported names
    own: Counter[str] = field(default_factory=Counter)  # how often it binds a name to any value
    hints: set[str] = field(default_factory=set)  # its names for type hints: `Row = np.ndarray`
    fitting: set[int] = field(default_factory=set)  # nodes where such names may stand
    of_classes: set[int] = field(default_factory=set)  # statements whose names are attributes

    def note_binding(self, part: ast.AST, name: str) -> None:
        """Note that a part binds a name, if that may be another value than a class."""
        if isinstance(part, ast.ClassDef) and not part.bases:
            calls = (d.func if isinstance(d, ast.Call) else d for d in part.decorator_list)
            if all(self._origin(of) in allowed.FOR_DECORATORS for of in calls):
                return  # it is what Python makes of the statement
        if not isinstance(part, ast.alias):
            self.own[name] += 1

    def note(self, part: ast.AST) -> None:
        """Note the nodes within a part where a name for one use may stand."""
        if isinstance(part, ast.FunctionDef | ast.ClassDef):
            self._note_decorators(part)
        if isinstance(part, ast.ClassDef):
            self.of_classes |= {id(inner) for inner in ast.walk(part)}
            if self._may_derive(part):
                self.fitting |= {id(b) for b in part.bases if self._origin(b) in allowed.FOR_BASES}
        if isinstance(part, ast.Call) and self._origin(part.func) in allowed.FOR_CALLS:
            if len(part.args) == 1 and not isinstance(part.args[0], ast.Starred):
                self.fitting |= set() if part.keywords else {id(part.func)}
        for hint in (*self._hints_of(part), *self._alias(part)):
            if self.is_hint(hint):
                self.fitting |= {id(inner) for inner in ast.walk(hint)}

    def misplaced(self, node: ast.Name | ast.Attribute) -> str:
        """Return what is wrong with a name where it stands, "" if nothing is."""
        origin = self._origin(node)
        is_hint = isinstance(node, ast.Name) and node.id in self.hints
        if id(node) in self.fitting or not (is_hint or origin in allowed.FOR_ONE_USE):
            return ""
        name = ast.unparse(node)
        if origin in allowed.FOR_DECORATORS:
            return (
                f"{name} is for a decorator. Write it directly above a function or a class, which "
                "may not derive from others if it is a data class."
            )
        if origin in allowed.FOR_CALLS:
            return f"{name} can only be called, with one argument."
        if origin in allowed.FOR_BASES:
            return f"write a class that derives from {name}, with a member such as FIRST = 1."
        return f"{name} is for type hints and isinstance. np.empty makes an array."

    def is_hint(self, node: ast.expr) -> bool:
        """Tell whether an expression names types, none of which the submission computes."""
        parts = list(ast.walk(node))
        names = {part.id for part in parts if isinstance(part, ast.Name)}
        return all(isinstance(p, _OF_HINTS) for p in parts) and not names & (
            self.own.keys() - self.hints
        )

    def _origin(self, node: ast.expr) -> str:
        """Return what an expression names, such as "numpy.ndarray"; "" if it is not imported."""
        if isinstance(node, ast.Name):
            return self.modules.get(node.id) or self.origins.get(node.id, "")
        if isinstance(node, ast.Attribute) and (of := self._origin(node.value)):
            return f"{of}.{node.attr}"
        return ""

    def _note_decorators(self, node: ast.FunctionDef | ast.ClassDef) -> None:
        """Note the lowest decorators: what stands above another one may be given anything."""
        for decorator in reversed(node.decorator_list):
            call = decorator if isinstance(decorator, ast.Call) else None
            of = call.func if call else decorator
            origin = self._origin(of)
            fits = origin in allowed.FOR_DECORATORS
            if origin == "functools.wraps":
                one = call is not None and len(call.args) == 1 and not call.keywords
                fits = one and isinstance(node, ast.FunctionDef)
            # Python executes a text with the names of fields. Host code can set that of a field of
            # a base class.
            if origin == "dataclasses.dataclass" and self.host:
                fits = isinstance(node, ast.ClassDef) and not node.bases
            if not fits:
                return
            self.fitting.add(id(of))

    def _may_derive(self, node: ast.ClassDef) -> bool:
        """Tell whether a class is no enumeration without members, which makes others if called."""
        of_enum = any(self._origin(base).startswith("enum.") for base in node.bases)
        return not of_enum or any(map(self._is_member, node.body))

    def _is_member(self, node: ast.stmt) -> bool:
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
            return False
        value, name = node.value, node.targets[0].id
        auto = isinstance(value, ast.Call) and self._origin(value.func) == "enum.auto"
        return not name.startswith("_") and (isinstance(value, ast.Constant) or auto)

    def _hints_of(self, part: ast.AST) -> Iterator[ast.expr]:
        """Yield the type hints in a part, and the types that something is compared with."""
        for hint in (getattr(part, word, None) for word in ("annotation", "returns")):
            if isinstance(hint, ast.expr):
                yield hint
        if isinstance(part, ast.MatchClass):
            yield part.cls
        if type(part).__name__ == "TypeAlias":  # of Python 3.12: `type Row = np.ndarray`
            yield part.value  # type: ignore[attr-defined]
        if isinstance(part, ast.Compare):
            if all(isinstance(op, ast.Is | ast.IsNot) for op in part.ops):
                yield from (part.left, *part.comparators)
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Name):
            name = part.func.id
            if name in ("isinstance", "issubclass"):
                for given in part.args[1:]:
                    yield from given.elts if isinstance(given, ast.Tuple) else [given]
            elif self.origins.get(name) == "typing.cast" and name not in self.own:
                yield from part.args[:1]

    def _alias(self, part: ast.AST) -> Iterator[ast.expr]:
        """Yield the value of `Row = np.ndarray`, whose name is for type hints from there on."""
        if not isinstance(part, ast.Assign | ast.AnnAssign) or id(part) in self.of_classes:
            return
        target, *more = part.targets if isinstance(part, ast.Assign) else [part.target]
        if more or not isinstance(target, ast.Name) or self.own[target.id] != 1:
            return
        if part.value and self.is_hint(part.value):
            names = (n for n in ast.walk(part.value) if isinstance(n, ast.Name | ast.Attribute))
            if any(self.misplaced(n) for n in names):
                self.hints.add(target.id)
                yield part.value
