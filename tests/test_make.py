"""The Makefile: which extras its targets install, and which files `make clean` keeps."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="make is missing")

KEPT = (
    "exercises/.progress.json",
    "exercises/01_a/relu/answer.py",
    "exercises/01_a/relu/answer.old1.py",
    "notebooks/01_a.ipynb",
    "notebooks/digits.npz",
    "workbook/01_a.ipynb",
    "workbook/.ipynb_checkpoints/01_a-checkpoint.ipynb",
    "gpukit-play/01_fill_kernel.html",
)
DELETED = (
    ".pytest_cache/v",
    ".ruff_cache/v",
    ".mypy_cache/v",
    ".hypothesis/v",
    ".venv-codegen/pyvenv.cfg",
    ".venv-graders/pyvenv.cfg",
    ".venv.log",
    "gpukit/__pycache__/a.pyc",
    "exercises/01_a/relu/__pycache__/a.pyc",
    "notebooks/.ipynb_checkpoints/01_a-checkpoint.ipynb",
)


@pytest.fixture
def clone(tmp_path):
    """Return a function that runs make in a folder with only the Makefile and its inputs."""
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


def extras(output):
    return set(",".join(re.findall(r"--editable '\.\[([\w,]*)\]'", output)).split(",")) - {""}


def test_make_lab_installs_what_the_lessons_need_only(clone):
    assert extras(clone("--dry-run", "lab")) == {"lab", "parallel"}


def test_make_test_also_installs_the_extras_for_tests(clone):
    assert extras(clone("--dry-run", "test")) == {"lab", "parallel", "test", "dev"}


def test_make_without_a_target_prints_all_of_its_help(clone):
    head = (ROOT / "Makefile").read_text(encoding="utf-8").partition("\n\n")[0]
    assert clone() == head.replace("# ", "") + "\n"
    assert all(words in head for words in ("make clean", "PYTHON="))


def test_the_help_of_make_fits_80_columns(clone):
    assert max(map(len, clone().splitlines())) <= 80


def test_make_clean_deletes_caches_and_keeps_the_readers_files(clone, tmp_path):
    for name in (*KEPT, *DELETED):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    output = clone("clean")
    assert [name for name in KEPT if not (tmp_path / name).exists()] == []
    assert [name for name in DELETED if (tmp_path / name).exists()] == []
    assert "answer" in output.splitlines()[-1]
