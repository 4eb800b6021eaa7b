"""What make installs for whom, and what `make clean` leaves alone."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="make is missing")

THEIRS = (
    "exercises/.progress.json",
    "exercises/01_a/relu/answer.py",
    "exercises/01_a/relu/answer.old1.py",
    "notebooks/01_a.ipynb",
    "notebooks/digits.npz",
    "workbook/01_a.ipynb",
    "workbook/.ipynb_checkpoints/01_a-checkpoint.ipynb",
    "gpukit-play/01_fill_kernel.html",
)
LEFT = (
    ".pytest_cache/v",
    ".ruff_cache/v",
    ".mypy_cache/v",
    ".hypothesis/v",
    ".venv-codegen/pyvenv.cfg",
    ".venv.log",
    "gpukit/__pycache__/a.pyc",
    "exercises/01_a/relu/__pycache__/a.pyc",
    "notebooks/.ipynb_checkpoints/01_a-checkpoint.ipynb",
)


@pytest.fixture
def clone(tmp_path):
    """A folder with the Makefile alone, and a way to run make in it."""
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)

    def make(*words):
        done = subprocess.run(
            ["make", "--no-print-directory", *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        return done.stdout

    return make


def extras(said):
    return set(",".join(re.findall(r"--editable '\.\[([\w,]*)\]'", said)).split(",")) - {""}


def test_lab_installs_what_lessons_need_and_nothing_for_tests(clone):
    assert extras(clone("--dry-run", "lab")) == {"lab"}


def test_tests_get_their_tools_besides(clone):
    assert extras(clone("--dry-run", "test")) == {"lab", "test", "dev"}


def test_help_names_clean(clone):
    assert "make clean" in clone("help")


def test_clean_deletes_what_make_and_tests_left_and_nothing_of_the_readers(clone, tmp_path):
    for name in (*THEIRS, *LEFT):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    said = clone("clean")
    assert [name for name in THEIRS if not (tmp_path / name).exists()] == []
    assert [name for name in LEFT if (tmp_path / name).exists()] == []
    assert "answer" in said.splitlines()[-1]
