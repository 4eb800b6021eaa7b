"""Which answers are similar, and how often independent ones are."""

import ast
import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpukit.classroom import new, similarity
from gpukit.course import catalogue, edits
from tests.classroom import courses
from tests.classroom.classes import graded, report
from tests.exercises import answers

# Two answers to lstm_cell in tests/data that are edits of each other, not of the solution.
DEPENDENT = {"the gates meet in shared memory", "the gates meet in shared memory without a barrier"}
# An answer to block_sum that nobody else writes like this.
UNUSUAL = """
from gpukit import cuda


@cuda.jit
def block_sum_kernel(x, out):
    lane = cuda.threadIdx.x % 32
    total = 0.0
    for k in range(cuda.threadIdx.x, x.size, cuda.blockDim.x):
        if k % 2 == 0:
            total = total + x[k] * 0.5
        else:
            total = total - x[k] * 0.25
    partner = lane ^ 16
    while partner > 0:
        total += cuda.shfl_xor_sync(0xFFFFFFFF, total, partner)
        partner //= 3
    if lane == 7 and cuda.blockIdx.x >= 2:
        cuda.atomic.max(out, cuda.gridDim.x - cuda.blockIdx.x, total * total)
"""


def of(student, source, entry="block_sum_kernel", exercise="block_sum", **more):
    prints = similarity.fingerprint(source, entry), similarity.shingles(source, entry)
    return report(student, exercise, fingerprint=prints[0], shingles=prints[1], **more)


def groups(*made):
    return similarity.groups(graded(*made), similarity.known)


def own(exercise, source, known):
    return set(similarity.shingles(source, exercise.entry)) - known


def pairs():
    """Yield pairs of answers to one exercise in `tests/data`, without what is no evidence."""
    for exercise in catalogue.every():
        known = similarity.known(exercise.name)
        texts = [*answers.right(exercise), *answers.wrong(exercise)]
        found = [(one.name, own(exercise, one.text, known)) for one in texts]
        yield from itertools.combinations(found, 2)


@pytest.mark.slow
def test_no_two_independent_answers_are_evidence():
    found = [(one, other) for one, other in pairs() if similarity.is_evidence(one[1], other[1])]
    assert [{one[0], other[0]} for one, other in found] == [DEPENDENT]


def test_the_most_that_two_independent_answers_had_in_common_is_no_evidence():
    """Two authors who did not know of each other wrote this wrong answer to constant_memory."""
    solution = catalogue.find("constant_memory").solution.read_text(encoding="utf-8")
    body = """
        coefficients = cuda.const.array_like(COEFFICIENTS)
        i = cuda.grid(1)
        if i < x.size:
            tone = x[i]
            acc = coefficients[0]
            for k in range(1, 6):
                acc = acc * tone + coefficients[k]
            out[i] = acc
    """
    first = edits.with_body(solution, "tone_curve_kernel", body)
    second = first.replace("tone", "value").replace("value_curve", "tone_curve")
    made = [
        of(s, text, "tone_curve_kernel", "constant_memory")
        for s, text in zip("ab", (first, second), strict=True)
    ]
    assert made[0]["fingerprint"] == made[1]["fingerprint"]
    assert groups(*made) == []


def test_the_same_answer_under_other_names_is_found():
    other = UNUSUAL.replace("total", "s").replace("partner", "p").replace("lane", "l")
    (group,) = groups(of("a", UNUSUAL), of("b", other), of("c", "def block_sum_kernel(): pass"))
    assert group == similarity.Group("block_sum", ("a", "b"), 1.0)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("total * total", "total"),
        ("    partner = lane ^ 16\n", "    partner = lane ^ 16\n    total += 1\n"),
        ("        partner //= 3", "        extra = partner\n        partner = extra // 3"),
        ("0.25", "0.5"),
    ],
)
def test_an_answer_with_one_line_changed_is_found(old, new):
    (group,) = groups(of("a", UNUSUAL), of("b", UNUSUAL.replace(old, new)))
    assert group.students == ("a", "b")
    assert similarity.SIMILARITY <= group.similarity < 1


@pytest.mark.parametrize("name", ["block_sum", "zip_add", "tiled_matmul"])
def test_the_model_answer_from_two_students_is_no_evidence(name):
    exercise = catalogue.find(name)
    for file in (exercise.solution, exercise.starter):
        source = file.read_text(encoding="utf-8")
        assert groups(*(of(s, source, exercise.entry, name) for s in "abc")) == []


def test_a_short_answer_from_two_students_is_no_evidence():
    source = (
        "from gpukit import cuda\ndef zip_add_kernel(a, b, o):\n  o[cuda.grid(1)] = a[0] + b[1]"
    )
    assert groups(*(of(s, source, "zip_add_kernel", "zip_add") for s in "abc")) == []


def test_answers_are_joined_over_others():
    chain = [UNUSUAL, UNUSUAL.replace("0.25", "0.125"), UNUSUAL.replace("0.25", "0.125 + y")]
    chain.append(chain[-1].replace("lane == 7", "lane == 8 + z"))
    (group,) = groups(*(of(str(k), source) for k, source in enumerate(chain)))
    assert group.students == ("0", "1", "2", "3")


def test_reports_without_shingles_are_not_compared():
    assert groups(report("a", fingerprint="0" * 16), report("b", fingerprint="0" * 16)) == []


def test_an_exercise_that_is_not_found_is_one_that_cannot_be_compared():
    assert similarity.known("no_such_exercise") is None
    found = groups(*(of(s, UNUSUAL, exercise="no_such_exercise") for s in "ab"))
    assert found == [similarity.Group("no_such_exercise", (), 0.0)]


def test_one_answer_needs_no_comparison():
    assert groups(of("a", UNUSUAL, exercise="no_such_exercise")) == []


def test_exercises_of_the_book_are_known_in_a_course(tmp_path, monkeypatch):
    here = similarity.known("block_sum")
    courses.begin(tmp_path, monkeypatch)
    assert similarity.known("block_sum") == here


def test_what_either_exercise_of_a_name_contains_is_known(tmp_path, monkeypatch):
    book = similarity.known("zip_add")
    courses.begin(tmp_path, monkeypatch)
    own = new.make("02_own/zip_add")
    mine = set(similarity.shingles(own.solution.read_text(encoding="utf-8"), own.entry))
    assert mine - book
    assert similarity.known("zip_add") >= book | mine


def test_the_lesson_of_an_exercise_is_known():
    lesson = catalogue.root().parent / "notebooks" / "04_reduction.ipynb"
    own = similarity._of_lesson(lesson)
    assert len(own) > 500
    assert own <= similarity.known("block_sum")
    assert similarity._of_lesson(lesson.with_name("none.ipynb")) == set()


SETS = st.sets(st.sampled_from("abcdefgh"))


@given(SETS, SETS)
def test_the_jaccard_index_is_symmetric_and_between_0_and_1(one, other):
    assert 0 <= similarity.jaccard(one, other) == similarity.jaccard(other, one) <= 1
    assert similarity.jaccard(one, one) == (1 if one else 0)


def test_shingles_of_a_very_long_answer_are_a_sample():
    body = "".join(f"    x[{k}] = y[{k + 1}]\n" for k in range(2000))
    found = similarity.shingles(f"def k(x, y):\n{body}", "k")
    assert len(found) == similarity.MOST
    assert found == sorted(found)


def disguised(source, entry, rng):
    """Return an answer with one statement inserted, deleted, doubled or with another number."""
    tree = ast.parse(source)
    (function,) = (node for node in tree.body if getattr(node, "name", "") == entry)
    bodies = [
        body
        for node in ast.walk(function)
        for field in ("body", "orelse")
        if isinstance(body := getattr(node, field, None), list)
    ]
    body, at = rng.choice([(body, at) for body in bodies for at in range(len(body))])
    numbers = [
        node
        for node in ast.walk(body[at])
        if isinstance(node, ast.Constant) and type(node.value) in (int, float)
    ]
    how = rng.choice(["deleted", "doubled", "inserted", "changed"])
    if how == "deleted" and len(body) > 1:
        del body[at]
    elif how == "doubled":
        body.insert(at, body[at])
    elif how == "changed" and numbers:
        rng.choice(numbers).value = rng.randrange(1000)
    else:
        body.insert(at, ast.parse("extra = x + 1 if False else 3").body[0])
    return ast.unparse(tree)


@pytest.mark.slow
def test_most_long_answers_are_found_with_one_statement_changed():
    rng, found = random.Random(1), []
    for exercise in catalogue.every():
        known = similarity.known(exercise.name)
        for one in (*answers.right(exercise), *answers.wrong(exercise)):
            first = own(exercise, one.text, known)
            if len(first) >= similarity.SHARED:
                second = own(exercise, disguised(one.text, exercise.entry, rng), known)
                found.append(similarity.is_evidence(first, second))
    assert len(found) > 100
    assert sum(found) / len(found) > 0.7, f"{sum(found)} of {len(found)}"
