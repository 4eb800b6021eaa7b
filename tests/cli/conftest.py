"""Exercises and scripts that commands work on, each in a folder of the test's own."""

import shutil
import textwrap

import pytest

from gpukit.course import catalogue
from tests.cli.watched import HEAD


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    """A copy of the real exercises, so that answers land in a folder of the test's own."""
    shelf = tmp_path / "exercises"
    shutil.copytree(catalogue.root(), shelf, ignore=shutil.ignore_patterns("answer*", ".prog*"))
    monkeypatch.setenv("GPUKIT_EXERCISES", str(shelf))
    return shelf


@pytest.fixture
def script(tmp_path, monkeypatch):
    """Write a script in a folder of the test's own and return its path."""
    monkeypatch.chdir(tmp_path)

    def write(text):
        path = tmp_path / "script.py"
        path.write_text(HEAD + textwrap.dedent(text), encoding="utf-8")
        return str(path)

    return write
