import math

import numpy as np
from numba import cuda, float32

ALL = np.uint32(0xFFFFFFFF)
NEG = float32(-math.inf)


@cuda.jit(device=True)
def warp_all(v):
    for s in (16, 8, 4, 2, 1):
        v += cuda.shfl_xor_sync(0xFFFFFFFF, v, s)
    return v


@cuda.jit
def causal_attention_kernel(q, k, v, out):
    warp = cuda.grid(1) // 32
    lane = cuda.laneid
    n, d = q.shape
    if warp >= n:
        return
    mine = float32(0)
    if lane < d:
        mine = q[warp, lane]
    factor = float32(1) / math.sqrt(float32(d))
    m, l, o = NEG, float32(0), float32(0)
    for j in range(warp + 1):
        kj, vj = float32(0), float32(0)
        if lane < d:
            kj = k[j, lane]
            vj = v[j, lane]
        s = warp_all(mine * kj) * factor
        m_new = max(m, s)
        c, p = math.exp(m - m_new), math.exp(s - m_new)
        l = l * c + p
        o = o * c + p * vj
        m = m_new
    if lane < d:
        out[warp, lane] = o / l
