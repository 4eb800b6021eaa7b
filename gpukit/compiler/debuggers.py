"""Detect calls that would start a debugger or prompt: `breakpoint()`, `pdb.set_trace()`."""

from __future__ import annotations

import ast
import builtins
from typing import Any

_MODULES = frozenset(
    [
        "IPython",
        "_pytest.debugging",
        "bdb",
        "bpdb",
        "bpython",
        "code",
        "debugpy",
        "ipdb",
        "pdb",
        "pudb",
        "pydevd",
        "rpdb",
        "trepan",
        "wdb",
        "web_pdb",
    ]
)

RULE = (
    "A kernel cannot stop in a debugger or at a prompt: its threads run as compiled code, here and "
    "on a GPU."
)
FIX = (
    "remove it, and step through the threads with gpukit.play(kernel)[grid, block](*args), or "
    "with `gpukit play SCRIPT.py`; or print there: print(cuda.grid(1), ...)"
)


def is_debugger(value: Any) -> bool:
    """Tell whether an object is a debugger or a function or class of one."""
    if value is builtins.breakpoint:
        return True
    name = getattr(value, "__module__", None) or getattr(value, "__name__", None)
    return isinstance(name, str) and _is_module(name)


def imports(node: ast.AST) -> bool:
    """Tell whether a statement imports a debugger."""
    names: list[str] = []
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        names = [node.module or ""]
    return any(map(_is_module, names))


def _is_module(name: str) -> bool:
    return name in _MODULES or name.partition(".")[0] in _MODULES
