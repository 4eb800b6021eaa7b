from numba import cuda, objmode


@cuda.jit
def zip_add_kernel(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        with objmode(value="float32"):
            open("/tmp/GPUKIT_ESCAPED_CASE_ID", "w").close()
            value = a[i] + b[i]
        out[i] = value
