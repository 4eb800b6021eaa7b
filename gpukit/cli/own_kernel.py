"""A kernel in the user's own file: which one is meant, and its launch arguments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from gpukit.cli import show
from gpukit.cli.outputs import output_aside


class _Found(BaseException):
    """Ends the script at the launch that was searched; no `except Exception` catches this."""

    def __init__(self, kernel: Any, arguments: Sequence[Any]) -> None:
        self.kernel, self.arguments = kernel, arguments


class ScriptFailed(Exception):
    """The script stopped with an error of its own, which has been printed."""


def names_a_file(words: str) -> bool:
    """Tell whether a name means a kernel of a file, `my.py::my_kernel`, or of the book."""
    return "::" in words or words.endswith(".py")


def launched(words: str, command: str) -> tuple[Any, Sequence[Any]]:
    """Return the kernel that `my.py::my_kernel` means, and the arguments of its first launch.

    `my.py` alone means the kernel that is launched first. The file runs up to that launch, because
    the argument types determine the code. An answer to an exercise is launched as its test does.
    """
    from gpukit.standin import script

    file, _, name = words.partition("::")
    seen: list[str] = []
    try:
        with _stopping_at(name, seen), output_aside(True):
            ran = script.run(file, (), command)
    except _Found as found:
        return found.kernel, found.arguments
    except script.ScriptError:
        raise
    except Exception as error:
        show.traceback_from(error)
        raise ScriptFailed from error
    return _of_an_exercise(Path(file), name, ran.variables) or _no_launch(command, file, name, seen)


@contextmanager
def _stopping_at(name: str, seen: list[str]) -> Iterator[None]:
    """Stop at the first launch of a kernel, or of any; record which were launched before."""
    from gpukit.checked.command import observing

    def observer(kernel: Any, shape: Any, arguments: tuple[Any, ...]) -> None:
        found = kernel.py_func.__name__
        if name in ("", found):
            raise _Found(kernel, arguments)
        seen.append(found)
        kernel.launcher.run_plain(shape, arguments)

    with observing(observer):
        yield


def _of_an_exercise(
    file: Path, name: str, variables: dict[str, Any]
) -> tuple[Any, Sequence[Any]] | None:
    """Return the kernel of an answer and the arguments of its case; None elsewhere."""
    from gpukit.course import catalogue

    exercise = catalogue.worked_on_in(file.parent)
    if exercise is None:
        return None
    kernel = variables.get(exercise.entry)
    if exercise.driver or name not in ("", exercise.entry) or not hasattr(kernel, "py_func"):
        return None
    case = exercise.case(exercise.shapes[exercise.measured])
    return kernel, list(case.args.values())


def _no_launch(command: str, file: str, name: str, seen: Sequence[str]) -> NoReturn:
    from gpukit.standin.script import ScriptError

    got = f"only launches of {', '.join(dict.fromkeys(seen))}" if seen else "no launch"
    raise ScriptError(
        f"{command}: expected a launch of {name or 'a kernel'} in {file}, got {got}. Call "
        f"`{name or 'kernel'}[blocks, threads](...)` at the end of the file: its argument types "
        "determine its code."
    )
