"""nbgrader and otter-grader in an environment of their own, which `make` installs."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT

FOLDER = ROOT / ".venv-graders"
BIN = FOLDER / "bin"
installed = pytest.mark.skipif(
    not (FOLDER / ".ready").exists(),
    reason="needs nbgrader and otter-grader: make .venv-graders/.ready",
)


def run(words: Sequence[str | Path], folder: Path) -> str:
    """Run a program of that environment in a folder and return its output; fail if it fails."""
    own = folder / ".jupyter"  # the user's settings are not to be read
    places = {f"JUPYTER_{name}_DIR": str(own / name) for name in ("CONFIG", "DATA", "RUNTIME")}
    path = os.pathsep.join([str(BIN), os.environ.get("PATH", "")])  # nbgrader runs alembic
    done = subprocess.run(
        [str(BIN / words[0]), *map(str, words[1:])],
        cwd=folder,
        env={
            **os.environ,
            **places,
            "PATH": path,
            "IPYTHONDIR": str(own / "ipython"),
            "NO_COLOR": "1",
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def notebook(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))


def with_answers(source: Path, target: Path, answers: dict[str, str]) -> None:
    """Write a copy of a notebook in which the cells that define a kernel hold other answers.

    `answers` has them by the name that they define.
    """
    made = notebook(source)
    for cell in made["cells"]:
        for entry, text in answers.items():
            if f"def {entry}(" in "".join(cell["source"]):
                cell["source"] = text.splitlines(keepends=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(made), encoding="utf-8")
