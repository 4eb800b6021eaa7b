"""Check kernels with random mistakes in a process that they may crash.

    python -m tests.checked.buggy_child SEED LIMIT NUMBER...

Writes one line of JSON to standard output when it begins a kernel and when the kernel has ended.
Output of the kernels is discarded. A kernel that uses more than LIMIT seconds of CPU time, or
sleeps for long, ends the process, with its stack trace on standard error.
"""

from __future__ import annotations

import faulthandler
import importlib.util
import json
import os
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import gpukit
from gpukit import errors
from gpukit.checked.report import Report
from tests.checked import buggy

IN_ONE_FILE = 20
ASLEEP = 10  # wall-clock limit as a multiple of the CPU-time limit, for a busy machine
FIFTH = 5  # every fifth kernel is profiled and played too
# What each command may raise; once the launch has begun, everything goes into the report.
COMPILING = (errors.CompileError, errors.ArgumentError)
RUNNING = (*COMPILING, errors.LaunchError, errors.KernelError)


class Wrong(Exception):
    """The checker broke one of its guarantees."""


def main(argv: list[str]) -> int:
    """Check the kernels and report how each ended."""
    seed, limit, *numbers = (int(a) for a in argv)
    instrumentation = os.fdopen(os.dup(1), "w", buffering=1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    warnings.simplefilter("error")
    warnings.simplefilter("ignore", errors.KernelWarning)  # expected for these kernels
    faulthandler.enable()
    faulthandler.register(signal.SIGPROF, chain=True)  # which then ends the process
    with instrumentation, tempfile.TemporaryDirectory() as folder:
        warm_up(Path(folder) / "made_to_warm_up.py")
        for at in range(0, len(numbers), IN_ONE_FILE):
            programs = [buggy.make(seed, k) for k in numbers[at : at + IN_ONE_FILE]]
            module = load(Path(folder) / f"made_{seed}_{at}.py", buggy.module(programs))
            for program in programs:
                instrumentation.write(json.dumps({"begin": program.number}) + "\n")
                with limited(limit):
                    answer = judge(module, program.number)
                instrumentation.write(json.dumps(answer) + "\n")
    return 0


@contextmanager
def limited(seconds: int) -> Iterator[None]:
    """End the process after `seconds` of CPU time, or ten times as long in wall-clock time."""
    faulthandler.dump_traceback_later(ASLEEP * seconds, exit=True)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        faulthandler.cancel_dump_traceback_later()


def warm_up(path: Path) -> None:
    """Compile what each process compiles once, so that no kernel's time includes it."""
    text = "\n\n@cuda.jit\ndef kernel_0(a):\n    a[cuda.threadIdx.x] = 1\n\n\n"
    text += "def arguments_0():\n    return (guarded((32,), np.int32),)\n\n\n"
    module = load(path, f"{buggy.HEAD}{text}LAUNCHES = {{0: (1, 32)}}\n")
    for command in (gpukit.check, gpukit.profile, gpukit.play):
        launch(module, 0, command)


def load(path: Path, text: str) -> Any:
    """Write a module and import it."""
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def judge(module: Any, number: int) -> dict[str, Any]:
    """Return how a kernel ended: `kinds` of findings or `refused`, and `trouble` if any."""
    start = time.perf_counter()
    answer: dict[str, Any] = {"number": number, "kinds": {}, "refused": "", "trouble": ""}
    try:
        answer.update(checked(module, number))
        shown(module, number, lambda kernel: kernel, str)
        if number % FIFTH == 0:
            shown(module, number, gpukit.profile, lambda p: (repr(p), p._repr_html_()))
            shown(module, number, gpukit.play, lambda p: p.html)
    except KeyboardInterrupt:
        raise
    except BaseException:  # a kernel must not raise anything, not even a non-Exception
        answer["trouble"] = traceback.format_exc()
    answer["seconds"] = round(time.perf_counter() - start, 3)
    return answer


def checked(module: Any, number: int) -> dict[str, Any]:
    """Check a launch twice; both runs must give the same findings."""
    first, second = once(module, number), once(module, number)
    if first != second:
        raise Wrong(f"two checks of the same launch differ:\n{first}\n{second}")
    if isinstance(first, str):
        return {"refused": first.partition(":")[0]}
    return {"kinds": Counter(f["kind"] for f in first)}


def once(module: Any, number: int) -> list[dict[str, Any]] | str:
    """Return the findings of a launch, or why it was rejected."""
    try:
        report = launch(module, number, gpukit.check)
    except COMPILING as refused:
        return f"{type(refused).__name__}: {refused}"
    if not isinstance(report, Report):
        raise Wrong(f"check returned {type(report)}")
    for text in (report.text(), report.to_json(), report.to_junit(), report._repr_html_()):
        if not text:
            raise Wrong("a report is empty")
    return [f.as_dict() for f in report.findings]


def shown(module: Any, number: int, command: Any, show: Callable[[Any], Any]) -> None:
    """Launch, profile or play and render the result, unless the launch is rejected."""
    try:
        result = launch(module, number, command)
    except RUNNING:
        return
    show(result)


def launch(module: Any, number: int, command: Any) -> Any:
    """Launch a kernel with fresh arguments; verify that no memory around them was written."""
    module.intact()
    arguments = getattr(module, f"arguments_{number}")()
    kernel = command(getattr(module, f"kernel_{number}"))
    try:
        return kernel[module.LAUNCHES[number]](*arguments)
    finally:
        if not module.intact():
            raise Wrong("memory beside an array was written")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
