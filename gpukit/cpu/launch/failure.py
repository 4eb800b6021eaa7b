"""Turn the failure of a kernel into an error that says why it stopped."""

from __future__ import annotations

import ctypes
import pickle
from typing import Any

from gpukit import errors
from gpukit.compiler import context as layout


def at_line(error: errors.GpukitError, function: str = "<kernel>") -> errors.GpukitError:
    """Return an error whose traceback shows only the kernel's own line, and nothing of gpukit.

    `function` is the name around the line where the error knows no kernel.
    """
    error = error.with_traceback(None)
    file, line = getattr(error, "file", ""), getattr(error, "line", 0)
    if not file or line < 1:
        return error
    code = compile("\n" * (line - 1) + "raise error", file, "exec")
    code = code.replace(co_name=getattr(error, "kernel", "") or function)
    try:
        exec(code, {"error": error})
    except errors.GpukitError as raised:
        frames = raised.__traceback__
        while frames is not None and frames.tb_next is not None:
            frames = frames.tb_next
        return raised.with_traceback(frames)
    raise AssertionError("the code above raises")


def name_thread(words: Any, threads: int) -> None:
    """Replace a thread number counted through coarsened blocks by the thread and its block.

    The context holds the first of these blocks, and the thread counted through all of them.
    """
    if words[layout.CODE] != layout.FINE:  # Numba's own code does not record the thread
        blocks, words[layout.THREAD] = divmod(words[layout.THREAD], threads)
        words[layout.BLOCK] += blocks


def raise_for(status: int, words: Any, compiled: Any, kernel: Any) -> None:
    """Raise the error for a launch that ended with `status`; `words` is its context."""
    code = words[layout.CODE]
    if code == layout.INTERRUPTED:
        raise KeyboardInterrupt(f"kernel {kernel.__name__} was stopped")
    if code == layout.FINE:
        raise _unknown(words, kernel)
    location = compiled.locations[words[layout.LOCATION]]
    block = tuple(words[layout.BLOCK + k] for k in range(3))
    thread = tuple(words[layout.THREAD + k] for k in range(3))
    place = {
        "kernel": location.kernel,
        "file": location.file,
        "line": location.line,
        "source": location.source,
        "block": block,
        "thread": thread,
    }
    if code == layout.OUT_OF_BOUNDS:
        raise _out_of_bounds(words, location, place)
    if code == layout.DIVERGENCE:
        raise _divergence(words, location, place)
    if code == layout.WAITING_TOO_LONG:
        raise errors.EndlessWait(
            f"`{location.what}` waits forever, in thread {_triple(thread)} of block "
            f"{_triple(block)}.",
            fix="wait only for what happens earlier: blocks start in the order of their indices",
            **place,
        )
    if code == layout.TOO_DEEP:
        raise errors.KernelError(
            f"{location.kernel} recurses too deeply, in thread {_triple(thread)} of block "
            f"{_triple(block)}. A GPU thread has only a few KB of stack.",
            fix="check that the recursion ends, or write it as a loop",
            **place,
        )
    raise _raised(compiled.raised[words[layout.LOCATION]], place, thread, block)


def _out_of_bounds(words: Any, location: Any, place: dict[str, Any]) -> errors.OutOfBounds:
    ndim = min(words[layout.NDIM], layout.MAX_NDIM)
    index = tuple(words[layout.INDEX + k] for k in range(ndim))
    shape = tuple(words[layout.SHAPE + k] for k in range(ndim))
    at = ", ".join(str(i) for i in index)
    at = at if ndim == 1 else f"({at})"
    message = (
        f"{location.what}: index {at} is outside {location.array or 'the array'}, "
        f"whose shape is {shape} (thread {_triple(place['thread'])} of block "
        f"{_triple(place['block'])}). Nothing outside the array was accessed."
    )
    fix = _guard(location, index, shape)
    return errors.OutOfBounds(
        message, array=location.array, index=index, shape=shape, fix=fix, **place
    )


def _guard(location: Any, index: tuple[int, ...], shape: tuple[int, ...]) -> str:
    for axis, (i, n) in enumerate(zip(index, shape, strict=True)):
        if i >= n:
            return (
                f"check how index {i} is computed; if it is the thread's index, and the grid has "
                "more threads than the array has elements, guard the access: `if ... < "
                f"{location.array}.shape[{axis}]:`"
            )
        if i < -n:
            return (
                "guard the access: `if ... >= 0:`; a negative index counts from the end, and "
                f"axis {axis} of {location.array} has only {n} elements"
            )
    return "check how the index is computed"


def _triple(values: tuple[int, ...]) -> str:
    x, y, z = values
    if y == z == 0:
        return str(x)
    return f"({x}, {y})" if z == 0 else f"({x}, {y}, {z})"


def _divergence(words: Any, location: Any, place: dict[str, Any]) -> errors.BarrierDivergence:
    base = ctypes.addressof(words)
    waiting = ctypes.string_at(base + 8 * layout.WAITING, 1024)
    alive = ctypes.string_at(base + 8 * layout.ALIVE, 1024)
    inside = [t for t in range(1024) if waiting[t] == 1 and alive[t] == 1]
    outside = [t for t in range(1024) if alive[t] == 1 and waiting[t] == 0]
    made = errors.BarrierDivergence(
        f"{location.what} was reached by threads {ranges(inside)} of block "
        f"{_triple(place['block'])}, but not by threads {ranges(outside)}, which were "
        "still running. On a GPU this hangs or gives wrong results.",
        fix="move the barrier out of the if or loop, so that all threads of the block reach it",
        **place,
    )
    made.waiting, made.missing = ranges(inside), ranges(outside)
    made.whole_grid = location.operation == "cg.sync"
    return made


def ranges(threads: list[int]) -> str:
    """Format thread numbers as ranges.

    >>> ranges([0, 1, 2, 5, 8, 9])
    '0-2, 5, 8-9'
    """
    parts: list[list[int]] = []
    for t in threads:
        if parts and parts[-1][1] == t - 1:
            parts[-1][1] = t
        else:
            parts.append([t, t])
    texts = [str(a) if a == b else f"{a}-{b}" for a, b in parts]
    return ", ".join(texts[:8]) + (", ..." if len(texts) > 8 else "")


def _raised(
    raised: Any, place: dict[str, Any], thread: tuple[int, ...], block: tuple[int, ...]
) -> BaseException:
    kind, arguments = raised
    where = f"tid={list(thread)} ctaid={list(block)}"
    text = f"{where}: {arguments[0]}" if arguments else where
    if issubclass(kind, ZeroDivisionError):
        fix = "test the divisor before the division"
        return KernelArithmeticError(text, fix=fix, **place)
    try:
        made = type(kind.__name__, (errors.KernelError, kind), {})
        return made(text, **place)  # type: ignore[no-any-return]
    except TypeError:  # a class that cannot have a second base, or takes other arguments
        return kind(text, *arguments[1:])  # type: ignore[no-any-return]


class KernelArithmeticError(errors.KernelError, ZeroDivisionError, FloatingPointError):
    """A division by zero in a kernel compiled with debug=True."""


def _unknown(words: Any, kernel: Any) -> BaseException:
    """Return the error for an exception that Numba's own code raised inside a kernel."""
    kind, arguments = _numba_exception(words)
    block = tuple(words[layout.BLOCK + k] for k in range(3))
    text = f"kernel {kernel.__name__} stopped in block {_triple(block)}: {kind.__name__}"
    text += f": {arguments[0]}" if arguments else ""
    if issubclass(kind, ZeroDivisionError):
        return KernelArithmeticError(text, kernel=kernel.__name__, block=block)
    made = type(kind.__name__, (errors.KernelError, kind), {})
    return made(text, kernel=kernel.__name__, block=block)  # type: ignore[no-any-return]


def _numba_exception(words: Any) -> tuple[type[BaseException], tuple[Any, ...]]:
    pointer = words[layout.ERROR]
    if not pointer:
        return RuntimeError, ()
    data = ctypes.c_void_p.from_address(pointer).value
    size = ctypes.c_int32.from_address(pointer + 8).value
    if data is None:
        return RuntimeError, ()
    try:
        content = pickle.loads(ctypes.string_at(data or 0, size))
    except Exception:
        return RuntimeError, ()
    return content[0], tuple(content[1] or ())
