from enum import IntEnum

import numpy as np

from gpukit import cuda


class Lanes(IntEnum):
    WARP = 32
    ALL = 0xFFFFFFFF


WARP, ALL = int(Lanes.WARP), int(Lanes.ALL)


@cuda.jit
def block_scan_kernel(x, out, totals):
    """Scan each warp with shuffles, then the totals of the warps."""
    i, tid = cuda.grid(1), cuda.threadIdx.x
    lane, warp = tid % WARP, tid // WARP
    ends = cuda.shared.array(4, np.float32)
    value = x[i] if i < x.size else np.float32(0)
    step = 1
    while step < WARP:
        left = cuda.shfl_up_sync(ALL, value, step)
        if lane >= step:
            value += left
        step *= 2
    if lane == WARP - 1:
        ends[warp] = value
    cuda.syncthreads()
    for k in range(warp):
        value += ends[k]
    if i < x.size:
        out[i] = value
    if tid == cuda.blockDim.x - 1:
        totals[cuda.blockIdx.x] = value
