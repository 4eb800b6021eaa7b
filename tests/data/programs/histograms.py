"""Image statistics: histograms, thresholds, integral images."""

import numpy as np
from numba import cuda, int32

from tests.data.programs.images import cover, picture
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
