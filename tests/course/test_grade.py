"""Classic mistakes, each as a learner writes it, and the words that must come back."""

import dataclasses
import textwrap

import pytest

from gpukit import target
from gpukit.course import catalogue, grade

pytestmark = pytest.mark.usefixtures("warm")
HEAD = "import numpy as np\nfrom gpukit import cuda\n\n"
MAP = HEAD + "@cuda.jit\ndef fahrenheit_kernel(celsius, fahrenheit):\n"
GOOD_MAP = """
    i = cuda.grid(1)
    if i < celsius.shape[0]:
        fahrenheit[i] = celsius[i] * np.float32(1.8) + np.float32(32)
"""
TREE = HEAD + "BLOCK = 128\n\n@cuda.jit\ndef block_sum_kernel(x, partials):\n"


def attempt(tmp_path, name, text, *, seconds=None):
    """Test `text` as the answer to the exercise called `name`."""
    file = tmp_path / "answer.py"
    file.write_text(text, encoding="utf-8")
    exercise = catalogue.find(name)
    if seconds is not None:
        exercise = dataclasses.replace(exercise, seconds=seconds)
    return grade.run(exercise, file)


def on_map(tmp_path, body, **rest):
    return attempt(
        tmp_path,
        "guarded_map",
        MAP + textwrap.indent(textwrap.dedent(body).strip("\n"), "    "),
        **rest,
    )


def on_sum(tmp_path, body):
    return attempt(
        tmp_path, "block_sum", TREE + textwrap.indent(textwrap.dedent(body).strip("\n"), "    ")
    )


def why(report, name):
    """Return the explanation of the case called `name`."""
    return {row.name: row.why for row in report.rows}[name]


@pytest.mark.slow
def test_the_right_answer_passes_every_case(tmp_path):
    report = attempt(tmp_path, "guarded_map", MAP + GOOD_MAP)
    assert report.passed
    assert {row.status for row in report.rows} == {"right"}


@pytest.mark.slow
def test_arithmetic_in_float64_is_right_but_not_asked_for(tmp_path):
    report = on_map(
        tmp_path,
        """
        i = cuda.grid(1)
        if i < celsius.shape[0]:
            fahrenheit[i] = celsius[i] * 1.8 + 32
    """,
    )
    assert report.status == "but"
    assert "operations in float64; asked: at most 0" in report.why
    assert "np.float32(1.8)" in report.why


def test_a_comparison_in_float64_is_not_asked_for_either(tmp_path):
    report = on_map(
        tmp_path,
        """
        i = cuda.grid(1)
        least = -1e30
        if i < celsius.shape[0]:
            least = max(least, celsius[i] * np.float32(1.8) + np.float32(32))
            fahrenheit[i] = least
    """,
    )
    assert report.status == "but"
    assert "float64; asked: at most 0" in report.why
    assert "np.float32(-1e30)" in report.why


@pytest.mark.skipif(target.active().name == "cuda", reason="a GPU does not check bounds")
def test_a_missing_guard_is_out_of_bounds_at_the_line_of_the_store(tmp_path):
    report = on_map(
        tmp_path,
        """
        i = cuda.grid(1)
        fahrenheit[i] = celsius[i] * np.float32(1.8) + np.float32(32)
    """,
    )
    assert report.status == "error"
    assert report.failed.args["celsius"].shape == (1,)
    assert ">   7 | fahrenheit[i] = celsius[i]" in report.why
    assert "if i < celsius.shape[0]:" in report.why


def test_a_guard_one_too_low_leaves_the_last_element_unwritten(tmp_path):
    report = on_map(
        tmp_path,
        """
        i = cuda.grid(1)
        if i < celsius.shape[0] - 1:
            fahrenheit[i] = celsius[i] * np.float32(1.8) + np.float32(32)
    """,
    )
    assert report.status == "wrong"
    words = why(report, "exactly one block")
    assert "1 of 128 elements of fahrenheit is wrong: the last element only" in words
    assert "fahrenheit[127]" in words
    assert "never written" in words


def test_the_place_in_the_block_used_as_the_place_in_the_grid_is_named(tmp_path):
    report = on_map(
        tmp_path,
        """
        i = cuda.threadIdx.x
        if i < celsius.shape[0]:
            fahrenheit[i] = celsius[i] * np.float32(1.8) + np.float32(32)
    """,
    )
    words = why(report, "eight whole blocks")
    assert "every element from 128 on: all but the first block" in words
    assert "the index lacks `cuda.blockIdx.x * cuda.blockDim.x`" in report.why
    assert report.failed.args["celsius"].shape == (129,)


def test_the_smallest_sizes_pass_while_the_larger_fail(tmp_path):
    report = on_map(
        tmp_path,
        """
        i = cuda.threadIdx.x
        if i < celsius.shape[0]:
            fahrenheit[i] = celsius[i] * np.float32(1.8) + np.float32(32)
    """,
    )
    assert [row.status for row in report.rows].count("right") == 4


def test_a_wrong_formula_is_wrong_everywhere(tmp_path):
    report = on_map(
        tmp_path,
        """
        i = cuda.grid(1)
        if i < celsius.shape[0]:
            fahrenheit[i] = celsius[i] * np.float32(1.8) + np.float32(30)
    """,
    )
    assert "The only element of fahrenheit is wrong" in report.why


def test_writing_to_an_input_is_named(tmp_path):
    report = on_map(
        tmp_path,
        """
        i = cuda.grid(1)
        if i < celsius.shape[0]:
            fahrenheit[i] = celsius[i] * np.float32(1.8) + np.float32(32)
            celsius[i] = fahrenheit[i]
    """,
    )
    assert "The kernel wrote to celsius, which is an input" in report.why


@pytest.mark.slow
def test_an_endless_loop_is_stopped(tmp_path):
    report = on_map(
        tmp_path,
        """
        i = cuda.grid(1)
        steps = 0
        while steps < celsius.shape[0] + 1:
            steps += 0
        fahrenheit[i] = steps
    """,
        seconds=3,
    )
    assert report.status == "timeout"
    assert "Stopped after 3 seconds" in report.why


def test_a_name_that_is_not_defined_is_shown_at_its_line(tmp_path):
    report = on_map(
        tmp_path,
        """
        i = cuda.grid(1)
        if i < celsius.shape[0]:
            fahrenheit[i] = celcius[i] * np.float32(1.8)
    """,
    )
    assert report.status == "error"
    assert "celcius" in report.why
    assert ">   8 |" in report.why


def test_a_wrong_tree_is_wrong(tmp_path):
    report = on_sum(
        tmp_path,
        """
        i = cuda.grid(1)
        tid = cuda.threadIdx.x
        tile = cuda.shared.array(BLOCK, np.float32)
        tile[tid] = x[i] if i < x.shape[0] else np.float32(0)
        cuda.syncthreads()
        half = BLOCK // 4
        while half > 0:
            if tid < half:
                tile[tid] += tile[tid + half]
            cuda.syncthreads()
            half //= 2
        if tid == 0:
            partials[cuda.blockIdx.x] = tile[0]
    """,
    )
    assert report.status == "wrong"


@pytest.mark.skipif(target.active().name == "cuda", reason="a GPU hangs or goes on")
@pytest.mark.slow
def test_a_barrier_that_some_threads_miss_is_an_error(tmp_path):
    report = on_sum(
        tmp_path,
        """
        i = cuda.grid(1)
        tid = cuda.threadIdx.x
        tile = cuda.shared.array(BLOCK, np.float32)
        tile[tid] = x[i] if i < x.shape[0] else np.float32(0)
        half = BLOCK // 2
        while half > 0:
            if tid < half:
                cuda.syncthreads()
                tile[tid] += tile[tid + half]
            half //= 2
        cuda.syncthreads()
        if tid == 0:
            partials[cuda.blockIdx.x] = tile[0]
    """,
    )
    assert "barrier" in report.why


def test_right_numbers_with_a_race_are_wrong(tmp_path):
    report = on_sum(
        tmp_path,
        """
        i = cuda.grid(1)
        tid = cuda.threadIdx.x
        tile = cuda.shared.array(BLOCK, np.float32)
        tile[tid] = x[i] if i < x.shape[0] else np.float32(0)
        half = BLOCK // 2
        while half > 0:
            if tid < half:
                tile[tid] += tile[tid + half]
            cuda.syncthreads()
            half //= 2
        if tid == 0:
            partials[cuda.blockIdx.x] = tile[0]
    """,
    )
    assert report.status == "wrong"
    assert "put `cuda.syncthreads()` between line 11 and line 15" in report.why
    assert "by luck" in report.why


def test_one_thread_for_all_the_work_is_not_what_was_asked(tmp_path):
    report = on_sum(
        tmp_path,
        """
        if cuda.threadIdx.x == 0:
            acc = np.float32(0)
            first = cuda.blockIdx.x * BLOCK
            for i in range(first, min(first + BLOCK, x.shape[0])):
                acc += x[i]
            partials[cuda.blockIdx.x] = acc
    """,
    )
    assert report.status == "but"
    assert "32 reads of x one after the other in each warp; asked: at most 1" in report.why
    assert "one thread of a warp does the work" in report.why


def test_an_answer_may_import_cuda_from_numba(tmp_path):
    text = (MAP + GOOD_MAP).replace("from gpukit import cuda", "from numba import cuda")
    assert attempt(tmp_path, "guarded_map", text).passed


def test_what_only_looks_like_a_kernel_is_none(tmp_path):
    text = """
    import numpy as np

    class Fake:
        py_func = None

        def __getitem__(self, launch):
            return lambda celsius, out: np.copyto(out, celsius * np.float32(1.8) + np.float32(32))

    fahrenheit_kernel = Fake()
    """
    report = attempt(tmp_path, "guarded_map", textwrap.dedent(text))
    assert report.status == "missing"


WITHOUT_RUNNING = {
    "an empty file": ("", "missing", "Expected a kernel named fahrenheit_kernel, found none"),
    "pass": (MAP + "    pass\n", "untouched", "Not attempted yet"),
    "an ellipsis": (MAP + "    ...\n", "untouched", "Not attempted yet"),
    "not implemented": (MAP + "    raise NotImplementedError\n", "untouched", "Not attempted yet"),
    "a syntax error": (MAP + "    i = cuda.grid(1\n", "syntax", "line 6: Python cannot read"),
    "a null byte": (MAP + "    i = '\0'\n", "syntax", "Python"),
}


@pytest.mark.parametrize("name", WITHOUT_RUNNING)
def test_a_file_with_nothing_to_run_says_so(tmp_path, name):
    text, status, words = WITHOUT_RUNNING[name]
    report = attempt(tmp_path, "guarded_map", text)
    assert report.status == status
    assert words in report.why


LOADING = {
    "another name": (
        (MAP + GOOD_MAP).replace("def fahrenheit_kernel", "def farenheit_kernel"),
        "missing",
        "Did you mean to call farenheit_kernel that?",
    ),
    "no decorator": (
        (MAP + GOOD_MAP).replace("@cuda.jit\n", ""),
        "missing",
        "Put @cuda.jit on the line above",
    ),
    "an exception": ("1 / 0\n" + MAP + GOOD_MAP, "error", "ZeroDivisionError in line 1"),
    "a missing package": (
        "import nothing_of_that_name\n" + MAP + GOOD_MAP,
        "error",
        "ModuleNotFoundError in line 1",
    ),
    "sys.exit": ("import sys\nsys.exit(0)\n" + MAP + GOOD_MAP, "error", "SystemExit in line 2"),
    "os._exit": ("import os\nos._exit(0)\n" + MAP + GOOD_MAP, "died", "ended Python itself"),
    "reading input": ("input()\n" + MAP + GOOD_MAP, "error", "EOFError in line 1"),
}


@pytest.mark.parametrize("name", LOADING)
def test_a_file_that_does_not_load_says_why(tmp_path, name):
    text, status, words = LOADING[name]
    report = attempt(tmp_path, "guarded_map", text)
    assert report.status == status
    assert words in report.why


def test_what_the_file_prints_is_kept_and_does_no_harm(tmp_path):
    report = attempt(tmp_path, "guarded_map", "print('hello \\033[31m')\n" + MAP + GOOD_MAP)
    assert report.passed
    assert "hello" in report.printed
    assert "\033" not in report.printed


def test_writing_to_file_descriptor_one_does_not_reach_the_channel(tmp_path):
    text = "import os\nos.write(1, b'\\xff' * 10000)\n" + MAP + GOOD_MAP
    assert attempt(tmp_path, "guarded_map", text).passed


def test_a_byte_order_mark_and_windows_line_ends_are_fine(tmp_path):
    text = "\ufeff" + (MAP + GOOD_MAP).replace("\n", "\r\n")
    file = tmp_path / "answer.py"
    file.write_bytes(text.encode("utf-8"))
    assert grade.run(catalogue.find("guarded_map"), file).passed


def test_a_file_in_another_encoding_is_refused(tmp_path):
    file = tmp_path / "answer.py"
    file.write_bytes("# \u00e9\n".encode("latin-1"))
    with pytest.raises(catalogue.ExerciseError, match="UTF-8"):
        grade.run(catalogue.find("guarded_map"), file)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(catalogue.ExerciseError, match="expected a file to test"):
        grade.run(catalogue.find("guarded_map"), tmp_path / "nothing.py")


def test_sizes_are_drawn_beyond_those_of_all_cases(tmp_path):
    report = on_map(
        tmp_path,
        """
        i = cuda.grid(1)
        if i < min(celsius.shape[0], 1024):
            fahrenheit[i] = celsius[i] * np.float32(1.8) + np.float32(32)
    """,
    )
    assert report.status == "wrong"
    assert [row.name for row in report.rows if row.status == "wrong"] == ["sizes that were drawn"]


def test_blocks_that_leave_the_work_to_others_are_counted(tmp_path):
    report = on_map(
        tmp_path,
        """
        if cuda.blockIdx.x == 0:
            for i in range(cuda.threadIdx.x, celsius.shape[0], cuda.blockDim.x):
                fahrenheit[i] = celsius[i] * np.float32(1.8) + np.float32(32)
    """,
    )
    assert report.status == "but"
    assert "28 warps that read and write nothing; asked: at most 0" in report.why


def test_a_finished_kernel_of_gpukit_is_no_answer(tmp_path):
    text = "from gpukit.kernels.activations import relu_kernel\n"
    report = attempt(tmp_path, "relu", text)
    assert report.status == "missing"
    assert "comes from gpukit.kernels, which is finished" in report.why


PARAMETERS = {
    "def fahrenheit_kernel(fahrenheit, celsius):": "in this order. Yours is",
    "def fahrenheit_kernel(celsius):": "2 parameters. Yours has 1",
    "def fahrenheit_kernel(celsius, fahrenheit, n):": "2 parameters. Yours has 3",
}


@pytest.mark.parametrize("head", PARAMETERS)
@pytest.mark.costly
def test_parameters_that_are_not_the_tasks_are_named(tmp_path, head):
    text = (MAP + GOOD_MAP).replace("def fahrenheit_kernel(celsius, fahrenheit):", head)
    report = attempt(tmp_path, "guarded_map", text)
    assert report.status == "error"
    assert PARAMETERS[head] in report.why


def test_parameters_may_have_names_of_their_own(tmp_path):
    text = (MAP + GOOD_MAP).replace("celsius", "c").replace("(c, fahrenheit)", "(c, f)")
    assert attempt(tmp_path, "guarded_map", text.replace("fahrenheit[", "f[")).passed


def test_a_device_function_is_no_kernel(tmp_path):
    text = (MAP + GOOD_MAP).replace("@cuda.jit\n", "@cuda.jit(device=True)\n")
    report = attempt(tmp_path, "guarded_map", text)
    assert "without device=True" in report.why


def test_a_checker_that_was_taken_away_is_not_a_clean_report(tmp_path):
    text = "import gpukit\ngpukit.check = gpukit.profile = None\n" + MAP + GOOD_MAP
    assert attempt(tmp_path, "guarded_map", text).passed


def test_a_launch_that_does_something_else_under_the_checker_is_wrong(tmp_path):
    text = f"""{MAP}
    i = cuda.grid(1)
    if i < 0:
        fahrenheit[i] = celsius[i]


def on_the_host(kernel, shape):
    def launch(celsius, fahrenheit):
        fahrenheit[:] = celsius * np.float32(1.8) + np.float32(32)

    return launch


type(fahrenheit_kernel).__getitem__ = on_the_host
"""
    report = attempt(tmp_path, "guarded_map", text)
    assert report.status == "wrong"
    on_gpu = target.active().name == "cuda"  # where the launch is a plain one
    words = "Under gpukit.check it is wrong." if on_gpu else "it was never written"
    assert words in report.why


@pytest.mark.skipif(target.active().name == "cuda", reason="a GPU launches plainly first")
def test_a_kernel_is_compiled_once_for_values_and_findings_and_once_to_be_counted(tmp_path):
    file, noticed = tmp_path / "answer.py", []
    for text, forms in ((GOOD_MAP, 2), (GOOD_MAP.replace("32)", "23)"), 1)):
        file.write_text(MAP + text)
        noticed.clear()
        grade.run(catalogue.find("guarded_map"), file, notice=noticed.append)
        assert noticed.count("compiling fahrenheit_kernel") == forms


def test_a_kernel_that_does_not_compile_is_launched_once(tmp_path):
    report = on_map(
        tmp_path,
        """
        i = cuda.grid(1)
        fahrenheit[i] = celsius.cumsum()[i]
    """,
    )
    assert report.status == "error"
    assert len(report.rows) == 1
    assert "gpukit has no celsius.cumsum for kernels" in report.why


# ---- answers that are host code ---------------------------------------------------------------

STEP = catalogue.find("training_step")
TAPE = catalogue.find("tape")


def on_tape(tmp_path, old, new, **rest):
    text = TAPE.solution.read_text()
    assert text.count(old) == 1
    return attempt(tmp_path, "tape", text.replace(old, new), **rest)


def test_what_is_computed_is_shown_where_host_code_fails(tmp_path):
    report = on_tape(tmp_path, "found[part] += slope", "found[part] = slope")
    assert report.failed.sizes() == "a = Value(-1.4); b = a + a; b.backward()"


def test_host_code_of_another_name_is_named(tmp_path):
    report = on_tape(tmp_path, "class Value:", "class Values:")
    assert report.status == "missing"
    assert "Expected Value, found nothing of that name" in report.why
    assert "Did you mean to call Values that?" in report.why


def test_host_code_from_elsewhere_is_refused(tmp_path):
    report = attempt(tmp_path, "tape", "from decimal import Decimal as Value\n")
    assert report.status == "missing"
    assert "Write it yourself" in report.why


def test_a_function_with_other_parameters_is_refused(tmp_path):
    text = STEP.solution.read_text().replace("label, most", "label, most, extra")
    report = attempt(tmp_path, "training_step", text)
    assert "5 parameters. Yours has 6" in report.why


def test_host_code_that_takes_too_long_is_told_why(tmp_path):
    report = on_tape(tmp_path, "if value not in seen:", "if True:", seconds=2)
    assert report.status == "timeout"
    assert "visit each value once" in report.why


def test_no_launch_is_checked_where_there_is_none(tmp_path):
    report = attempt(tmp_path, "tape", TAPE.solution.read_text())
    assert report.passed
    assert not any(row.name.startswith("checked") for row in report.rows)
