"""Tests that would fail on a GPU are marked: an illegal access breaks all tests after it."""

import ast
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
ON_THE_HOST = {"LaunchError", "TargetError"}  # raised before a kernel is compiled or runs


def expected(test):
    """Return the errors of gpukit that a test expects."""
    calls = [n for n in ast.walk(test) if isinstance(n, ast.Call)]
    raises = [n.args[0] for n in calls if ast.unparse(n.func) == "pytest.raises"]
    names = [ast.unparse(kind).split(".") for kind in raises]
    return {name[-1] for name in names if "errors" in name}


def test_tests_of_errors_that_only_the_cpu_targets_raise_are_marked_cpu():
    found = []
    for file in sorted([*TESTS.glob("kernels/test_*.py"), *TESTS.glob("primitives/test_*.py")]):
        for test in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(test, ast.FunctionDef) and expected(test) - ON_THE_HOST:
                marks = [ast.unparse(mark) for mark in test.decorator_list]
                found += [] if "pytest.mark.cpu" in marks else [f"{file.name}: {test.name}"]
    assert found == []
