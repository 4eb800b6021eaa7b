"""Answers to tanh_backward."""

from tests.data.answers import Right, Wrong, body, edit, serial

ANSWERS = [
    Wrong(
        "neighbours far apart",
        edit(("cuda.grid(1)", "cuda.threadIdx.x * cuda.gridDim.x + cuda.blockIdx.x")),
        says="Neighbouring threads should take neighbouring elements",
        grade="but",
    ),
    Wrong(
        "float64 by a literal",
        edit(("np.float32(1)", "1.0")),
        says="operations in float64",
        grade="but",
    ),
    Wrong(
        "the place in the block for that in the grid",
        edit(("cuda.grid(1)", "cuda.threadIdx.x")),
        says="the index lacks `cuda.blockIdx.x * cuda.blockDim.x`",
    ),
    Wrong(
        "grad_out is written",
        edit(("grad_x[i] = grad_out", "grad_out[i] = grad_out")),
        says="never written",
    ),
    serial("""
            if cuda.grid(1) == 0:
                for i in range(y.size):
                    grad_x[i] = grad_out[i] * (np.float32(1) - y[i] * y[i])
        """),
    Right(
        "minus the difference the other way round",
        edit(("(np.float32(1) - y[i] * y[i])", "-(y[i] * y[i] - np.float32(1))")),
    ),
    Right(
        "a grid-stride loop",
        body("""
            for i in range(cuda.grid(1), y.size, cuda.gridsize(1)):
                t = y[i]
                grad_x[i] = (np.float32(1) - t) * (np.float32(1) + t) * grad_out[i]
        """),
    ),
]
