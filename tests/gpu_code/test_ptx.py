"""Parsing PTX: the statements of the kernel, their source lines, and demangled names."""

from gpukit.gpu_code import ptx

TEXT = """//
.version 9.4
.visible .entry _Z6longB4Name(
\t.param .u64 _Z6longB4Name_param_0
)
{
\t.reg .b32 \t%r<13>;
\t.loc\t1 7 0

\tld.param.u64 \t%rd1, [_Z6longB4Name_param_0];
\t.loc\t1 9 1
\tmov.u32 \t%r1, %tid.x;
\t.loc\t1 0 1
\tadd.s64 \t%rd2, %rd1, 1;

$L__BB0_1:
\t.loc\t1 10 1
\tret;

}

\t.file\t1 "/book/kernel.py"
"""


def test_statements_are_those_of_the_kernel_without_declarations():
    assert [one.text.split()[0] for one in ptx.parse(TEXT)] == [
        "ld.param.u64",
        "mov.u32",
        "add.s64",
        "$L__BB0_1:",
        "ret;",
    ]


def test_a_statement_has_its_source_line():
    assert [one.line for one in ptx.parse(TEXT)] == [7, 9, 9, 9, 10]
    assert {one.file for one in ptx.parse(TEXT)} == {"/book/kernel.py"}


def test_the_mangled_name_is_replaced_by_the_name_of_the_kernel():
    assert ptx.parse(TEXT, "saxpy")[0].text == "ld.param.u64 \t%rd1, [saxpy_param_0];"


def test_text_without_a_kernel_has_no_statements():
    assert ptx.parse(".version 9.4\n") == []
