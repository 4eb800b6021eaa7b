"""What an explanation must not say: advice that would hide the mistake, a cause that is none."""

import pytest

from gpukit.course import catalogue, grade
from tests.exercises import forked


@pytest.fixture(scope="module", autouse=True)
def warm():
    """Start children from one warm process for the whole file."""
    with forked.warm():
        yield


def attempt(tmp_path, name, *changes, after=""):
    """Test the solution of an exercise, with pieces replaced and lines added at its end."""
    exercise = catalogue.find(name)
    text = exercise.solution.read_text(encoding="utf-8")
    for old, new in changes:
        assert text.count(old) == 1
        text = text.replace(old, new)
    file = tmp_path / "answer.py"
    file.write_text(text + after, encoding="utf-8")
    return grade.run(exercise, file)


@pytest.mark.slow
def test_an_output_made_of_what_stood_there_is_not_called_unwritten(tmp_path):
    step = "if x[i] > out[i]:\n            out[i] = max(x[i], np.float32(0))"
    report = attempt(tmp_path, "relu", ("out[i] = max(x[i], np.float32(0))", step))
    assert report.status == "wrong"
    assert "What is stored in out is made of what stood there before" in report.why
    assert "never written" not in report.why


def test_an_index_that_is_computed_wrongly_is_not_to_be_guarded(tmp_path):
    report = attempt(tmp_path, "im2col", ("tap // k_cols % k_rows", "tap // k_cols"))
    assert "how `row + m` is computed, which is" in report.why
    assert "another guard around the access would hide the mistake" in report.why


def test_an_index_of_another_axis_is_not_to_be_guarded(tmp_path):
    report = attempt(tmp_path, "colour_planes", ("= factor[plane]", "= factor[row]"))
    assert "fix the index if another variable counts along this axis" in report.why
    assert "guard the access" not in report.why


def test_where_an_infinity_begins_a_maximum_the_line_of_the_sum_is_no_cause(tmp_path):
    report = attempt(tmp_path, "online_softmax", ("= LOWEST,", "= np.float32(-math.inf),"))
    assert "-infinity minus -infinity is NaN" in report.why
    assert "out of finite numbers" not in report.why


@pytest.mark.slow
def test_a_test_below_the_kernel_may_call_the_book(tmp_path):
    own = "\nimport gpukit\n\nONES = np.ones(3, np.float32)\ngpukit.relu_grad(ONES, ONES)\n"
    report = attempt(tmp_path, "relu_backward", after=own)
    assert report.passed, report.why


def test_a_kernel_that_calls_a_function_of_the_book_is_not_the_learners(tmp_path):
    report = attempt(
        tmp_path,
        "relu_backward",
        ("from gpukit import cuda\n", "from gpukit import cuda\n" + OF_THE_BOOK),
        ("grad_out[i] if x[i] > 0 else np.float32(0)", "relu_grad_of(grad_out[i], x[i], x)"),
    )
    assert report.status == "missing"
    assert "gpukit.kernels, which is finished" in report.why


OF_THE_BOOK = "from gpukit.kernels.activations_grad import relu_grad_of\n"


@pytest.mark.slow
def test_warps_for_which_no_work_is_left_may_return_early(tmp_path):
    report = attempt(
        tmp_path,
        "detective_glimpse",
        ("range(tid, k.shape[0], BLOCK)", "range(tid, row + 1, BLOCK)"),
        ("    high = np.float32(-math.inf)\n", LEAVE),
        ("range(k.shape[0]):\n        high", "range(row + 1):\n        high"),
        ("range(k.shape[0]):\n            weight", "range(row + 1):\n            weight"),
    )
    assert report.passed, report.why


LEAVE = """    if tid >= v.shape[1]:
        return
    high = np.float32(-math.inf)
"""
