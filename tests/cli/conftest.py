"""Fixtures for commands: exercises, scripts and GPU code."""

import shutil
import textwrap

import pytest

from gpukit import gpu_code
from gpukit.course import catalogue
from tests.cli.gpu_texts import PTX, SASS
from tests.cli.watched import HEAD


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    """Copy the real exercises, so that answers are written to a temporary folder."""
    shelf = tmp_path / "exercises"
    shutil.copytree(catalogue.root(), shelf, ignore=shutil.ignore_patterns("answer*", ".prog*"))
    monkeypatch.setenv("GPUKIT_EXERCISES", str(shelf))
    return shelf


@pytest.fixture
def script(tmp_path, monkeypatch):
    """Return a function that writes a script to a temporary folder and returns its path."""
    monkeypatch.chdir(tmp_path)

    def write(text):
        path = tmp_path / "script.py"
        path.write_text(HEAD + textwrap.dedent(text), encoding="utf-8")
        return str(path)

    return write


@pytest.fixture
def compiled(monkeypatch, tmp_path):
    """Replace the compilers by one with the same, editable output for every kernel."""
    source = tmp_path / "book.py"
    source.write_text("# a line\n" * 6 + "    i = cuda.grid(1)\n    out[i] = a * x[i] + y[i]\n")
    result = {
        "code": gpu_code.Code(
            18,
            tool="the compilers",
            shared=64,
            ptx=PTX.replace("FILE", str(source)),
            sass=SASS.replace("FILE", str(source)),
        )
    }
    monkeypatch.setenv("GPUKIT_TARGET", "cpu")
    monkeypatch.setattr(gpu_code, "missing", lambda: "")
    monkeypatch.setattr(
        gpu_code, "build", lambda kernel, arguments, wanted: dict.fromkeys(wanted, result["code"])
    )
    monkeypatch.setattr(
        gpu_code,
        "build_many",
        lambda jobs, wanted: [dict.fromkeys(wanted, result["code"]) for _ in jobs],
    )
    return result
