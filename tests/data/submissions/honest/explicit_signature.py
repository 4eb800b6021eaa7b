from gpukit import cuda


@cuda.jit("void(float32[:], float32[:])")
def relu_kernel(x, out):
    i = cuda.grid(1)
    if i < x.shape[0]:
        out[i] = x[i] if x[i] > 0 else 0
