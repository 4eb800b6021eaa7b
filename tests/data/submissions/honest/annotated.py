from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from gpukit import cuda

Matrix = npt.NDArray[np.float32]
ALL: Final[int] = 0xFFFFFFFF
LANES: Final = 32


@cuda.jit
def matvec_kernel(a: Matrix, x: npt.NDArray[np.float32], out: npt.NDArray[np.float32]) -> None:
    row: int = cuda.grid(1) // LANES
    lane: int = cuda.threadIdx.x % LANES
    if row < out.size:
        acc = np.float32(0)
        for k in range(lane, x.size, LANES):
            acc += a[row, k] * x[k]
        for offset in (16, 8, 4, 2, 1):
            acc += cuda.shfl_down_sync(ALL, acc, offset)
        if lane == 0:
            out[row] = acc
