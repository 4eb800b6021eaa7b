"""The advice in an error message works: each mistake, its advice and the corrected kernel."""

import math
import os
import subprocess
import sys

import numpy as np
import pytest

from gpukit import errors
from gpukit.cpu import ufuncs
from tests.compiler import texts

SIGNATURE = "a, f, u, w, out"

# A mistake, part of the advice, and the body that follows the advice.
UNKNOWN = [
    ("out[0] = floor(f[0])", "write math.floor", "out[0] = math.floor(f[0])"),
    ("out[0] = sqrt(f[0])", "write math.sqrt", "out[0] = math.sqrt(f[0])"),
    ("out[0] = pi", "write math.pi", "out[0] = math.pi"),
    ("out[0] = flor(f[0])", "did you mean math.floor", "out[0] = math.floor(f[0])"),
    ("out[0] = float32(a[0])", "write np.float32", "out[0] = np.float32(a[0])"),
    ("out[0] = flaot32(a[0])", "did you mean np.float32", "out[0] = np.float32(a[0])"),
    ("out[0] = uint8(a[0])", "write np.uint8", "out[0] = np.uint8(a[0])"),
    ("syncthreads()", "write cuda.syncthreads", "cuda.syncthreads()"),
    ("syncthread()", "did you mean cuda.syncthreads", "cuda.syncthreads()"),
    ("out[0] = threadIdx.x", "write cuda.threadIdx", "out[0] = cuda.threadIdx.x"),
    ("out[0] = grid(1)", "write cuda.grid", "out[0] = cuda.grid(1)"),
    ("out[0] = threadidx.x", "did you mean cuda.threadIdx", "out[0] = cuda.threadIdx.x"),
    ("out[0] = cosf(f[0])", "write cuda.libdevice.cosf", "out[0] = cuda.libdevice.cosf(f[0])"),
    ("total = 1.0\nout[0] = totl", "did you mean 'total'", "total = 1.0\nout[0] = total"),
    ("out[0] = lenn(a)", "did you mean 'len'", "out[0] = len(a)"),
    ("out[0] = cuda.syncthread()", "did you mean cuda.syncthreads", "cuda.syncthreads()"),
]
FLOATS = [
    ("out[0] = f[0] & 1", "write int(f[0])", "out[0] = int(f[0]) & 1"),
    ("out[0] = a[0] | f[0]", "write int(f[0])", "out[0] = a[0] | int(f[0])"),
    ("out[0] = f[0] << 1", "write int(f[0])", "out[0] = int(f[0]) << 1"),
    ("out[0] = 8 >> f[0]", "write int(f[0])", "out[0] = 8 >> int(f[0])"),
    ("out[0] = ~f[0]", "write int(f[0])", "out[0] = ~int(f[0])"),
    ("x = f[0]\nx ^= 1\nout[0] = x", "x = int(x)", "x = f[0]\nx = int(x)\nx ^= 1\nout[0] = x"),
    ("x = a[0] / 2\nout[0] = x & 1", "write // in line 3", "x = a[0] // 2\nout[0] = x & 1"),
    ("x = a[0]\nx /= 2\nout[0] = x | 1", "write // in line 4", "x = a[0]\nx //= 2\nout[0] = x | 1"),
    ("out[0] = f[0] ^ 2", "write ** for a power", "out[0] = f[0] ** 2"),
    (
        "if a[0] > 0.5 & f[0] > 0.5:\n    out[0] = 1",
        "write `and`",
        "if a[0] > 0.5 and f[0] > 0.5:\n    out[0] = 1",
    ),
    ("out[a[0] / 2] = 1", "use // instead of /", "out[a[0] // 2] = 1"),
    (
        "v = w[0]\nfor n in range(4):\n    v <<= np.uint32(1)\n    v += 1\nout[0] = v & 7",
        "v = np.int64(w[0]) in line 3",
        "v = np.int64(w[0])\nfor n in range(4):\n    v <<= np.uint32(1)\n    v += 1\n"
        "out[0] = v & 7",
    ),
    (
        "c = 0\nfor n in range(4):\n    c = c | 1\n    c = u[n]\nout[0] = c",
        "c = np.int64(u[n]) in line 6",
        "c = 0\nfor n in range(4):\n    c = c | 1\n    c = np.int64(u[n])\nout[0] = c",
    ),
]


def launch(body):
    kernel = texts.kernel_of(body, SIGNATURE)
    a, f = np.arange(8), np.arange(8.0)
    kernel[1, 1](a, f, a.astype(np.uint64), a.astype(np.uint32), np.zeros(8))


@pytest.mark.parametrize(("wrong", "advice", "right"), UNKNOWN + FLOATS)
@pytest.mark.costly
def test_a_kernel_that_follows_the_advice_runs(wrong, advice, right):
    with pytest.raises(errors.CompileError) as got:
        launch(wrong)
    assert advice in got.value.fix
    launch(right)


def test_an_error_about_a_variable_of_two_types_names_both_lines_and_types():
    with pytest.raises(errors.KernelTypeError) as got:
        launch("v = w[0]\nfor n in range(4):\n    v <<= np.uint32(1)\n    v += 1\nout[0] = v & 7")
    assert "v is a float64: it is uint64 in line 5 and int64 in line 6" in got.value.message


def test_advice_uses_the_name_under_which_a_module_is_imported():
    with pytest.raises(errors.CompileError) as got:
        texts.kernel_of("a[0] = floor(a[0])", m=math, math=os)[1, 1](np.ones(1))
    assert got.value.fix == "write m.floor"


def test_advice_to_use_a_missing_module_includes_its_import():
    with pytest.raises(errors.CompileError) as got:
        texts.kernel_of("a[0] = floor(a[0])", math=None)[1, 1](np.ones(1))
    assert "`import math` at the top" in got.value.fix


def test_an_error_in_a_gufunc_names_its_file_and_line():
    @ufuncs.guvectorize(["void(float32[:,:], float32[:,:])"], "(m,n)->(m,n)")
    def wrong(A, C):
        C[0, 0, 0] = A[0, 0]

    with pytest.raises(errors.KernelTypeError) as got:
        wrong(np.ones((2, 2), np.float32))
    assert (got.value.file, got.value.kernel) == (__file__, "wrong")
    assert got.value.source == "C[0, 0, 0] = A[0, 0]"


def test_storing_text_in_a_2d_array_is_not_reported_as_a_tuple():
    with pytest.raises(errors.KernelTypeError, match=r"Text \(a str\) cannot be stored"):
        texts.kernel_of("a[0, 0] = 'x'")[1, 1](np.ones((2, 2)))


@pytest.mark.slow
def test_a_finding_in_a_gufunc_names_the_element_by_the_gufuncs_own_indices(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import numpy as np\nfrom numba import guvectorize\n"
        "@guvectorize(['void(float32[:,:], float32[:,:])'], '(m,n)->(m,n)', target='cuda')\n"
        "def unset(A, C):\n    C[0, 0] += A[0, 0]\nunset(np.ones((3, 2, 2), np.float32))\n"
    )
    command = [sys.executable, "-m", "gpukit", "check", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "reads C[0, 0] in line 5" in done.stdout
