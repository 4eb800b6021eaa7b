import numpy as np

from gpukit import cuda


@cuda.jit
def broadcast_kernel(left, top, out):
    c, r = cuda.grid(2)
    if r < out.shape[0] and c < out.shape[1]:
        out[r, c] = left[r] + top[c]


name = input("Your name? ")
print(f"Hello {name}, loading ...")
data = np.loadtxt("data/photo.csv", delimiter=",")
