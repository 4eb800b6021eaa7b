"""Which top-level statements of a submission its kernel needs, and which are left out."""

import ast

import pytest

from gpukit.classroom import needed

HEAD = "import random\nimport numpy as np\nfrom gpukit import cuda\n"
KERNEL = "\n@cuda.jit\ndef kernel(out):\n    out[0] = T[0]\n"
TABLE = "T = np.zeros(4)\n"
# Statements that change a table after it was made.
CHANGES = {
    "an element": "T[0] = 1",
    "a method": "T.fill(1)",
    "a function of NumPy": "np.copyto(T, 1)",
    "the argument out": "np.add(T, 1, out=T)",
    "a function of random": "random.shuffle(T)",
    "a function of its own": "def fill(t):\n    t[0] = 1\nfill(T)",
    "a keyword argument": "def fill(t):\n    t[0] = 1\nfill(t=T)",
    "a function that changes an element of it": "def setup():\n    T[0] = 1\nsetup()",
    "a function that binds it": "def setup():\n    global T\n    T = np.ones(4)\nsetup()",
    "a function that another one calls": (
        "def first():\n    T[0] = 1\ndef setup():\n    first()\nsetup()"
    ),
    "a call in a loop": "def fill(t, i):\n    t[i] = 1\nfor i in range(4):\n    fill(T, i)",
}


def kept(text):
    """Return the statements that the kernel needs, as text."""
    tree = ast.parse(HEAD + TABLE + text + KERNEL)
    return [ast.unparse(node) for node in needed.statements(tree, "kernel")]


def last(text):
    """Return the last statement of a text."""
    return ast.unparse(ast.parse(text).body[-1])


@pytest.mark.parametrize("how", CHANGES)
def test_a_statement_that_changes_what_the_kernel_needs_is_kept(how):
    assert last(CHANGES[how]) in kept(CHANGES[how])


NO_CHANGES = {
    "a function of a module": "expected = np.sort(np.ones(4))",
    "a test that is given it": "def show(t):\n    print(t[0])\nshow(T)",
    "a function that is never called": "def fill():\n    T[0] = 1",
    "a launch": "out = np.zeros(1)\nkernel[1, 1](out)",
}


@pytest.mark.parametrize("what", NO_CHANGES)
def test_a_statement_that_changes_nothing_the_kernel_needs_is_left_out(what):
    assert last(NO_CHANGES[what]) not in kept(NO_CHANGES[what])


def test_a_chain_of_thousands_of_statements_is_followed_to_its_end():
    chain = [f"x{n} = x{n + 1}" for n in range(5000)]
    assert len(kept("\n".join(["T = x0", *chain]))) > 5000  # minutes, were it cubic
