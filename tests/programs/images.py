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
def bilateral(img, out, sigma_s, sigma_r):
    x, y = cuda.grid(2)
    h, w = img.shape
    if x < w and y < h:
        centre = img[y, x]
        total = norm = float32(0)
        for dy in range(-2, 3):
            yy = y + dy
            if yy < 0 or yy >= h:
                continue
            for dx in range(-2, 3):
                xx = x + dx
                if xx < 0 or xx >= w:
                    continue
                diff = img[yy, xx] - centre
                wt = math.exp(-(dx * dx + dy * dy) / sigma_s - diff * diff / sigma_r)
                total += wt * img[yy, xx]
                norm += wt
        out[y, x] = total / norm


@program()
def bilateral_filter_that_skips_the_border():
    img = picture(17, 23).astype(np.float32) / 255
    out = np.full_like(img, np.nan)
    bilateral[cover(img)](img, out, np.float32(4), np.float32(0.1))
    padded = np.pad(img, 2, constant_values=np.nan)
    v = np.lib.stride_tricks.sliding_window_view(padded, (5, 5)).astype(np.float64)
    d = np.arange(-2, 3) ** 2
    wt = np.exp(-(d[:, None] + d) / 4 - (v - img[..., None, None]) ** 2 / 0.1)
    yield out, (np.nansum(wt * v, (2, 3)) / np.nansum(wt, (2, 3))).astype(np.float32)


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


@cuda.jit
def morph(src, dst, element, erode):
    x, y = cuda.grid(2)
    if x >= src.shape[1] or y >= src.shape[0]:
        return
    value = src[y, x]
    ry, rx = element.shape[0] // 2, element.shape[1] // 2
    for i in range(element.shape[0]):
        for j in range(element.shape[1]):
            if not element[i, j]:
                continue
            yy, xx = y + i - ry, x + j - rx
            if not (0 <= yy < src.shape[0]) or not (0 <= xx < src.shape[1]):
                continue
            value = min(value, src[yy, xx]) if erode else max(value, src[yy, xx])
    dst[y, x] = value


@program()
def opening_by_a_cross():
    img = picture(20, 26, 4)
    cross = np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]], np.bool_)
    eroded, opened = np.zeros_like(img), np.zeros_like(img)
    morph[cover(img)](img, eroded, cross, True)
    morph[cover(img)](eroded, opened, cross, False)
    small = windows(img, 3)[..., cross].min(-1)
    yield eroded, small
    yield opened, windows(small, 3)[..., cross].max(-1)


@cuda.jit
def to_grey(rgb, grey):
    c, r = cuda.grid(2)
    if r < rgb.shape[0] and c < rgb.shape[1]:
        red, green, blue = rgb[r, c]
        grey[r, c] = np.uint8(0.299 * red + 0.587 * green + 0.114 * blue + 0.5)


@cuda.jit
def to_hsv(rgb, hsv):
    c, r = cuda.grid(2)
    if r < rgb.shape[0] and c < rgb.shape[1]:
        p = rgb[r, c, :]
        hi = max(p[0], p[1], p[2])
        d = hi - min(p[0], p[1], p[2])
        if d == 0:
            hue = float32(0)
        elif hi == p[0]:
            hue = (p[1] - p[2]) / d % 6
        elif hi == p[1]:
            hue = (p[2] - p[0]) / d + 2
        else:
            hue = (p[0] - p[1]) / d + 4
        hsv[r, c, 0], hsv[r, c, 1], hsv[r, c, 2] = hue * 60, (d / hi if hi > 0 else 0), hi


@program()
def colours_to_grey_and_hsv():
    import colorsys

    rgb = np.random.default_rng(5).integers(0, 256, (11, 14, 3), dtype=np.uint8)
    rgb[0] = rgb[0, :, :1]
    grey, hsv = np.zeros((11, 14), np.uint8), np.full((11, 14, 3), np.nan)
    to_grey[cover(grey)](rgb, grey)
    yield grey, np.floor(rgb @ np.array([0.299, 0.587, 0.114]) + 0.5).astype(np.uint8)
    to_hsv[cover(grey)](rgb / 255, hsv)
    wanted = [colorsys.rgb_to_hsv(*p) for p in (rgb / 255).reshape(-1, 3).tolist()]
    yield hsv.reshape(-1, 3), np.array(wanted) * [360, 1, 1]


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


@cuda.jit
def rotate_image(src, dst, angle):
    x, y = cuda.grid(2)
    h, w = src.shape
    if x < w and y < h:
        cx, cy = (w - 1) / 2, (h - 1) / 2
        s, c = math.sin(angle), math.cos(angle)
        sx = round(c * (x - cx) + s * (y - cy) + cx)
        sy = round(-s * (x - cx) + c * (y - cy) + cy)
        dst[y, x] = src[sy, sx] if 0 <= sx < w and 0 <= sy < h else 0


@program()
def rotation_about_the_centre():
    img = picture(15, 15, 6)
    out = np.full_like(img, 99)
    rotate_image[cover(img)](img, out, math.pi / 2)
    yield out, np.rot90(img, -1)
    rotate_image[cover(img)](img, out, math.pi)
    yield out, img[::-1, ::-1]
