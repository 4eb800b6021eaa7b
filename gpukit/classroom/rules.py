"""Choose what of a submission is run, and look whether that is restricted Python.

Grading needs the entry and what it uses: imports, constants, device functions. Only these
statements are kept, in their lines; a self-test below a kernel is not run, whatever it does. What
is kept may use what `allowed` lists, which is all that a kernel needs. It cannot reach a frame, a
module's inside or a file, so it cannot replace what launches, checks and counts in its process.

These rules decide what is graded. They are no boundary: that is the sandbox.
"""

from __future__ import annotations
import __future__

import ast
import re
from dataclasses import dataclass, field

from gpukit.classroom import allowed, needed
from gpukit.classroom.one_use import OneUse
from gpukit.errors import GpukitError

_FIELD_ACCESS = re.compile(r"\{[^{}]*[.\[]")
_COOKIE = re.compile(r"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_UTF_8 = {"utf-8", "utf8", "utf-8-sig"}
_ADVICE = "What is graded needs this line; a test of your own that it does not need may stay."


class RejectedError(GpukitError):
    """A submission that is not run; the message says which line, and what to do."""


def kept(source: str, entry: str, *, host: bool = False) -> str:
    """Return the text of what `entry` needs, each statement in its own lines.

    `host` is for an entry that is host code, which may use `gpukit.nn` and the book's functions.
    Raises RejectedError where something needed is not allowed.
    """
    source = source.replace("\r\n", "\n").replace("\r", "\n")
    _look_at_encoding(source)
    try:
        chosen = needed.statements(ast.parse(source), entry)
        _Rules(chosen, host).check()
    except RejectedError:
        raise
    except (RecursionError, MemoryError):
        raise RejectedError(
            "Your file nests expressions or blocks too deeply to be graded. Write it as several "
            "statements."
        ) from None
    except (SyntaxError, ValueError) as error:  # what only a compiler refuses: a huge number
        raise RejectedError(f"Python cannot compile your file: {error}.") from None
    return needed.written(source, chosen)


def _look_at_encoding(source: str) -> None:
    """Refuse a comment by which Python would read the file in another encoding than ours."""
    for number, line in enumerate(source.split("\n")[:2], 1):
        cookie = _COOKIE.match(line)
        if cookie and cookie[1].lower().replace("_", "-") not in _UTF_8:
            raise RejectedError(
                f"Line {number}: this file declares the encoding {cookie[1]}. Save it as UTF-8 and "
                "remove that comment."
            )


# ---- what they may use ------------------------------------------------------------------------


@dataclass
class _Rules(ast.NodeVisitor):
    """Looks at every part of the chosen statements, and raises at the first that is not allowed.

    It does not follow scopes: the name of a module stands for that module everywhere, so nothing
    else may bear it, and a forbidden function may not be used under its own name, nor be defined.
    """

    chosen: list[ast.stmt]
    host: bool
    modules: dict[str, str] = field(default_factory=dict)  # by the name that an import gives them
    origins: dict[str, str] = field(default_factory=dict)  # of other imported names
    declared: set[str] = field(default_factory=set)  # attributes of the submission's own classes
    selves: set[str] = field(default_factory=set)  # first parameters of its methods: self, cls
    one_use: OneUse = field(init=False)

    def __post_init__(self) -> None:
        self.one_use = OneUse(self.host, self.modules, self.origins)

    def check(self) -> None:
        parts = [part for node in self.chosen for part in ast.walk(node)]
        for part in parts:
            if isinstance(part, ast.Import | ast.ImportFrom):
                self._import(part)
            elif isinstance(part, ast.ClassDef):
                self._declare(part)
        methods = {id(m) for part in parts if isinstance(part, ast.ClassDef) for m in part.body}
        for part in parts:
            for name in _bound_by(part):
                self._bind(part, name, is_method=id(part) in methods)
                self.one_use.note_binding(part, name)
        for part in parts:
            self.one_use.note(part)
        for node in self.chosen:
            self.visit(node)

    def _refuse(self, node: ast.AST, what: str, advice: str = _ADVICE) -> None:
        raise RejectedError(f"Line {getattr(node, 'lineno', 1)}: {what} {advice}")

    # ---- imports, and what else binds a name ----

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            if isinstance(node, ast.Import):
                module = alias.name if alias.asname else alias.name.partition(".")[0]
                if not (self._is_module(alias.name) and self._is_module(module)):
                    self._refuse(node, f"a submission may not import {alias.name}.")
                self._name_import(node, alias, self.modules, module)
            else:
                self._import_name(node, alias)

    def _import_name(self, node: ast.ImportFrom, alias: ast.alias) -> None:
        source = node.module or ""
        if source == "__future__" and alias.name in __future__.all_feature_names:
            return
        if node.level or not self._is_module(source):
            self._refuse(node, f"a submission may not import from {'.' * node.level}{source}.")
        if alias.name == "*":
            if source not in ("math", "numba.types"):
                self._refuse(node, f"name what you import from {source} instead of *.", "")
            return
        found = allowed.step(source, alias.name, self.host)
        if found is None:
            self._refuse(node, f"a submission may not import {alias.name} from {source}.")
        if found:
            self._name_import(node, alias, self.modules, found)
        else:
            self._name_import(node, alias, self.origins, f"{source}.{alias.name}")

    def _name_import(
        self, node: ast.AST, alias: ast.alias, names: dict[str, str], meaning: str
    ) -> None:
        """Note what an import's name stands for: if the rules look at that, it is one thing."""
        name = needed.bound(alias)
        before = {known[name] for known in (self.modules, self.origins) if name in known}
        names[name] = meaning
        if len({of.replace("numba.cuda", "gpukit.cuda") for of in before | {meaning}}) == 1:
            return
        if name in self.modules or (before | {meaning}) & allowed.FOR_ONE_USE:
            both = " and ".join(sorted(before | {meaning}))
            self._refuse(node, f"{name} is {both}.", "Give one another name.")

    def _is_module(self, name: str) -> bool:
        return allowed.is_module(name, self.host)

    def _declare(self, node: ast.ClassDef) -> None:
        """Note the attributes that a class declares, and how its methods call their object."""
        for statement in node.body:
            self.declared |= set(needed.statement(statement).binds)
            if isinstance(statement, ast.FunctionDef):
                first = _arguments(statement.args)[:1]
                self.selves |= {argument.arg for argument in first} & {"self", "cls"}
                for part in ast.walk(statement):
                    if isinstance(part, ast.Attribute) and not isinstance(part.ctx, ast.Load):
                        if isinstance(part.value, ast.Name) and part.value.id in self.selves:
                            self.declared.add(part.attr)

    def _bind(self, node: ast.AST, name: str, *, is_method: bool) -> None:
        """Look whether something may bear a name."""
        special = name in allowed.SPECIAL_METHODS
        if name.startswith("__") and not (special and self._is_in_a_class(node, is_method)):
            self._refuse(node, f"a submission may not define {name}.")
        if name in self.modules and not isinstance(node, ast.alias):
            self._refuse(
                node, f"{name} is the module {self.modules[name]}.", "Choose another name."
            )
        if name in allowed.FORBIDDEN_BUILTINS | allowed.RELIED_ON | allowed.INTROSPECTIVE:
            self._refuse(node, f"a submission may not define {name}.", "Choose another name.")
        if name in self.selves and isinstance(node, ast.Name):
            self._refuse(node, f"{name} is the object of a method.", "Choose another name.")

    @staticmethod
    def _is_in_a_class(node: ast.AST, is_method: bool) -> bool:
        """Tell whether a special name is a method's, or another name for one: `__radd__ = ...`."""
        return is_method or isinstance(node, ast.Name)

    # ---- names and attributes ----

    def visit_Name(self, node: ast.Name) -> None:
        name = node.id
        if not isinstance(node.ctx, ast.Load):
            return
        if name in self.modules:
            self._refuse(node, f"the module {name} cannot be a value.", "Name what you use of it.")
        is_special = name in allowed.SPECIAL_METHODS and name in self.declared
        if name in allowed.FORBIDDEN_BUILTINS or (name.startswith("__") and not is_special):
            self._refuse(node, f"a submission may not use {name}.")
        self._use(node)

    def _use(self, node: ast.Name | ast.Attribute) -> None:
        if wrong := self.one_use.misplaced(node):
            self._refuse(node, wrong, "")

    def visit_Attribute(self, node: ast.Attribute) -> None:
        path: list[str] = []
        root: ast.expr = node
        while isinstance(root, ast.Attribute):
            path.insert(0, root.attr)
            root = root.value
        module = self.modules.get(root.id) if isinstance(root, ast.Name) else None
        if not isinstance(node.ctx, ast.Load):
            self._store(node, module)
        if module is not None:
            self._path(node, module, path)
            for part in ast.walk(node):
                if isinstance(part, ast.Attribute):
                    self._use(part)
            return
        if self._is_own_class(root):
            root = root.args[0]  # type: ignore[attr-defined]
        elif path[0] == "__class__" and len(path) > 1 and self._is_self(root):
            path = path[1:]
        if not (path == ["__init__"] and _is_super(root)):
            self._attributes(node, root, path)
        self.visit(root)

    def _path(self, node: ast.Attribute, module: str | None, path: list[str]) -> None:
        """Follow a path from a module to what is not one."""
        rest = list(path)
        while module and rest:
            name = rest.pop(0)
            found = allowed.step(module, name, self.host)
            if found is None:
                self._refuse(node, allowed.why_not(module, name))
            module = found
        if module:
            self._refuse(
                node, f"the module {module} cannot be a value.", "Name what you use of it."
            )
        self._attributes(node, None, rest)

    def _attributes(self, node: ast.Attribute, root: ast.expr | None, path: list[str]) -> None:
        for name in path:
            self._attribute(node, name)
        if "format" in path and (path != ["format"] or not _is_plain_text(root)):
            self._refuse(node, "format belongs to a text in quotes here.", "Use an f-string.")

    def _attribute(self, node: ast.AST, name: str) -> None:
        special = name.startswith("__") and name not in allowed.SPECIAL_METHODS
        own = self.host and name in self.declared and not special
        if (name.startswith("_") and not own) or name in allowed.INTROSPECTIVE | allowed.INNER:
            self._refuse(node, f"a submission may not use the attribute {name}.")

    def _store(self, node: ast.Attribute, module: str | None) -> None:
        """Allow host code to set an attribute of what a name stands for, and of its own class."""
        root = node.value
        known = isinstance(root, ast.Name) or self._is_own_class(root)
        if module or not (self.host and known):
            self._refuse(node, f"a submission may not set the attribute {node.attr}.")
        others = node.attr in allowed.methods_of_models() and node.attr not in self.declared
        if others or node.attr in allowed.OF_RANKS_AND_ARRAYS:
            self._refuse(node, f"a submission may not replace {node.attr}.", "Choose another name.")

    def _is_self(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and node.id in self.selves

    def _is_own_class(self, node: ast.expr) -> bool:
        """Tell whether an expression is `type(self)` in a method."""
        inner = _of_type(node)
        return self.host and inner is not None and self._is_self(inner)

    # ---- calls, functions, classes ----

    def visit_Call(self, node: ast.Call) -> None:
        of = node.func
        rest = [*node.args, *(keyword.value for keyword in node.keywords)]
        of_class = isinstance(of, ast.Attribute) and of.attr == "__class__"
        if self._is_own_class(of) or (self.host and of_class and self._is_self(of.value)):  # type: ignore[attr-defined]
            if _is_for_any_class(node):
                self._refuse(node, "call your class by its name here.", "")
            for part in rest:
                self.visit(part)
            return
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        sides = [node.left, *node.comparators]
        for left, op, right in zip(sides, node.ops, sides[1:], strict=False):
            for side, other in ((left, right), (right, left)):
                # An object of the submission's own could keep what `==` compares it with.
                known = isinstance(op, ast.Eq | ast.NotEq) and (
                    _of_type(other) is not None or self.one_use.is_hint(other)
                )
                if _of_type(side) and not (known or isinstance(op, ast.Is | ast.IsNot)):
                    self._refuse(node, "compare types by `is`, or use isinstance.", "")
        for part in sides:  # `type(x) is int`
            self.visit(_of_type(part) or part)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        if node.keywords:
            self._refuse(node, f"class {node.name} may not have a metaclass or other keywords.")
        self.generic_visit(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._refuse(node, "a submission may not define an async function.")

    def visit_MatchClass(self, node: ast.MatchClass) -> None:
        if node.patterns:
            self._refuse(node, "a pattern of a class names its attributes: Point(x=0).", "")
        for name in node.kwd_attrs:
            self._attribute(node, name)
            if name == "format":
                self._refuse(node, "format belongs to a text in quotes here.", "Use an f-string.")
        self.generic_visit(node)

    def visit_Import(self, node: ast.Import) -> None:
        """Nothing is left to look at: `check` has looked at all imports."""

    visit_ImportFrom = visit_Import  # type: ignore[assignment]


def _bound_by(node: ast.AST) -> list[str]:
    """Return the names that a node of a syntax tree itself binds."""
    if isinstance(node, ast.Name):
        return [] if isinstance(node.ctx, ast.Load) else [node.id]
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.arg):
        return [node.arg]
    if isinstance(node, ast.alias):
        return [] if node.name == "*" else [needed.bound(node)]
    if isinstance(node, ast.Global | ast.Nonlocal):
        return node.names
    names = [getattr(node, word, None) for word in ("name", "rest")]  # of patterns and `except`
    is_pattern = isinstance(node, ast.ExceptHandler | ast.pattern)
    return [name for name in names if isinstance(name, str)] if is_pattern else []


def _of_type(node: ast.expr | None) -> ast.expr | None:
    """Return the x of `type(x)`, else None; with three arguments `type` makes a class."""
    if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
        is_type = isinstance(node.func, ast.Name) and node.func.id == "type"
        return node.args[0] if is_type else None
    return None


def _is_for_any_class(node: ast.Call) -> bool:
    """Tell whether the class of any object could take these arguments for a new type or memory.

    `self` may be a class, whose class is `type`, or an array.
    """
    more = any(isinstance(a, ast.Starred) for a in node.args) or len(node.args) > 2
    names = {keyword.arg for keyword in node.keywords}
    return more or (len(node.args) == 1 and not names) or bool(names & {None, "buffer"})


def _is_super(root: ast.expr | None) -> bool:
    """Tell whether an expression is `super()`, whose object is that of the method."""
    is_call = isinstance(root, ast.Call) and isinstance(root.func, ast.Name)
    return is_call and root.func.id == "super" and not root.args  # type: ignore[union-attr]


def _is_plain_text(root: ast.expr | None) -> bool:
    """Tell whether an expression is a text whose fields name values only, not attributes."""
    is_text = isinstance(root, ast.Constant) and isinstance(root.value, str)
    return is_text and not _FIELD_ACCESS.search(root.value)  # type: ignore[union-attr]


def _arguments(arguments: ast.arguments) -> list[ast.arg]:
    more = [a for a in (arguments.vararg, arguments.kwarg) if a]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *more]
