"""Three kernels and their arrays, as the first lines of test scripts."""

KERNELS = """
@cuda.jit
def collide_kernel(out):
    out[0] = cuda.threadIdx.x

@cuda.jit
def half_kernel(x, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = 0.1 * x[i]

@cuda.jit
def fill_kernel(out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = i

x, out = np.ones(70, np.float32), np.zeros(70, np.float32)
one = np.zeros(1, np.float32)
"""
