"""Run an unmodified script on gpukit: the implementation of `gpukit run script.py`.

The script runs as with `python script.py a b`: `sys.argv`, its own folder first on `sys.path`,
`__name__ == "__main__"`; a module as with `python -m module a b`. `numba.cuda` is gpukit's while
it runs, also in the Python processes that it starts.
"""

from __future__ import annotations

import contextlib
import importlib.util
import runpy
import sys
import tokenize
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from gpukit import errors, standin


class Outcome(NamedTuple):
    """The result of a script: its exit code, its globals, and the stand-in's report."""

    code: int
    variables: dict[str, Any]
    report: standin.Report


def run(
    path: str, argv: Sequence[str] = (), command: str = "run", *, module: bool = False
) -> Outcome:
    """Run the script at `path`, or the module of that name, and return its outcome.

    `run("vadd.py", ["--n", "100"])`. `sys.exit(n)` in the script becomes the exit code; all other
    exceptions propagate. Raises `ScriptError`, which names the `command`, if there is no such
    script.
    """
    script = Path(path) if module else find(path, command)
    with _as_main(script, argv, Path.cwd() if module else script.resolve().parent):
        report = standin.install(children=True)
        try:
            if module:
                _look_for_module(path, command)
                made = runpy.run_module(path, run_name="__main__", alter_sys=True)
            else:
                made = runpy.run_path(str(script), run_name="__main__")
            return Outcome(0, made, report)
        except SystemExit as stop:
            return Outcome(exit_code(stop.code), {}, report)
        finally:
            _flush()


@contextlib.contextmanager
def repeatable(
    path: str, argv: Sequence[str] = (), command: str = "run"
) -> Iterator[Callable[[], int]]:
    """Yield a function that runs the script at `path`, also in several threads in turn.

    It returns the exit code. Each run has globals of its own; modules are imported once.
    """
    script = find(path, command)

    def once() -> int:
        with tokenize.open(script) as file:
            code = compile(file.read(), str(script), "exec", dont_inherit=True)
        try:
            exec(code, {"__name__": "__main__", "__file__": str(script)})
        except SystemExit as stop:
            return exit_code(stop.code)
        return 0

    with _as_main(script, argv, script.resolve().parent):
        standin.install(children=True)
        try:
            yield once
        finally:
            _flush()


class ScriptError(errors.GpukitError, ValueError):
    """There is no script at the given path."""


def find(path: str, command: str = "run") -> Path:
    """Return the script at `path`; a folder or zip file needs a `__main__.py`, as in Python."""
    script = Path(path)
    if not script.exists():
        raise ScriptError(
            f"{command}: expected a Python script, got {path!r}, which does not exist. Check the "
            "name and the folder."
        )
    if script.is_dir() and not (script / "__main__.py").exists():
        raise ScriptError(
            f"{command}: expected a Python script, got {path!r}, a folder without "
            "__main__.py. Name the script in it to run."
        )
    if script.suffix == ".py" and not script.is_dir():
        _look_at_encoding(script, command)
    return script


def _look_at_encoding(script: Path, command: str) -> None:
    """Reject a script that Python cannot decode: a kernel's source could not be read."""
    try:
        with tokenize.open(script) as file:
            file.read()
    except (UnicodeDecodeError, SyntaxError) as error:
        raise ScriptError(
            f"{command}: expected a Python script in UTF-8, got {str(script)!r}, which is not: "
            f"{error}. Save it as UTF-8, or name its encoding in its first line, such as "
            "# -*- coding: latin-1 -*-."
        ) from error


def _look_for_module(name: str, command: str) -> None:
    with contextlib.suppress(ModuleNotFoundError, ValueError):
        if importlib.util.find_spec(name) is not None:
            return
    raise ScriptError(
        f"{command}: expected the name of a module after -m, got {name!r}, which is not found. "
        "Check the name and the folder."
    )


def exit_code(code: object) -> int:
    """Convert the argument of `sys.exit` to an exit code as Python does.

    >>> exit_code(None), exit_code(3)
    (0, 3)
    """
    if code is None:
        return 0
    if isinstance(code, int):
        return code
    sys.stderr.write(f"{code}\n")
    return 1


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(ValueError, AttributeError, OSError):
            stream.flush()


@contextlib.contextmanager
def _as_main(script: Path, argv: Sequence[str], folder: Path) -> Iterator[None]:
    """Set `sys.argv` and `sys.path` as Python does for a script, and restore them afterwards."""
    saved_argv, saved_path, was_installed = sys.argv, sys.path[:], standin.is_installed()
    sys.argv = [str(script), *argv]
    if not script.is_dir() and script.suffix != ".zip":  # runpy adds folders and zip files itself
        sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.argv, sys.path[:] = saved_argv, saved_path
        if not was_installed:
            standin.uninstall()
