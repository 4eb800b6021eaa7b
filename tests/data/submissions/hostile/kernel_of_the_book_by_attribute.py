import gpukit
from gpukit import cuda

add = gpukit.kernels.vector.add_of


@cuda.jit
def zip_add_kernel(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = add(a[i], b[i], a[i])
