"""A reader's folder, and the things that go wrong around it."""

from __future__ import annotations

import builtins
import contextlib
import errno
import io
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gpukit.checked.engine import entries

EXERCISES = Path(__file__).resolve().parent.parent / "exercises"
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


@dataclass(frozen=True)
class Situation:
    """What was typed where, how it must end, and what it must say."""

    name: str
    command: str
    code: int
    says: tuple[str, ...]
    obstacle: str = ""  # the name of a function below
    never: tuple[str, ...] = ()  # what it must not say


# ---- the folder ------------------------------------------------------------------------------


def make_folder(folder: Path) -> Path:
    """Return the reader's folder, in which each file that begins with MINE is theirs."""
    exercises = folder / "exercises"
    (real,) = EXERCISES.glob(f"*/{EXERCISE}")
    kept = exercises / real.parent.name / EXERCISE
    shutil.copytree(real, kept, ignore=shutil.ignore_patterns("answer*"))
    (kept / "answer.py").write_text(MINE)
    (exercises / ".progress.json").write_text(f'{{"{EXERCISE}": "right"}}\n')
    (folder / "script.py").write_text(SCRIPT)
    (folder / "own_json.py").write_text(f"import sys\n'--json' in sys.argv\n{SCRIPT}")
    (folder / "no_launch.py").write_text("import numpy\n")
    (folder / "training.py").write_text(TRAINING.format(path="blocked/weights.npz"))
    (folder / "blocked").write_text(MINE)  # a file, where a folder is wanted
    (folder / "taken").mkdir()
    (folder / "taken" / "01_fill_kernel.html").write_text(MINE)
    (folder / "README.md").write_text(f"{MINE}<!-- ladder begin -->\n<!-- ladder end -->\n")
    (folder / "old.html").write_text(MINE)
    return folder


def theirs(folder: Path) -> dict[str, bytes]:
    """Return what the files of a folder hold."""
    files = (file for file in folder.rglob("*") if file.is_file())
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


# ---- what goes wrong ----------------------------------------------------------------------------


@contextlib.contextmanager
def read_only(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing in the folder can be written, whoever asks: root may write where chmod forbids it."""

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
    """Files can be made, and no byte be written to them."""
    resource = pytest.importorskip("resource", reason="limits of a process: on Unix only")
    entries.compile_all()  # which Numba does again where it cannot write
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@contextlib.contextmanager
def no_answer(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The folder is read-only, and holds no answer yet."""
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
    """The folder that the reader is in has been deleted."""
    gone = folder / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    monkeypatch.delenv("GPUKIT_EXERCISES")
    yield


OBSTACLES: dict[str, Any] = {
    made.__name__: made
    for made in (
        read_only, full_disk, no_answer, no_matplotlib, no_readme, no_compiler, folder_gone,
    )
}  # fmt: skip
