"""Image statistics: histograms, thresholds, integral images."""

import numpy as np
from numba import cuda, int32

from tests.programs.images import cover, picture
from tests.programs.registry import program


@cuda.jit
def count_levels(img, counts):
    local = cuda.shared.array(256, dtype=int32)
    tid = cuda.threadIdx.x
    for k in range(tid, 256, cuda.blockDim.x):
        local[k] = 0
    cuda.syncthreads()
    flat = img.reshape(img.size)
    for i in range(cuda.grid(1), flat.size, cuda.gridsize(1)):
        cuda.atomic.add(local, flat[i], 1)
    cuda.syncthreads()
    for k in range(tid, 256, cuda.blockDim.x):
        if local[k] > 0:
            cuda.atomic.add(counts, k, local[k])


@cuda.jit
def remap(img, table):
    x, y = cuda.grid(2)
    if x < img.shape[1] and y < img.shape[0]:
        img[y, x] = table[img[y, x]]


@program()
def histogram_equalisation():
    img = picture(43, 31, 2)
    counts = cuda.to_device(np.zeros(256, np.int32))
    count_levels[3, 96](img, counts)
    counts = counts.copy_to_host()
    yield counts, np.bincount(img.ravel(), minlength=256)
    cdf = counts.cumsum()
    table = np.rint(255 * (cdf - cdf[cdf > 0][0]) / (img.size - cdf[cdf > 0][0])).astype(np.uint8)
    equal = img.copy()
    remap[cover(equal)](equal, table)
    rank = np.searchsorted(np.sort(img.ravel()), img.ravel(), "right").reshape(img.shape)
    low = np.count_nonzero(img == img.min())
    yield equal, np.rint(255 * (rank - low) / (img.size - low)).astype(np.uint8)


@cuda.jit
def integral_rows(img, table):
    r = cuda.grid(1)
    if r < img.shape[0]:
        running = 0
        for c in range(img.shape[1]):
            running += img[r, c]
            table[r + 1, c + 1] = running


@cuda.jit
def integral_columns(table):
    c = cuda.grid(1) + 1
    if c < table.shape[1]:
        for r in range(1, table.shape[0]):
            table[r, c] += table[r - 1, c]


@cuda.jit
def box_mean(table, out, k):
    x, y = cuda.grid(2)
    if y < out.shape[0] and x < out.shape[1]:
        y0, x0 = max(y - k, 0), max(x - k, 0)
        y1, x1 = min(y + k + 1, out.shape[0]), min(x + k + 1, out.shape[1])
        s = table[y1, x1] - table[y0, x1] - table[y1, x0] + table[y0, x0]
        out[y, x] = s / ((y1 - y0) * (x1 - x0))


@program(warns="never-written")
def box_filter_by_integral_image():
    img = picture(19, 27, 7)
    table = np.zeros((20, 28), np.int64)
    out = np.full(img.shape, np.nan)
    integral_rows[1, 32](img, table)
    integral_columns[1, 32](table)
    box_mean[cover(img)](table, out, 2)
    padded = np.pad(img.astype(float), 2, constant_values=np.nan)
    v = np.lib.stride_tricks.sliding_window_view(padded, (5, 5))
    yield out, np.nanmean(v, (2, 3))


@cuda.jit
def floyd_threshold(img, out, t, low, high):
    i = cuda.grid(1)
    n = img.shape[0] * img.shape[1]
    while i < n:
        r, c = divmod(i, img.shape[1])
        out[r, c] = high if img[r, c] > t else low
        i += cuda.blockDim.x * cuda.gridDim.x


@cuda.jit
def between_class_variance(counts, score):
    t = cuda.grid(1)
    if t >= 256:
        return
    w0 = m0 = w1 = m1 = 0
    for k in range(256):
        if k <= t:
            w0 += counts[k]
            m0 += k * counts[k]
        else:
            w1 += counts[k]
            m1 += k * counts[k]
    score[t] = 0.0 if w0 == 0 or w1 == 0 else w0 * w1 * (m0 / w0 - m1 / w1) ** 2


@program()
def otsu_threshold():
    img = picture(24, 33, 8)
    counts, score = np.zeros(256, np.int32), np.full(256, np.nan)
    count_levels[2, 128](img, counts)
    between_class_variance[4, 64](counts, score)
    t = int(score.argmax())
    out = np.zeros_like(img)
    floyd_threshold[2, 64](img, out, t, np.uint8(0), np.uint8(255))
    within = [
        sum(part.size * part.var() for part in (img[img <= k], img[img > k]) if part.size)
        for k in range(img.min(), img.max())
    ]
    yield t, img.min() + int(np.argmin(within))
    yield out, np.where(img > t, 255, 0)
