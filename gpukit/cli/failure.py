"""The sentence and the exit code for an error that ends a command."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from gpukit import errors
from gpukit.cli.codes import FINDINGS, MACHINE, MISUSE

# By name: the modules that define them load much.
_MISUSE = (
    *("ExerciseError", "WorkbookError", "ScriptError", "BenchError", "UnknownGpu"),
    *("IntakeError", "RunError", "RosterError", "ExportError"),
)


def known(error: Exception) -> bool:
    """Tell whether an error is reported as one sentence: any other is a bug of gpukit."""
    return isinstance(error, errors.GpukitError | OSError)


def sentence(error: Exception) -> str:
    """Return what went wrong and what to do."""
    if isinstance(error, OSError) and not isinstance(error, errors.GpukitError):
        return _of_the_system(error)
    return str(error).removeprefix("gpukit: ")


def code(error: Exception) -> int:
    """Return the exit code for an error."""
    if isinstance(error, errors.TargetError | OSError):
        return MACHINE
    # Raised by the commands about their own arguments; the kernels' errors are findings.
    return MISUSE if type(error).__name__ in _MISUSE else FINDINGS


def _of_the_system(error: OSError) -> str:
    """Say what the operating system denied: a file, or the folder where it names none."""
    if error.errno is None:
        return str(error)
    why = os.strerror(error.errno)
    why = f"{why[:1].lower()}{why[1:]}"
    if error.filename is not None:
        return f"cannot use {error.filename}: {why}. Check that it exists and that you may use it."
    if not _works(Path.cwd):
        return "the current folder no longer exists. Change to another one and run again."
    if not _works(tempfile.gettempdir):
        return (
            "there is no writable folder for temporary files. Set TMPDIR to a folder that you can "
            "write to."
        )
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return f"cannot write the output: {why}. Free some space on that disk."
    return f"the operating system reports: {why}. Fix that and run the command again."


def _works(ask: Callable[[], object]) -> bool:
    try:
        ask()
    except OSError:
        return False
    return True
