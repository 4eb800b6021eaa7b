"""`gpukit new` makes an exercise that works, in the course of whoever runs it."""

import pytest

from gpukit import errors, files
from gpukit.classroom import new, proofs, release
from gpukit.classroom.proofs import grades
from gpukit.course import catalogue, workbook
from tests.classroom import courses


@pytest.fixture
def made(tmp_path, monkeypatch):
    """Make a course, the current folder, with the exercise 01_maps/scale."""
    return courses.begin(tmp_path, monkeypatch)


def texts(exercise):
    return {file.name: file.read_text(encoding="utf-8") for file in exercise.folder.iterdir()}


def test_a_new_exercise_is_found_by_its_name(made, tmp_path):
    assert catalogue.find("scale").folder == tmp_path / "exercises" / "01_maps" / "scale"


def test_a_new_exercise_has_all_files(made):
    assert texts(made).keys() == {*catalogue.FILES}


def test_a_new_exercise_has_its_own_name_everywhere(made):
    assert made.entry == "scale_kernel"
    assert [name for name, text in texts(made).items() if "skeleton" in text] == []


@pytest.mark.answers
def test_a_new_exercise_holds_all_proofs(made):
    done = proofs.run(made)
    assert [problem for proved in done for problem in proved.problems] == []
    assert len(done) == sum(map(len, proofs.STAGES))


def test_a_new_exercise_has_a_hidden_case(made):
    assert made.with_hidden_cases.shapes.keys() - made.shapes.keys() == {"a longer prime"}


# ---- a copy of another exercise -----------------------------------------------------------------


@pytest.mark.slow
def test_copies_of_all_exercises_of_the_book_fit_their_new_names(made):
    wrong = []
    for exercise in catalogue.of(catalogue.book()):
        copy = new.make(f"02_copies/my_{exercise.name}", exercise.name)
        done = proofs.run(copy, stages=proofs.BEFORE_RUNNING)
        wrong += [f"{copy.name}: {problem}" for proved in done for problem in proved.problems]
    assert wrong == []


@pytest.mark.answers
@pytest.mark.parametrize("name", ["zip_add", "loss_scaling"])
def test_the_solution_of_a_copy_is_right(made, name):
    copy = new.make("02_copies/mine", name)
    assert list(grades.solution_is_right(copy)) == []


def test_a_copy_has_the_driver_of_host_code(made):
    assert new.make("02_copies/mine", "loss_scaling").driver is not None


def test_a_kernel_that_has_another_name_than_its_exercise_keeps_it(made):
    assert new.make("02_copies/mine", "guarded_map").entry == "fahrenheit_kernel"


def test_an_exercise_of_the_course_is_copied_before_one_of_the_book(made):
    own = new.make("02_copies/zip_add", "scale")
    assert new.make("02_copies/mine", "zip_add").title == own.title


def test_an_unknown_exercise_to_copy_is_refused_with_a_suggestion(made):
    with pytest.raises(catalogue.ExerciseError, match=r"got 'zip_ad'\. Did you mean zip_add"):
        new.make("02_copies/mine", "zip_ad")


def test_a_students_copy_is_not_copied(made, tmp_path, monkeypatch):
    release.release(tmp_path / "out", [made])
    monkeypatch.chdir(tmp_path / "out")
    with pytest.raises(catalogue.ExerciseError, match="expected an exercise with a solution"):
        new.make("02_copies/mine", "scale")


# ---- where --------------------------------------------------------------------------------------


def test_the_course_around_the_current_folder_gets_the_exercise(made, tmp_path, monkeypatch):
    monkeypatch.chdir(made.folder)
    assert new.make("02_more/other").folder == tmp_path / "exercises" / "02_more" / "other"


def test_a_folder_that_is_named_gets_the_exercise(made, tmp_path):
    course = tmp_path / "another" / "course"
    assert new.make("02_more/other", folder=course).folder.parents[1] == course / "exercises"


def test_the_folder_of_exercises_in_the_environment_gets_the_exercise(made, tmp_path, monkeypatch):
    monkeypatch.setenv("GPUKIT_EXERCISES", str(tmp_path / "here"))
    assert new.make("02_more/other").folder == tmp_path / "here" / "02_more" / "other"
    assert catalogue.find("other").topic == "02_more"


@pytest.mark.parametrize("place", ["scale", "01/Scale", "01/a b", "a/b/c", "../x", "01/2x", "/x"])
def test_a_place_that_is_no_topic_and_name_is_refused(made, place):
    with pytest.raises(catalogue.ExerciseError, match="expected TOPIC/NAME, such as 01_maps/"):
        new.make(place)


def test_a_name_that_another_topic_has_is_refused(made):
    with pytest.raises(catalogue.ExerciseError, match="expected a new name, got scale"):
        new.make("02_more/scale")


def test_a_workbook_of_a_learner_is_refused(made, tmp_path, monkeypatch):
    folder = tmp_path / "book"
    folder.mkdir()
    (folder / workbook.MANIFEST).write_text("{}")
    with pytest.raises(catalogue.ExerciseError, match="is in a workbook for learners"):
        new.make("02_more/other", folder=folder)


def test_nothing_is_left_where_the_disk_is_full(made, tmp_path, monkeypatch):
    written = []

    def full(path, content, *rest, **named):
        written.append(path)
        path.write_text(content)
        if len(written) == 3:
            raise errors.OutputError("cannot write it: no space left on device.")

    monkeypatch.setattr(files, "write", full)
    with pytest.raises(errors.OutputError):
        new.make("02_more/other")
    assert len(written) == 3
    assert list((tmp_path / "exercises" / "02_more").iterdir()) == []
