"""Mistakes seeded in the compiler: what they are, which are drawn, what is said of them."""

import ast

import pytest

from benchmarks import compiler_mutants
from benchmarks.mutation import equivalents, python_code

# What a line is, and what comes of it.
MADE = {
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


def made(text):
    return sorted(mutant.after for mutant in python_code.every("a.py", text))


@pytest.mark.parametrize("name", MADE)
def test_a_line_gets_its_mistakes(name):
    text, expected = MADE[name]
    assert made(text) == sorted(expected)


def test_a_returned_value_is_lost_and_a_jump_is_another():
    text = "def f():\n    for i in a:\n        continue\n    return i\n"
    assert made(text) == ["        break\n", "    return None\n"]


def test_what_a_repr_says_stays():
    assert not made("def __repr__(self):\n    return f(1)\n")


def test_a_mistake_changes_its_line_only():
    text = "if a:\n    b = 1\n"
    (first,) = (m for m in python_code.every("a.py", text) if m.operator == "negated")
    assert first.put_into(text) == "if (not a):\n    b = 1\n"


@pytest.fixture(scope="module")
def drawn():
    return python_code.draw(compiler_mutants.ROOT, ["gpukit/compiler"], 30, 1, ())


def test_mistakes_are_programs(drawn):
    for mutant in drawn:
        text = (compiler_mutants.ROOT / mutant.file).read_text()
        assert ast.dump(ast.parse(mutant.put_into(text))) != ast.dump(ast.parse(text))


def test_another_mistake_is_drawn_for_an_equivalent(drawn):
    spare = {drawn[0].id}
    again = python_code.draw(compiler_mutants.ROOT, ["gpukit/compiler"], 30, 1, spare)
    assert again[:30] == drawn
    assert len(again) == 31


def test_the_equivalents_have_reasons():
    assert all(e["reason"] for e in equivalents.read(compiler_mutants.EQUIVALENTS).values())


@pytest.mark.parametrize(("code", "outcome"), [(0, "survived"), (1, "killed"), (None, "survived")])
def test_a_mistake_is_there_while_tests_run_and_gone_afterwards(
    code, outcome, tmp_path, monkeypatch
):
    mutant = python_code.Mutant("a.py", 1, "constant", "a = 1\n", "a = 2\n")
    copy = compiler_mutants.Copy(tmp_path)
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


def test_the_table_counts_by_package_and_shows_what_survived():
    row = {"id": "gpukit/compiler/emit/a.py\n- a\n+ b", "line": 7}
    rows = [row | {"outcome": word} for word in ("killed", "survived", "equivalent")]
    said = compiler_mutants.table(rows)
    assert "| emit | 2 | 1 | 1 | 1 |" in said
    assert said.endswith("line 7 of gpukit/compiler/emit/a.py\n- a\n+ b")
