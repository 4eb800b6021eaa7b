"""Find the source of functions without a file: from cells, `exec`, `python -c`, the prompt.

The search runs when a function is decorated, while the code that executes it is still on the stack:
in the variables and constants of the callers, on the command line, in the prompt's history. As
everywhere, a text counts only if it compiles to the function's code (`original`).

>>> text = "def f(x): return x"
>>> exec(text)
>>> remember(f)
>>> known(f)
'def f(x): return x'
"""

from __future__ import annotations

import contextlib
import inspect
import linecache
import os
import stat
import sys
import textwrap
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from gpukit.compiler.frontend import original

_MOST_LINES = 1000  # of the prompt's history
_texts: weakref.WeakKeyDictionary[Callable[..., Any], str] = weakref.WeakKeyDictionary()


def remember(function: Callable[..., Any]) -> None:
    """Find the text of a function without a file, and keep it as long as the function."""
    code = function.__code__
    if known(function) or _can_be_read_again(code.co_filename):
        return
    with contextlib.suppress(RecursionError):  # the first launch will report it
        for text in _candidates(function):
            if original.definition(text, code, function.__globals__) is not None:
                keep(function, text)
                return


def keep(function: Callable[..., Any], text: str) -> None:
    """Keep a text that contains a function, as long as the function."""
    _texts[function] = text


def known(function: Callable[..., Any]) -> str:
    """Return the text that was found for a function, or an empty string."""
    return _texts.get(function, "")


def _can_be_read_again(file: str) -> bool:
    """Tell whether a file exists and no notebook cell has its name.

    Programs that run cells add their texts to linecache without a time. Names may be reused.
    """
    known_text: Sequence[Any] = linecache.cache.get(file, ())
    return Path(file).exists() and not (len(known_text) > 1 and known_text[1] is None)


def _candidates(function: Callable[..., Any]) -> Iterator[str]:
    name = function.__code__.co_name
    word = "lambda" if name == "<lambda>" else name
    for text in _everywhere(function):
        if word in text:
            yield text
            if text[:1].isspace():
                yield textwrap.dedent(text)


def _everywhere(function: Callable[..., Any]) -> Iterator[str]:
    file = function.__code__.co_filename
    yield "".join(linecache.getlines(file, function.__globals__))
    yield _of_loader(function.__globals__)
    with contextlib.suppress(Exception):  # the prompt of Python 3.13 stores texts by code
        yield "".join(inspect.findsource(function)[0])
    yield command(sys.orig_argv) or ""
    if file == "<stdin>":
        yield _redirected()
        yield from _typed()
    modules: set[int] = set()
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        yield from _texts_in(frame.f_code.co_consts)
        yield from _texts_of_variables(frame.f_locals)
        if id(frame.f_globals) not in modules:
            modules.add(id(frame.f_globals))
            yield from _texts_of_variables(frame.f_globals)
        frame = frame.f_back


def _of_loader(scope: Mapping[str, Any]) -> str:
    """Return the text of a module in an archive, or an empty string."""
    spec: Any = scope.get("__spec__")
    with contextlib.suppress(Exception):  # there may be any loader, or none
        return str(spec.loader.get_source(spec.name) or "")
    return ""


def _texts_of_variables(variables: Mapping[str, Any]) -> Iterator[str]:
    values = list(variables.values())
    yield from _texts_in(values)
    for value in values:
        with contextlib.suppress(Exception):  # objects may have no attributes, or compute them
            yield from _texts_in(list(vars(value).values()))


def _texts_in(values: Iterable[Any]) -> Iterator[str]:
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, bytes):
            yield value.decode(errors="replace")
        elif isinstance(value, list) and value and all(isinstance(v, str) for v in value):
            yield "\n".join(value)
            yield "".join(value)


def _redirected() -> str:
    """Return the program that Python reads from a file: `python < program.py`."""
    try:
        about = os.fstat(0)
        whole = os.pread(0, about.st_size, 0) if stat.S_ISREG(about.st_mode) else b""
    except (OSError, AttributeError):  # Windows has no pread
        return ""
    return whole.decode(errors="replace")


def _typed() -> Iterator[str]:
    """Yield the last lines typed at the prompt: the last one, two, three, ...

    Line numbers continue after those of earlier functions, so that a kernel and a device function
    that it calls have no line in common.
    """
    readline = sys.modules.get("readline")
    count = readline.get_current_history_length() if readline else 0
    earlier = [t for f, t in _texts.items() if f.__code__.co_filename == "<stdin>"]
    before = "\n" * max((text.count("\n") + 1 for text in earlier), default=0)
    lines: list[str] = []
    for k in range(count, max(count - _MOST_LINES, 0), -1):
        lines.insert(0, readline.get_history_item(k) or "")  # type: ignore[union-attr]
        above = readline.get_history_item(k - 1) or ""  # type: ignore[union-attr]
        if not above.lstrip().startswith("@"):  # else the text would lack a decorator
            yield before + "\n".join(lines)


def command(argv: Sequence[str]) -> str | None:
    """Return the text after `-c` on a Python command line, or None.

    >>> command(["python", "-W", "error", "-c", "print(1)", "-c"])
    'print(1)'
    """
    rest = iter(argv[1:])
    for word in rest:
        if word == "-c":
            return next(rest, None)
        if word in ("-W", "-X"):
            next(rest, None)
        elif not word.startswith("-"):
            break
    return None
