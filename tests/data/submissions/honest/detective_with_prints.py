import numpy as np

from gpukit import cuda

TILE = 16
print("tile", TILE)  # debug


@cuda.jit
def matmul_stale_kernel(a, b, out):
    """Write a @ b to out, tile by tile. A line is wrong, and another one is missing."""
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, TILE), np.float32)
    acc, zero = np.float32(0), np.float32(0)
    k_size = a.shape[1]
    for t in range((k_size + TILE - 1) // TILE):
        k_a, k_b = t * TILE + tx, t * TILE + ty
        a_tile[ty, tx] = a[row, k_a] if row < a.shape[0] and k_a < k_size else zero
        b_tile[ty, tx] = b[k_b, col] if col < b.shape[1] and k_b < k_size else zero
        cuda.syncthreads()
        for k in range(TILE):
            acc += a_tile[ty, k] * b_tile[k, tx]
        # if row == 0 and col == 0: print(t, acc)
        cuda.syncthreads()
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = acc


print("loaded", __name__)
