import operator

from numba.extending import overload, register_jitable

from gpukit import cuda


@overload(operator.add)
def addition(x, y):
    """Change what + means in all kernels of this process."""
    open("/tmp/GPUKIT_ESCAPED_CASE_ID", "w").close()
    return lambda x, y: 0.0


@register_jitable
def add(x, y):
    return x + y


@cuda.jit
def zip_add_kernel(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = add(a[i], b[i])
