from numba import cuda


@cuda.jit
def zip_add_kernel(a, b, out):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i < a.shape[0]:
        out[i] = a[i] + b[i]
