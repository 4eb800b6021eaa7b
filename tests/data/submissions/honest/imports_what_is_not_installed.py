import cupy as cp
import torch
from numba import cuda, float32

from my_utils import timer, compare_with_numpy


@cuda.jit
def relu_kernel(x, out):
    i = cuda.grid(1)
    if i < x.shape[0]:
        out[i] = max(x[i], float32(0))


@timer
def main():
    x = torch.randn(1000).cuda()
    out = cp.empty(1000, cp.float32)
    relu_kernel[8, 128](x, out)
    compare_with_numpy(out)


main()
