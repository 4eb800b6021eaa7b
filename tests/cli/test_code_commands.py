"""The commands that show or check compiled code: ptx, sass, codegen."""

import json
import shutil

import pytest

from gpukit import cli, gpu_code
from gpukit.course import catalogue
from tests.cli.gpu_texts import SASS


def test_sass_shows_each_instruction_below_its_source_line(compiled, capsys):
    assert cli.main(["sass", "saxpy"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "saxpy_kernel for sm_90: 18 registers, 0 bytes spilled, 64 bytes shared, 3 lines",
        "the compilers",
        "",
        "book.py:7  i = cuda.grid(1)",
        "      0  S2R R1, SR_TID.X",
        "",
        "book.py:8  out[i] = a * x[i] + y[i]",
        "     10  FFMA R0, R1, R2, R3",
        "     20  EXIT",
    ]


def test_ptx_shows_each_statement_below_its_source_line(compiled, capsys):
    assert cli.main(["ptx", "saxpy_kernel"]) == 0
    assert capsys.readouterr().out.splitlines()[3:] == [
        "book.py:7  i = cuda.grid(1)",
        "       mov.u32 \t%r1, %tid.x;",
        "       ret;",
    ]


def test_another_gpu_can_be_selected(compiled, capsys):
    cli.main(["ptx", "saxpy", "--arch", "sm_100"])
    assert capsys.readouterr().out.startswith("saxpy_kernel for sm_100:")


def test_sass_json_contains_every_instruction(compiled, capsys):
    cli.main(["sass", "saxpy", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert (found["kernel"], found["arch"], found["registers"]) == ("saxpy_kernel", "sm_90", 18)
    first, _, last = found["code"]
    assert (first["source"], last["text"]) == ("i = cuda.grid(1)", "EXIT")


def test_an_invalid_arch_is_a_usage_error(capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(["sass", "saxpy", "--arch", "hopper"])
    assert stop.value.code == 2
    assert "expected an architecture such as sm_90, got hopper" in capsys.readouterr().err


def test_an_unknown_kernel_is_a_usage_error_with_a_suggestion(compiled, capsys):
    assert cli.main(["ptx", "saxpi"]) == 2
    assert "got 'saxpi'. Did you mean saxpy?" in capsys.readouterr().err


def test_a_group_is_not_accepted_as_a_kernel(compiled, capsys):
    assert cli.main(["ptx", "matmul"]) == 2
    assert "expected the name of a kernel, got 'matmul'" in capsys.readouterr().err


def test_a_missing_compiler_exits_with_the_environment_code_and_says_what_to_install(
    monkeypatch, capsys
):
    monkeypatch.setenv("GPUKIT_TARGET", "cpu")
    monkeypatch.setattr(gpu_code.importlib.util, "find_spec", lambda name: None)
    assert cli.main(["ptx", "saxpy"]) == 3
    assert "pip install -c constraints.txt -e '.[cuda13]'" in capsys.readouterr().err


def test_a_missing_disassembler_exits_with_the_environment_code_and_says_what_to_install(
    compiled, capsys
):
    compiled["code"] = gpu_code.Code(18)
    assert cli.main(["sass", "saxpy"]) == 3
    assert "nvdisasm is not installed" in capsys.readouterr().err


def test_codegen_prints_a_table_and_that_no_fault_was_found(compiled, capsys):
    assert cli.main(["codegen", "saxpy", "fill"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:4] == ["kernel", "for", "registers", "spills"]
    assert lines[1].split()[:4] == ["fill", "sm_75", "18", "0"]
    assert lines[-1] == "2 kernels, 10 compiles, no problems. the compilers."


def test_codegen_exits_with_1_on_a_fault(compiled, capsys):
    compiled["code"] = gpu_code.Code(255, spilled=16, tool="the compilers", sass=SASS)
    assert cli.main(["codegen", "relu_grad"]) == 1
    assert "relu_grad for sm_75 spills 16 bytes per thread" in capsys.readouterr().out


def test_codegen_writes_what_it_found(compiled, capsys, tmp_path):
    cli.main(["codegen", "relu_grad", "--write", str(tmp_path / "found.json")])
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["kernels"]["relu_grad"]["sm_90"]["registers"] == 18
    assert found["faults"] == []


# --- Kernels in a user's file ------------------------------------------------------------------

OWN = """
import sys
import numpy as np
from numba import cuda

@cuda.jit
def first_kernel(out):
    out[0] = 1

@cuda.jit
def second_kernel(x, out):
    out[0] = x[0]

print("hello")
a = np.zeros(3, np.float32)
first_kernel[1, 1](a)
try:
    second_kernel[1, 1](a, np.zeros(3))
except Exception:
    sys.exit("went on")
sys.exit("went on")
"""


@pytest.fixture
def own(compiled, tmp_path, monkeypatch):
    """Write a file with two kernels; record the requests to the compiler in a list."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text(OWN)
    requests = []

    def build(kernel, arguments, wanted):
        requests.append((kernel.py_func.__name__, [a.dtype.name for a in arguments]))
        return dict.fromkeys(wanted, compiled["code"])

    monkeypatch.setattr(gpu_code, "build", build)
    return requests


@pytest.mark.parametrize("command", ["ptx", "sass"])
def test_kernel_in_a_user_file_is_compiled_for_the_types_of_its_launch(command, own, capsys):
    assert cli.main([command, "own.py::second_kernel"]) == 0
    assert own == [("second_kernel", ["float32", "float64"])]
    shown = capsys.readouterr()
    assert shown.out.startswith("second_kernel for sm_90: 18 registers")
    assert "went on" not in shown.err


def test_user_file_without_a_kernel_name_selects_the_first_launched_kernel(own):
    assert cli.main(["ptx", "own.py"]) == 0
    assert own == [("first_kernel", ["float32"])]


def test_json_of_a_user_file_is_json_whatever_the_file_prints(own, capsys):
    assert cli.main(["ptx", "own.py", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["kernel"] == "first_kernel"


def test_kernel_that_a_user_file_does_not_launch_is_reported_with_those_it_launches(own, capsys):
    assert cli.main(["ptx", "own.py::third_kernel"]) == 2
    output = capsys.readouterr().err
    assert "expected a launch of third_kernel in own.py" in output
    assert "got only launches of first_kernel, second_kernel" in output


def test_failing_user_file_shows_its_own_traceback(own, tmp_path, capsys):
    (tmp_path / "own.py").write_text("1 / 0\n")
    assert cli.main(["ptx", "own.py"]) == 1
    assert "ZeroDivisionError" in capsys.readouterr().err
    assert own == []


def test_answer_to_an_exercise_is_compiled_for_its_measured_case(own, tmp_path, capsys):
    (exercise,) = catalogue.root().glob("*/guarded_map")
    folder = shutil.copytree(exercise, tmp_path / "guarded_map")
    (folder / "answer.py").write_text((folder / "solution.py").read_text())
    assert cli.main(["ptx", "guarded_map/answer.py"]) == 0
    assert own == [("fahrenheit_kernel", ["float32", "float32"])]
