import os
import sys
import time

import numpy as np

from gpukit import cuda


@cuda.jit
def brighten_kernel(photo, out):
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        value = np.float32(2) * photo[row, col]
        if value > np.float32(255):
            value = np.float32(255)
        out[row, col] = value


if __name__ == "__main__":
    import matplotlib.pyplot as plt

    photo = np.random.rand(480, 640).astype(np.float32) * 255
    out = np.empty_like(photo)
    start = time.perf_counter()
    brighten_kernel[(20, 60), (32, 8)](photo, out)
    print("took", time.perf_counter() - start, "s", file=sys.stderr)
    plt.imsave(os.path.join(os.getcwd(), "bright.png"), out, cmap="gray")
