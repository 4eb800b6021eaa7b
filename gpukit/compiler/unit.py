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

_NAME = re.compile(r"\b[^\W\d]\w*")


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
    stems: dict[str, str] = field(default_factory=dict)

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
            constants=dict(self.constants), types=dict(self.types), stems=dict(self.stems),
        )  # fmt: skip

    def fresh(self, stem: str) -> str:
        """Return a name that nothing else uses."""
        while True:
            self.counter += 1
            name = f"{stem}_{self.counter}"
            if name not in self.spelled:
                return name

    def renamed(self, name: str, stem: str = "") -> str:
        """Return a fresh name for the person's variable `name`, made of `stem`."""
        new = self.fresh(stem or name)
        self.stems[new] = self.stems.get(name, name)
        return new

    def as_written(self, text: str) -> str:
        """Return an expression with the person's own names for its variables."""
        return _NAME.sub(lambda name: self.stems.get(name[0], name[0]), text)

    @functools.cached_property
    def spelled(self) -> frozenset[str]:
        """The names that the person wrote."""
        names = {n.id for n in ast.walk(self.source.tree) if isinstance(n, ast.Name)}
        return frozenset(names | set(self.parameters))
