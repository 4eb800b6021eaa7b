"""CUDA's short vectors on the host and in kernels."""

import numpy as np
import pytest

from gpukit import cuda
from gpukit.cpu.vector_types import vector_types


@pytest.mark.parametrize("alias", ["float4", "int2", "uchar3", "double1", "ulonglong2"])
def test_cuda_c_names_are_aliases_of_the_vector_types(alias):
    assert getattr(cuda, alias) in vector_types.values()


def test_a_vector_on_the_host_is_created_from_scalars_and_vectors():
    v = cuda.float32x3(cuda.float32x2(1, 2), 3)
    assert (v.x, v.y, v.z) == (1, 2, 3)
    assert v.x.dtype == np.float32


def test_too_few_elements_for_a_vector_are_refused():
    with pytest.raises(TypeError, match="float32x4 expects 4 elements, got 3"):
        cuda.float32x4(1, 2, 3)


def test_a_vector_in_a_kernel_is_created_from_scalars_and_vectors():
    float32x2, float32x4 = cuda.float32x2, cuda.float32x4

    @cuda.jit
    def vector_kernel(out):
        xy = float32x2(out[0], 2)
        v = float32x4(xy, 3, xy.y)
        out[0] = v.x
        out[1] = v.y
        out[2] = v.z
        out[3] = v.w

    out = np.full(4, 1.5, np.float32)
    vector_kernel[1, 1](out)
    assert out.tolist() == [1.5, 2, 3, 2]


@pytest.mark.parametrize("name", ["int8x1", "uint64x2", "float64x3", "float32x4"])
def test_elements_have_the_type_in_the_name(name):
    vector = vector_types[name]
    assert all(v.dtype.name == name[:-2] for v in vector(*range(vector.num_elements)))
