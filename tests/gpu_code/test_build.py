"""Machine code from a real compilation, or the reason why there is none."""

import dataclasses
import json
import math
import sys

import numpy as np
import pytest

from gpukit import collectives, cuda, gpu_code
from gpukit.gpu_code import LTO, UNLISTED, Code, build, build_many, missing, sass

VECTOR = np.zeros(1000, np.float32)
CAPABILITIES = ((7, 5), (8, 0), (8, 9), (9, 0), (10, 0))


def code(kernel, arguments):
    return build(kernel, arguments, [(9, 0)])[(9, 0)]


@cuda.jit(device=True)
def square(x):
    return x * x


def busy(**options):
    """A kernel that needs many registers, with a device function and a closure."""
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
def four_warps_kernel(x, out):
    tid = cuda.threadIdx.x
    totals = cuda.shared.array(4, out.dtype)
    total = collectives.block_sum(x[tid], totals, tid, 4)
    if tid == 0:
        out[0] = total


@cuda.jit
def impossible_kernel(out):
    out[0] = no_such_name  # noqa: F821


def test_without_a_compiler_the_reason_says_what_to_install(monkeypatch):
    monkeypatch.setattr(gpu_code.importlib.util, "find_spec", lambda name: None)
    answer = code(nothing_kernel, (VECTOR,))
    assert answer.registers is None
    assert "pip install -c constraints.txt -e '.[cuda13]'" in answer.reason


def test_without_a_compiler_every_capability_has_the_reason(monkeypatch):
    monkeypatch.setattr(gpu_code, "missing", lambda: "none here")
    expected = {capability: Code(None, "none here") for capability in CAPABILITIES}
    assert build(nothing_kernel, (VECTOR,), CAPABILITIES) == expected


def test_invalid_arguments_are_a_reason(monkeypatch):
    monkeypatch.setattr(gpu_code, "missing", lambda: "")
    answer = code(nothing_kernel, ([1, 2],))
    assert answer.registers is None
    assert "argument 1 is of type list" in answer.reason


def test_a_crash_of_the_child_process_is_a_reason(monkeypatch, tmp_path):
    child = tmp_path / "child.py"
    child.write_text("raise SystemExit('the compiler is broken')", encoding="utf-8")
    monkeypatch.setattr(gpu_code, "missing", lambda: "")
    monkeypatch.setattr(gpu_code, "CHILD", child)
    answer = code(nothing_kernel, (VECTOR, 1))
    assert answer == Code(None, "the GPU compiler failed: the compiler is broken")


def test_a_failure_is_not_cached(monkeypatch, tmp_path):
    child = tmp_path / "child.py"
    monkeypatch.setattr(gpu_code, "missing", lambda: "")
    monkeypatch.setattr(gpu_code, "CHILD", child)
    output = json.dumps([[{"registers": 30, "spilled": 0, "stack": 0, "tool": "t"}]])
    answers = []
    for text in ("raise SystemExit('the compiler is broken')", f"print({output!r})"):
        child.write_text(text, encoding="utf-8")
        answers.append(code(nothing_kernel, (VECTOR, VECTOR, 1)).registers)
    assert answers == [None, 30]


def test_other_output_of_the_child_process_is_ignored(monkeypatch, tmp_path):
    child = tmp_path / "child.py"
    output = json.dumps([[{"registers": 31, "spilled": 0, "stack": 0, "tool": "t"}]])
    child.write_text(f"print('chatter'); print({output!r})", encoding="utf-8")
    monkeypatch.setattr(gpu_code, "missing", lambda: "")
    monkeypatch.setattr(gpu_code, "CHILD", child)
    assert code(nothing_kernel, (VECTOR, 2)) == Code(31, tool="t")


@pytest.mark.compilers
def test_the_compiler_is_found():
    assert missing() == ""


@pytest.mark.compilers
def test_registers_are_counted_for_every_capability():
    answers = build(busy(), (VECTOR, VECTOR, VECTOR), CAPABILITIES)
    assert list(answers) == list(CAPABILITIES)
    assert [(a.reason, 16 <= a.registers <= 255) for a in answers.values()] == [("", True)] * 5


@pytest.mark.compilers
def test_the_result_names_the_versions_of_the_compilers():
    tool = code(nothing_kernel, (VECTOR,)).tool
    assert tool.startswith("numba-cuda ")
    assert ", nvJitLink " in tool


@pytest.mark.compilers
def test_a_kernel_with_more_work_needs_more_registers():
    little = code(nothing_kernel, (VECTOR,))
    assert little.registers < code(busy(), (VECTOR, VECTOR, VECTOR)).registers


@pytest.mark.compilers
def test_max_registers_limits_registers_and_spills_the_rest():
    answer = code(busy(max_registers=16), (VECTOR, VECTOR, VECTOR))
    assert answer.registers <= 24
    assert answer.spilled > 0


@pytest.mark.compilers
@pytest.mark.parametrize("how", [(9, 0), (9, 0, LTO)])
def test_grid_sync_is_linked_with_the_device_runtime(how):
    assert build(grid_wide_kernel, (VECTOR,), [how])[how].reason == ""


@pytest.mark.compilers
def test_an_lto_build_as_at_a_launch_has_no_ptx():
    (answer,) = build(busy(), (VECTOR, VECTOR, VECTOR), [(9, 0, LTO)]).values()
    assert (answer.reason, answer.ptx) == ("", "")
    assert answer.registers >= 16
    assert f'File "{__file__}"' in answer.sass


@pytest.mark.compilers
def test_an_unlisted_build_has_no_disassembly_and_the_same_registers():
    wanted = [(8, 0), (8, 0, UNLISTED)]
    listed, unlisted = build(busy(), (VECTOR, VECTOR, VECTOR), wanted).values()
    assert listed.sass
    assert unlisted.ptx
    # Each compilation gives the kernel another name in its PTX.
    assert unlisted == dataclasses.replace(listed, sass="", ptx=unlisted.ptx)


@pytest.mark.compilers
def test_a_compile_error_is_a_reason():
    answer = code(impossible_kernel, (VECTOR,))
    assert answer.registers is None
    assert "no_such_name" in answer.reason


@pytest.mark.compilers
def test_building_does_not_import_numba_cuda_in_this_process():
    before = "numba.cuda.dispatcher" in sys.modules
    code(nothing_kernel, (VECTOR, VECTOR))
    assert ("numba.cuda.dispatcher" in sys.modules) == before


@pytest.mark.compilers
def test_a_kernel_of_a_script_under_the_stand_in_is_built(fresh_python, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import numpy as np\n"
        "from gpukit import standin\n"
        "standin.install(children=True)\n"
        "from numba import cuda, float32\n"
        "from gpukit.gpu_code import build\n"
        "@cuda.jit\n"
        "def kernel(out):\n"
        "    tile = cuda.shared.array(32, float32)\n"
        "    tile[cuda.threadIdx.x] = cuda.grid(1)\n"
        "    cuda.syncthreads()\n"
        "    out[cuda.grid(1)] = tile[31 - cuda.threadIdx.x]\n"
        "answer = build(kernel, (np.zeros(64, np.float32),), [(9, 0)])[9, 0]\n"
        "print(answer.reason or 'counted')\n",
        encoding="utf-8",
    )
    done = fresh_python(str(script), GPUKIT_TARGET="cpu")
    assert (done.stderr, done.stdout.strip()) == ("", "counted")


def test_results_of_many_kernels_are_in_their_order(monkeypatch, tmp_path):
    child = tmp_path / "child.py"
    output = [[{"registers": n}] for n in (11, 12)]
    child.write_text(f"print({json.dumps(output)!r})", encoding="utf-8")
    monkeypatch.setattr(gpu_code, "missing", lambda: "")
    monkeypatch.setattr(gpu_code, "CHILD", child)
    jobs = [(nothing_kernel, (VECTOR,)), (nothing_kernel, ([1],)), (nothing_kernel, (VECTOR,))]
    answers = [found[(9, 0)] for found in build_many(jobs, [(9, 0)])]
    assert [answer.registers for answer in answers] == [11, None, 12]
    assert "argument 1 is of type list" in answers[1].reason


def test_without_a_compiler_each_of_many_kernels_has_the_reason(monkeypatch):
    monkeypatch.setattr(gpu_code, "missing", lambda: "none here")
    answers = build_many([(nothing_kernel, (VECTOR,))] * 2, [(9, 0)])
    assert answers == [{(9, 0): Code(None, "none here")}] * 2


def test_after_a_crash_of_the_child_process_each_kernel_has_the_reason(monkeypatch, tmp_path):
    child = tmp_path / "child.py"
    child.write_text("raise SystemExit('the compiler is broken')", encoding="utf-8")
    monkeypatch.setattr(gpu_code, "missing", lambda: "")
    monkeypatch.setattr(gpu_code, "CHILD", child)
    (answer,) = build_many([(nothing_kernel, (VECTOR,))], [(9, 0)])
    assert answer[(9, 0)].reason == "the GPU compiler failed: the compiler is broken"


@pytest.mark.compilers
def test_ptx_and_machine_code_name_the_source_line():
    built = code(busy(), (VECTOR, VECTOR, VECTOR))
    assert f'"{__file__}"' in built.ptx
    assert f'File "{__file__}"' in built.sass


@pytest.mark.compilers
def test_many_kernels_are_compiled_by_one_process():
    jobs = [(nothing_kernel, (VECTOR,)), (impossible_kernel, (VECTOR,))]
    right, wrong = (found[(9, 0)] for found in build_many(jobs, [(9, 0)]))
    assert right.registers > 0
    assert "no_such_name" in wrong.reason


@pytest.mark.compilers
def test_device_functions_are_found_through_the_module_that_holds_them():
    assert code(four_warps_kernel, (VECTOR, VECTOR)).reason == ""


@pytest.mark.compilers
def test_a_block_sum_over_a_constant_number_of_warps_has_no_loop():
    instructions = sass.parse(code(four_warps_kernel, (VECTOR, VECTOR)).sass)
    opcodes = [one.opcode.partition(".")[0] for one in instructions]
    assert (opcodes.count("SHFL"), opcodes.count("FADD")) == (5, 5 + 3)
    assert sass.main_loop(instructions) == []
