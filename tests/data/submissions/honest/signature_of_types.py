from numba import cuda, float32, void


@cuda.jit(void(float32[:], float32[:], float32[:]))
def relu_backward_kernel(x, grad_out, grad_x):
    i = cuda.grid(1)
    if i < x.size:
        if x[i] > float32(0):
            grad_x[i] = grad_out[i]
        else:
            grad_x[i] = float32(0)
