from gpukit import cuda


def square(x, out):
    i = cuda.grid(1)
    stride = cuda.gridsize(1)
    while i < x.size:
        out[i] = x[i] ** 2
        i += stride


square_kernel = cuda.jit(square)
