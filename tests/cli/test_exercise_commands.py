"""`gpukit list`, `test`, `hint` and `reset`."""

import json

from gpukit import cli
from gpukit.course import catalogue, progress


def answer(shelf):
    """Copy the model solution to the path of the learner's answer."""
    folder = shelf / "01_threads_blocks_grid" / "guarded_map"
    (folder / "answer.py").write_text((folder / "solution.py").read_text() + "# mine\n")
    return folder / "answer.py"


def test_list_shows_every_exercise_and_the_next(shelf, capsys):
    assert cli.main(["list"]) == 0
    words = capsys.readouterr().out
    assert all(name in words for name in ("guarded_map", "block_sum", "tiled_matmul"))
    assert "Next: gpukit test brighten" in words


def test_the_points_that_list_counts_have_separators(shelf, capsys):
    cli.main(["list"])
    every = sum(exercise.points for exercise in catalogue.every())
    assert every > 1000
    assert f"0 of {every:,} points." in capsys.readouterr().out


def listed(capsys):
    """Return the learner's status in each exercise."""
    assert cli.main(["list", "--json"]) == 0
    return {found["name"]: found["state"] for found in json.loads(capsys.readouterr().out)}


def test_list_json_contains_every_exercise(shelf, capsys):
    assert listed(capsys)["guarded_map"] == "new"


def test_the_first_test_creates_the_answer_file(shelf, capsys):
    assert cli.main(["test", "guarded_map"]) == 1
    words = capsys.readouterr().out
    assert "Created your file" in words
    folder = shelf / "01_threads_blocks_grid" / "guarded_map"
    assert (folder / "answer.py").read_text() == (folder / "starter.py").read_text()


def test_an_untouched_file_is_not_attempted(shelf, capsys):
    cli.main(["test", "guarded_map"])
    assert cli.main(["test", "guarded_map"]) == 1
    assert "Not attempted yet" in capsys.readouterr().out


def test_a_right_answer_exits_with_0_and_is_recorded(shelf, capsys):
    answer(shelf)
    assert cli.main(["test", "guarded_map"]) == 0
    assert "Right: 10 of 10 points." in capsys.readouterr().out
    assert listed(capsys)["guarded_map"] == "right"


def test_a_wrong_answer_exits_with_1_and_points_to_a_hint(shelf, capsys):
    file = answer(shelf)
    file.write_text(file.read_text().replace("np.float32(32)", "np.float32(23)"))
    assert cli.main(["test", "guarded_map"]) == 1
    words = capsys.readouterr().out
    assert "Smallest failing case: celsius (1,) float32" in words
    assert "expected" in words
    assert "Stuck? gpukit hint guarded_map" in words


def test_another_file_may_be_tested_and_is_not_recorded(shelf, capsys):
    solution = shelf / "01_threads_blocks_grid" / "guarded_map" / "solution.py"
    assert cli.main(["test", "guarded_map", "--file", str(solution)]) == 0
    capsys.readouterr()
    assert listed(capsys)["guarded_map"] == "new"


def test_test_json_contains_every_case(shelf, capsys):
    answer(shelf)
    assert cli.main(["test", "guarded_map", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["passed"] is True
    assert {row["status"] for row in data["rows"]} == {"right"}
    assert data["points"] == 10


def test_hint_shows_one_hint_and_how_to_get_the_next(shelf, capsys):
    assert cli.main(["hint", "block_sum"]) == 0
    words = capsys.readouterr().out
    assert words.startswith("Hint 1 of 3")
    assert "Next hint: gpukit hint block_sum\n" in words


def hints(exercise, capsys):
    """Request four hints; return the numbers of those shown."""
    shown = []
    for _ in range(4):
        cli.main(["hint", exercise])
        shown.append(capsys.readouterr().out.splitlines()[0].replace(" of 3", ""))
    return shown


def test_hint_advances_to_the_next_and_stops_at_the_last(shelf, capsys):
    assert hints("block_sum", capsys) == ["Hint 1", "Hint 2", "Hint 3", "Hint 3"]


def test_hint_starts_with_the_one_on_the_last_failure(shelf, capsys):
    file = answer(shelf)
    file.write_text(file.read_text().replace("i < celsius", "i <= celsius"))
    cli.main(["test", "guarded_map"])
    capsys.readouterr()
    first = "Hint 2, which fits your last result"
    assert hints("guarded_map", capsys) == [first, "Hint 1, which was skipped", "Hint 3", "Hint 3"]


def test_hints_that_go_back_after_a_requested_one_say_so(shelf, capsys):
    cli.main(["hint", "block_sum", "3"])
    assert capsys.readouterr().out.startswith("Hint 3 of 3\n")
    back = [f"Hint {number}, which was skipped" for number in (1, 2)]
    assert hints("block_sum", capsys) == [*back, "Hint 3", "Hint 3"]


def test_hints_start_again_after_a_reset(shelf, capsys):
    cli.main(["hint", "block_sum", "2"])
    cli.main(["reset", "block_sum"])
    capsys.readouterr()
    cli.main(["hint", "block_sum"])
    assert capsys.readouterr().out.startswith("Hint 1")


def test_rows_of_many_words_fit_80_columns(shelf, capsys, monkeypatch):
    from gpukit.course import grade

    words = "active threads per warp access to x: 1.25, required: at least 16"

    def run(exercise, file, watch, notice):
        watch(grade.Row(words, "but"))
        return grade.Report(exercise.name, file, "wrong")

    monkeypatch.setattr(grade, "run", run)
    monkeypatch.chdir(answer(shelf).parent)
    monkeypatch.setenv("COLUMNS", "80")
    cli.main(["test", "guarded_map"])
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert words in " ".join(" ".join(lines).split())


def test_the_last_hint_does_not_announce_another(shelf, capsys):
    cli.main(["hint", "block_sum", "3"])
    assert "Next hint" not in capsys.readouterr().out


def test_reset_restores_the_starter_and_keeps_the_old_file(shelf, capsys):
    file = answer(shelf)
    mine = file.read_text()
    assert cli.main(["reset", "guarded_map"]) == 0
    assert file.read_text() == file.with_name("starter.py").read_text()
    assert file.with_name("answer.old1.py").read_text() == mine
    assert "answer.old1.py" in capsys.readouterr().out


def test_reset_keeps_the_best_grade_and_says_so(shelf, capsys):
    exercise = catalogue.find("guarded_map")
    progress.record(exercise, "but")
    assert cli.main(["reset", "guarded_map"]) == 0
    assert "Your 5 points stay." in capsys.readouterr().out
    assert progress.state(exercise) == "but"


def test_reset_does_not_mention_points_where_there_are_none(shelf, capsys):
    cli.main(["reset", "guarded_map"])
    assert "points" not in capsys.readouterr().out


def test_commands_that_write_files_break_their_lines_between_words(shelf, capsys, monkeypatch):
    monkeypatch.chdir(shelf.parent)
    monkeypatch.setenv("COLUMNS", "80")
    name = max((e.name for e in catalogue.every()), key=len)
    cli.main(["test", name])
    exercise = catalogue.find(name)
    exercise.answer.write_text("# mine\n")
    cli.main(["reset", name])
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if len(line) > 80] == []
    assert sum("answer.py" in line for line in lines) == 2
