"""One test for each construct that kernels do not support: the line, the rule and the fix."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from gpukit import cuda, errors, target
from tests.compiler import texts

pytestmark = pytest.mark.skipif(
    target.wanted() == "cuda", reason="these are the messages of gpukit's own compiler"
)
TILE = 16


@cuda.jit(device=True)
def recursive_barrier(n):
    if n == 0:
        return 0
    cuda.syncthreads()
    return recursive_barrier(n - 1) + 1


# Body of the kernel, parts of the message. The refused line is marked `# here`, or the last one.
REFUSED = {
    # values that need Python objects
    "x = [1, 2]": ("a list", "cuda.local.array"),
    "x = {1: 2}": ("a dict", "use arrays"),
    "x = {1, 2}": ("a set", "use arrays"),
    "x = [i for i in range(3)]": ("list comp", "for loop"),
    "x = {i: i for i in range(3)}": ("dict comp", "for loop"),
    "x = {i for i in range(3)}": ("set comp", "for loop"),
    "x = sum(i for i in range(3))": ("generator", "for loop"),
    "print(f'{a[0]}')": ("an f-string", "print('i =', i)"),
    # statements
    "try:  # here\n    a[0] = 1\nexcept ValueError:\n    pass": ("try/except", "if"),
    "with a:  # here\n    pass": ("with statement", "on the host"),
    "import math": ("an import", "top of the file"),
    "from math import sin": ("an import", "top of the file"),
    "global TILE  # here\nTILE = 3": ("global", "write to it"),
    "class A:  # here\n    pass": ("a class", "outside the kernel"),
    "match a[0]:  # here\n    case 1:\n        pass": ("match", "elif"),
    "x = 1\ndel x": ("del", "remove it"),
    "a[0] = (x := 3)": (":=", "separate statement"),
    "yield 1": ("yield", "write results to an array"),
    "yield from a": ("yield", "write results to an array"),
    "x, *y = 1, 2, 3": ("starred", "name each part"),
    "async def f():  # here\n    pass": ("async", "not coroutines"),
    "return a[0]": ("cannot return", "a[0]", "array argument"),
    "if a[0] > 5:\n    return 1": ("cannot return", "1"),
    # functions of whole arrays
    "a[0] = a.cumsum()[0]": ("no a.cumsum", "a loop over"),
    "a[1:3].sort()": ("no a[1:3].sort for kernels",),
    "a[0] = np.sort(a)[0]": ("no np.sort for", "share the work"),
    "a[0] = np.dot(a, a)": ("no np.dot for kernels",),
    # new arrays
    "x = np.zeros(3)": ("np.zeros", "cuda.local.array"),
    "x = np.empty_like(a)": ("np.empty_like", "cuda.local.array"),
    "x = a[:] * 2": ("creates a new array", "index per"),
    "a[0] = (-a[1:])[0]": ("creates a new array", "a loop"),
    "if (a[:] > 0)[0]:  # here\n    a[0] = 1": ("creates a new array",),
    "x = a[1:].copy()": ("creates a new array",),
    "x = np.sqrt(a[1:])": ("creates a new array",),
    "x = cuda.shared.array(a.shape[0], np.float32)": (
        "cuda.shared.array must be a constant",
        "a.shape[0]",
        "cuda.shared.array(0, dtype)",
    ),
    "n = a.shape[0]\nx = cuda.shared.array((TILE, n), np.float32)": (
        "must be a constant",
        "(TILE, n)",
        "TILE = 16",
    ),
    "x = cuda.local.array(a.shape[0], np.float32)": (
        "cuda.local.array must be a constant",
        "a.shape[0]",
    ),
    "x = cuda.shared.array(TILE / 2, np.float32)": ("must be a constant",),
    # shapes that a GPU's compiler does not evaluate
    "x = cuda.shared.array(TILE + 1, np.float32)": (
        "the GPU compiler does not evaluate TILE + 1",
        "outside the kernel: SIZE = TILE + 1",
    ),
    "x = cuda.shared.array((TILE, TILE + 1), np.float32)": (
        "cuda.shared.array must be a number or the name",
        "does not evaluate TILE + 1",
    ),
    "x = cuda.local.array(shape=2 * TILE, dtype=np.float32)": (
        "cuda.local.array must be a number or the name",
        "does not evaluate 2 * TILE",
    ),
    "n = TILE + 1\nx = cuda.shared.array(n, np.float32)": ("does not evaluate TILE + 1",),
    "x = cuda.shared.array(len(SHAPE), np.float32)": ("does not evaluate len(SHAPE)",),
    "x = cuda.shared.array(CONFIG.TILE, np.float32)": (
        "does not evaluate CONFIG.TILE",
        "SIZE = CONFIG.TILE",
    ),
    "x = cuda.shared.array(WIDTH, np.float32)": ("does not evaluate WIDTH",),
    "x = cuda.shared.array(cuda.warpsize, np.float32)": ("does not evaluate cuda.warpsize",),
    "n = a.shape[0] + 1\nx = cuda.shared.array(n, np.float32)": (
        "must be a constant",
        "cuda.shared.array(0, dtype)",
    ),
    "x = cuda.shared.array(-3, np.float32)": ("negative", "-3"),
    "x = cuda.local.array((2, -3), np.float32)": ("negative",),
    "a[0] = 1\nx = cuda.local.array(cuda.blockDim.x, np.float32)": (
        "must be a constant",
        "cuda.blockDim.x",
    ),
    "a[0] = 1\ncuda.syncthreads": ("as a value", "call it: cuda.syncthreads(...)"),
    "x = cuda.shared.array(4)": ("shape and a dtype",),
    "x = cuda.shared.array(4, None)": ("None is not a dtype", "np.float32"),
    "x = cuda.shared.array(4, 'float31')": ("float31", "np.float32"),
    "x = cuda.local.array(1 << 20, np.float64)  # here\na[0] = x[0]": ("8388608 bytes", "524288"),
    "x = cuda.local.array(1 << 45, np.int8)  # here\na[0] = x[0]": (str(1 << 45), "524288"),
    # names
    "a[0] = quantity": ("'quantity' is not defined", "argument"),
    "a[0] = TILLE": ("'TILLE'", "did you mean 'TILE'?"),
    "column = 1\na[0] = colum": ("'colum'", "'column'?"),
    "value = aa[0]": ("'aa'", "did you mean"),
    "cuda.syncthread()": ("cuda.syncthread.", "cuda.syncthreads?"),
    "i = cuda.thredIdx.x": ("cuda.thredIdx", "cuda.threadIdx?"),
    "a[0] = math.sqr(2.0)": ("math.sqr", "math.sqrt?"),
    "a[0] = np.flot32(2.0)": ("np.flot32", "np.float32?"),
    "i = cuda.threadIdx.w": ("cuda.threadIdx.w", "x, y"),
    "cuda.atomic.plus(a, 0, 1)": ("cuda.atomic.plus",),
    "i = cuda.grid(4)": ("1, 2 or 3", "cuda.grid(1)"),
    "i = cuda.grid(a.shape[0])": ("1, 2 or 3",),
    # expressions are quoted as written
    "return a[0] * np.float32(TILE)": (
        "here a[0] * np.float32(TILE).",
        "write the result to an array",
    ),
    "x = cuda.shared.array(np.int32(a[0]), np.float32)": ("got np.int32(a[0]).",),
    # others
    "raise ValueError(a[0])": ("constant arguments",),
    "x = 1\nraise x": ("exception class",),
}


def kernel_of(body: str, signature: str = "a") -> object:
    """Return a kernel compiled from text, with these names as its globals."""
    return texts.kernel_of(
        body,
        signature,
        TILE=TILE,
        SHAPE=(2, 3),
        WIDTH=np.int32(4),
        CONFIG=SimpleNamespace(TILE=4),
        recursive_barrier=recursive_barrier,
    )


@pytest.mark.parametrize("body", REFUSED)
def test_an_unsupported_construct_is_refused_at_its_line(body):
    text = texts.refusal(kernel_of(body), body, errors.Invalid)
    assert [part for part in REFUSED[body] if part not in text] == [], text


def test_a_barrier_in_a_recursion_is_refused():
    with pytest.raises(errors.Unsupported, match="recursive_barrier") as caught:
        kernel_of("a[0] = recursive_barrier(3)")[1, 4](np.zeros(4))
    assert "write it as a loop" in str(caught.value)


@pytest.mark.parametrize("signature", ["*a", "a, **rest", "a, *, b=1"])
def test_parameters_must_be_named(signature):
    kernel = kernel_of("pass", signature)
    with pytest.raises(errors.Unsupported, match="a fixed list") as caught:
        kernel[1, 1](np.zeros(4))
    assert "What to do: name each argument" in str(caught.value)


# Type inference fails: body, a word of the message
TYPED = {
    "x = 'abc'\na[0] = x": "str",
    "x = 1\nif a[0] > 0:\n    x = 'abc'\na[0] = x": "x",
    "a[0] = a.sizes": "sizes",
    "a['x'] = 1": "index",
    "a[0] = cuda.threadIdx": "What to do",
    "print(1, 2, sep=';')": "keyword",
    "a.shape = (2, 2)": "shape",
}


@pytest.mark.parametrize("body", TYPED)
def test_wrong_types_are_reported_at_their_line(body):
    text = texts.refusal(kernel_of(body), body, errors.CompileError)
    assert TYPED[body] in text
    assert "What to do: " in text


def test_a_lambda_that_returns_a_value_is_refused():
    added = cuda.jit(lambda a: cuda.atomic.add(a, 0, 1))
    with pytest.raises(errors.Invalid, match="cannot return a value"):
        added[1, 4](np.zeros(4))


@pytest.mark.parametrize("body", ["return", "return None", "if a[0] == 0:\n    return\na[0] = 1"])
def test_a_bare_return_is_allowed(body):
    kernel_of(body)[1, 4](np.zeros(4))


@pytest.mark.parametrize("shape", ["TILE", "2 * 32", "(TILE, 2)[0]", "SHAPE[1]", "n", "m"])
@pytest.mark.costly
def test_shapes_that_a_gpu_compiler_evaluates_are_allowed(shape):
    kernel = kernel_of(
        f"n = 5\nm = 2 * 32\nx = cuda.shared.array({shape}, np.float32)\nx[0] = a[0]\na[0] = x[0]"
    )
    kernel[1, 1](np.ones(4))
