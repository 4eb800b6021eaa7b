"""Choose what of a submission is run, and look whether that is restricted Python.

Grading needs the entry and what it uses: imports, constants, device functions. Only these
statements are kept, in their lines; a self-test below a kernel is not run, whatever it does. What
is kept may use what `allowed` lists, which is all that a kernel needs. It cannot reach a frame, a
module's inside or a file, so it cannot replace what launches, checks and counts in its process.

These rules decide what is graded. They are no boundary: that is the sandbox.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field

from gpukit.classroom import allowed, needed
from gpukit.errors import GpukitError

_FIELD_ACCESS = re.compile(r"\{[^{}]*[.\[]")
_COOKIE = re.compile(r"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_UTF_8 = {"utf-8", "utf8", "utf-8-sig"}
_ADVICE = "Only what the entry needs is run, so a test of your own may stay, outside of that."


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
    """Looks at every part of the chosen statements, and raises at the first that is not allowed."""

    chosen: list[ast.stmt]
    host: bool
    modules: dict[str, str] = field(default_factory=dict)  # by the name that an import gives them
    bound: set[str] = field(default_factory=set)
    local: list[set[str]] = field(default_factory=list)
    private: set[str] = field(default_factory=set)  # attributes of the submission's own classes
    star: bool = False

    def check(self) -> None:
        for node in self.chosen:
            for part in ast.walk(node):
                if isinstance(part, ast.Import | ast.ImportFrom):
                    self._import(part)
                elif isinstance(part, ast.Attribute) and not isinstance(part.ctx, ast.Load):
                    self.private.add(part.attr)
                elif isinstance(part, ast.ClassDef):
                    self.private |= {s.name for s in part.body if isinstance(s, ast.FunctionDef)}
            self.bound |= needed.statement(node).binds
        for node in self.chosen:
            self.visit(node)

    def _refuse(self, node: ast.AST, what: str, advice: str = _ADVICE) -> None:
        raise RejectedError(f"Line {getattr(node, 'lineno', 1)}: {what} {advice}")

    # ---- imports ----

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            if isinstance(node, ast.Import):
                module = alias.name if alias.asname else alias.name.partition(".")[0]
                if not (self._is_module(alias.name) and self._is_module(module)):
                    self._refuse(node, f"a submission may not import {alias.name}.")
                self.modules[needed.bound(alias)] = module
            else:
                self._import_name(node, alias)

    def _import_name(self, node: ast.ImportFrom, alias: ast.alias) -> None:
        source = node.module or ""
        if node.level or not self._is_module(source):
            self._refuse(node, f"a submission may not import from {'.' * node.level}{source}.")
        if alias.name == "*":
            if source not in ("math", "numba.types"):
                self._refuse(node, f"name what you import from {source} instead of *.", "")
            self.star = True
            return
        found = allowed.step(source, alias.name, self.host)
        if found is None:
            self._refuse(node, f"a submission may not import {alias.name} from {source}.")
        if found:
            self.modules[needed.bound(alias)] = found

    def _is_module(self, name: str) -> bool:
        return allowed.is_module(name, self.host)

    # ---- names and attributes ----

    def _module(self, name: str) -> str | None:
        """Return the module that a name stands for here."""
        return None if any(name in names for names in self.local) else self.modules.get(name)

    def visit_Name(self, node: ast.Name) -> None:
        name = node.id
        if not isinstance(node.ctx, ast.Load):
            if name.startswith("__") and not (self.local and name in allowed.SPECIAL_METHODS):
                self._refuse(node, f"a submission may not define {name}.")
            return
        if self._module(name):
            self._refuse(node, f"the module {name} cannot be a value.", "Name what you use of it.")
        known = name in self.bound or any(name in names for names in self.local)
        if not (known or name in allowed.BUILTINS or self.star or self._is_unknown(name)):
            self._refuse(node, f"a submission may not use {name}.")

    @staticmethod
    def _is_unknown(name: str) -> bool:
        """Tell whether a name is neither defined nor Python's: running it says so."""
        import builtins

        return not hasattr(builtins, name) and not name.startswith("__")

    def visit_Attribute(self, node: ast.Attribute) -> None:
        path: list[str] = []
        root: ast.expr = node
        while isinstance(root, ast.Attribute):
            path.insert(0, root.attr)
            root = root.value
        module = self._module(root.id) if isinstance(root, ast.Name) else None
        if module is None:
            self._attributes(node, root, path)
            self.visit(root)
        else:
            self._path(node, module, path)
        if not isinstance(node.ctx, ast.Load):
            self._store(node, root, module)

    def _path(self, node: ast.Attribute, module: str | None, path: list[str]) -> None:
        """Follow a path from a module to what is not one."""
        rest = list(path)
        while module and rest:
            name = rest.pop(0)
            found = allowed.step(module, name, self.host)
            if found is None:
                self._refuse(node, f"a submission may not use {module}.{name}.")
            module = found
        if module:
            self._refuse(
                node, f"the module {module} cannot be a value.", "Name what you use of it."
            )
        self._attributes(node, None, rest)

    def _attributes(self, node: ast.Attribute, root: ast.expr | None, path: list[str]) -> None:
        if path == ["__init__"] and _is_super(root):
            return
        if self.host and path[:1] == ["__class__"]:  # of an object: the same as type(object)
            path = path[1:]
        for name in path:
            special = name.startswith("__") and name not in allowed.SPECIAL_METHODS
            own = name in self.private and not special
            if name.startswith("_") and not (self.host and own):
                self._refuse(node, f"a submission may not use the attribute {name}.")
            if name in allowed.INTROSPECTIVE:
                self._refuse(node, f"a submission may not use the attribute {name}.")
        if path[-1:] == ["format"] and not _is_plain_text(root):
            self._refuse(node, "format belongs to a text in quotes here.", "Use an f-string.")

    def _store(self, node: ast.Attribute, root: ast.expr, module: str | None) -> None:
        """Allow an attribute to be set on an object of the submission's own, in host code."""
        root = _of_type(root) or root
        own = self.host and isinstance(root, ast.Name) and any(root.id in n for n in self.local)
        if module or not own:
            self._refuse(node, f"a submission may not set the attribute {node.attr}.")
        if node.attr in allowed.methods_of_the_book():
            self._refuse(node, f"a submission may not replace the method {node.attr}.")

    # ---- functions, classes, and what else has names in it ----

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        name = node.name
        if name.startswith("__") and not (self.local or name in allowed.SPECIAL_METHODS):
            self._refuse(node, f"a submission may not define {name}.")
        outside = [*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults)]
        outside += [a.annotation for a in _arguments(node.args) if a.annotation]
        outside += [node.returns] if node.returns else []
        for part in outside:
            self.visit(part)
        with_names = _locals(node)
        self.local.append(with_names)
        for statement in node.body:
            self.visit(statement)
        self.local.pop()

    def visit_Lambda(self, node: ast.Lambda) -> None:
        for part in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
            self.visit(part)
        self.local.append(_locals(node))
        self.visit(node.body)
        self.local.pop()

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._refuse(node, "a submission may not define an async function.")

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        if node.keywords:
            self._refuse(node, f"class {node.name} may not have a metaclass or other keywords.")
        for part in (*node.decorator_list, *node.bases):
            self.visit(part)
        names = {n for s in node.body for n in needed.statement(s).binds}
        wrong = [n for n in names if n.startswith("__") and n not in allowed.SPECIAL_METHODS]
        if wrong:
            self._refuse(node, f"class {node.name} may not define {min(wrong)}.")
        self.local.append(names)
        for statement in node.body:
            self.visit(statement)
        self.local.pop()

    def visit_Call(self, node: ast.Call) -> None:
        inner = _of_type(node)
        if inner is None:
            self.generic_visit(node)
        else:
            self.visit(inner)

    def visit_MatchClass(self, node: ast.MatchClass) -> None:
        for name in node.kwd_attrs:
            if name.startswith("_") or name in allowed.INTROSPECTIVE:
                self._refuse(node, f"a submission may not use the attribute {name}.")
        self.generic_visit(node)

    def visit_Import(self, node: ast.Import) -> None:
        """Nothing is left to look at: `check` has looked at all imports."""

    visit_ImportFrom = visit_Import  # type: ignore[assignment]

    def _visit_comprehension(self, node: ast.AST) -> None:
        self.local.append({n.id for n in ast.walk(node) if _is_store(n)})  # type: ignore[attr-defined]
        self.generic_visit(node)
        self.local.pop()

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _visit_comprehension


def _is_store(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def _of_type(node: ast.expr | None) -> ast.expr | None:
    """Return the x of `type(x)`, else None; with three arguments `type` makes a class."""
    if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
        is_type = isinstance(node.func, ast.Name) and node.func.id == "type"
        return node.args[0] if is_type else None
    return None


def _is_super(root: ast.expr | None) -> bool:
    is_call = isinstance(root, ast.Call) and isinstance(root.func, ast.Name)
    return is_call and root.func.id == "super"  # type: ignore[union-attr]


def _is_plain_text(root: ast.expr | None) -> bool:
    """Tell whether an expression is a text whose fields name values only, not attributes."""
    is_text = isinstance(root, ast.Constant) and isinstance(root.value, str)
    return is_text and not _FIELD_ACCESS.search(root.value)  # type: ignore[union-attr]


def _arguments(arguments: ast.arguments) -> list[ast.arg]:
    more = [a for a in (arguments.vararg, arguments.kwarg) if a]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *more]


def _locals(node: ast.FunctionDef | ast.Lambda) -> set[str]:
    """Return the parameters of a function, and the names that its body assigns."""
    names = {argument.arg for argument in _arguments(node.args)}
    if isinstance(node, ast.Lambda):
        return names
    for statement in node.body:
        for part in ast.walk(statement):
            if _is_store(part):
                names.add(part.id)  # type: ignore[attr-defined]
            elif isinstance(part, ast.FunctionDef | ast.ClassDef | ast.ExceptHandler):
                names.add(part.name or "")
    return names
