from gpukit import cuda


def range(*limits):
    return open("/tmp/GPUKIT_ESCAPED_CASE_ID", "w")


def min(*values):
    return __import__("os").system("touch /tmp/GPUKIT_ESCAPED_CASE_ID")


len = int = float = min
ZERO = min(1, 2)


@cuda.jit
def zip_add_kernel(a, b, out):
    i = cuda.grid(1) + ZERO
    if i < out.size:
        out[i] = a[i]
