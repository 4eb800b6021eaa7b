"""Answer files: loading, finding the kernel, and its parameters."""

import pytest

from gpukit.course import catalogue, grade
from tests.conftest import ROOT
from tests.course.maps import MAP, RIGHT

pytestmark = pytest.mark.usefixtures("warm")
OTHER_NAMES = RIGHT.replace("celsius", "c").replace("(c, fahrenheit)", "(c, f)")
PASSES = {
    "cuda from numba": RIGHT.replace("from gpukit import cuda", "from numba import cuda"),
    "bytes on file descriptor one": "import os\nos.write(1, b'\\xff' * 10000)\n" + RIGHT,
    "a byte order mark and Windows line ends": "\ufeff" + RIGHT.replace("\n", "\r\n"),
    "parameters of other names": OTHER_NAMES.replace("fahrenheit[", "f["),
    "a checker that was taken away": "import gpukit\ngpukit.check = gpukit.profile = None\n"
    + RIGHT,
}


@pytest.mark.parametrize("name", PASSES)
def test_a_right_answer_passes_however_it_is_written(name, attempt):
    assert attempt("guarded_map", PASSES[name]).passed


FAKE = """
import numpy as np

class Fake:
    py_func = None

    def __getitem__(self, launch):
        return lambda celsius, out: np.copyto(out, celsius * np.float32(1.8) + np.float32(32))

fahrenheit_kernel = Fake()
"""
# Name: answer file, expected status, part of the explanation.
FAILS = {
    "an empty file": ("", "missing", "Expected a kernel named fahrenheit_kernel, found none"),
    "pass": (MAP + "    pass\n", "untouched", "Not attempted yet"),
    "an ellipsis": (MAP + "    ...\n", "untouched", "Not attempted yet"),
    "not implemented": (MAP + "    raise NotImplementedError\n", "untouched", "Not attempted yet"),
    "a syntax error": (MAP + "    i = cuda.grid(1\n", "syntax", "line 6: Python cannot read"),
    "a null byte": (MAP + "    i = '\0'\n", "syntax", "Python"),
    "what only looks like a kernel": (FAKE, "missing", "found none"),
    "another name": (
        RIGHT.replace("def fahrenheit_kernel", "def farenheit_kernel"),
        "missing",
        "Did you mean farenheit_kernel? Rename it to fahrenheit_kernel.",
    ),
    "no decorator": (
        RIGHT.replace("@cuda.jit\n", ""),
        "missing",
        "Put @cuda.jit on the line above",
    ),
    "a device function": (
        RIGHT.replace("@cuda.jit\n", "@cuda.jit(device=True)\n"),
        "missing",
        "without device=True",
    ),
    "an exception": ("1 / 0\n" + RIGHT, "error", "ZeroDivisionError in line 1"),
    "a missing package": (
        "import nothing_of_that_name\n" + RIGHT,
        "error",
        "ModuleNotFoundError in line 1",
    ),
    "sys.exit": ("import sys\nsys.exit(0)\n" + RIGHT, "error", "SystemExit in line 2"),
    "os._exit": ("import os\nos._exit(0)\n" + RIGHT, "died", "ended the Python process"),
    "reading input": ("input()\n" + RIGHT, "error", "EOFError in line 1"),
    **{
        f"the parameters {parameters}": (
            RIGHT.replace("(celsius, fahrenheit):", f"{parameters}:"),
            "error",
            words,
        )
        for parameters, words in (
            ("(fahrenheit, celsius)", "in this order. Yours is"),
            ("(celsius)", "2 parameters. Yours has 1"),
            ("(celsius, fahrenheit, n)", "2 parameters. Yours has 3"),
        )
    },
}


@pytest.mark.parametrize("name", FAILS)
def test_an_invalid_answer_file_is_explained(name, attempt):
    text, status, words = FAILS[name]
    report = attempt("guarded_map", text)
    assert report.status == status
    assert words in report.why


def test_an_imported_gpukit_kernel_is_rejected(attempt):
    report = attempt("relu", "from gpukit.kernels.activations import relu_kernel\n")
    assert report.status == "missing"
    assert "is imported from gpukit.kernels, where it is already implemented" in report.why


def test_a_kernel_that_calls_what_it_should_compute_is_rejected(attempt):
    answer = ROOT / "tests" / "data" / "submissions" / "hostile" / "collective_of_gpukit.py"
    report = attempt("warp_sum", answer.read_text(encoding="utf-8"))
    assert report.status == "missing"
    assert "is imported from gpukit.collectives, where it is already implemented" in report.why


def test_a_kernel_of_another_file_is_rejected(attempt, tmp_path):
    (tmp_path / "other.py").write_text(RIGHT, encoding="utf-8")
    path = f"import sys\nsys.path.insert(0, {str(tmp_path)!r})\n"
    report = attempt("guarded_map", f"{path}from other import fahrenheit_kernel\n")
    assert report.status == "missing"
    assert "is imported from other.py" in report.why


def test_output_of_the_answer_is_captured(attempt):
    report = attempt("guarded_map", "print('hello \\033[31m')\n" + RIGHT)
    assert report.passed
    assert "hello" in report.printed
    assert "\033" not in report.printed


def test_a_file_in_another_encoding_is_rejected(tmp_path):
    file = tmp_path / "answer.py"
    file.write_bytes("# \u00e9\n".encode("latin-1"))
    with pytest.raises(catalogue.ExerciseError, match="UTF-8"):
        grade.run(catalogue.find("guarded_map"), file)


def test_a_missing_file_is_rejected(tmp_path):
    with pytest.raises(catalogue.ExerciseError, match="expected a file to test"):
        grade.run(catalogue.find("guarded_map"), tmp_path / "nothing.py")
