"""`cuda.jit(link=...)`: C++ sources for functions declared without one."""

import numpy as np
import pytest

from gpukit import cuda, errors
from gpukit.cpu import foreign
from gpukit.cpu.foreign import CUSource
from tests.cpu.test_foreign import TIMES, needs_compiler

pytestmark = needs_compiler
SIGNATURE = "float32(float32, int32)"
X = np.arange(5, dtype=np.float32)


def launched(link, name="times"):
    """Return the results of a kernel that calls a declared function and is linked with `link`."""
    function = cuda.declare_device(name, SIGNATURE)

    @cuda.jit(link=link)
    def kernel(x, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = function(x[i], 3)

    out = np.full(5, np.nan, np.float32)
    kernel[1, 32](X, out)
    return out


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "times.cu"
    path.write_text(TIMES)
    return path


@pytest.mark.parametrize(
    "form", [str, lambda p: p, lambda p: [p], lambda p: (str(p),), lambda p: [CUSource(TIMES)]]
)
@pytest.mark.costly
def test_link_accepts_a_path_a_source_or_a_collection(form, source):
    np.testing.assert_array_equal(launched(form(source)), X * 3)


def test_link_accepts_a_path_relative_to_the_working_directory(source, monkeypatch):
    monkeypatch.chdir(source.parent)
    np.testing.assert_array_equal(launched([source.name]), X * 3)


def test_linked_files_may_call_each_other(tmp_path, source):
    (tmp_path / "more.h").write_text("#define MORE 1\n")
    other = tmp_path / "plus.cu"
    other.write_text(
        '#include "more.h"\nextern "C" int times(float *, float, int);\n'
        'extern "C" __device__ int plus(float *r, float x, int n)\n'
        "{ times(r, x, n); *r += MORE; return 0; }\n"
    )
    np.testing.assert_array_equal(launched([source, other], "plus"), X * 3 + 1)


def test_each_kernel_calls_the_function_of_its_own_link():
    other = TIMES.replace("x * n", "x + n")
    np.testing.assert_array_equal(launched([CUSource(TIMES)]), X * 3)
    np.testing.assert_array_equal(launched([CUSource(other)]), X + 3)


@pytest.mark.parametrize("linked", ["kernel", "device function"])
def test_a_device_function_may_use_its_own_link_or_its_kernels(linked, source):
    times, link = cuda.declare_device("times", SIGNATURE), {"link": [source]}

    @cuda.jit(device=True, **(link if linked == "device function" else {}))
    def twice(x):
        return 2 * times(x, 3)

    @cuda.jit(**(link if linked == "kernel" else {}))
    def kernel(x, out):
        out[cuda.threadIdx.x] = twice(x[cuda.threadIdx.x])

    out = np.full(5, np.nan, np.float32)
    kernel[1, 5](X, out)
    np.testing.assert_array_equal(out, X * 6)


def test_a_device_function_uses_the_link_of_each_calling_kernel(source):
    times = cuda.declare_device("times", SIGNATURE)

    @cuda.jit(device=True)
    def called(x):
        return times(x, 3)

    def kernel(x, out):
        out[cuda.threadIdx.x] = called(x[cuda.threadIdx.x])

    sums = CUSource(TIMES.replace("x * n", "x + n"))
    product, total = np.full((2, 5), np.nan, np.float32)
    cuda.jit(link=[source])(kernel)[1, 5](X, product)
    cuda.jit(link=[sums])(kernel)[1, 5](X, total)
    np.testing.assert_array_equal([product, total], [X * 3, X + 3])


def test_the_error_of_a_missing_link_says_where_to_write_it():
    with pytest.raises(errors.TargetError, match=r"the kernel's cuda\.jit\(link=\[\.\.\.\]\)"):
        launched(None)


def test_a_missing_file_is_named():
    with pytest.raises(errors.TargetError, match=r"'nowhere/times\.cu'"):
        launched(["nowhere/times.cu"])


def test_linking_a_cubin_is_refused_by_name(tmp_path):
    (tmp_path / "times.cubin").write_bytes(b"\x7fELF")
    with pytest.raises(errors.TargetError, match=r"times\.cubin contains code compiled for a GPU"):
        launched([tmp_path / "times.cubin"])


def test_linked_ptx_that_no_call_needs_is_ignored(tmp_path, source):
    (tmp_path / "other.ptx").write_text(".version 8.0")
    np.testing.assert_array_equal(launched([tmp_path / "other.ptx", source]), X * 3)


def test_a_function_missing_from_all_files_is_named_with_the_files(source):
    with pytest.raises(errors.TargetError, match=r"'missing'.*times\.cu"):
        launched([source], "missing")


def test_a_compile_error_in_a_file_is_shown_at_its_line(source):
    source.write_text(TIMES.replace("x * n;", "x * oops;"))
    with pytest.raises(errors.TargetError, match=rf"{source.name}:4:.*oops"):
        launched([source])


def test_a_machine_without_a_compiler_says_so(monkeypatch):
    monkeypatch.setattr(foreign, "COMPILERS", ())
    with pytest.raises(errors.TargetError, match=r"needs a C\+\+ compiler"):
        launched([CUSource(TIMES + "// not seen before")])
