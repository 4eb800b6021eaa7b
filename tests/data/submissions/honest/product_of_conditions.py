from gpukit import cuda

WHITE = 255
HALF = (WHITE + 1) // 2


@cuda.jit
def black_and_white_kernel(photo, out):
    col, row = cuda.grid(2)
    if col >= out.shape[1]:
        return
    if row >= out.shape[0]:
        return
    out[row, col] = WHITE if photo[row, col] >= HALF else 0
