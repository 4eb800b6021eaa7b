"""A run of many submissions: what is written, what is done again, what survives a kill."""

import json
import multiprocessing
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from gpukit.classroom import batch, intake, new, work
from gpukit.classroom.batch import RunError
from gpukit.classroom.intake import Submission
from gpukit.classroom.work import Task
from gpukit.course import catalogue
from tests.classroom import courses

ZIP_ADD = catalogue.find("zip_add")
RIGHT = ZIP_ADD.solution.read_bytes()
WRONG = RIGHT.replace(b"a[i] + b[i]", b"a[i] - b[i]")


def report(task, status="right"):
    """Make a report as `work.grade_one` does, without grading."""
    made = work.failed(task, "")
    return {**made, "status": status, "points": 10 if status == "right" else 0}


def submission(student, source=RIGHT):
    return Submission(student, "zip_add", f"{student}/zip_add.py", source)


def in_turn(statuses=()):
    """Return a function that grades in turn, and the tasks that it was given."""
    given, left = [], list(statuses)

    def mapped(tasks):
        for task in tasks:
            given.append(task)
            yield task, report(task, left.pop(0) if left else "right")

    return mapped, given


@pytest.fixture
def run(tmp_path):
    return batch.begin(tmp_path / "out", ("zip_add",), "bubblewrap", None)


def content(out):
    files = (file for file in out.rglob("*") if file.is_file())
    return {file.relative_to(out).as_posix(): file.read_bytes() for file in files}


def test_a_seed_is_drawn_once_for_all_runs_in_a_folder(tmp_path, run):
    again = batch.begin(tmp_path / "out", ("zip_add",), "bubblewrap", None)
    assert again.seed == run.seed
    assert batch.begin(tmp_path / "other", ("zip_add",), "none", None).seed != run.seed


def test_another_seed_in_the_same_folder_is_refused(tmp_path, run):
    with pytest.raises(RunError, match=r"--seed 1: .* has results with the seed"):
        batch.begin(tmp_path / "out", ("zip_add",), "bubblewrap", 1)


def test_a_folder_with_other_files_is_refused(tmp_path):
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(RunError, match="is not empty, and holds no results"):
        batch.begin(tmp_path, ("zip_add",), "none", None)


@pytest.mark.parametrize("text", ["{}", "[]", "x", '{"schema": "other", "seed": 1}'])
def test_a_damaged_record_of_a_run_is_refused(tmp_path, text):
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(RunError, match=r"run\.json: expected the record of a run"):
        batch.begin(tmp_path, ("zip_add",), "none", None)


def test_what_is_graded_is_not_graded_again(tmp_path, run):
    mapped, given = in_turn()
    handed_in = [submission("ann"), submission("bob")]
    assert batch.grade(tmp_path / "out", run, handed_in, mapped) == 2
    assert batch.grade(tmp_path / "out", run, handed_in, mapped) == 0
    assert [task.submission.student for task in given] == ["ann", "bob"]


def test_a_changed_file_is_graded_again(tmp_path, run):
    mapped, given = in_turn()
    batch.grade(tmp_path / "out", run, [submission("ann")], mapped)
    batch.grade(tmp_path / "out", run, [submission("ann", WRONG)], mapped)
    assert [task.submission.source for task in given] == [RIGHT, WRONG]


def test_a_changed_exercise_is_graded_again(tmp_path, run, monkeypatch):
    mapped, given = in_turn()
    batch.grade(tmp_path / "out", run, [submission("ann")], mapped)
    changed = tmp_path / "exercises" / "01_maps" / "zip_add"
    shutil.copytree(ZIP_ADD.folder, changed)
    with (changed / "cases.py").open("a") as file:
        file.write("# another bound\n")
    monkeypatch.setattr(work, "exercise_sha256", lambda _: catalogue.read(changed).sha256)
    assert batch.grade(tmp_path / "out", run, [submission("ann")], mapped) == 1
    assert len(given) == 2


def test_what_gpukit_itself_could_not_grade_is_tried_again_in_the_next_run(tmp_path, run):
    mapped, given = in_turn(["infra", "right"])
    for _ in range(2):
        batch.grade(tmp_path / "out", run, [submission("ann")], mapped)
    kept = json.loads(batch.report_file(tmp_path / "out", "ann", "zip_add").read_text())
    assert (len(given), kept["status"]) == (2, "right")


def written(out, student="ann"):
    return json.loads(batch.report_file(out, student, "zip_add").read_text())


def test_the_reason_why_a_file_is_not_graded_is_the_one_of_today(tmp_path, run):
    mapped, _ = in_turn()
    for problem in ("It is a link.", "It is too long.", ""):
        handed_in = replace(submission("ann", b""), problem=problem)
        batch.grade(tmp_path / "out", run, [handed_in], mapped)
        assert written(tmp_path / "out")["why"] == (problem or "zip_add.py is empty.")


def test_nothing_handed_in_is_not_looked_at_again(tmp_path, run):
    mapped, _ = in_turn()
    done = [
        batch.grade(tmp_path / "out", run, [Submission("ann", "zip_add")], mapped) for _ in range(2)
    ]
    assert done == [1, 0]


@pytest.mark.parametrize("damage", [{"points": 99}, {"rows": 1}, {"student": "bob"}])
def test_a_damaged_report_is_written_again(tmp_path, run, damage):
    mapped, _ = in_turn()
    batch.grade(tmp_path / "out", run, [submission("ann")], mapped)
    whole = written(tmp_path / "out")
    file = batch.report_file(tmp_path / "out", "ann", "zip_add")
    file.write_text(json.dumps({**whole, **damage}))
    batch.grade(tmp_path / "out", run, [submission("ann")], mapped)
    assert written(tmp_path / "out") == whole


def test_a_file_that_nests_too_deeply_is_no_report(tmp_path, run):
    file = batch.report_file(tmp_path / "out", "ann", "zip_add")
    file.parent.mkdir(parents=True)
    file.write_text("[" * 100_000)
    assert batch.grade(tmp_path / "out", run, [submission("ann")], in_turn()[0]) == 1


def test_an_answer_that_takes_too_long_is_tried_once_more_alone(tmp_path, run):
    mapped, given = in_turn(["timeout", "right", "timeout"])
    batch.grade(tmp_path / "out", run, [submission("ann"), submission("bob")], mapped)
    kept = json.loads(batch.report_file(tmp_path / "out", "ann", "zip_add").read_text())
    assert [task.submission.student for task in given] == ["ann", "bob", "ann"]
    assert kept["status"] == "timeout"


def test_progress_ends_with_all(tmp_path, run):
    mapped, _ = in_turn(["timeout"])
    told = []
    handed_in = [submission("ann"), submission("bob")]
    batch.grade(tmp_path / "out", run, handed_in, mapped, lambda *now: told.append(now))
    assert told == [(0, 2), (1, 2), (2, 2)]


def test_nothing_is_run_for_somebody_who_handed_in_nothing(tmp_path, run):
    mapped, given = in_turn()
    batch.grade(tmp_path / "out", run, [Submission("ann", "zip_add")], mapped)
    kept = json.loads(batch.report_file(tmp_path / "out", "ann", "zip_add").read_text())
    assert (given, kept["status"], kept["points"]) == ([], "absent", 0)


def test_the_same_task_gives_the_same_report(isolation):
    task = Task(submission("ann", WRONG), 99, isolation)
    one, two = work.grade_one(task), work.grade_one(task)
    assert one == two
    assert one["status"] == "wrong"


def test_other_seeds_draw_other_inputs():
    one, two = (replace(ZIP_ADD, seed=seed).case((64,)) for seed in (1, 2))
    assert (one.args["a"] != two.args["a"]).any()


def test_the_random_sizes_are_drawn_from_the_seed_of_the_task(isolation):
    reports = [work.grade_one(Task(submission("ann"), seed, isolation)) for seed in (1, 2, 3)]
    drawn = [row["sizes"] for found in reports for row in found["rows"] if "random" in row["name"]]
    assert len(drawn) == 3
    assert len({*map(str, drawn)}) > 1


def test_a_kernel_may_not_use_the_functions_of_the_book(isolation):
    text = RIGHT.decode().replace("import cuda\n", "import cuda, relu\n")
    source = text.replace("a[i] + b[i]", "a[i] + b[i] if relu else a[i]").encode()
    assert work.grade_one(Task(submission("ann", source), 1, isolation))["status"] == "rejected"


def test_a_fault_of_the_grader_is_no_grade(monkeypatch, isolation):
    def broken(*_, **__):
        raise ZeroDivisionError("here")

    monkeypatch.setattr(work.grade, "run", broken)
    found = work.grade_one(Task(submission("ann"), 1, isolation))
    assert (found["status"], found["points"]) == ("infra", None)
    assert found["why"] == "gpukit could not grade this: ZeroDivisionError: here"


def without_starter(made):
    (made.folder / "starter.py").unlink()
    return made


def with_broken_cases(made):
    return courses.edit(made, "cases.py", "grid=max(", "grid=max(1 // 0, ")


@pytest.mark.parametrize("damaged", [without_starter, with_broken_cases])
def test_a_fault_of_the_exercise_is_said_to_its_teacher(tmp_path, monkeypatch, isolation, damaged):
    made = courses.begin(tmp_path, monkeypatch)
    source, exercise = made.solution.read_bytes(), damaged(made)
    handed_in = Submission("ann", "scale", "ann/scale.py", source, topic=exercise.topic)
    found = work.grade_one(Task(handed_in, 1, isolation))
    say = f"The exercise is at fault, not this answer. Run: gpukit verify {exercise.topic}/scale"
    assert (found["status"], found["points"]) == ("infra", None)
    assert found["why"].startswith(f"{say}\n\n{exercise.folder}/")
    assert "git checkout" not in found["why"]
    assert len(say) < 120  # as much as class.md shows


def test_an_answer_is_graded_with_the_exercise_that_was_named(tmp_path, monkeypatch):
    courses.begin(tmp_path, monkeypatch)
    new.make("02_own/zip_add")  # the course comes before the book
    handed_in = Submission("ann", "zip_add", topic=ZIP_ADD.topic)
    found = work.grade_one(Task(handed_in, 1, "none"))
    assert found["exercise_sha256"] == ZIP_ADD.sha256


def test_a_file_whose_suffix_is_in_capitals_keeps_its_name(isolation):
    handed_in = Submission("ann", "zip_add", "ann/zip_add.PY", b"def")
    found = work.grade_one(Task(handed_in, 1, isolation))
    assert found["why"].startswith("zip_add.PY, line 1: ")


def alive():
    """Return the processes that have not ended, as ids and times of start."""
    return {each for each, _ in processes()}


def processes():
    """Yield each process, as its id and its time of start, and the id of its parent."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            if fields[0] != "Z":
                yield (int(stat.parent.name), fields[19]), int(fields[1])


def below(pid):
    """Return the processes that a process has started, and those that they have."""
    children = {each for each, parent in processes() if parent == pid}
    return children.union(*(below(child) for child, _ in children))


@pytest.mark.slow
def test_a_killed_run_goes_on_and_ends_with_the_same_files(tmp_path, isolation):
    for number in range(6):
        place = tmp_path / "class" / f"student{number}" / "zip_add.py"
        place.parent.mkdir(parents=True)
        place.write_bytes((RIGHT if number % 2 else WRONG) + b"# %d\n" % number)
    line = [sys.executable, "-m", "gpukit", "grade", str(tmp_path / "class"), "--seed", "5"]
    line += ["--isolation", isolation, "--jobs", "2", "--out"]

    def grade(name, killed):
        out = tmp_path / name
        going = subprocess.Popen([*line, str(out)], stdout=subprocess.DEVNULL)
        while killed and len(list(out.glob("reports/*/*.json"))) < killed:
            assert going.poll() is None
            time.sleep(0.05)
        if killed:
            started = below(going.pid)
            going.send_signal(signal.SIGKILL)
            until = time.monotonic() + 60
            while time.monotonic() < until and started & alive():
                time.sleep(0.1)
            assert not started & alive()
        going.wait(120)
        return content(out)

    once = grade("once", 0)
    for killed in (1, 3, 5):
        grade("again", killed)
    assert grade("again", 0) == once


@pytest.mark.slow
def test_a_worker_that_dies_loses_no_submission(isolation):
    handed_in = [submission(name, RIGHT + name.encode().join([b"# ", b"\n"])) for name in "abcd"]
    tasks = [Task(one, 7, isolation) for one in handed_in]
    with batch.processes(2) as mapped:
        found = {}
        for task, made in mapped(tasks):
            if not found:  # end one of the two workers, as the kernel does without memory
                multiprocessing.active_children()[0].kill()
            found[task.submission.student] = made["status"]
    assert found == dict.fromkeys("abcd", "right")


def test_a_report_that_cannot_be_made_stops_no_other(isolation):
    broken = Task(submission("ann"), None, isolation)  # no seed: what grades it raises TypeError
    tasks = [broken, Task(replace(submission("bob"), source=b"", problem="no file"), 1, isolation)]
    with batch.processes(1) as mapped:
        found = {task.submission.student: made["status"] for task, made in mapped(tasks)}
    assert found == {"ann": "infra", "bob": "rejected"}


def test_each_student_has_a_report_for_each_exercise(tmp_path, run, isolation):
    place = tmp_path / "class"
    for student in ("ann", "bob"):
        (place / student).mkdir(parents=True)
    (place / "ann" / "zip_add.py").write_bytes(RIGHT)
    (place / "bob" / "relu.py").write_bytes(catalogue.find("relu").solution.read_bytes())
    handed_in = intake.collect(place, catalogue.every())
    mapped, _ = in_turn()
    batch.grade(tmp_path / "out", run, handed_in, mapped)
    names = {f.relative_to(tmp_path / "out").as_posix() for f in (tmp_path / "out").rglob("*.json")}
    expected = {f"reports/{s}/{e}.json" for s in ("ann", "bob") for e in ("zip_add", "relu")}
    assert names == {*expected, "run.json"}
