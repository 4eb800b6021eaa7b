"""Answers to tanh_backward."""

from tests.exercises.answers import Right, Wrong, body, edit, serial

ANSWERS = [
    Wrong(
        "the slope alone",
        edit(("= grad_out[i] * (np", "= (np")),
        says="grad_out is not multiplied in",
    ),
    Wrong(
        "not squared",
        edit(("(np.float32(1) - y[i] * y[i])", "(np.float32(1) - y[i])")),
        says="the y is not squared",
    ),
    Wrong(
        "tanh a second time",
        body("""
            i = cuda.grid(1)
            if i < y.size:
                t = np.tanh(y[i])
                grad_x[i] = grad_out[i] * (np.float32(1) - t * t)
        """),
        says="The tanh is taken a second time",
    ),
    Wrong(
        "small slopes become 0",
        body("""
            i = cuda.grid(1)
            if i < y.size:
                slope = np.float32(1) - y[i] * y[i]
                if slope < np.float32(1e-6):
                    slope = np.float32(0)
                grad_x[i] = grad_out[i] * slope
        """),
        says="Small slopes became 0",
    ),
    Wrong(
        "no parentheses",
        edit(("(np.float32(1) - y[i] * y[i])", "np.float32(1) - y[i] * y[i]")),
        says="the parentheses around 1 - y * y are missing",
    ),
    Wrong(
        "the slope of a sigmoid",
        edit(("(np.float32(1) - y[i] * y[i])", "y[i] * (np.float32(1) - y[i])")),
        says="the slope of a sigmoid",
    ),
    Wrong(
        "exchanged",
        edit(
            (
                "grad_out[i] * (np.float32(1) - y[i] * y[i])",
                "y[i] * (np.float32(1) - grad_out[i] * grad_out[i])",
            )
        ),
        says="y and grad_out are exchanged",
    ),
    Wrong(
        "divided",
        edit(("= grad_out[i] * (np", "= grad_out[i] / (np")),
        says="This is grad_out divided by the slope",
    ),
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
    Wrong(
        "multiplied out",
        body("""
            i = cuda.grid(1)
            if i < y.size:
                g = grad_out[i]
                grad_x[i] = g - g * y[i] * y[i]
        """),
        says="Near 1 and -1 two nearly equal numbers are subtracted after rounding",
    ),
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
