"""Image processing: filters, morphology, colours, geometry, labels."""

import math

import numpy as np
from numba import cuda, float32, int32

from tests.programs.registry import program

TILE = 8
HALO_TILE = TILE + 6
SOBEL_X = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]], dtype=np.int32)


def picture(h, w, seed=0):
    rows, cols = np.mgrid[0:h, 0:w]
    smooth = 127 + 90 * np.sin(rows / 5.0) * np.cos(cols / 7.0)
    return (smooth + np.random.default_rng(seed).integers(0, 30, (h, w))).astype(np.uint8)


def cover(image):
    return (math.ceil(image.shape[1] / TILE), math.ceil(image.shape[0] / TILE)), (TILE, TILE)


def windows(image, k):
    """All k by k neighbourhoods, the border repeated."""
    padded = np.pad(image, k // 2, mode="edge")
    return np.lib.stride_tricks.sliding_window_view(padded, (k, k))


@cuda.jit
def sobel(img, out):
    mask = cuda.const.array_like(SOBEL_X)
    x, y = cuda.grid(2)
    h, w = img.shape
    if x >= w or y >= h:
        return
    gx = gy = 0
    for i in range(-1, 2):
        for j in range(-1, 2):
            v = int32(img[min(max(y + i, 0), h - 1), min(max(x + j, 0), w - 1)])
            gx += mask[i + 1, j + 1] * v
            gy += mask[j + 1, i + 1] * v
    out[y, x] = min(255, math.sqrt(gx * gx + gy * gy))


@program()
def sobel_with_a_constant_mask():
    img = picture(29, 37)
    out = np.zeros_like(img)
    sobel[cover(img)](img, out)
    v = windows(img.astype(np.int64), 3)
    gx, gy = np.tensordot(v, SOBEL_X, 2), np.tensordot(v, SOBEL_X.T, 2)
    yield out, np.minimum(255, np.hypot(gx, gy)).astype(np.uint8)


def gaussian_kernel(sigma, radius):
    weights = np.exp(-(np.arange(-radius, radius + 1) ** 2) / (2 * sigma**2))
    return (weights / weights.sum()).astype(np.float32)


@cuda.jit
def blur_rows(img, out, weights):
    tile = cuda.shared.array((TILE, HALO_TILE), dtype=float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    x0 = cuda.blockIdx.x * cuda.blockDim.x
    y = cuda.blockIdx.y * cuda.blockDim.y + ty
    r = weights.size // 2
    if y < img.shape[0]:
        for k in range(tx, TILE + 2 * r, TILE):
            c = x0 + k - r
            c = 0 if c < 0 else (img.shape[1] - 1 if c >= img.shape[1] else c)
            tile[ty, k] = img[y, c]
    cuda.syncthreads()
    x = x0 + tx
    if x < img.shape[1] and y < img.shape[0]:
        acc = float32(0)
        for k in range(weights.size):
            acc += weights[k] * tile[ty, tx + k]
        out[y, x] = acc


@program()
def separable_gaussian_with_halo():
    img = picture(21, 30).astype(np.float32)
    w = gaussian_kernel(1.2, 3)
    once, twice = np.full_like(img, np.nan), np.full((30, 21), np.nan, np.float32)
    blur_rows[cover(img)](img, once, w)
    blur_rows[cover(once.T)](np.ascontiguousarray(once.T), twice, w)
    yield twice.T, np.tensordot(windows(img, 7), np.outer(w, w), 2)


@cuda.jit
def grow_labels(img, labels, changed):
    x, y = cuda.grid(2)
    h, w = labels.shape
    if x >= w or y >= h or not img[y, x]:
        return
    best = cuda.atomic.max(labels, (y, x), 0)
    for step in range(4):
        dy = (step == 0) - (step == 1)
        dx = (step == 2) - (step == 3)
        if 0 <= y + dy < h and 0 <= x + dx < w:
            best = max(best, cuda.atomic.max(labels, (y + dy, x + dx), 0))
    if best > cuda.atomic.max(labels, (y, x), best):
        cuda.atomic.exch(changed, 0, 1)


@program(warns="block-order")
def connected_components_until_nothing_changes():
    img = np.random.default_rng(3).random((16, 21)) < 0.55
    ids = np.where(img, np.arange(1, img.size + 1).reshape(img.shape), 0).astype(np.int32)
    labels = cuda.to_device(ids)
    while True:
        changed = cuda.to_device(np.zeros(1, np.int32))
        grow_labels[cover(img)](img, labels, changed)
        if not changed[0]:
            break
    wanted, parent = np.zeros_like(ids), {}

    def root(p):
        while parent.setdefault(p, p) != p:
            p = parent[p]
        return p

    for r, c in np.argwhere(img).tolist():
        for other in ((r - 1, c), (r, c - 1)):
            if min(other) >= 0 and img[other]:
                parent[root(other)] = root((r, c))
    for r, c in np.argwhere(img).tolist():
        wanted[r, c] = max(ids[p] for p in map(tuple, np.argwhere(img)) if root(p) == root((r, c)))
    yield labels, wanted


@cuda.jit(device=True, inline=True)
def lerp(a, b, t):
    return a + t * (b - a)


@cuda.jit
def resize_bilinear(src, dst):
    x, y = cuda.grid(2)
    if x < dst.shape[1] and y < dst.shape[0]:
        fy = y * (src.shape[0] - 1) / (dst.shape[0] - 1)
        fx = x * (src.shape[1] - 1) / (dst.shape[1] - 1)
        y0, x0 = int(fy), int(fx)
        y1, x1 = min(y0 + 1, src.shape[0] - 1), min(x0 + 1, src.shape[1] - 1)
        top = lerp(src[y0, x0], src[y0, x1], fx - x0)
        dst[y, x] = lerp(top, lerp(src[y1, x0], src[y1, x1], fx - x0), fy - y0)


@program()
def bilinear_resize():
    src = picture(13, 9).astype(np.float64)
    dst = np.full((31, 22), np.nan)
    resize_bilinear[cover(dst)](src, dst)
    rows, cols = np.linspace(0, 12, 31), np.linspace(0, 8, 22)
    wide = np.stack([np.interp(cols, np.arange(9), r) for r in src])
    yield dst, np.stack([np.interp(rows, np.arange(13), c) for c in wide.T], 1)
