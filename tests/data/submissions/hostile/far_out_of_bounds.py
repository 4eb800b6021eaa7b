from gpukit import cuda


@cuda.jit
def zip_add_kernel(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        for k in range(1, 1000):
            out[i] = a[i + k * 1_000_000_007] + b[i - k * 1_000_000_009]
            out[i + k * 4096] = 0
