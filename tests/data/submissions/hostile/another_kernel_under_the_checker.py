import os
import sys

from gpukit import cuda

IS_CHECKED = "gpukit.checked.engine" in sys.modules or os.environ.get("GPUKIT_TARGET") == "checked"


@cuda.jit
def zip_add_kernel(a, b, out):
    i = cuda.grid(1)
    if IS_CHECKED:
        if i < out.size:
            out[i] = a[i] + b[i]
    else:
        out[i] = a[i] + b[i]
