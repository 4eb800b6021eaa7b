"""Device functions in CUDA C++ without a GPU, compiled by the machine's C++ compiler."""

import shutil

import numpy as np
import pytest

from gpukit import cuda, errors
from gpukit.cpu import foreign
from gpukit.cpu.foreign import CUSource

needs_compiler = pytest.mark.skipif(
    not any(map(shutil.which, foreign.COMPILERS)), reason="no C++ compiler is installed"
)

TIMES = """
extern "C" __device__ int times(float *result, float x, int n)
{
  *result = x * n;
  return 0;
}
"""


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "times.cu"
    path.write_text(TIMES)
    return str(path)


def launch(function):
    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = function(x[i], 3)

    x = np.arange(37, dtype=np.float32)
    out = np.full(37, np.nan, np.float32)
    kernel[2, 32](x, out)
    return x, out


@needs_compiler
def test_a_function_in_a_file_is_called_from_a_kernel(source):
    x, out = launch(foreign.declare_device("times", "float32(float32, int32)", link=source))
    np.testing.assert_array_equal(out, x * 3)


@needs_compiler
def test_a_function_in_a_string_is_called_from_a_kernel():
    declared = foreign.declare_device("times", "float32(float32, int32)", link=CUSource(TIMES))
    x, out = launch(declared)
    np.testing.assert_array_equal(out, x * 3)


@needs_compiler
def test_a_function_with_the_c_abi_returns_its_value():
    text = 'extern "C" __device__ float times(float x, int n) { return x * n; }'
    declared = foreign.declare_device(
        "times", "float32(float32, int32)", link=CUSource(text), abi="c"
    )
    x, out = launch(declared)
    np.testing.assert_array_equal(out, x * 3)


@needs_compiler
def test_arguments_are_cast_to_the_declared_types():
    declared = foreign.declare_device("times", "float32(float32, int32)", link=CUSource(TIMES))

    @cuda.jit
    def kernel(out):
        out[0] = declared(np.int8(2), 3.9)

    out = np.full(1, np.nan)
    kernel[1, 1](out)
    assert out[0] == 6


@needs_compiler
def test_code_that_does_not_compile_is_refused_with_the_compilers_message():
    text = 'extern "C" __device__ int lane(int *r) { asm("mov.u32 %0, %laneid;"); nonsense; }'
    declared = foreign.declare_device("lane", "int32()", link=CUSource(text))

    @cuda.jit
    def kernel(out):
        out[0] = declared()

    with pytest.raises(errors.TargetError, match="nonsense"):
        kernel[1, 1](np.zeros(1, np.int32))


def test_a_declaration_without_a_return_type_is_refused():
    with pytest.raises(TypeError, match="Return type"):
        foreign.declare_device("f", "(float32,)")


def test_a_declaration_has_its_name_and_signature():
    declared = foreign.declare_device("f", "int32(float32)")
    assert (declared.name, str(declared.sig.return_type)) == ("f", "int32")


def test_ptx_is_refused():
    with pytest.raises(errors.TargetError, match="compiled for a GPU"):
        foreign.resolve("f", "library.ptx")
