# coding: utf-7
# +AAo-open("/tmp/GPUKIT_ESCAPED_CASE_ID", "w").close()
from gpukit import cuda


@cuda.jit
def zip_add_kernel(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] +- b[i]  # a sum in UTF-7, a difference in UTF-8
