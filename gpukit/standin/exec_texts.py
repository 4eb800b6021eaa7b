"""Keep the source of functions that third-party code defines with `exec`.

gpukit compiles from source, and `exec` of a string saves none. While gpukit stands in, such a
string is compiled under a file name of its own and stored where `inspect` looks for it; so is the
text of `python -c`.
"""

from __future__ import annotations

import builtins
import itertools
import linecache
import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

from gpukit.compiler.frontend import unsaved

_original: Callable[..., None] = builtins.exec
_numbers = itertools.count(1)
# The flags of `from __future__` features, which exec inherits from the calling code.
_FUTURE = 0x1FE0000


def keep(text: str, flags: int = 0) -> CodeType:
    """Compile a string so that `inspect` finds the source of its functions.

    >>> import inspect
    >>> exec(keep("def f(x): return x"))
    >>> inspect.getsource(f)
    'def f(x): return x\\n'
    """
    name = f"<exec {next(_numbers)}>"
    code: CodeType = compile(text, name, "exec", flags=flags, dont_inherit=True)
    lines = (text if text.endswith("\n") else text + "\n").splitlines(keepends=True)
    linecache.cache[name] = (len(text), None, lines, name)
    return code


def keeping_exec(code: Any, /, *spaces: Any, **options: Any) -> None:
    """Do what `exec` does; keep the text if it is a string that defines a function."""
    caller = sys._getframe(1)
    if not spaces and not options:
        spaces = _spaces(caller)
    elif not spaces or spaces[0] is None:
        first = options.pop("globals", None)
        spaces = (caller.f_globals if first is None else first, *spaces[1:])
    if isinstance(code, str) and ("def " in code or "lambda" in code):
        code = keep(code, caller.f_code.co_flags & _FUTURE)
    _original(code, *spaces, **options)


def _spaces(caller: FrameType) -> tuple[Any, Any]:
    """Return the globals and locals of the caller, which `exec` uses if it is passed none."""
    names = caller.f_locals
    return caller.f_globals, names if isinstance(names, dict) else dict(names)


def keep_command() -> None:
    """Keep the text of `python -c text`, as Python itself does since 3.13."""
    text = unsaved.command(sys.orig_argv)
    if text is not None and "<string>" not in linecache.cache:
        lines = (text + "\n").splitlines(keepends=True)
        linecache.cache["<string>"] = (len(text), None, lines, "<string>")


def start() -> None:
    """Replace the built-in `exec` by `keeping_exec`."""
    builtins.exec = keeping_exec
    keep_command()


def stop() -> None:
    """Restore the built-in `exec`."""
    builtins.exec = _original
