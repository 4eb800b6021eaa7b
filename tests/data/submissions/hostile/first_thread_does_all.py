from gpukit import cuda


@cuda.jit
def zip_add_kernel(a, b, out):
    if cuda.grid(1) == 0:
        for i in range(out.size):
            out[i] = a[i] + b[i]
