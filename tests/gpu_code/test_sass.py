"""Parsing machine code (SASS): instructions, their source lines, loops and instruction mixes."""

import pytest

from gpukit.gpu_code import sass

LISTING = """
\t.target\tsm_90
.text.kernel:
\t//## File "/book/kernel.py", line 7
        /*0000*/                   LDC R1, c[0x0][0x28] ;
        /*0010*/              @!P0 EXIT ;
.L_x_0:
\t//## File "/book/kernel.py", line 9
        /*0020*/                   LDG.E.128 R4, desc[UR4][R2.64] ;
        /*0030*/                   LDS.128 R8, [R20] ;
        /*0040*/                   FFMA R0, R4, R8, R0 ;
        /*0050*/                   FFMA R0, R5, R9, R0 ;
        /*0060*/               @P1 BRA `(.L_x_0) ;
\t//## File "/book/kernel.py", line 10
        /*0070*/                   STG.E desc[UR4][R2.64], R0 ;
        /*0080*/                   EXIT ;
.L_x_1:
        /*0090*/                   BRA `(.L_x_1);
        /*00a0*/                   NOP;
        /*00b0*/                   NOP;
"""


def instructions(*lines):
    """Return the parsed instructions of a listing, 16 bytes each."""
    return sass.parse("\n".join(f"/*{16 * n:04x}*/ {text} ;" for n, text in enumerate(lines)))


def test_instructions_are_parsed_in_order():
    assert [one.opcode for one in sass.parse(LISTING)] == [
        "LDC",
        "EXIT",
        "LDG.E.128",
        "LDS.128",
        "FFMA",
        "FFMA",
        "BRA",
        "STG.E",
        "EXIT",
    ]


def test_an_instruction_has_its_source_line():
    read = [(one.file, one.line) for one in sass.parse(LISTING) if one.opcode == "STG.E"]
    assert read == [("/book/kernel.py", 10)]


def test_a_branch_has_its_target_address():
    assert [one.target for one in sass.parse(LISTING) if one.opcode == "BRA"] == [0x20]


def test_padding_after_the_last_branch_is_omitted():
    assert sass.parse(LISTING)[-1].address == 0x80


def test_a_listing_without_code_has_no_instructions():
    assert sass.parse("\t.target\tsm_90\n") == []


def test_a_loop_extends_from_the_target_of_a_backward_branch_to_the_branch():
    assert [one.address for one in sass.main_loop(sass.parse(LISTING))] == [
        0x20,
        0x30,
        0x40,
        0x50,
        0x60,
    ]


def test_of_nested_loops_the_inner_one_is_the_main_loop():
    inner = "\n".join(
        f"{label}/*{address:04x}*/ {text} ;"
        for address, label, text in [
            (0x00, ".L_x_0:\n", "IADD3 R1, R1, 0x1, RZ"),
            (0x10, ".L_x_1:\n", "FFMA R0, R4, R8, R0"),
            (0x20, "", "@P0 BRA `(.L_x_1)"),
            (0x30, "", "@P1 BRA `(.L_x_0)"),
        ]
    )
    assert [one.address for one in sass.main_loop(sass.parse(inner))] == [0x10, 0x20]


def test_code_without_a_loop_has_no_main_loop():
    assert sass.main_loop(instructions("FFMA R0, R4, R8, R0", "EXIT")) == []


def test_the_mix_counts_every_instruction_once():
    code = sass.parse(LISTING)
    mix = sass.mix(code)
    assert mix == {"integer": 1, "branch": 3, "global": 2, "shared": 1, "FFMA": 2}
    assert mix.total() == len(code)


@pytest.mark.parametrize(
    "opcode",
    [
        "DADD",
        "DMUL",
        "DFMA",
        "DSETP.GT.AND",
        "MUFU.RCP64H",
        "F2F.F64.F32",
        "F2F.F32.F64",
        "I2F.F64",
        "F2I.F64.TRUNC",
        "I2F.F64.S64",
    ],
)
def test_float64_arithmetic_and_conversions_are_double(opcode):
    (one,) = instructions(f"{opcode} R4, R2")
    assert one.double
    assert sass.group_of(opcode) == "double"


@pytest.mark.parametrize("opcode", ["FADD", "MUFU.RCP", "LDG.E.64", "I2F.S64", "F2I.S64", "DEPBAR"])
def test_64_bit_moves_and_integer_conversions_are_not_double(opcode):
    (one,) = instructions(f"{opcode} R4, R2")
    assert not one.double


def test_a_predicate_is_not_part_of_the_opcode():
    predicated = ["@P0 FADD R1, R2, R3", "@!PT FADD R1, R2, R3", "@!UP1 UIADD3 UR1, UR2, UR3, URZ"]
    assert [one.opcode for one in instructions(*predicated)] == ["FADD", "FADD", "UIADD3"]


def test_wide_accesses_count_16_byte_accesses_by_opcode():
    code = instructions(
        "LDG.E.128 R4, [R2]", "LDG.E.64 R4, [R2]", "STS.128 [R1], R4", "STS.128 [R2], R4"
    )
    assert sass.wide_accesses(code) == {"LDG": 1, "STS": 2}
