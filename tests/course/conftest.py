"""Fixtures in temporary folders: answers, workbooks, an IPython shell."""

import dataclasses
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gpukit.course import catalogue, grade, workbook
from gpukit.course import warm as warming
from tests.course.changes import Change
from tests.course.workbooks import LESSON, SECOND, write_lesson
from tests.notebooks import running


@pytest.fixture(scope="package")
def warm() -> Iterator[None]:
    """Grade in forks of one warm process for the whole folder, where the system supports fork."""
    with warming.warm():
        yield


@pytest.fixture
def attempt(tmp_path: Path, warm: None) -> Callable[..., grade.Report]:
    """Return a function that grades an answer: a text, or a change of the solution."""

    def attempt(name: str, answer: str | Change, *, seconds: float | None = None) -> grade.Report:
        exercise = catalogue.find(name)
        file = tmp_path / "answer.py"
        file.write_text(answer if isinstance(answer, str) else answer(exercise), encoding="utf-8")
        if seconds is not None:
            exercise = dataclasses.replace(exercise, seconds=seconds)
        return grade.run(exercise, file)

    return attempt


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Copy the project with two lessons and two exercises, for tests to modify."""
    project = tmp_path / "project"
    shelf = project / "exercises" / "01_threads_blocks_grid"
    for name in ("brighten", "guarded_map"):
        source = running.ROOT / "exercises" / shelf.name / name
        shutil.copytree(source, shelf / name, ignore=shutil.ignore_patterns("answer*"))
    (project / "notebooks").mkdir()
    for page in workbook.PAGES:
        shutil.copy(running.ROOT / page, project / page)
    for name in (LESSON, SECOND):
        write_lesson(project / name, "1 + 1", "2 + 2")
    monkeypatch.chdir(project)
    return project


@pytest.fixture
def book(project: Path, tmp_path: Path) -> Path:
    """Make a workbook of that project."""
    folder = tmp_path / "mine"
    workbook.start(folder, project)
    return folder


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return an IPython shell with exercises in a temporary folder."""
    interactiveshell = pytest.importorskip("IPython.core.interactiveshell")
    shutil.copytree(catalogue.root(), tmp_path / "exercises")
    monkeypatch.setenv("GPUKIT_EXERCISES", str(tmp_path / "exercises"))
    result = interactiveshell.InteractiveShell()
    result.run_line_magic("load_ext", "gpukit")
    result.run_cell("import numpy as np\nfrom gpukit import cuda")
    return result
