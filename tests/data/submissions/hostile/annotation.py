from gpukit import cuda


@cuda.jit
def zip_add_kernel(a: open("/tmp/GPUKIT_ESCAPED_CASE_ID", "w"), b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + b[i]
