IMPORTS

from gpukit import cuda


def attack():
    """What the constant below needs."""
    BODY
    return 0


ZERO = attack()


@cuda.jit
def zip_add_kernel(a, b, out):
    i = cuda.grid(1) + ZERO
    if i < out.size:
        out[i] = a[i] + b[i]
