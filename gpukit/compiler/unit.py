"""The state passed from pass to pass of the compiler: one function and what is known of it."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from gpukit.compiler import tree
from gpukit.compiler.frontend.source import Source

_NAME = re.compile(r"(?<![\w.])[^\W\d]\w*")  # not attributes


@dataclass
class Unit:
    """One kernel or device function: its current tree, and all that is known about it."""

    function: Callable[..., Any]
    source: Source
    tree: ast.FunctionDef
    # Objects that names of the tree refer to (modules, types, NumPy scalars, ufuncs, ...).
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
    # Whether it creates arrays with np.empty; they must belong to its caller.
    allocates: bool = False
    # How it is instrumented: "" not at all, "access" each access, "every" also each statement,
    # "values" also what each statement sets.
    instrumented: str = ""
    # Whether to inline all device functions that it calls, for analysis.
    whole: bool = False
    # How many of its first statements neighbouring blocks run as one (`lowering.coarsening`).
    coarsened: int = 0
    # Whether a division by zero stops it (`debug=True`).
    debug: bool = False
    counter: int = 0
    # The names in the source of variables that passes have renamed.
    source_names: dict[str, str] = field(default_factory=dict)
    # Those of them whose original names the compiler reserves (`frontend.resolve`).
    moved: set[str] = field(default_factory=set)
    # All names that passes have created, and those derived from others: by form and name.
    made: set[str] = field(default_factory=set)
    beside: dict[tuple[str, str], str] = field(default_factory=dict)
    # The flags that replace jumps, and that of threads that have returned (`frontend.jumps`).
    flags: set[str] = field(default_factory=set)
    returned: str = ""
    # The variables tracked for assignment, by the array that does (`frontend.unassigned`).
    assigned: dict[str, str] = field(default_factory=dict)

    @property
    def detailed(self) -> bool:
        """Whether every statement is instrumented."""
        return self.instrumented in ("every", "values")

    @property
    def name(self) -> str:
        """The kernel's name in the source."""
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
        """Return an independent copy of the unit."""
        return replace(
            self,
            tree=tree.clone(self.tree),
            nested={name: replace(n, tree=tree.clone(n.tree)) for name, n in self.nested.items()},
            globals=dict(self.globals),
            devices=dict(self.devices),
            captured=dict(self.captured),
            constants=dict(self.constants),
            types=dict(self.types),
            source_names=dict(self.source_names),
            moved=set(self.moved),
            made=set(self.made),
            beside=dict(self.beside),
            flags=set(self.flags),
            assigned=dict(self.assigned),
        )

    def is_free(self, name: str) -> bool:
        """Tell whether a name is unused: by variables, captured objects and the compiler."""
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
        """Return a unique name derived from `name` by a form such as "{}_of".

        It is the same at each call.
        """
        key = form, name
        if key not in self.beside:
            wanted = form.format(name)
            self.beside[key] = wanted if self.is_free(wanted) else self.fresh(wanted)
            self.made.add(self.beside[key])
        return self.beside[key]

    def renamed(self, name: str, base: str = "", of: Unit | None = None) -> str:
        """Return a fresh name, made of `base`, for the variable `name` in the source of a unit."""
        new = self.fresh(base or name)
        self.source_names[new] = (of or self).source_names.get(name, name)
        return new

    def may_name(self, name: str, value: Any) -> bool:
        """Tell whether a name that no variable has may refer to a captured object."""
        if name in tree.BUILTINS:
            return tree.BUILTINS[name] is value
        ours = name in self.made or name in tree.RESERVED
        return not ours and self.globals.get(name, value) is value

    def as_written(self, text: str) -> str:
        """Return an expression with the variable names of the source."""
        return _NAME.sub(lambda name: self.source_names.get(name[0], name[0]), text)

    def is_written(self, name: str) -> bool:
        """Tell whether a variable is in the source of this function."""
        return name in self.moved or name in self.spelled

    @functools.cached_property
    def spelled(self) -> frozenset[str]:
        """The names in the source."""
        nodes = list(ast.walk(self.source.tree))
        names = {n.id for n in nodes if isinstance(n, ast.Name)}
        return frozenset(names | {n.arg for n in nodes if isinstance(n, ast.arg)})
