from gpukit import cuda


@cuda.jit
def zip_add_kernel(a, b, out):
    i = cuda.grid(1)
    if i >= out.size:
        return
    LINES
    out[i] = a[i] + b[i]
