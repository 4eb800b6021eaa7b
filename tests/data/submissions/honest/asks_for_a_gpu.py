import sys

from numba import cuda

if not cuda.is_available():
    print("no GPU")
    sys.exit(1)
cuda.select_device(0)
print(cuda.gpus, cuda.get_current_device().name)


@cuda.jit
def upside_down_kernel(photo, out):
    c, r = cuda.grid(2)
    if r < photo.shape[0] and c < photo.shape[1]:
        out[photo.shape[0] - r - 1, c] = photo[r, c]
