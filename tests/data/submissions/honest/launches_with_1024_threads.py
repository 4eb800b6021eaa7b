import numpy as np

from gpukit import cuda

THREADS = 1024


@cuda.jit
def square_kernel(x, out):
    start, stride = cuda.grid(1), cuda.gridsize(1)
    for i in range(start, x.size, stride):
        value = x[i]
        out[i] = value * value


x = cuda.to_device(np.arange(5000, dtype=np.float32))
out = cuda.device_array_like(x)
stream = cuda.stream()
square_kernel[4, THREADS, stream](x, out)
stream.synchronize()
print(out.copy_to_host()[:4])
