"""Each proof finds what it is about, in an exercise that works but for one thing."""

from dataclasses import replace

import pytest

from gpukit.classroom import new, proofs, release
from gpukit.classroom.proofs import grades, plain_python
from gpukit.course import catalogue
from tests.classroom import courses


@pytest.fixture
def made(tmp_path, monkeypatch):
    """Make an exercise that works."""
    return courses.begin(tmp_path, monkeypatch)


def problems(exercise):
    """Return all problems, by the proof that finds them."""
    return {proved.says: proved.problems for proved in proofs.run(exercise) if proved.problems}


# What is changed, the proof that finds it, and part of what it says.
READ = {
    "no entry in the starter": (
        ("starter.py", "def scale_kernel", "def scaled"),
        "starter and solution define the same",
        "starter.py does not define scale_kernel",
    ),
    "other parameters": (
        ("starter.py", "(a, x, b, y)", "(a, b, x, y)"),
        "starter and solution define the same",
        "The starter defines scale_kernel(a, b, x, y), and the solution scale_kernel(a, x, b, y).",
    ),
    "no Python": (
        ("solution.py", "if i < y.size:", "if i < y.size"),
        "starter and solution define the same",
        "solution.py is not valid Python: expected ':'",
    ),
    "a case that raises": (
        ("cases.py", "product = a.astype", "product = a.as_type"),
        "all cases can be made",
        "the cases of scale cannot be created: AttributeError",
    ),
    "an output that is no argument": (
        ("cases.py", 'expected={"y"', 'expected={"out"'),
        "all cases can be made",
        "out is expected, and is no array among the arguments",
    ),
    "an output of another type": (
        ("cases.py", "(product + b).astype(np.float32)", "product + b"),
        "all cases can be made",
        "y is (64,) float32, and expected are (64,) float64",
    ),
    "a hidden case that is not there": (
        ("exercise.toml", '"a longer prime"', '"a short prime"'),
        "all cases can be made",
        "SHAPES has no case 'a short prime', which is to be hidden",
    ),
    "a task without the command": (
        ("task.md", "`gpukit test scale`", "`gpukit test`"),
        "the task says what to write",
        "does not contain `gpukit test scale`",
    ),
    "no points": (
        ("exercise.toml", "points = 10", "points = 0"),
        "points, limits and tolerance are valid",
        "points is 0, expected at least 1",
    ),
    "no limit": (
        ("exercise.toml", "seconds = 20", "seconds = nan"),
        "points, limits and tolerance are valid",
        "seconds is nan, expected at least 1",
    ),
    "an output that starts at random": (
        ("cases.py", "poison(n)}", "a + b}"),
        "outputs start unwritten",
        "Case 'exactly one block': the output y is not made by `poison`",
    ),
    "an input that starts unwritten": (
        ("cases.py", '"b": b,', '"b": poison(n),'),
        "outputs start unwritten",
        "b is made by `poison`, but not in `expected`",
    ),
    "inputs by chance": (
        ("cases.py", "a, x, b = rng.normal", "a, x, b = np.random.default_rng().normal"),
        "cases follow from the seed",
        "Draw inputs from `rng` only",
    ),
    "a hint on nothing": (
        ("exercise.toml", "global-race = 1", "gobal-race = 1"),
        "hints are valid",
        "gobal-race is neither a kind of finding nor the measure of a contract",
    ),
    "a hint that is not there": (
        ("exercise.toml", "global-race = 1", "global-race = 4"),
        "hints are valid",
        "global-race refers to hint 4 of 3",
    ),
    "a contract on no argument": (
        ("exercise.toml", 'array = "y"', 'array = "out"'),
        "contracts are valid",
        "out is none of the arguments a, x, b, y",
    ),
    "a contract without a reason": (
        ("exercise.toml", 'why = "Each thread reads one element of x."', ""),
        "contracts are valid",
        "it has no `why`",
    ),
    "a contract of host code": (
        ("exercise.toml", 'measure = "writes"\narray = "y"\nper = "element"', 'measure = "copies"'),
        "contracts are valid",
        "copies is not counted in an exercise on a kernel",
    ),
    "a short sentence": (
        ("mistakes.toml", "These are the products of a and x: b has no effect.", "Not right."),
        "known mistakes have sentences",
        "'Not right.' has fewer than 5 words",
    ),
    "an edit of another solution": (
        ("mistakes.toml", "-        y[i] = a[i] * x[i] + b[i]", "-        y[i] = a[i]"),
        "known mistakes have sentences",
        "expected these lines once, got them 0 times",
    ),
    "a line of the solution in a sentence": (
        ("mistakes.toml", "b has no effect.", "write if i < y.size: before it."),
        "no sentence shows the solution",
        "shows `if i < y.size:` of the solution",
    ),
    "a mistake that is none": (
        (
            "mistakes.toml",
            "-        y[i] = a[i] * x[i] + b[i]\n+        y[i] = a[i] * x[i]",
            "-    i = cuda.grid(1)\n+    i = cuda.gird(1)",
        ),
        "known mistakes differ",
        "has no results in plain Python",
    ),
}


@pytest.mark.parametrize("name", READ)
def test_what_is_wrong_with_the_files_is_found_before_anything_is_graded(name, made, monkeypatch):
    monkeypatch.setattr(grades.grade, "run", None)
    change, proof, words = READ[name]
    found = problems(courses.edit(made, *change))
    assert words in " ".join(found[proof])


SOLVED = """i = cuda.grid(1)
    if i < y.size:
        y[i] = a[i] * x[i] + b[i]"""
GRADED = {
    "a starter that is an answer": (
        ("starter.py", "# FILL ME IN (about 3 lines)", SOLVED),
        "the starter fails when it runs",
        "The starter is right in all cases: students have nothing to write",
    ),
    "a starter that cannot be loaded": (
        ("starter.py", "from gpukit import cuda", "from gpukit import cuda, cudda"),
        "the starter fails when it runs",
        "starter.py cannot be loaded. ImportError in line 3",
    ),
    "a detective whose starter is right": (
        ("exercise.toml", "points = 10", "points = 10\ndetective = true"),
        "the starter is not attempted",
        "The starter is graded 'untouched', expected 'wrong'",
    ),
    "a solution that is wrong": (
        ("cases.py", "(product + b)", "(product - b)"),
        "known mistakes can be tried",
        "the solution has other results",
    ),
    "a solution that breaks a contract": (
        ("exercise.toml", "at_most = 4.5", "at_most = 3.5"),
        "the solution is right",
        "The solution is graded 'but'. Almost right",
    ),
    "a hidden case that is wrong": (
        ("cases.py", "(product + b)", "(product + b + (n == 4099))"),
        "the solution is right",
        "The solution is graded 'wrong'",
    ),
    "a small shape that is wrong": (
        ("cases.py", "(product + b)", "(product + b + (n == 2))"),
        "the solution is right in small shapes",
        "The solution is graded 'wrong' with a (2,) float32",
    ),
    "inputs that are wrong": (
        ("cases.py", "(product + b)", "(product + b + (abs(a[:1].sum()) == abs(FIRST)))"),
        "the solution is right with other inputs",
        "The solution is graded 'wrong'",
    ),
    "a mistake that is right": (
        ("mistakes.toml", "+        y[i] = a[i] * x[i]", "+        y[i] = b[i] + a[i] * x[i]"),
        "known mistakes are explained",
        "b has no effect.' is graded 'right'",
    ),
}


@pytest.mark.answers
@pytest.mark.usefixtures("warm")
@pytest.mark.parametrize("name", GRADED)
def test_what_is_wrong_with_grades_is_found(name, made):
    change, proof, words = GRADED[name]
    other = replace(made, seed=7).case(made.shapes["exactly one block"]).args["a"][:1].sum()
    file, old, new = change
    exercise = courses.edit(made, file, old, new.replace("FIRST", repr(float(other))))
    assert words in " ".join(problems(exercise)[proof])


@pytest.mark.answers
@pytest.mark.usefixtures("warm")
def test_a_finding_may_explain_a_mistake_instead_of_its_sentence(made):
    mistake = "+        y[0] = a[i] * x[i]"
    exercise = courses.edit(made, "mistakes.toml", "+        y[i] = a[i] * x[i]", mistake)
    assert "known mistakes are explained" not in problems(exercise)


def test_two_mistakes_with_the_same_results_are_found(made):
    text = (made.folder / "mistakes.toml").read_text()
    again = text[text.index("[[mistake]]") :].replace("b has no effect", "b is not added")
    exercise = courses.edit(made, "mistakes.toml", "[[mistake]]", f"{again}\n[[mistake]]")
    (found,) = plain_python.mistakes_differ(exercise)
    assert "has the results of" in found


@pytest.mark.parametrize("name", catalogue.FILES[1:])
def test_a_missing_file_is_found(made, name):
    exercise = courses.edit(made, "task.md", "# Multiply", "# Multiply")
    (exercise.folder / name).unlink()
    assert problems(exercise) == {"all files are there": [f"There is no file {name}."]}


def test_a_students_copy_is_not_proved(made, tmp_path):
    release.release(tmp_path / "out", [made])
    copy = catalogue.read(tmp_path / "out" / "exercises" / "01_maps" / "scale")
    assert "This is a students' copy" in problems(copy)["all files are there"][0]


def test_a_proof_is_watched_as_it_ends(made, monkeypatch):
    exercise = courses.edit(made, "task.md", "`gpukit test scale`", "")
    watched = []
    assert proofs.run(exercise, watched.append) == watched


def test_host_code_is_read_as_well(made):
    copy = new.make("02_copies/mine", "loss_scaling")
    done = proofs.run(copy, stages=proofs.BEFORE_RUNNING)
    assert [problem for proved in done for problem in proved.problems] == []
