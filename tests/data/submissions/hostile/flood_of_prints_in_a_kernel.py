from gpukit import cuda


@cuda.jit
def zip_add_kernel(a, b, out):
    i = cuda.grid(1)
    for k in range(1_000_000):
        print("right", i, k)
    if i < out.size:
        out[i] = a[i] + b[i]
