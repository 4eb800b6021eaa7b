"""One negative test for each construct that a kernel cannot hold: kind, line, rule and fix.

The line that is refused ends in the comment `# here`.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from gpukit import cuda, errors, target
from tests.compiler import texts

pytestmark = pytest.mark.skipif(
    target.wanted() == "cuda", reason="these are the messages of gpukit's own compiler"
)
INVALID, UNSUPPORTED = errors.Invalid, errors.Unsupported
TILE = 16


@cuda.jit(device=True)
def recursive_barrier(n):
    if n == 0:
        return 0
    cuda.syncthreads()
    return recursive_barrier(n - 1) + 1


# name, body of the kernel, error, words of the message
TABLE = [
    # values that need Python objects
    ("list", "x = [1, 2]  # here", INVALID, "a list", "cuda.local.array"),
    ("dict", "x = {1: 2}  # here", INVALID, "a dict", "use arrays"),
    ("set", "x = {1, 2}  # here", INVALID, "a set", "use arrays"),
    ("list comprehension", "x = [i for i in range(3)]  # here", INVALID, "list comp", "for loop"),
    (
        "dict comprehension",
        "x = {i: i for i in range(3)}  # here",
        INVALID,
        "dict comp",
        "for loop",
    ),
    ("set comprehension", "x = {i for i in range(3)}  # here", INVALID, "set comp", "for loop"),
    ("generator", "x = sum(i for i in range(3))  # here", INVALID, "generator", "for loop"),
    ("f-string", "print(f'{a[0]}')  # here", INVALID, "an f-string", "print('i =', i)"),
    # statements
    (
        "try",
        "try:  # here\n    a[0] = 1\nexcept ValueError:\n    pass",
        INVALID,
        "try/except",
        "if",
    ),
    ("with", "with a:  # here\n    pass", INVALID, "with statement", "on the host"),
    ("import", "import math  # here", INVALID, "an import", "top of the file"),
    ("from import", "from math import sin  # here", INVALID, "an import", "top of the file"),
    ("global", "global TILE  # here\nTILE = 3", INVALID, "global", "write to it"),
    ("class", "class A:  # here\n    pass", INVALID, "a class", "outside the kernel"),
    ("match", "match a[0]:  # here\n    case 1:\n        pass", INVALID, "match", "elif"),
    ("del", "x = 1\ndel x  # here", INVALID, "del", "leave it out"),
    ("walrus", "a[0] = (x := 3)  # here", INVALID, ":=", "statement of its own"),
    ("yield", "yield 1  # here", INVALID, "yield", "write results to an array"),
    ("yield from", "yield from a  # here", INVALID, "yield", "write results to an array"),
    ("starred target", "x, *y = 1, 2, 3  # here", INVALID, "starred", "name each part"),
    ("async def", "async def f():  # here\n    pass", INVALID, "async", "not coroutines"),
    ("return a value", "return a[0]  # here", INVALID, "cannot return", "a[0]", "array argument"),
    ("return a number", "if a[0] > 5:\n    return 1  # here", INVALID, "cannot return", "1"),
    # what goes through a whole array
    ("running sums", "a[0] = a.cumsum()[0]  # here", INVALID, "no a.cumsum", "a loop over"),
    ("sorted in place", "a[1:3].sort()  # here", INVALID, "no a[1:3].sort for kernels"),
    ("np.sort", "a[0] = np.sort(a)[0]  # here", INVALID, "no np.sort for", "share the work"),
    ("np.dot", "a[0] = np.dot(a, a)  # here", INVALID, "no np.dot for kernels"),
    # new arrays
    ("np.zeros", "x = np.zeros(3)  # here", INVALID, "np.zeros", "cuda.local.array"),
    ("np.empty_like", "x = np.empty_like(a)  # here", INVALID, "np.empty_like", "cuda.local.array"),
    ("array times number", "x = a[:] * 2  # here", INVALID, "makes a new array", "index for each"),
    ("minus an array", "a[0] = (-a[1:])[0]  # here", INVALID, "makes a new array", "a loop"),
    ("compared array", "if (a[:] > 0)[0]:  # here\n    a[0] = 1", INVALID, "makes a new array"),
    ("copy of an array", "x = a[1:].copy()  # here", INVALID, "makes a new array"),
    ("root of an array", "x = np.sqrt(a[1:])  # here", INVALID, "makes a new array"),
    (
        "shared of n",
        "x = cuda.shared.array(a.shape[0], np.float32)  # here",
        INVALID,
        "cuda.shared.array must be a constant",
        "a.shape[0]",
        "cuda.shared.array(0, dtype)",
    ),
    (
        "shared of a variable",
        "n = a.shape[0]\nx = cuda.shared.array((TILE, n), np.float32)  # here",
        INVALID,
        "must be a constant",
        "(TILE, n)",
        "TILE = 16",
    ),
    (
        "local of n",
        "x = cuda.local.array(a.shape[0], np.float32)  # here",
        INVALID,
        "cuda.local.array must be a constant",
        "a.shape[0]",
    ),
    (
        "shared of a float",
        "x = cuda.shared.array(TILE / 2, np.float32)  # here",
        INVALID,
        "must be a constant",
    ),
    # a GPU compiler does not evaluate these, so they would not run there
    (
        "shared of a sum",
        "x = cuda.shared.array(TILE + 1, np.float32)  # here",
        INVALID,
        "the GPU compiler does not evaluate TILE + 1",
        "outside the kernel: SIZE = TILE + 1",
    ),
    (
        "shared of a tuple with a sum",
        "x = cuda.shared.array((TILE, TILE + 1), np.float32)  # here",
        INVALID,
        "cuda.shared.array must be a number or a name",
        "does not evaluate TILE + 1",
    ),
    (
        "local of a product",
        "x = cuda.local.array(shape=2 * TILE, dtype=np.float32)  # here",
        INVALID,
        "cuda.local.array must be a number or a name",
        "does not evaluate 2 * TILE",
    ),
    (
        "shared of a variable that is a sum",
        "n = TILE + 1\nx = cuda.shared.array(n, np.float32)  # here",
        INVALID,
        "does not evaluate TILE + 1",
    ),
    (
        "shared of the length of a tuple",
        "x = cuda.shared.array(len(SHAPE), np.float32)  # here",
        INVALID,
        "does not evaluate len(SHAPE)",
    ),
    (
        "shared of a name in a module",
        "x = cuda.shared.array(ROOM.TILE, np.float32)  # here",
        INVALID,
        "does not evaluate ROOM.TILE",
        "SIZE = ROOM.TILE",
    ),
    (
        "shared of a NumPy integer",
        "x = cuda.shared.array(WIDTH, np.float32)  # here",
        INVALID,
        "does not evaluate WIDTH",
    ),
    (
        "shared of the warp size",
        "x = cuda.shared.array(cuda.warpsize, np.float32)  # here",
        INVALID,
        "does not evaluate cuda.warpsize",
    ),
    (
        "shared of a sum with an argument",
        "n = a.shape[0] + 1\nx = cuda.shared.array(n, np.float32)  # here",
        INVALID,
        "must be a constant",
        "cuda.shared.array(0, dtype)",
    ),
    ("negative shared", "x = cuda.shared.array(-3, np.float32)  # here", INVALID, "negative", "-3"),
    ("negative local", "x = cuda.local.array((2, -3), np.float32)  # here", INVALID, "negative"),
    (
        "local of a block's size",
        "a[0] = 1\nx = cuda.local.array(cuda.blockDim.x, np.float32)  # here",
        INVALID,
        "must be a constant",
        "cuda.blockDim.x",
    ),
    (
        "barrier without brackets",
        "a[0] = 1\ncuda.syncthreads  # here",
        INVALID,
        "as a value",
        "call it: cuda.syncthreads(...)",
    ),
    ("shared without dtype", "x = cuda.shared.array(4)  # here", INVALID, "shape and a dtype"),
    (
        "None for a dtype",
        "x = cuda.shared.array(4, None)  # here",
        INVALID,
        "None is not a dtype",
        "np.float32",
    ),
    (
        "unknown dtype",
        "x = cuda.shared.array(4, 'float31')  # here",
        INVALID,
        "float31",
        "np.float32",
    ),
    (
        "local too large",
        "x = cuda.local.array(1 << 20, np.float64)  # here\na[0] = x[0]",
        INVALID,
        "8388608 bytes",
        "524288",
    ),
    (
        "local far too large",
        "x = cuda.local.array(1 << 45, np.int8)  # here\na[0] = x[0]",
        INVALID,
        str(1 << 45),
        "524288",
    ),
    # names
    ("unknown name", "a[0] = quantity  # here", INVALID, "'quantity' is not defined", "argument"),
    ("misspelt global", "a[0] = TILLE  # here", INVALID, "'TILLE'", "did you mean 'TILE'?"),
    ("misspelt local", "column = 1\na[0] = colum  # here", INVALID, "'colum'", "'column'?"),
    ("misspelt parameter", "value = aa[0]  # here", INVALID, "'aa'", "did you mean"),
    (
        "misspelt barrier",
        "cuda.syncthread()  # here",
        INVALID,
        "cuda.syncthread.",
        "cuda.syncthreads?",
    ),
    ("misspelt index", "i = cuda.thredIdx.x  # here", INVALID, "cuda.thredIdx", "cuda.threadIdx?"),
    ("misspelt in math", "a[0] = math.sqr(2.0)  # here", INVALID, "math.sqr", "math.sqrt?"),
    ("misspelt in numpy", "a[0] = np.flot32(2.0)  # here", INVALID, "np.flot32", "np.float32?"),
    ("axis w", "i = cuda.threadIdx.w  # here", INVALID, "cuda.threadIdx.w", "x, y"),
    ("unknown atomic", "cuda.atomic.plus(a, 0, 1)  # here", INVALID, "cuda.atomic.plus"),
    ("grid of four axes", "i = cuda.grid(4)  # here", INVALID, "1, 2 or 3", "cuda.grid(1)"),
    ("grid of a variable", "i = cuda.grid(a.shape[0])  # here", INVALID, "1, 2 or 3"),
    # what is said is what was written
    (
        "return of a value",
        "return a[0] * np.float32(TILE)  # here",
        INVALID,
        "here a[0] * np.float32(TILE).",
        "write the result to an array",
    ),
    (
        "shared of a converted value",
        "x = cuda.shared.array(np.int32(a[0]), np.float32)  # here",
        INVALID,
        "got np.int32(a[0]).",
    ),
    # others
    (
        "barrier in a recursion",
        "a[0] = recursive_barrier(3)",
        UNSUPPORTED,
        "recursive_barrier",
        "write it as a loop",
    ),
    ("raise with a value", "raise ValueError(a[0])  # here", INVALID, "constant arguments"),
    ("raise of a variable", "x = 1\nraise x  # here", INVALID, "exception class"),
]


def kernel_of(body: str, signature: str = "a") -> object:
    """Return a kernel made from text, for which these names are known."""
    return texts.kernel_of(
        body,
        signature,
        TILE=TILE,
        SHAPE=(2, 3),
        WIDTH=np.int32(4),
        ROOM=SimpleNamespace(TILE=4),
        recursive_barrier=recursive_barrier,
    )


@pytest.mark.parametrize(
    ("body", "kind", "says"),
    [(row[1], row[2], row[3:]) for row in TABLE],
    ids=[row[0] for row in TABLE],
)
def test_refused_construct_is_named_with_its_line(body, kind, says):
    kernel = kernel_of(body)
    with pytest.raises(kind) as caught:
        kernel[1, 4](np.zeros(4))
    error, text = caught.value, str(caught.value)
    for words in says:
        assert words in text, f"{words!r} is not in the message:\n{text}"
    assert f"{error.file}:{error.line} in " in text
    assert f"> {error.source.strip()}" in text
    if "# here" in body:
        lines = ("", "", *body.splitlines())
        assert lines[error.line - 1].endswith("# here"), text
        assert error.kernel == "bad_kernel"


FIXED_LIST = [("*a", "a fixed list"), ("a, **rest", "a fixed list"), ("a, *, b=1", "a fixed list")]


@pytest.mark.parametrize(("signature", "says"), FIXED_LIST, ids=[row[0] for row in FIXED_LIST])
def test_parameters_must_be_named(signature, says):
    kernel = kernel_of("pass", signature)
    with pytest.raises(UNSUPPORTED, match=says) as caught:
        kernel[1, 1](np.zeros(4))
    assert "What to do: name each argument" in str(caught.value)


# Numba finds no types: name, body, words of the message
TYPED = [
    ("text into a number", "x = 'abc'\na[0] = x  # here", "str"),
    ("two types in one name", "x = 1\nif a[0] > 0:\n    x = 'abc'\na[0] = x  # here", "x"),
    ("unknown attribute", "a[0] = a.sizes  # here", "sizes"),
    ("text as an index", "a['x'] = 1  # here", "index"),
    ("file", "open('x')  # here", "builtin"),
    ("the whole threadIdx", "a[0] = cuda.threadIdx  # here", "What to do"),
    ("print with sep", "print(1, 2, sep=';')  # here", "keyword"),
    ("assigned shape", "a.shape = (2, 2)  # here", "shape"),
]


@pytest.mark.parametrize(
    ("body", "says"), [row[1:] for row in TYPED], ids=[row[0] for row in TYPED]
)
def test_wrong_types_are_reported_at_their_line(body, says):
    kernel = kernel_of(body)
    with pytest.raises(errors.CompileError) as caught:
        kernel[1, 4](np.zeros(4))
    assert says in str(caught.value)
    assert caught.value.source.endswith("# here"), str(caught.value)
    assert "What to do" in str(caught.value)


def test_lambda_that_returns_a_value_is_refused():
    added = cuda.jit(lambda a: cuda.atomic.add(a, 0, 1))
    with pytest.raises(errors.Invalid, match="cannot return a value"):
        added[1, 4](np.zeros(4))


@pytest.mark.parametrize("body", ["return", "return None", "if a[0] == 0:\n    return\na[0] = 1"])
def test_bare_return_is_allowed(body):
    kernel_of(body)[1, 4](np.zeros(4))


@pytest.mark.parametrize("shape", ["TILE", "2 * 32", "(TILE, 2)[0]", "SHAPE[1]", "n", "m"])
@pytest.mark.costly
def test_shapes_that_a_gpu_compiler_can_tell_are_allowed(shape):
    kernel = kernel_of(
        f"n = 5\nm = 2 * 32\nx = cuda.shared.array({shape}, np.float32)\nx[0] = a[0]\na[0] = x[0]"
    )
    kernel[1, 1](np.ones(4))
