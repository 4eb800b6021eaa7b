"""Mutation testing of the compiler: operators, the drawn sample, examination, the report."""

import ast

import pytest

from benchmarks import compiler_mutants
from benchmarks.mutation import equivalents, listed, python_code

# Source and mutants, by operator.
MUTANTS = {
    "comparison": ("a < b", ["(a <= b)"]),
    "operator": ("a * b", ["(a + b)"]),
    "operands": ("a - b", ["(a + b)", "(b - a)"]),
    "operator and statement": ("a += b", ["a -= b", "pass"]),
    "and/or": ("a and b", ["(a or b)", "(a)", "(b)"]),
    "not": ("not a", ["(a)"]),
    "negated": ("a if b else c", ["(a if not b else c)"]),
    "constant": ("a = 2", ["a = 1", "a = 3"]),
    "a constant that is true": ("a = True", ["a = False"]),
    "arguments": ("a = f(b, c)", ["a = (f(c, b))"]),
    "statement": ("f(b)", ["pass"]),
    "a value of an array": ("a.b = c", ["pass"]),
    "raise": ("raise Error(2 - a)", ["pass"]),
    "strings": ("a = 'b' + c", []),
    "annotations": ("a: b[1] = c", []),
}


def mutants(text):
    return sorted(mutant.after for mutant in python_code.every("a.py", text))


@pytest.mark.parametrize("name", MUTANTS)
def test_an_operator_mutates_a_line(name):
    text, expected = MUTANTS[name]
    assert mutants(text) == sorted(expected)


def test_a_return_value_becomes_none_and_continue_becomes_break():
    text = "def f():\n    for i in a:\n        continue\n    return i\n"
    assert mutants(text) == ["        break\n", "    return None\n"]


def test_a_repr_is_not_mutated():
    assert not mutants("def __repr__(self):\n    return f(1)\n")


def test_a_mutant_changes_only_its_line():
    text = "if a:\n    b = 1\n"
    (first,) = (m for m in python_code.every("a.py", text) if m.operator == "negated")
    assert first.put_into(text) == "if (not a):\n    b = 1\n"


@pytest.fixture(scope="module")
def drawn():
    return python_code.draw(compiler_mutants.ROOT, ["gpukit/compiler"], 30, 1, ())


def test_mutants_are_valid_programs_that_differ(drawn):
    for mutant in drawn:
        text = (compiler_mutants.ROOT / mutant.file).read_text()
        assert ast.dump(ast.parse(mutant.put_into(text))) != ast.dump(ast.parse(text))


def test_an_equivalent_mutant_is_replaced_by_another(drawn):
    equivalent = {drawn[0].id}
    again = python_code.draw(compiler_mutants.ROOT, ["gpukit/compiler"], 30, 1, equivalent)
    assert again[:30] == drawn
    assert len(again) == 31


def test_every_equivalent_mutant_has_a_reason():
    assert all(e["reason"] for e in equivalents.read(compiler_mutants.EQUIVALENTS).values())


def test_every_mistake_that_gives_points_away_can_still_be_made():
    mutants = listed.read(compiler_mutants.GENEROUS, compiler_mutants.ROOT)
    assert len({mutant.id for mutant in mutants}) == len(mutants) >= 50
    for mutant in mutants:
        text = (compiler_mutants.ROOT / mutant.file).read_text()
        assert ast.dump(ast.parse(mutant.put_into(text))) != ast.dump(ast.parse(text))


@pytest.mark.parametrize(("code", "outcome"), [(0, "survived"), (1, "killed"), (None, "survived")])
def test_a_mutant_is_in_its_file_only_while_the_tests_run(code, outcome, tmp_path, monkeypatch):
    mutant = python_code.Mutant("a.py", 1, "constant", "a = 1\n", "a = 2\n")
    copy = compiler_mutants.Copy(tmp_path, compiler_mutants.Coverage(None))
    copy.folder.mkdir()
    file = copy.folder / "a.py"
    file.write_text("a = 1\n")
    seen = []

    def run(arguments, limit):
        seen.append(file.read_text())
        return code, "a test"

    monkeypatch.setattr(copy, "run", run)
    row = {"outcome": "survived", "by": "", "groups": 0, "seconds": 0}
    assert copy.examine(mutant, row, 10)["outcome"] == outcome
    assert set(seen) == {"a = 2\n"}
    assert file.read_text() == "a = 1\n"


def test_the_table_counts_by_package_and_lists_survivors():
    row = {"id": "gpukit/compiler/emit/a.py\n- a\n+ b", "line": 7}
    rows = [row | {"outcome": word} for word in ("killed", "survived", "equivalent")]
    table = compiler_mutants.table(rows)
    assert "| emit | 2 | 1 | 1 | 1 |" in table
    assert table.endswith("line 7 of gpukit/compiler/emit/a.py\n- a\n+ b")


def test_tests_that_run_a_changed_line_come_first(tmp_path):
    coverage = pytest.importorskip("coverage")
    data = coverage.CoverageData(str(tmp_path / "lines"))
    for context, lines in (("tests/t.py::test_a|run", [1, 2]), ("tests/t.py::test_b|run", [2, 3])):
        data.set_context(context)
        data.add_lines({"/somewhere/gpukit/a.py": lines})
    data.write()
    found = compiler_mutants.Coverage(tmp_path / "lines")
    assert [
        sorted(found.tests(python_code.Mutant("gpukit/a.py", line, "constant", "a\n", "b\n")))
        for line in (1, 2, 4)
    ] == [["tests/t.py::test_a"], ["tests/t.py::test_a", "tests/t.py::test_b"], []]
