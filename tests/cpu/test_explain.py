"""`gpukit.explain` shows the loops that a launch runs."""

import ast

import numpy as np
import pytest

import gpukit
from gpukit import cuda
from gpukit.compiler import pyfunc
from gpukit.kernels import reduce, vector
from tests.safety.attempt import on_cpu

pytestmark = on_cpu


@cuda.jit
def neighbours_kernel(a, out):
    tile = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    tile[t] = a[cuda.grid(1)]
    cuda.syncthreads()
    out[cuda.grid(1)] = tile[63 - t]


def loops(function):
    """Return the targets of the loops other than those over threads, without numbers."""
    found = [n for n in ast.walk(function) if isinstance(n, (ast.For, ast.While))]
    targets = [
        ast.unparse(getattr(n, "target", n)).split(" ")[0].rstrip("0123456789") for n in found
    ]
    return sorted({t for t in targets if not t.startswith(("threadIdx_x", "strip_"))})


@pytest.mark.parametrize(
    ("kernel", "arguments", "block"),
    [
        (vector.saxpy_kernel, (np.float32(2), *[np.ones(999, np.float32)] * 3), 256),
        (neighbours_kernel, (np.ones(128, np.float32), np.empty(128, np.float32)), 64),
        (reduce.sum_grid_stride_kernel, (np.ones(999, np.float32), np.zeros(1, np.float32)), 256),
    ],
    ids=["each element", "shared", "coarsened"],
)
def test_explain_shows_the_loops_that_are_compiled(kernel, arguments, block, monkeypatch):
    monkeypatch.setenv("GPUKIT_CACHE", "0")
    compiled, build = [], pyfunc.build

    def recorded(name, parameters, body, scope, unit):
        if "_scratch" in parameters:
            compiled.append(loops(ast.Module(body, [])))
        return build(name, parameters, body, scope, unit)

    monkeypatch.setattr(pyfunc, "build", recorded)
    cuda.jit(kernel.py_func)[2, block](*arguments)
    shown = ast.parse(gpukit.explain(kernel, *arguments, block=block))
    assert compiled == [loops(shown)]
    assert len(compiled[0]) >= 1


def test_explain_shows_the_loop_over_coarsened_blocks():
    text = gpukit.explain(
        reduce.sum_grid_stride_kernel, np.ones(9, np.float32), np.zeros(1, np.float32), block=256
    )
    assert "for _neighbour in range(_coarsened):" in text
