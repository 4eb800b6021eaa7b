"""ضرب مصفوفتين: كل خيط يحسب عنصرا واحدا. 🚀🧮"""

import numpy as np

from gpukit import cuda


@cuda.jit
def matmul_kernel(a, b, out):
    """اكتب حاصل الضرب في out ✅"""
    col, row = cuda.grid(2)  # العمود والصف 👉👇
    if row < out.shape[0] and col < out.shape[1]:
        total = np.float32(0)
        for k in range(a.shape[1]):
            total += a[row, k] * b[k, col]
        out[row, col] = total
