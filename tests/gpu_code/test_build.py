"""Registers from a real compile, where numba-cuda is installed; a reason where it is not."""

import importlib.util
import json
import math
import sys

import numpy as np
import pytest

from gpukit import cuda
from gpukit.checked import registers as registers_module
from gpukit.checked.registers import CAPABILITIES, Registers, measure, missing, registers

needs_compiler = pytest.mark.skipif(
    importlib.util.find_spec("numba_cuda") is None,
    reason="needs the GPU compiler: pip install 'gpukit[cuda13]' (no GPU is needed)",
)
VECTOR = np.zeros(1000, np.float32)


@cuda.jit(device=True)
def square(x):
    return x * x


def busy(**options):
    """A kernel that wants many registers, with a device function and a closure."""
    rounds = 8

    @cuda.jit(**options)
    def kernel(a, b, out):
        i = cuda.grid(1)
        total = np.float32(0)
        for k in range(a.size):
            for r in range(rounds):
                total += math.sin(a[k] * r) * math.exp(b[k]) / square(out[i])
        out[i] = total

    return kernel


@cuda.jit
def nothing_kernel(out):
    pass


@cuda.jit
def grid_wide_kernel(out):
    out[cuda.grid(1)] = 1
    cuda.cg.this_grid().sync()


@cuda.jit
def impossible_kernel(out):
    out[0] = no_such_name  # noqa: F821


def test_registers_are_none_with_what_to_install_where_no_compiler_is(monkeypatch):
    monkeypatch.setattr(registers_module.importlib.util, "find_spec", lambda name: None)
    answer = registers(nothing_kernel, (VECTOR,))
    assert answer.count is None
    assert "pip install 'gpukit[cuda13]'" in answer.reason


def test_measure_without_a_compiler_answers_for_every_capability(monkeypatch):
    monkeypatch.setattr(registers_module, "missing", lambda: "none here")
    expected = {capability: Registers(None, "none here") for capability in CAPABILITIES}
    assert measure(nothing_kernel, (VECTOR,)) == expected


def test_arguments_that_no_kernel_takes_are_a_reason(monkeypatch):
    monkeypatch.setattr(registers_module, "missing", lambda: "")
    answer = registers(nothing_kernel, ([1, 2],))
    assert answer.count is None
    assert "argument 1 is of type list" in answer.reason


def test_child_that_dies_is_a_reason(monkeypatch, tmp_path):
    child = tmp_path / "child.py"
    child.write_text("raise SystemExit('the compiler is broken')", encoding="utf-8")
    monkeypatch.setattr(registers_module, "missing", lambda: "")
    monkeypatch.setattr(registers_module, "CHILD", child)
    answer = registers(nothing_kernel, (VECTOR, 1))
    assert answer == Registers(None, "the GPU compiler failed: the compiler is broken")


def test_failure_is_not_remembered(monkeypatch, tmp_path):
    child = tmp_path / "child.py"
    monkeypatch.setattr(registers_module, "missing", lambda: "")
    monkeypatch.setattr(registers_module, "CHILD", child)
    said = json.dumps([{"count": 30, "spilled": 0, "stack": 0, "tool": "t"}])
    answers = []
    for text in ("raise SystemExit('the compiler is broken')", f"print({said!r})"):
        child.write_text(text, encoding="utf-8")
        answers.append(registers(nothing_kernel, (VECTOR, VECTOR, 1)).count)
    assert answers == [None, 30]


def test_child_is_heard_through_other_output(monkeypatch, tmp_path):
    child = tmp_path / "child.py"
    said = json.dumps([{"count": 31, "spilled": 0, "stack": 0, "tool": "t"}])
    child.write_text(f"print('chatter'); print({said!r})", encoding="utf-8")
    monkeypatch.setattr(registers_module, "missing", lambda: "")
    monkeypatch.setattr(registers_module, "CHILD", child)
    assert registers(nothing_kernel, (VECTOR, 2)) == Registers(31, tool="t")


@needs_compiler
def test_compiler_is_found():
    assert missing() == ""


@needs_compiler
def test_registers_are_counted_for_every_capability():
    answers = measure(busy(), (VECTOR, VECTOR, VECTOR))
    assert list(answers) == list(CAPABILITIES)
    assert [(a.reason, 16 <= a.count <= 255) for a in answers.values()] == [("", True)] * 5


@needs_compiler
def test_registers_say_which_tools_counted():
    tool = registers(nothing_kernel, (VECTOR,)).tool
    assert tool.startswith("numba-cuda ")
    assert ", nvJitLink " in tool


@needs_compiler
def test_kernel_with_more_work_needs_more_registers():
    little = registers(nothing_kernel, (VECTOR,))
    assert little.count < registers(busy(), (VECTOR, VECTOR, VECTOR)).count


@needs_compiler
def test_max_registers_is_kept_and_what_does_not_fit_is_spilled():
    answer = registers(busy(max_registers=16), (VECTOR, VECTOR, VECTOR))
    assert answer.count <= 24
    assert answer.spilled > 0


@needs_compiler
def test_grid_sync_is_linked_with_the_device_runtime():
    assert registers(grid_wide_kernel, (VECTOR,)).reason == ""


@needs_compiler
def test_kernel_that_does_not_compile_is_a_reason():
    answer = registers(impossible_kernel, (VECTOR,))
    assert answer.count is None
    assert "no_such_name" in answer.reason


@needs_compiler
def test_measuring_leaves_numba_cuda_out_of_this_process():
    before = "numba.cuda.dispatcher" in sys.modules
    registers(nothing_kernel, (VECTOR, VECTOR))
    assert ("numba.cuda.dispatcher" in sys.modules) == before


@needs_compiler
def test_script_under_the_stand_in_is_measured(fresh_python, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import numpy as np\n"
        "from gpukit import standin\n"
        "standin.install(children=True)\n"
        "from numba import cuda, float32\n"
        "from gpukit.checked.registers import registers\n"
        "@cuda.jit\n"
        "def kernel(out):\n"
        "    tile = cuda.shared.array(32, float32)\n"
        "    tile[cuda.threadIdx.x] = cuda.grid(1)\n"
        "    cuda.syncthreads()\n"
        "    out[cuda.grid(1)] = tile[31 - cuda.threadIdx.x]\n"
        "answer = registers(kernel, (np.zeros(64, np.float32),))\n"
        "print(answer.reason or 'counted')\n",
        encoding="utf-8",
    )
    done = fresh_python(str(script), GPUKIT_TARGET="cpu")
    assert (done.stderr, done.stdout.strip()) == ("", "counted")
