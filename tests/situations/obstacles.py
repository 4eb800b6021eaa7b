"""The reader's folder, and obstacles: failures of the environment."""

from __future__ import annotations

import builtins
import contextlib
import errno
import io
import os
import shutil
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gpukit.checked.engine import entries
from tests.conftest import ROOT

EXERCISES = ROOT / "exercises"
EXERCISE = "guarded_map"
MINE = "# mine\n"

SCRIPT = """
import numpy as np
from numba import cuda

@cuda.jit
def fill_kernel(out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = i

fill_kernel[3, 32](np.zeros(70, np.float32))
"""
TRAINING = """
from gpukit import nn

optimizer = nn.SGD(nn.Parameters(nn.Linear(2, 1), seed=0), lr=0.1)
nn.save("{path}", optimizer.parameters, optimizer)
"""
FITTING = """
import numpy as np
from gpukit import nn

model = nn.Linear(2, {outputs})
optimizer = nn.{optimizer}(nn.Parameters(model, seed=0), lr=0.1)
loader = nn.Loader(np.ones((8, 2), np.float32), np.zeros(8, np.int64), batch=4)
nn.fit(model, optimizer, loader, epochs=1, checkpoint="saved.npz", report=False)
"""
NAMED = "a thing\u00e9.py"  # a name with a space and a non-ASCII letter
FAULTY_CASES = """
import numpy as np
SHAPES = {"eight whole blocks": (3,)}
def case(rng, n):
    return np.zeros(n)[9]
"""


@dataclass(frozen=True)
class Situation:
    """A command, its obstacle, and the expected exit code and output."""

    name: str
    command: str
    code: int
    says: tuple[str, ...]
    obstacle: str = ""  # the name of a function below
    never: tuple[str, ...] = ()  # what the output must not contain


# ---- the folder ------------------------------------------------------------------------------


def make_folder(folder: Path) -> Path:
    """Make the reader's folder, in which files that begin with MINE are the reader's."""
    exercises = folder / "exercises"
    (real,) = EXERCISES.glob(f"*/{EXERCISE}")
    kept = exercises / real.parent.name / EXERCISE
    shutil.copytree(real, kept, ignore=shutil.ignore_patterns("answer*", "__pycache__"))
    (kept / "answer.py").write_text(MINE)
    (exercises / ".progress.json").write_text(f'{{"{EXERCISE}": "right"}}\n')
    (folder / "script.py").write_text(SCRIPT)
    (folder / "own_json.py").write_text(f"import sys\n'--json' in sys.argv\n{SCRIPT}")
    (folder / "no_launch.py").write_text("import numpy\n")
    (folder / "bom.py").write_text(SCRIPT, encoding="utf-8-sig")
    (folder / "latin.py").write_bytes(f"# caf\u00e9\n{SCRIPT}".encode("latin-1"))
    (folder / "syntax.py").write_text(f"{SCRIPT}def (:\n")
    (folder / NAMED).write_text(f"{SCRIPT}print('caf\u00e9')\n", encoding="utf-8")
    (folder / "cut_off.ipynb").write_text('{"cells": [{"cell_type": "co')
    (folder / "fitting.py").write_text(FITTING.format(outputs=2, optimizer="SGD"))
    (folder / "training.py").write_text(TRAINING.format(path="blocked/weights.npz"))
    (folder / "blocked").write_text(MINE)  # a file where a folder is expected
    (folder / "taken").mkdir()
    (folder / "taken" / "01_fill_kernel.html").write_text(MINE)
    (folder / "README.md").write_text(f"{MINE}<!-- variants begin -->\n<!-- variants end -->\n")
    (folder / "old.html").write_text(MINE)
    return folder


def damage(saved: bytes | None = None, **network: Any) -> Callable[..., Any]:
    """Return an obstacle: a checkpoint with these bytes, or of another network."""

    @contextlib.contextmanager
    def damaged(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        if saved is not None:
            (folder / "saved.npz").write_bytes(saved)
        else:
            exec(FITTING.format(**{"outputs": 2, "optimizer": "SGD", **network}), {})
        yield

    return damaged


def put_solution(folder: Path) -> None:
    """Make the learner's answer right."""
    (real,) = EXERCISES.glob(f"*/{EXERCISE}/solution.py")
    (answer,) = folder.glob("exercises/*/*/answer.py")
    answer.write_bytes(real.read_bytes())


def theirs(folder: Path) -> dict[str, bytes]:
    """Return the contents of the reader's files in a folder."""
    files = (f for f in folder.rglob("*") if f.is_file() and f.parent.name != "__pycache__")
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


# ---- obstacles ----------------------------------------------------------------------------------


@contextlib.contextmanager
def read_only(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The folder is read-only, even for root, whom chmod does not restrict."""

    def refuse(path: Any) -> None:
        if isinstance(path, str | os.PathLike) and folder in Path(path).resolve().parents:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    def guarded(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(path: Any, *rest: Any, **named: Any) -> Any:
            refuse(path)
            return real(path, *rest, **named)

        return call

    def opened(file: Any, mode: str = "r", *rest: Any, **named: Any) -> Any:
        if set(mode) & set("wax+"):
            refuse(file)
        return real_open(file, mode, *rest, **named)

    def access(path: Any, mode: int, **named: Any) -> bool:
        inside = Path(path).resolve() == folder or folder in Path(path).resolve().parents
        return not (mode & os.W_OK and inside) and real_access(path, mode, **named)

    real_open, real_access = builtins.open, os.access
    with monkeypatch.context() as patch:
        patch.setattr(io, "open", opened)
        patch.setattr(builtins, "open", opened)
        patch.setattr(os, "access", access)
        for name in ("mkdir", "rename", "replace", "unlink"):
            patch.setattr(os, name, guarded(getattr(os, name)))
        yield


@contextlib.contextmanager
def full_disk(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Files can be created, but writing to them fails."""
    resource = pytest.importorskip("resource", reason="process limits exist only on Unix")
    entries.compile_all()  # Numba would recompile where it cannot write its cache
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@contextlib.contextmanager
def no_answer(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The folder is read-only and contains no answer yet."""
    (answer,) = folder.glob("exercises/*/*/answer.py")
    answer.unlink()
    with read_only(folder, monkeypatch):
        yield


@contextlib.contextmanager
def no_matplotlib(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Matplotlib is not installed."""
    for name in [n for n in sys.modules if n.split(".")[:2] == ["gpukit", "draw"]]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr("gpukit.draw", None, raising=False)
    monkeypatch.setitem(sys.modules, "matplotlib.backend_bases", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    yield


@contextlib.contextmanager
def no_readme(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The folder is no clone of gpukit."""
    (folder / "README.md").unlink()
    yield


@contextlib.contextmanager
def no_compiler(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """NVIDIA's compilers are not installed."""
    from gpukit import gpu_code

    monkeypatch.setenv("GPUKIT_TARGET", "cpu")
    monkeypatch.setattr(gpu_code.importlib.util, "find_spec", lambda name: None)
    yield


@contextlib.contextmanager
def folder_gone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The current folder has been deleted."""
    gone = folder / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    monkeypatch.delenv("GPUKIT_EXERCISES")
    yield


@contextlib.contextmanager
def cut_checkpoint(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The checkpoint is truncated, as after an interrupted copy."""
    exec(FITTING.format(outputs=2, optimizer="SGD"), {})
    saved = folder / "saved.npz"
    saved.write_bytes(saved.read_bytes()[:-100])
    yield


@contextlib.contextmanager
def faulty_cases(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The exercise's cases.py has a fault, and the learner's answer is attempted."""
    (cases,) = folder.glob("exercises/*/*/cases.py")
    cases.write_text(FAULTY_CASES)
    yield


@contextlib.contextmanager
def ascii_terminal(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The terminal supports only ASCII, as with LC_ALL=C."""
    before = sys.stdout.encoding, sys.stdout.errors
    sys.stdout.reconfigure(encoding="ascii", errors="strict")  # type: ignore[union-attr]
    yield
    sys.stdout.reconfigure(encoding=before[0], errors=before[1])  # type: ignore[union-attr]


@contextlib.contextmanager
def narrow(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The terminal has 40 columns."""
    monkeypatch.setenv("COLUMNS", "40")
    yield


OFFLINE = """
import socket
def refuse(*_arguments, **_named):
    raise AssertionError("the network was asked for")
socket.socket.connect = socket.socket.connect_ex = refuse
socket.getaddrinfo = socket.create_connection = refuse
"""


@contextlib.contextmanager
def offline(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Network access fails, in this process and its children."""
    for name in ("connect", "connect_ex"):
        monkeypatch.setattr(socket.socket, name, getattr(socket.socket, name))
    for name in ("getaddrinfo", "create_connection"):
        monkeypatch.setattr(socket, name, getattr(socket, name))
    exec(OFFLINE, {})
    with tempfile.TemporaryDirectory() as first:
        (Path(first) / "sitecustomize.py").write_text(OFFLINE)
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join([first, os.environ.get("PYTHONPATH", "")]))
        yield


@contextlib.contextmanager
def offline_with_solution(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Offline, and the learner's answer is right."""
    put_solution(folder)
    with offline(folder, monkeypatch):
        yield


# ---- the cache of compiled kernels --------------------------------------------------------------


@contextlib.contextmanager
def no_place_for_the_cache(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The cache folder cannot be created: a file has its name."""
    monkeypatch.setenv("GPUKIT_CACHE_DIR", str(folder / "blocked" / "cache"))
    yield


@contextlib.contextmanager
def no_home(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """HOME is not a folder, as for users of system services."""
    for name in ("GPUKIT_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", os.devnull)
    yield


@contextlib.contextmanager
def garbage_in_the_cache(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """All files of the cache are corrupt, as after a disk error."""
    from gpukit.standin import script

    with tempfile.TemporaryDirectory() as cache:
        monkeypatch.setenv("GPUKIT_CACHE_DIR", cache)
        script.run(str(folder / "script.py"))
        kept = [file for file in Path(cache).rglob("*") if file.is_file()]
        assert kept
        for number, file in enumerate(kept):
            file.write_bytes([b"", b"garbage", bytes(range(256)) * 8][number % 3])
        yield


# ---- Ctrl-C -------------------------------------------------------------------------------------

# Ctrl-C arrives when Python first calls a function of this name.
MOMENTS = {
    "the command line is read": "build",
    "a kernel is compiled": "type_inference_stage",
    "a script is launched": "parse",
    "a file is written": "whole",
    "an answer is loaded": "loaded",
    "an answer is judged": "judge",
    "an answer is set aside": "set_aside",
    "kernels are chosen": "choose",
}


def interrupt(function: str) -> Callable[..., Any]:
    """Return an obstacle: Ctrl-C at the first call of a function of this name."""

    def press(frame: Any, event: str, argument: Any) -> None:
        if event == "call" and frame.f_code.co_name == function:
            sys.setprofile(None)
            signal.raise_signal(signal.SIGINT)

    @contextlib.contextmanager
    def pressed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        # A unique constant, so that the kernel is in no cache.
        script = folder / "script.py"
        script.write_text(SCRIPT.replace("= i\n", f"= i + {time.time_ns()}\n"))
        put_solution(folder)
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.setprofile(press)
        try:
            yield
        finally:
            sys.setprofile(None)
            signal.signal(signal.SIGINT, before)

    return pressed


OBSTACLES: dict[str, Any] = {
    obstacle.__name__: obstacle
    for obstacle in (
        read_only,
        full_disk,
        no_answer,
        no_matplotlib,
        no_readme,
        no_compiler,
        folder_gone,
        cut_checkpoint,
        faulty_cases,
        ascii_terminal,
        narrow,
        offline,
        offline_with_solution,
        no_place_for_the_cache,
        no_home,
        garbage_in_the_cache,
    )
} | {
    "empty_checkpoint": damage(b""),
    "text_checkpoint": damage(MINE.encode()),
    "wider_checkpoint": damage(outputs=3),
    "other_optimizer": damage(optimizer="AdamW"),
    **{f"Ctrl-C as {moment}": interrupt(function) for moment, function in MOMENTS.items()},
}
