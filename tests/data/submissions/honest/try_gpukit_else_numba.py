try:
    from gpukit import cuda
except ImportError:
    from numba import cuda


@cuda.jit
def transpose_kernel(a, out):
    x, y = cuda.grid(2)
    if x < a.shape[1] and y < a.shape[0]:
        out[x, y] = a[y, x]
