"""The errors that gpukit raises, all subclasses of `GpukitError`."""

from __future__ import annotations

import sys
from typing import Any

from gpukit import table


class GpukitError(Exception):
    """Base of every error that gpukit itself raises."""


class LaunchError(GpukitError, ValueError):
    """A launch that a real GPU would reject: block, grid or shared memory exceed its limits."""


class ArgumentError(GpukitError, TypeError):
    """A kernel was called with the wrong number or type of arguments."""


class TargetError(GpukitError, RuntimeError):
    """The requested target, or a feature of it, is not available on this machine."""


class SandboxError(TargetError):
    """Submissions cannot be isolated on this machine, or not in the way that was asked for."""


class FileError(GpukitError):
    """A file could not be written or read; its previous content is intact."""


class OutputError(FileError, OSError):
    """A file could not be written."""


class CheckpointError(FileError, ValueError):
    """A checkpoint is damaged, or was saved by another model or with another optimizer."""


class RankError(GpukitError, RuntimeError):
    """A rank of a parallel program did not answer in time, left or failed."""


class Deadlock(RankError):
    """Every rank waits for another one, and none of them can go on."""


class GradientError(GpukitError):
    """`gradcheck` found a gradient that differs from the finite differences."""


class SourceError(GpukitError):
    """The Python source of a kernel could not be found."""


class PlacedError(GpukitError):
    """An error at a line of a kernel: `str(error)` shows the line, the rule and what to do."""

    def __init__(
        self,
        message: str,
        *,
        kernel: str = "",
        file: str = "",
        line: int = 0,
        source: str = "",
        fix: str = "",
    ) -> None:
        super().__init__(message)
        self.message = message
        self.kernel = kernel
        self.file = file
        self.line = line
        self.source = source
        self.fix = fix

    def __str__(self) -> str:
        parts = []
        if self.file:
            where = f" in {self.kernel}" if self.kernel else ""
            parts.append(f"{place(self.file, self.line)}{where}")
        if self.source:
            parts.append(f"    > {self.source.strip()}")
        parts.append(self.message)
        if self.fix:
            parts.append(f"What to do: {self.fix}")
        width = table.columns(sys.stderr)  # where a traceback goes
        return "\n".join(parts if width is None else table.fitted("\n".join(parts), width))


def file_name(file: str) -> str:
    """Return a file's name, or IPython's name for a notebook cell."""
    return _cell(file) or file


def place(file: str, line: int) -> str:
    """Return `file:line`, with IPython's name for a notebook cell; without a line if that is 0."""
    cell = _cell(file)
    if not line:
        return cell or file
    return f"{cell}, line {line}" if cell else f"{file}:{line}"


def _cell(file: str) -> str:
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    named = getattr(getattr(shell, "compile", None), "format_code_name", lambda _: None)(file)
    return " ".join(named) if named else ""


class CompileError(PlacedError):
    """A kernel could not be compiled; `line` is the line of its source that is at fault."""


class Unsupported(CompileError):
    """A construct that CUDA Python allows but gpukit cannot compile yet."""


class Invalid(CompileError):
    """A construct that no CUDA target accepts."""


class ReturnedLocal(Invalid):
    """A device function returns its own local array, whose memory ends with the call."""


class KernelTypeError(CompileError, TypeError):
    """Numba could not infer the types in a kernel called with these arguments."""


class KernelError(PlacedError):
    """A kernel made an error while it ran; the launch was stopped.

    Attributes: `kernel`, `file`, `line`, `source`; `block` and `thread` as (x, y, z);
    and, for an out-of-bounds access, `array`, `index`, `shape`.
    """

    def __init__(
        self,
        message: str,
        *,
        block: tuple[int, ...] = (),
        thread: tuple[int, ...] = (),
        array: str = "",
        index: tuple[int, ...] = (),
        shape: tuple[int, ...] = (),
        **place: Any,
    ) -> None:
        super().__init__(message, **place)
        self.block = block
        self.thread = thread
        self.array = array
        self.index = index
        self.shape = shape


class CheckFailed(KernelError):
    """Checked mode found an error in a launch (`GPUKIT_TARGET=checked`)."""


class KernelWarning(UserWarning):
    """A line in a kernel's source that compiles but is probably a mistake."""


class CheckWarning(UserWarning):
    """Checked mode found something that may do no harm (`GPUKIT_TARGET=checked`)."""


class OutOfBounds(KernelError, IndexError):
    """An out-of-bounds access. No memory outside the array was touched."""


class EndlessWait(KernelError):
    """A loop that waits for another thread has run too many iterations (checked mode only)."""


class BarrierDivergence(KernelError):
    """Some threads of a block waited at a barrier that others did not reach.

    `waiting` and `missing` are the linear indices of those threads, as ranges such as "0-15";
    `whole_grid` is True where all blocks synchronise at the barrier.
    """

    waiting: str = ""
    missing: str = ""
    whole_grid: bool = False
