"""Run a Python file as a module, from its text alone."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType


def execute(path: Path, module: ModuleType) -> None:
    """Run the text of a file, in UTF-8, in a module.

    Python's cache of bytecode is not asked: it may hold a text of the same second and size.
    """
    text = path.read_text(encoding="utf-8-sig")
    exec(compile(text, str(path), "exec", dont_inherit=True), vars(module))
