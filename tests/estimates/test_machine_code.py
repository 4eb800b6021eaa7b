"""From machine code to counts of instructions, without and with NVIDIA's compilers."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import gpukit
from gpukit import gpu_code
from gpukit.estimates import machine_code, work
from gpukit.estimates.machine_code import available
from gpukit.gpu_code import Code, child, sass
from tests.estimates import kernels

pytestmark = pytest.mark.cpu
COMPILERS = pytest.mark.compilers
FIRST = kernels.matmul.py_func.__code__.co_firstlineno
HEADER, BODY = FIRST + 5, FIRST + 6
DEPTH, WARPS = 40, 2


def listing(*blocks):
    """Return a listing: (line, instructions) pairs, addresses 16 apart."""
    at, text = 0, []
    for line, instructions in blocks:
        text.append(f'//## File "{kernels.__file__}", line {line}')
        for one in instructions:
            text.append(one if one.startswith(".L") else f"/*{at:04x}*/ {one} ;")
            at += 0 if one.startswith(".L") else 16
    return "\n".join(text)


# A loop that is unrolled by four, its remainder, and what lies outside.
UNROLLED = listing(
    (FIRST + 2, ["S2R R0, SR_TID.X"] * 3),
    (BODY, [".L_x_1:", *["LDG.E R1, [R2.64]"] * 8, *["FFMA R1, R2, R3, R1"] * 4]),
    (HEADER, ["IADD3 R0, R0, 0x4, RZ", "@P0 BRA `(.L_x_1)"]),
    (BODY, [".L_x_2:", *["LDG.E R1, [R2.64]"] * 2, "FFMA R1, R2, R3, R1"]),
    (HEADER, ["@P0 BRA `(.L_x_2)"]),
    (FIRST + 7, ["STG.E [R2.64], R1", "EXIT"]),
)


@pytest.fixture(scope="module")
def profile():
    arrays = [np.ones(shape, np.float32) for shape in ((8, DEPTH), (DEPTH, 8), (8, 8))]
    return gpukit.profile(kernels.matmul)[1, (8, 8)](*arrays)


def refined(profile, text, **options):
    code = Code(40, sass=text, **options)
    return machine_code.refined(work.of_source(profile), profile, code)


def test_the_body_of_an_unrolled_loop_runs_in_a_fraction_of_the_rounds(profile):
    runs = machine_code.runs(profile, sass.parse(UNROLLED))
    assert runs[3:17] == [WARPS * DEPTH / 4] * 14


def test_what_lies_outside_of_loops_runs_once_per_warp(profile):
    runs = machine_code.runs(profile, sass.parse(UNROLLED))
    assert {runs[0], runs[-1]} == {WARPS}


def test_the_remainder_of_an_unrolled_loop_is_not_counted_again(profile):
    found = refined(profile, UNROLLED)
    assert found.global_loads == pytest.approx(2 * DEPTH * WARPS, abs=2 * WARPS)
    assert found.float32 == pytest.approx(DEPTH * WARPS, abs=WARPS)


def test_a_file_with_a_relative_name_is_found_in_the_code(profile, monkeypatch):
    """`gpukit estimate script.py` compiles a script under the name that was typed."""
    path = Path(kernels.__file__)
    monkeypatch.chdir(path.parent)
    relative = replace(
        profile,
        lines={at._replace(file=path.name): counts for at, counts in profile.lines.items()},
        accesses=[replace(access, file=path.name) for access in profile.accesses],
    )
    found, usual = refined(relative, UNROLLED), refined(profile, UNROLLED)
    assert (found.global_loads, found.float32) == (usual.global_loads, usual.float32)


def test_registers_are_those_of_the_code(profile):
    assert refined(profile, UNROLLED).registers == 40


def test_wide_loads_take_the_place_of_scalar_ones(profile):
    found = refined(profile, UNROLLED.replace("LDG.E R", "LDG.E.128 R"))
    scalar = refined(profile, UNROLLED)
    assert found.global_loads == pytest.approx(scalar.global_loads / 4, rel=0.2)
    assert found.lines < scalar.lines


def test_spilled_registers_have_no_likely_time():
    assert "spills registers (24 bytes" in machine_code.refused(Code(255, spilled=24))
    assert "lie in memory" in machine_code.refused(Code(40, stack=64))
    assert machine_code.refused(Code(40)) == ""


def test_machine_code_needs_the_compilers_and_the_disassembler(monkeypatch):
    for missing, tool, wanted in (("", "nvdisasm", True), ("", None, False), ("no", "x", False)):
        monkeypatch.setattr(gpu_code, "missing", lambda missing=missing: missing)
        monkeypatch.setattr(child, "disassembler", lambda tool=tool: tool)
        assert available() is wanted


def test_a_kernel_is_compiled_once_for_each_compute_capability(monkeypatch):
    asked = []

    def build(_kernel, _arguments, capabilities):
        asked.append(capabilities)
        return {capability: Code(40, sass=UNROLLED) for capability in capabilities[:1]}

    monkeypatch.setattr(gpu_code, "build", build)
    a, gpus = np.ones((8, 8), np.float32), ["RTX 3080", "T4", "RTX 3090"]
    found = gpukit.estimate(kernels.matmul, gpus, sass=True)[1, (8, 8)](a, a, a.copy())
    assert asked == [[(8, 6), (7, 5)]]
    assert [one.basis for one in found] == ["SASS", "source", "SASS"]


@COMPILERS
def test_code_of_numba_takes_several_times_the_instructions_of_the_source():
    a = np.ones((64, 64), np.float32)
    both = [
        gpukit.estimate(kernels.matmul, sass=sass)[(4, 4), (16, 16)](a, a.copy(), a.copy())
        for sass in (False, True)
    ]
    assert [one.basis for one in both] == ["source", "SASS"]
    assert 3 < both[1].work.instructions / both[0].work.instructions < 8
    assert "From SASS" in str(both[1])


@COMPILERS
def test_a_gpu_that_the_compilers_do_not_know_is_estimated_from_the_source():
    a = np.ones((64, 64), np.float32)
    found = gpukit.estimate(kernels.matmul, "V100", sass=True)[(4, 4), (16, 16)](a, a, a.copy())
    assert found.basis == "source"
