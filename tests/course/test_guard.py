"""What an answer writes over is noticed and put back."""

import json
import shutil

import pytest

from gpukit.course import catalogue, grade, guard, progress
from tests.course.test_grade import GOOD_MAP, MAP

pytestmark = pytest.mark.usefixtures("warm")
BEFORE = {"block_sum": "but", "relu": "right"}


@pytest.fixture
def exercise(tmp_path, monkeypatch):
    """An exercise in a folder of the test's own, in which some exercises are solved."""
    shutil.copytree(catalogue.root(), tmp_path / "exercises")
    monkeypatch.setenv("GPUKIT_EXERCISES", str(tmp_path / "exercises"))
    found = catalogue.find("guarded_map")
    for name, reached in BEFORE.items():
        progress.record(catalogue.find(name), reached)
    return found


ABOVE = {
    "guarded_map/exercise.toml": "Path('exercise.toml').write_text('points = 1000')",
    "guarded_map/cases.py": "Path('cases.py').unlink()",
    "guarded_map/driver.py": "Path('driver.py').write_text('def run(*_): pass')",
    "03_memory/transpose/task.md": "Path('../../03_memory/transpose/task.md').write_text('')",
    ".progress.json": "Path('../../.progress.json').write_text('{}')",
}  # fmt: skip


@pytest.mark.parametrize("named", ABOVE)
def test_what_an_answer_writes_over_is_named_and_put_back(named, exercise):
    root = exercise.folder.parent.parent
    before = {file: file.read_bytes() for file in root.rglob("*") if file.is_file()}
    head = "import os\nfrom pathlib import Path\nos.chdir(Path(__file__).parent)\n"
    exercise.answer.write_text(f"{head}{ABOVE[named]}\n{MAP}{GOOD_MAP}")
    report = grade.run(exercise, exercise.answer)
    assert report.status == "error"
    assert report.why.startswith("Your file changed ")
    assert named in report.why
    exercise.answer.unlink()
    after = {file: file.read_bytes() for file in root.rglob("*") if file.suffix != ".pyc"
             and file.is_file()}  # fmt: skip
    assert after == {file: text for file, text in before.items() if file.suffix != ".pyc"}


def test_the_learners_own_files_may_change_meanwhile(exercise):
    watched = guard.Guard(exercise)
    exercise.answer.write_text("# saved in an editor")
    assert watched.put_back() == ""
    assert exercise.answer.read_text() == "# saved in an editor"


def test_a_grade_that_another_test_keeps_meanwhile_stays(exercise):
    watched = guard.Guard(exercise)
    progress.record(catalogue.find("transpose"), "right")
    assert watched.put_back() == ""
    assert progress.state(catalogue.find("transpose")) == "right"


CHANGES = {
    "a grade of its own": {**BEFORE, "guarded_map": "right"},
    "a lower grade": {**BEFORE, "relu": "but"},
    "a grade less": {"relu": "right"},
    "a list": [],
    "a grade that is none": {**BEFORE, "transpose": ["right"]},
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_no_other_test_writes_is_put_back(change, exercise):
    watched = guard.Guard(exercise)
    file = exercise.folder.parent.parent / progress.FILE
    text = file.read_text()
    file.write_text(json.dumps(CHANGES[change], indent=2, sort_keys=True) + "\n")
    assert ".progress.json" in watched.put_back()
    assert file.read_text() == text
