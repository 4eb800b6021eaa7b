"""What libraries are made of: array functions, grids of blocks, hashes, geometry, generators."""

import numpy as np
from numba import cuda, float32, float64, guvectorize, int32, uint8, uint32, vectorize
from numba.cuda import cg
from numba.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float64

from tests.programs.registry import program


@vectorize(["float32(float32, float32)", "float64(float64, float64)"], target="cuda")
def rel_diff(x, y):
    return 2 * (x - y) / (x + y)


@program()
def vectorize_of_two_types_broadcasts():
    a = np.arange(1, 13, dtype=np.float32).reshape(3, 4)
    b = np.array([1, 2, 5, 9], np.float32)
    got = rel_diff(a, b)
    yield got, (a - b) / ((a + b) / 2)
    yield np.array([got.dtype == np.float32]), [True]
    yield (
        rel_diff(cuda.to_device(a[0].astype(np.float64)), cuda.to_device(b.astype(float))),
        ((a[0] - b) * 2.0 / (a[0] + b).astype(float)),
    )


@guvectorize(
    ["void(float64[:,:], float64[:,:], float64[:,:])"], "(m,n),(n,p)->(m,p)", target="cuda"
)
def batch_matmul(a, b, c):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            s = 0.0
            for k in range(b.shape[0]):
                s += a[i, k] * b[k, j]
            c[i, j] = s


@program()
def guvectorize_over_batches():
    a = np.random.default_rng(1).random((7, 3, 4))
    b = np.random.default_rng(2).random((7, 4, 2))
    yield batch_matmul(a, b), np.einsum("bij,bjk->bik", a, b)


@cuda.jit
def relax_grid(u, v, rounds):
    g = cg.this_grid()
    i = cuda.grid(1)
    for _ in range(rounds):
        if 0 < i < u.size - 1:
            v[i] = (u[i - 1] + u[i + 1]) / 2
        g.sync()
        if 0 < i < u.size - 1:
            u[i] = v[i]
        g.sync()


@program(warns="never-written")
def cooperative_groups_sync_the_grid():
    u = np.random.default_rng(3).random(90)
    m = np.eye(90)
    m[1:-1] = (np.eye(90, k=1) + np.eye(90, k=-1))[1:-1] / 2
    wanted = np.linalg.matrix_power(m, 6) @ u
    relax_grid[3, 32](u, np.zeros(90), 6)
    yield u, wanted


def crc_entry(n):
    for _ in range(8):
        n = n >> 1 ^ 0xEDB88320 * (n & 1)
    return n


CRC_TABLE = np.array([crc_entry(n) for n in range(256)], np.uint32)


@cuda.jit
def crc32_rows(data, out):
    table = cuda.const.array_like(CRC_TABLE)
    i = cuda.grid(1)
    if i < data.shape[0]:
        crc = uint32(0xFFFFFFFF)
        for byte in data[i]:
            crc = table[(crc ^ byte) & 0xFF] ^ (crc >> uint32(8))
        out[i] = ~crc


@program()
def crc32_of_many_messages():
    import zlib

    data = np.random.default_rng(4).integers(0, 256, (45, 19), dtype=np.uint8)
    out = np.zeros(45, np.uint32)
    crc32_rows[2, 32](data, out)
    yield out, [zlib.crc32(row.tobytes()) for row in data]


@cuda.jit
def xorshift_fill(out, seed):
    i = cuda.grid(1)
    if i < out.shape[0]:
        state = uint32(seed + i)
        for k in range(out.shape[1]):
            state ^= uint32(state << uint32(13))
            state ^= state >> uint32(17)
            state ^= uint32(state << uint32(5))
            out[i, k] = state


@program()
def xorshift_streams():
    out = np.zeros((33, 5), np.uint32)
    xorshift_fill[2, 32](out, 12345)
    s = np.arange(12345, 12378, dtype=np.uint64)
    columns = []
    for _ in range(5):
        s = (s ^ (s << np.uint64(13))) & np.uint64(0xFFFFFFFF)
        s ^= s >> np.uint64(17)
        s = (s ^ (s << np.uint64(5))) & np.uint64(0xFFFFFFFF)
        columns.append(s)
    yield out, np.stack(columns, 1)


@cuda.jit
def uniform_fill(states, out):
    for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        out[i] = xoroshiro128p_uniform_float64(states, cuda.grid(1))


@program(tolerance=0.05)
def uniform_numbers_have_their_moments():
    out = np.full(5000, np.nan)
    uniform_fill[2, 64](create_xoroshiro128p_states(128, seed=3), out)
    yield np.array([out.mean(), out.var() * 12]), [0.5, 1.0]
    yield np.array([0 <= out.min(), out.max() < 1, np.unique(out).size == 5000]), [True] * 3


PALETTE = ((0, 0, 0), (255, 0, 0), (0, 255, 0), (255, 255, 255))


@cuda.jit
def quantise(rgb, palette, out):
    c, r = cuda.grid(2)
    if r < rgb.shape[0] and c < rgb.shape[1]:
        best = int32(3 * 255 * 255 + 1)
        for k, (red, green, blue) in enumerate(palette):
            d = (rgb[r, c, 0] - red) ** 2 + (rgb[r, c, 1] - green) ** 2
            d += (rgb[r, c, 2] - blue) ** 2
            if d < best:
                best = d
                out[r, c] = uint8(k)


@program()
def nearest_colour_of_a_palette_of_tuples():
    rgb = np.random.default_rng(9).integers(0, 256, (12, 15, 3), dtype=np.uint8)
    out = np.full((12, 15), 99, np.uint8)
    quantise[(2, 2), (8, 8)](rgb, PALETTE, out)
    yield out, ((rgb[:, :, None].astype(int) - PALETTE) ** 2).sum(-1).argmin(-1)


@cuda.jit
def smooth_rows(x, out):
    pad = cuda.shared.array(66, float64)
    t = cuda.threadIdx.x
    for row in range(cuda.blockIdx.x, x.shape[0], cuda.gridDim.x):
        pad[t + 1] = x[row, t]
        if t == 0:
            pad[0], pad[65] = x[row, 0], x[row, -1]
        cuda.syncthreads()
        out[row, t] = float32(0.25) * pad[t] + 0.5 * pad[t + 1] + 0.25 * pad[t + 2]
        cuda.syncthreads()


@program(warns="negative-index")
def blocks_that_stride_over_rows_with_barriers():
    x = np.random.default_rng(10).random((7, 64))
    out = np.full_like(x, np.nan)
    smooth_rows[3, 64](x, out)
    wide = np.pad(x, ((0, 0), (1, 1)), mode="edge")
    yield out, (wide[:, :-2] + 2 * wide[:, 1:-1] + wide[:, 2:]) / 4
