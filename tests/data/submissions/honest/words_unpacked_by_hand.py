import numpy as np

from gpukit import cuda


@cuda.jit(device=True)
def signed_byte(word, k):
    """Return byte k of a word, from -128 to 127."""
    return np.int32(np.int8((word >> (8 * k)) & 0xFF))


@cuda.jit
def int8_dot_kernel(weight, x, scale, x_scale, out):
    row = cuda.grid(1) // 32
    if row >= out.size:
        return
    acc = np.int32(0)
    for k in range(cuda.laneid, x.size, 32):
        w, v = weight[row, k], x[k]
        for b in range(4):
            acc += signed_byte(w, b) * signed_byte(v, b)
    for s in (16, 8, 4, 2, 1):
        acc += cuda.shfl_down_sync(0xFFFFFFFF, acc, s)
    if cuda.laneid == 0:
        out[row] = np.float32(acc) * (scale[row] * x_scale[0])
