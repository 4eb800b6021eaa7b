from gpukit import cuda


@cuda.jit(link=["/etc/passwd", "/tmp/GPUKIT_ESCAPED_CASE_ID.cu"], cache=True)
def zip_add_kernel(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + b[i]
