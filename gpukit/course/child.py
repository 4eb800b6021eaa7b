"""The process that runs a student's file: `python -m gpukit.course.child`, or a supervisor's copy.

It reads cases on standard input, launches the student's kernel plainly, under `gpukit.check`,
under `gpukit.profile` or recorded, and sends back arrays, findings, counts or a sentence. An answer
that is host code is called by the exercise's `driver.py` instead, and its launches are watched. The
process holds no expected values. What the student prints goes to standard error.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib.util
import inspect
import json
import os
import sys
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import gpukit
from gpukit import standin
from gpukit.checked import check, process
from gpukit.checked.progress import Bar
from gpukit.checked.report import Report
from gpukit.course import channel, frames, rank_counts, source, written_files
from gpukit.course.case import Argument
from gpukit.course.channel import Channel
from gpukit.cpu.device_function import DeviceFunction
from gpukit.cpu.launch import build, configure
from gpukit.cpu.memory.ndarray import DeviceNDArray
from gpukit.errors import GpukitError

Sizes = tuple[Any, ...]
Arguments = tuple[Any, ...]
Command = Callable[[Any, Sizes, Arguments], str]
# Taken before the student's file can put something else in their place.
CHECK, DOUBLES, PROFILE = check.of_values, check.doubles, gpukit.profile
CHECKING, MERGE = process.checking, Report.merge
# What answers are: a kernel, or the sum of a warp, that somebody else has written.
BOOK = ("gpukit.kernels", "gpukit.collectives")
LARGEST_FILE = 256 << 20  # bytes that an answer may write to a file
_FACTS = ("kernel", "fix", "array", "source")
_PLACES = ("block", "thread", "index", "shape")


def _load(path: str, name: str = "answer") -> ModuleType:
    """Load a file as a module."""
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None:
        raise ImportError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    source.execute(Path(path), module)
    return module


def _is_kernel(value: object) -> bool:
    """A kernel is what `cuda.jit` returns, of this package or of Numba."""
    from gpukit.cpu.dispatcher import Kernel

    return isinstance(value, Kernel) or type(value).__name__ == "CUDADispatcher"


def _kernel(module: ModuleType, entry: str, path: str) -> tuple[Any, dict[str, Any]]:
    found: Any = getattr(module, entry, None)
    foreign = _foreign(found, path)
    if _is_kernel(found) and not foreign:
        return found, {
            "ready": True,
            "parameters": list(inspect.signature(found.py_func).parameters),
        }
    kernels = [name for name, value in vars(module).items() if _is_kernel(value)]
    device = isinstance(found, DeviceFunction)
    return None, {
        "missing": entry,
        "kernels": kernels,
        "plain": callable(found),
        "device": device,
        "foreign": foreign,
    }


def _host_code(module: ModuleType, entry: str, path: str) -> tuple[Any, dict[str, Any]]:
    """Return the function or class `entry` if it is of the answer's own file."""
    found: Any = getattr(module, entry, None)
    own = [name for name, value in vars(module).items() if _is_own(value, path)]
    if entry in own:
        return found, {"ready": True, **_parameters(found)}
    foreign = getattr(found, "__module__", "") if callable(found) else ""
    return None, {"missing": entry, "host": True, "own": own, "foreign": foreign}


def _parameters(found: Any) -> dict[str, list[str]]:
    """Return the parameters of a function, if it has a certain number."""
    if inspect.isclass(found):
        return {}
    parameters = inspect.signature(found).parameters
    some = inspect.Parameter.VAR_POSITIONAL
    return {} if any(p.kind is some for p in parameters.values()) else {"parameters": [*parameters]}


def _is_own(value: Any, path: str) -> bool:
    """Tell whether a class, a function, or what a decorator made of one, is the answer's own."""
    if inspect.isfunction(value):
        return Path(value.__code__.co_filename) == Path(path)
    return callable(value) and getattr(value, "__module__", "") == "answer"


def _foreign(found: Any, path: str) -> str:
    """Return where a kernel, or a function that it calls, comes from that is in the book already.

    What else the file does with the book, such as a test of its own, is no matter.
    """
    if not _is_kernel(found):
        return ""
    file = found.py_func.__code__.co_filename
    modules = [str(part.__module__) for part in _parts(found.py_func)]
    for book in BOOK:
        if any(module.startswith(book) for module in modules):
            return book
    return "" if Path(file) == Path(path) else Path(file).name


def _parts(function: Any) -> list[Any]:
    """Return a kernel's function and those that it calls, as far as its text can be read."""
    from gpukit.compiler.diagnostics import mistakes
    from gpukit.compiler.frontend import resolve

    try:
        return list(mistakes.functions(resolve.run(function)))
    except GpukitError:  # which the launch says better
        return [function]


def _line(error: BaseException, path: str) -> int:
    """Return the last line of the student's own file on the way to the error."""
    known = getattr(error, "line", 0)
    if isinstance(known, int) and known:
        return known
    if isinstance(error, SyntaxError) and error.lineno:
        return error.lineno
    frames_seen = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames_seen if Path(frame.filename) == Path(path)]
    return lines[-1] or 0 if lines else 0


def _describe(error: BaseException, path: str) -> dict[str, Any]:
    message = str(getattr(error, "message", "") or error)
    facts: dict[str, Any] = {
        "type": type(error).__name__,
        "bases": [base.__name__ for base in type(error).__mro__],
        "message": message[:4000],
        "line": _line(error, path),
    }
    facts.update({name: str(getattr(error, name, "")) for name in _FACTS})
    facts.update({name: [int(n) for n in getattr(error, name, ())] for name in _PLACES})
    return facts


def _reply(
    commands: dict[str, Command], answer: Any, header: dict[str, Any], body: bytes
) -> tuple[dict[str, Any], bytes]:
    """Do one launch as the parent asks, and return what to send back."""
    values = frames.unpack(header["args"], body)
    sizes = tuple(tuple(n) if isinstance(n, list) else n for n in (header["grid"], header["block"]))
    text = commands[header["command"]](answer, sizes, tuple(values.values()))
    arrays: dict[str, Argument] = {k: v for k, v in values.items() if isinstance(v, np.ndarray)}
    shapes, data = frames.pack(arrays)
    return {"text": len(text.encode()), "arrays": shapes}, text.encode() + data


# ---- a kernel: one launch of these sizes --------------------------------------------------------


def _launch(kernel: Any, sizes: Sizes, arguments: Arguments) -> str:
    kernel[sizes](*arguments)
    return ""


def _check(kernel: Any, sizes: Sizes, arguments: Arguments) -> str:
    return str(CHECK(kernel)[sizes](*arguments).to_json(None))


def _doubles(kernel: Any, sizes: Sizes, arguments: Arguments) -> str:
    """Return the report of what is float64; the kernel is not launched."""
    return str(DOUBLES(kernel)[sizes](*arguments).to_json(None))


def _origin(kernel: Any, sizes: Sizes, arguments: Arguments) -> str:
    """Say which line makes a NaN or an infinity out of finite numbers; nothing where none does."""
    from gpukit.checked import not_finite, recording

    found = not_finite.first(recording.record(kernel, configure.parse(sizes), arguments))
    return str(found) if found else ""


def _profile(kernel: Any, sizes: Sizes, arguments: Arguments) -> str:
    """Return what a profile has counted, as `contracts` reads it."""
    found = PROFILE(kernel)[sizes](*arguments)
    counts = {
        "parameters": list(inspect.signature(kernel.py_func).parameters),
        "total": found.total.as_dict(),
        "accesses": [access.as_dict() for access in found.accesses],
        "lines": {
            measure: {
                place.line: counts[counter]
                for place, counts in found.lines.items()
                if place.file == found.file
            }
            for measure, counter in (("float64", "flops_float64"), ("barriers", "barriers"))
        },
        "shared_bytes": found.shared_static + found.shared_dynamic,
    }
    return json.dumps(counts)


# ---- host code: one call, and the launches in it ------------------------------------------------


def _call(run: Any, _sizes: Sizes, arguments: Arguments) -> str:
    run(*arguments)
    return ""


def _check_call(run: Any, _sizes: Sizes, arguments: Arguments) -> str:
    with CHECKING() as reports:
        run(*arguments)
    return MERGE(reports).to_json(None) if reports else ""


def _profile_call(run: Any, _sizes: Sizes, arguments: Arguments) -> str:
    """Count launches and copies, and what ranks send.

    Under the checker, for which all kernels are compiled by now.
    """
    with CHECKING() as reports, _Copies.counted() as copies, rank_counts.counting() as ranks:
        run(*arguments)
    launches = sum(report.launches for report in reports)
    lines = {"copies": Counter(copies), **ranks.lines}
    counted = {"launches": launches, "copies": len(copies), **ranks.most(), "lines": lines}
    return json.dumps(counted)


class _Copies:
    """The lines of the answer in which arrays are brought to the host, while they are counted.

    The methods are replaced before the answer is loaded: it may keep one of them.
    """

    counting: list[int] | None = None

    @classmethod
    def follow(cls) -> None:
        """Note copies from now on, by the method and by what NumPy calls."""
        for name in ("copy_to_host", "__array__"):
            setattr(DeviceNDArray, name, cls._noting(getattr(DeviceNDArray, name)))

    @classmethod
    def _noting(cls, copy: Callable[..., Any]) -> Callable[..., Any]:
        def noting(array: Any, *rest: Any, **named: Any) -> Any:
            counting, cls.counting = cls.counting, None  # one copy may call the other method
            try:
                if counting is not None and (line := _line_of_the_answer(sys._getframe(1))):
                    counting.append(line)
                return copy(array, *rest, **named)
            finally:
                cls.counting = counting

        return noting

    @classmethod
    @contextlib.contextmanager
    def counted(cls) -> Iterator[list[int]]:
        """Give the list that lines are added to, in a `with` block."""
        lines = cls.counting = []
        try:
            yield lines
        finally:
            cls.counting = None


def _line_of_the_answer(frame: Any) -> int:
    """Return the line of the answer that a frame is called from; 0 where none is."""
    file = sys.modules["answer"].__file__
    while frame is not None:
        if frame.f_code.co_filename == file:
            return int(frame.f_lineno)
        frame = frame.f_back
    return 0


_OF_KERNEL: dict[str, Command] = {
    "launch": _launch,
    "check": _check,
    "doubles": _doubles,
    "profile": _profile,
    "origin": _origin,
}
_OF_HOST_CODE: dict[str, Command] = {
    "launch": _call,
    "check": _check_call,
    "profile": _profile_call,
}


def _found(header: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Load a file; return the answer in it, None where there is none, and the facts about it."""
    path, entry, driver = header["file"], header["entry"], header["driver"]
    try:
        standin.install()  # `from numba import cuda` in an answer, where there is no GPU
        if header["audit_log"]:
            written_files.follow(header["audit_log"])
        answer, facts = (_host_code if driver else _kernel)(_load(path), entry, path)
        if driver and answer is not None:
            answer = functools.partial(_load(driver, "driver").run, answer)
        return answer, facts
    except BaseException as error:
        return None, {"error": _describe(error, path)}


def _serve(parent: Channel) -> None:
    answer, path, me = None, "", os.getpid()
    commands: dict[str, Command] = {}
    while (frame := parent.receive()) is not None:
        if "file" in frame[0]:
            commands = _OF_HOST_CODE if frame[0]["driver"] else _OF_KERNEL
            if not frame[0]["driver"]:  # one kernel leaves few cycles: to look for them takes long
                gc.disable()
            path, (answer, facts) = frame[0]["file"], _found(frame[0])
            if os.getpid() != me:  # a copy that the file has made of us has nothing to answer
                os._exit(0)
            parent.send(facts)
            if answer is None:
                return
            continue
        try:
            parent.send(*_reply(commands, answer, *frame))
        except frames.ProtocolError:
            raise
        except BaseException as error:
            parent.send({"error": _describe(error, path)})


def _limit_files() -> None:
    """Keep an answer that writes without end from filling the disk."""
    with contextlib.suppress(ImportError, ValueError):  # Windows; a lower limit that holds already
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_FILE, most))


def main() -> None:
    """Serve the cases that the parent sends, until it closes the channel."""
    _limit_files()
    # numba-cuda warns about small grids; exercises are small on purpose.
    warnings.filterwarnings("ignore", message="(?s).*(Grid size|Host array used).*")
    build.always_checks_bounds = True
    _Copies.follow()
    parent = channel.private()
    parent.note(build, "kernel", lambda kernel, *_: f"compiling {kernel.py_func.__name__}")
    parent.note(Bar, "prepare", lambda *_: "loading the checker")
    _serve(parent)


if __name__ == "__main__":
    main()
