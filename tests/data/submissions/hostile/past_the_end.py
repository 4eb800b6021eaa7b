from gpukit import cuda


@cuda.jit
def zip_add_kernel(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + b[i]
    if i == out.size or i == 0:
        out[out.size] = 1
        out[-1 - i] = 1
