"""`gpukit start FOLDER`: the contents of a workbook, and where answers are saved."""

import re
import shutil

import gpukit
from gpukit import cli
from gpukit.course import catalogue, progress, workbook
from tests.course.workbooks import files
from tests.notebooks import running


def test_a_workbook_contains_no_solutions_cases_or_hints(tmp_path):
    workbook.start(tmp_path / "mine", running.ROOT)
    names = {name.rpartition("/")[2] for name in files(tmp_path / "mine") if "exercises/" in name}
    assert names - {"answer.py", ".progress.json"} == {"README.md", "task.md", "starter.py"}


def test_a_workbook_contains_all_lessons_and_exercises(tmp_path):
    workbook.start(tmp_path / "mine", running.ROOT)
    tasks = sorted(p.parent.name for p in (tmp_path / "mine").glob("exercises/*/*/task.md"))
    assert tasks == sorted(exercise.name for exercise in catalogue.every())
    assert {p.name for p in (tmp_path / "mine" / "notebooks").iterdir()} == {
        "glossary.md",
        *(p.name for p in running.NOTEBOOKS),
    }


def test_links_in_a_workbook_resolve_to_files(tmp_path):
    workbook.start(tmp_path / "mine", running.ROOT)
    dead = []
    for path in [*(tmp_path / "mine").rglob("*.md"), *(tmp_path / "mine").rglob("*.ipynb")]:
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".ipynb":
            text = "\n".join(cell.source for cell in running.text_cells(running.read(path)))
        text = re.sub(r"`[^`\n]*`", "", text)
        links = [link for link in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in link]
        dead += [(path.name, link) for link in links if not (path.parent / link).exists()]
    assert dead == []


def test_the_folder_of_kernel_sources_does_not_shadow_the_package(book, fresh_python):
    done = fresh_python("-c", "import gpukit; print(gpukit.__file__)", folder=book)
    assert done.stdout.strip() == gpukit.__file__


def test_existing_answers_in_the_project_are_copied(project, tmp_path):
    answer = project / "exercises/01_threads_blocks_grid/brighten/answer.py"
    answer.write_text("# mine\n")
    changes = workbook.start(tmp_path / "mine", project)
    assert changes.answers == [answer.relative_to(project).as_posix()]
    assert (tmp_path / "mine" / changes.answers[0]).read_text() == "# mine\n"


def test_answers_are_saved_in_the_enclosing_workbook(book, monkeypatch):
    monkeypatch.chdir(book / "notebooks")
    exercise = catalogue.find("brighten")
    progress.record(exercise, "right")
    assert exercise.answer == book / "exercises/01_threads_blocks_grid/brighten/answer.py"
    assert (book / "exercises" / progress.FILE).exists()


def test_exercises_are_read_from_the_project_that_the_package_is_in(book, monkeypatch):
    monkeypatch.chdir(book)
    assert catalogue.find("brighten").folder.parents[2] == running.ROOT


def test_answers_in_the_project_are_saved_in_the_workbook_of_make_lab(project):
    workbook.start(project / workbook.USUAL, project)
    exercise = catalogue.find("brighten")
    assert exercise.place == project / "workbook/exercises/01_threads_blocks_grid/brighten"
    assert exercise.task == exercise.place / "task.md"


def test_the_first_test_in_a_workbook_creates_the_answer_there(book, monkeypatch, capsys):
    monkeypatch.chdir(book)
    shutil.rmtree(book / "exercises/01_threads_blocks_grid/brighten")
    assert cli.main(["test", "brighten"]) == 1
    assert (book / "exercises/01_threads_blocks_grid/brighten/answer.py").exists()


def test_the_current_exercise_follows_from_the_folder(book, monkeypatch):
    monkeypatch.chdir(book)
    exercise = catalogue.find("brighten")
    assert catalogue.worked_on_in(exercise.place) == exercise
    assert catalogue.worked_on_in(exercise.folder) == exercise
    assert catalogue.worked_on_in(book) is None
