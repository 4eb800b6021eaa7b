"""Files that an answer overwrites are detected and restored."""

import shutil

import pytest

from gpukit.course import catalogue, grade, guard, progress
from tests.course.maps import RIGHT

pytestmark = pytest.mark.usefixtures("warm")
BEFORE = {"block_sum": "but", "relu": "right"}


@pytest.fixture
def exercise(tmp_path, monkeypatch):
    """Return an exercise in a temporary folder with some solved exercises."""
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
    "guarded_map/solution.py": "os.rename('solution.py', 'x'); os.remove('x')",
    "guarded_map/starter.py": "os.system('echo > starter.py')",
    "guarded_map/task.md": "os.fork() or Path('task.md').write_text(''); time.sleep(0.2)",
    "03_memory/transpose/task.md": "Path('../../03_memory/transpose/task.md').write_text('')",
    "03_memory/coalesce_it/cases.py": "shutil.rmtree('../../03_memory/coalesce_it')",
    "04_reduction/block_sum/cases.py": "os.rename('../../04_reduction/block_sum', '../../../x')",
    ".progress.json": "Path('../../.progress.json').write_text('{}')",
}


@pytest.mark.parametrize("named", ABOVE)
@pytest.mark.costly
def test_files_overwritten_by_an_answer_are_named_and_restored(named, exercise):
    root = exercise.folder.parent.parent
    before = {file: file.read_bytes() for file in root.rglob("*") if file.is_file()}
    head = "import os, shutil, time\nfrom pathlib import Path\nos.chdir(Path(__file__).parent)\n"
    exercise.answer.write_text(f"{head}{ABOVE[named]}\n{RIGHT}")
    report = grade.run(exercise, exercise.answer)
    assert report.status == "error"
    assert report.why.startswith("Your file changed ")
    assert named in report.why
    assert "That change was undone." in report.why
    exercise.answer.unlink()
    after = {
        file: file.read_bytes()
        for file in root.rglob("*")
        if file.suffix != ".pyc" and file.is_file()
    }
    assert after == {file: text for file, text in before.items() if file.suffix != ".pyc"}


def test_the_learners_own_files_may_change_during_grading(exercise):
    watched = guard.Guard(exercise)
    exercise.answer.write_text("# saved in an editor")
    assert watched.put_back() == ""
    assert exercise.answer.read_text() == "# saved in an editor"


def test_a_grade_saved_concurrently_is_preserved(exercise):
    watched = guard.Guard(exercise)
    progress.record(catalogue.find("transpose"), "right")
    assert watched.put_back() == ""
    assert progress.state(catalogue.find("transpose")) == "right"


def test_exercises_edited_during_grading_are_not_reverted(exercise):
    cases, new = exercise.folder / "cases.py", exercise.folder / "driver.py"
    edited = cases.read_text() + "# edited\n"

    def edit(row):
        cases.write_text(edited)
        new.write_text("# new\n")

    exercise.answer.write_text(f"{RIGHT}")
    report = grade.run(exercise, exercise.answer, edit)
    assert (report.status, cases.read_text(), new.read_text()) == ("right", edited, "# new\n")
