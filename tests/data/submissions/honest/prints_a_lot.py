import numpy as np

from gpukit import cuda

print("=" * 70)
print("hello from my kernel".center(70))
for line in range(200):
    print(line, "bottles of milk on the wall")


@cuda.jit
def tint_kernel(planes, factor, out):
    col, row, plane = cuda.grid(3)
    if plane < out.shape[0] and row < out.shape[1] and col < out.shape[2]:
        out[plane, row, col] = min(factor[plane] * planes[plane, row, col], np.float32(255))
