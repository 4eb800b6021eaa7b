"""The code generation gate: faults in compiled code and their messages."""

import dataclasses

import numpy as np
import pytest

from gpukit import errors, gpu_code
from gpukit.bench import codegen, launches
from gpukit.bench.codegen import Bar, Line
from gpukit.cpu.launch import launcher

LOOP = """
/*0000*/ LDC R1, c[0x0][0x28] ;
.L_x_0:
/*0010*/ LDG.E.128 R4, [R2] ;
/*0020*/ FFMA R0, R4, R5, R0 ;
/*0030*/ FFMA R0, R6, R7, R0 ;
/*0038*/ HMMA.16816.F32.BF16 R8, R4, R6, R8 ;
/*0040*/ @P0 BRA `(.L_x_0) ;
/*0050*/ EXIT ;
"""
GOOD = Line(
    kernel="saxpy",
    capability=(9, 0),
    registers=16,
    spilled=0,
    stack=0,
    shared=0,
    instructions=6,
    mix={"FFMA": 2},
    wide={"LDG": 1},
    ffma_in_loop=0.5,
    tensor_in_loop={"HMMA": 2},
    float32=True,
    tool="the compilers",
)


def but(**changes):
    return dataclasses.replace(GOOD, **changes)


@pytest.fixture
def compiled(monkeypatch):
    """Replace the compilers by one with the same, editable output for every kernel."""
    result = {"code": gpu_code.Code(16, tool="the compilers", sass=LOOP)}

    def build_many(jobs, capabilities):
        return [dict.fromkeys(capabilities, result["code"]) for _ in jobs]

    monkeypatch.setattr(gpu_code, "missing", lambda: "")
    monkeypatch.setattr(gpu_code, "build_many", build_many)
    return result


def test_good_code_has_no_faults():
    assert codegen.faults([GOOD]) == []


def test_a_spill_is_a_fault():
    (fault,) = codegen.faults([but(spilled=24)])
    assert fault.startswith("saxpy for sm_90 spills 24 bytes per thread with 16 registers.")


def test_float64_in_a_float32_kernel_is_a_fault_with_its_location():
    (fault,) = codegen.faults([but(mix={"double": 3})])
    assert "takes no float64 and has 3 float64 instructions" in fault
    assert "gpukit sass saxpy" in fault


def test_float64_in_a_float64_kernel_is_no_fault():
    assert codegen.faults([but(mix={"double": 3}, float32=False)]) == []


def test_missing_16_byte_loads_are_a_fault(monkeypatch):
    monkeypatch.setitem(codegen.BARS, "saxpy", Bar(wide=("LDG", "STG")))
    (fault,) = codegen.faults([GOOD])
    assert fault.startswith("saxpy for sm_90 has no 16-byte STG")


def test_an_ffma_fraction_below_the_bar_is_a_fault_on_hopper(monkeypatch):
    monkeypatch.setitem(codegen.BARS, "saxpy", Bar(ffma=0.55))
    (fault,) = codegen.faults([GOOD, but(capability=(7, 5))])
    assert fault == "saxpy for sm_90: 50.0% of the main loop is FFMA, 55.0% was measured before."


def test_lto_builds_are_held_to_the_same_bars(monkeypatch):
    monkeypatch.setitem(codegen.BARS, "saxpy", Bar(ffma=0.55, wide=("STG",)))
    wide, ffma = codegen.faults([but(capability=(9, 0, gpu_code.LTO))])
    assert wide.startswith("saxpy for sm_90-lto has no 16-byte STG")
    assert ffma.startswith("saxpy for sm_90-lto: 50.0% of the main loop is FFMA")


def test_tensor_core_instructions_of_another_kind_are_a_fault(monkeypatch):
    monkeypatch.setitem(codegen.BARS, "saxpy", Bar(tensor="HMMA"))
    assert codegen.faults([GOOD]) == []
    monkeypatch.setitem(codegen.BARS, "saxpy", Bar(tensor="HGMMA"))
    (fault,) = codegen.faults([GOOD])
    assert fault.startswith("saxpy for sm_90 has no HGMMA in a loop")


def test_a_kernel_is_compiled_only_for_capabilities_it_supports(compiled, monkeypatch):
    entry = launches.CASES["saxpy"]
    few = entry.variant._replace(needs=((8, 0), (9, 0)))
    monkeypatch.setitem(launches.CASES, "saxpy", entry._replace(variant=few))
    assert [line.arch for line in codegen.measure(["saxpy"])] == ["sm_80", "sm_90", "sm_90-lto"]


def test_every_bar_refers_to_a_kernel_of_the_book():
    assert set(codegen.BARS) <= set(launches.CASES)


def test_kernels_are_compiled_for_a_named_capability_only(compiled):
    lines = codegen.measure(["saxpy", "relu_vectorized"], (9, 0))
    assert {line.arch for line in lines} == {"sm_90", "sm_90-lto"}
    assert len(lines) == 4


def test_an_unknown_capability_is_rejected(compiled):
    with pytest.raises(errors.TargetError, match=r"expected one of sm_75, .*, got sm_86\."):
        codegen.measure(["saxpy"], (8, 6))


def test_kernels_are_compiled_for_every_capability_by_default(compiled):
    lines = codegen.measure(["saxpy", "relu"])
    assert [(line.kernel, line.arch) for line in lines] == [
        (kernel, arch)
        for kernel in ("saxpy", "relu")
        for arch in ("sm_75", "sm_80", "sm_90", "sm_100", "sm_90-lto")
    ]


def test_sass_is_read_for_all_gpus_where_a_bar_requires_it_and_for_hopper_elsewhere(compiled):
    lines = codegen.measure(["saxpy", "relu_vectorized"])
    read = [(line.kernel, line.arch) for line in lines if line.listed]
    assert [arch for kernel, arch in read if kernel == "saxpy"] == ["sm_90", "sm_90-lto"]
    assert sum(kernel == "relu_vectorized" for kernel, _ in read) == len(codegen.BUILDS)


def test_a_line_summarizes_the_instructions(compiled):
    line = codegen.measure(["saxpy"])[2]
    assert (line.registers, line.instructions, line.mix["FFMA"]) == (16, 7, 2)
    assert line.wide == {"LDG": 1}
    assert line.ffma_in_loop == 0.4
    assert line.tensor_in_loop == {"HMMA": 1}
    assert line.float32


def test_a_kernel_that_does_not_compile_is_an_error(compiled):
    compiled["code"] = gpu_code.Code(None, "the GPU compiler refused: no such name")
    with pytest.raises(errors.TargetError, match="saxpy: the GPU compiler refused"):
        codegen.measure(["saxpy"])


def test_a_missing_disassembler_is_an_error_that_says_what_to_install(compiled):
    compiled["code"] = gpu_code.Code(16)
    with pytest.raises(errors.TargetError, match=r"nvdisasm is not installed.*pip install"):
        codegen.measure(["saxpy"])


def test_a_missing_compiler_is_an_error_that_says_what_to_install(monkeypatch):
    monkeypatch.setattr(gpu_code, "missing", lambda: "none here")
    with pytest.raises(errors.TargetError, match="codegen: none here"):
        codegen.measure(["saxpy"])


def test_the_first_launch_of_a_host_function_is_found():
    (launched,) = launches.launches("dot_shuffle")
    assert launched.kernel.py_func.__name__ == "dot_shuffle_kernel"
    assert [a.dtype for a in launched.arguments] == [np.float32] * 3


def test_arguments_are_those_before_the_launch():
    *_, out = launches.launches("dot_shuffle")[0].arguments
    assert out[0] == 0


@pytest.mark.parametrize("name", ["saxpy", "max", "matmul_nt_tiled"])
def test_the_first_launch_is_found_without_running_it(name):
    ran = []
    before = launcher.observe_launches(lambda kernel, *_: ran.append(kernel))
    try:
        found = launches.first_launch(name)
    finally:
        launcher.observe_launches(before)
    assert ran == []
    wanted = launches.launches(name)[0]
    assert (found.kernel, found.shape) == (wanted.kernel, wanted.shape)
    for argument, other in zip(found.arguments, wanted.arguments, strict=True):
        np.testing.assert_array_equal(argument, other)


def test_every_launch_of_a_multi_pass_function_is_found():
    assert len(launches.launches("max")) > 1


@pytest.mark.compilers
def test_accidental_float64_is_found_in_compiled_code():
    from gpukit import cuda

    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = 1.0 / (1.0 + x[i])

    x = np.zeros(9, np.float32)
    (line,) = [
        codegen._line("accident", (x, x), (9, 0), code)
        for code in gpu_code.build(kernel, (x, x), [(9, 0)]).values()
    ]
    (fault,) = codegen.faults([line])
    assert "accident for sm_90 takes no float64" in fault
