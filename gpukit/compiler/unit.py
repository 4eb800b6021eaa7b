"""What the passes hand on to each other: one function on its way to loops."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from gpukit.compiler import tree
from gpukit.compiler.frontend.source import Source

_NAME = re.compile(r"(?<![\w.])[^\W\d]\w*")  # but no attribute


@dataclass
class Unit:
    """One kernel or device function: its tree as it is now, and all that is known about it."""

    function: Callable[..., Any]
    source: Source
    tree: ast.FunctionDef
    # Objects that names of the tree stand for (modules, types, NumPy scalars, ufuncs, ...).
    globals: dict[str, Any] = field(default_factory=dict)
    # Device functions by the name under which the tree calls them.
    devices: dict[str, Any] = field(default_factory=dict)
    # NumPy arrays that the function captured; they become extra arguments.
    captured: dict[str, Any] = field(default_factory=dict)
    # Values of captured tuples and NumPy scalars, for shapes.
    constants: dict[str, Any] = field(default_factory=dict)
    # Numba types of the variables, once they are known.
    types: dict[str, Any] = field(default_factory=dict)
    # Functions defined inside this one (`frontend.nested`), by the name under which it calls them.
    nested: dict[str, Any] = field(default_factory=dict)
    # Whether it makes arrays with np.empty; they must be its caller's.
    allocates: bool = False
    # How it is instrumented: "" not at all, "access" each access, "every" each statement too, or
    # "values" what each statement sets as well.
    instrumented: str = ""
    # Whether all device functions that it calls are to stand in it, to be looked at.
    whole: bool = False
    # How many of its first statements neighbouring blocks do as one (`lowering.coarsening`).
    coarsened: int = 0
    # Whether a division by zero stops it (`debug=True`).
    debug: bool = False
    counter: int = 0
    # What the person calls the variables that passes have renamed.
    source_names: dict[str, str] = field(default_factory=dict)
    # Of those, the ones whose own names the compiler needs for itself (`frontend.resolve`).
    moved: set[str] = field(default_factory=set)
    # All names that passes have made, and those made beside others: by form and name.
    made: set[str] = field(default_factory=set)
    beside: dict[tuple[str, str], str] = field(default_factory=dict)
    # The flags that stand for jumps, and that of threads that have returned (`frontend.jumps`).
    flags: set[str] = field(default_factory=set)
    returned: str = ""
    # The arrays that tell whether a variable is assigned, with it (`frontend.unassigned`).
    assigned: dict[str, str] = field(default_factory=dict)

    @property
    def detailed(self) -> bool:
        """Whether every statement is instrumented."""
        return self.instrumented in ("every", "values")

    @property
    def name(self) -> str:
        """The kernel's name as the person wrote it."""
        return self.function.__name__

    @property
    def parameters(self) -> list[str]:
        """Names of the parameters, in order."""
        arguments = self.tree.args
        starred = [arguments.vararg] if arguments.vararg else []
        return [a.arg for a in arguments.posonlyargs + arguments.args + starred]

    @property
    def trees(self) -> list[ast.FunctionDef]:
        """The function's tree and those of the functions defined inside it."""
        return [self.tree, *(n.tree for n in self.nested.values())]

    def copy(self) -> Unit:
        """Return a unit of the same function that can be changed on its own."""
        return replace(
            self,
            tree=tree.clone(self.tree),
            nested={name: replace(n, tree=tree.clone(n.tree)) for name, n in self.nested.items()},
            globals=dict(self.globals), devices=dict(self.devices), captured=dict(self.captured),
            constants=dict(self.constants), types=dict(self.types),
            source_names=dict(self.source_names),
            moved=set(self.moved), made=set(self.made), beside=dict(self.beside),
            flags=set(self.flags), assigned=dict(self.assigned),
        )  # fmt: skip

    def is_free(self, name: str) -> bool:
        """Tell whether nothing has a name: no variable, nothing captured, nothing of ours."""
        taken = name in self.spelled or name in self.globals or name in self.made
        return not taken and name not in tree.RESERVED

    def fresh(self, base: str) -> str:
        """Return a name that nothing else uses."""
        while True:
            self.counter += 1
            name = f"{base}_{self.counter}"
            if self.is_free(name):
                self.made.add(name)
                return name

    def named(self, form: str, name: str = "") -> str:
        """Return the name of what stands beside `name`, such as "{}_of": one that nothing else has.

        It is the same at each call.
        """
        key = form, name
        if key not in self.beside:
            wanted = form.format(name)
            self.beside[key] = wanted if self.is_free(wanted) else self.fresh(wanted)
            self.made.add(self.beside[key])
        return self.beside[key]

    def renamed(self, name: str, base: str = "", of: Unit | None = None) -> str:
        """Return a fresh name for the person's variable `name` of a unit, made of `base`."""
        new = self.fresh(base or name)
        self.source_names[new] = (of or self).source_names.get(name, name)
        return new

    def may_name(self, name: str, value: Any) -> bool:
        """Tell whether a name that no variable has may stand for an object from outside."""
        if name in tree.BUILTINS:
            return tree.BUILTINS[name] is value
        ours = name in self.made or name in tree.RESERVED
        return not ours and self.globals.get(name, value) is value

    def as_written(self, text: str) -> str:
        """Return an expression with the person's own names for its variables."""
        return _NAME.sub(lambda name: self.source_names.get(name[0], name[0]), text)

    def is_written(self, name: str) -> bool:
        """Tell whether a variable is the person's own, and of this very function."""
        return name in self.moved or name in self.spelled

    @functools.cached_property
    def spelled(self) -> frozenset[str]:
        """The names that the person wrote."""
        nodes = list(ast.walk(self.source.tree))
        names = {n.id for n in nodes if isinstance(n, ast.Name)}
        return frozenset(names | {n.arg for n in nodes if isinstance(n, ast.arg)})
