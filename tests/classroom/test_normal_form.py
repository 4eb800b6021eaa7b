"""Equal code has an equal normal form, whatever its names and its formatting."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpukit.classroom import similarity
from gpukit.classroom.normal_form import tokens
from gpukit.course import catalogue

KERNEL = '''
"""A sum of two vectors."""
from gpukit import cuda
import numba
import numpy as np

TILE = 16


@cuda.jit(device=True)
def double(x):
    return 2 * x


@cuda.jit
def k(a, b, out):
    """Add."""
    i = cuda.grid(1)
    tile = cuda.shared.array(TILE * 2, np.float32)
    if i < out.size:
        total = double(a[i])
        total += b[i] * 1024
        out[i] = total
'''
SAME = {
    "names": ("total", "result"),
    "parameters": ("b", "right"),
    "the function": ("double", "twice"),
    "a comment": ("    if i", "    # the guard\n    if i"),
    "no docstring": ('    """Add."""\n', ""),
    "another docstring": ("Add.", "Adds two vectors."),
    "annotations": ("total = double", "total: float = double"),
    "a comparison turned": ("i < out.size", "out.size > i"),
    "brackets": ("b[i] * 1024", "(b[i] * (1024))"),
    "a shift": ("1024", "(1 << 10)"),
    "hexadecimal": ("1024", "0x400"),
    "a product": ("1024", "(32 * 32)"),
    "a longer assignment": ("total += b[i]", "total = total + b[i]"),
    "the constant": ("TILE", "SIZE"),
    "the constant as a number": ("TILE * 2", "32"),
    "another import of cuda": ("from gpukit import cuda", "from numba import cuda"),
    "another name of NumPy": ("np", "numpy"),
    "the type from numba": ("np.float32", "numba.float32"),
    "an import in a try statement": (
        "from gpukit import cuda",
        "try:\n    from gpukit import cuda\nexcept ImportError:\n    from other import cuda",
    ),
    "an import in an if statement": (
        "from gpukit import cuda",
        "if True:\n    from numba import cuda\nelse:\n    cuda = None",
    ),
    "no options": ("(device=True)", ""),
    "blank lines": ("\n    if i", "\n\n\n    if i"),
    "something that is not needed": ("TILE = 16", "TILE = 16\nprint('tested')\ndef f(): pass"),
    "a pass": ("out[i] = total", "out[i] = total\n        pass"),
    "CRLF": ("\n", "\r\n"),
}
DIFFERENT = {
    "another operator": ("total += b", "total -= b"),
    "another comparison": ("i < out", "i <= out"),
    "another constant": ("1024", "1025"),
    "a float": ("1024", "1024.0"),
    "another function": ("return 2 * x", "return x * 2"),
    "another argument": ("b[i] *", "a[i] *"),
    "another attribute": ("out.size", "out.ndim"),
    "another type": ("np.float32", "np.float64"),
    "names that are one": ("total = double", "i = double"),
    "a chain": ("i < out.size", "0 <= i < out.size"),
}


def changed(old, new):
    """Return the kernel with each word or piece `old` replaced."""
    assert old in KERNEL
    if old == "np":
        return KERNEL.replace("numpy as np", "numpy").replace("np.", "numpy.")
    if not old.isidentifier():
        return KERNEL.replace(old, new)
    tree = ast.parse(KERNEL)
    for node in ast.walk(tree):
        for field in ("id", "arg", "name"):
            if getattr(node, field, "") == old:
                setattr(node, field, new)
    return (
        ast.unparse(tree)
        if any(old == word for word in ("b", "double", "TILE", "total"))
        else (KERNEL.replace(old, new))
    )


@pytest.mark.parametrize(("old", "new"), SAME.values(), ids=SAME)
def test_what_does_not_matter_leaves_the_fingerprint(old, new):
    assert similarity.fingerprint(changed(old, new), "k") == similarity.fingerprint(KERNEL, "k")


@pytest.mark.parametrize(("old", "new"), DIFFERENT.values(), ids=DIFFERENT)
def test_what_matters_changes_the_fingerprint(old, new):
    text = KERNEL.replace(old, new)
    assert text != KERNEL
    assert similarity.fingerprint(text, "k") != similarity.fingerprint(KERNEL, "k")


def test_a_fingerprint_is_the_same_on_every_machine():
    assert similarity.fingerprint(KERNEL, "k") == "7c5a5f9b79b6b820"


@pytest.mark.parametrize(
    "source",
    [
        "",
        "def other(): pass",
        "def k(:",
        "k = 1",
        "\0",
        "def k():\n" + "".join("    " * n + "if x:\n" for n in range(1, 120)) + "    " * 120 + "x",
        "def k(): return " + "(" * 500 + ")" * 500,
        "def k(): return " + "+".join("x" * 20_000),
        "def k(): return " + "9" * 5000,
        "def k(): return 1" + " " * 300_000,
        "".join(f"A{n} = A{n + 1}, A{n + 1}\n" for n in range(99)) + "def k(): return A0",
    ],
)
def test_code_without_a_normal_form_has_no_fingerprint(source):
    assert similarity.fingerprint(source, "k") == ""
    assert similarity.shingles(source, "k") == []


@pytest.mark.parametrize(
    "source",
    [
        "A = B\nB = A\ndef k(): return A",
        "A = A + 1\ndef k(): return A",
        "".join(f"A{n} = A{n + 1} + A{n + 1}\n" for n in range(40)) + "A40 = 1\ndef k(): return A0",
        "".join(f"A{n} = A{n + 1} + A{n + 1}\n" for n in range(10)) + "def k(): return A0",
        "N = 2\nM = N * 2\ndef k():\n  N = x\n  return M",
        "def k(): return k()",
        "def k(): return j()\ndef j(): return k()",
        "def k(): return 1 / 0, 1 % 0, 1 << -1, 1 << 10**9, 2.0 << 1, 'a' * 10**9",
        "def k():\n  global x\n  x = 1\n  nonlocal_ = lambda y: y\n  del x",
        "def k(*a, b=1, **c):\n  return [x for x in a if (y := x)]",
        "class k:\n  def f(self): return 1",
        "async def k(): await x",
        "def k(x):\n  match x:\n    case [1, *r]: return r\n    case {'a': 1, **m}: return m",
        "def k(): return f'{x!r:>{w}}', b'x', ..., 1j, None, True",
    ],
)
def test_any_python_has_a_normal_form(source):
    assert tokens(source, "k")


@given(st.text(max_size=50))
def test_any_text_has_a_fingerprint_or_none(text):
    assert isinstance(similarity.fingerprint(f"def k():\n  {text}", "k"), str)


def test_unparsed_solutions_keep_their_fingerprints():
    for exercise in catalogue.every():
        source = exercise.solution.read_text(encoding="utf-8")
        again = ast.unparse(ast.parse(source))
        assert similarity.fingerprint(source, exercise.entry), exercise.name
        assert similarity.fingerprint(again, exercise.entry) == similarity.fingerprint(
            source, exercise.entry
        ), exercise.name
