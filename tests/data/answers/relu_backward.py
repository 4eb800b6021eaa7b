"""Answers to relu_backward."""

from tests.data.answers import Right, Wrong, body, edit, serial

STORE = "grad_out[i] if x[i] > 0 else np.float32(0)"

ANSWERS = [
    Wrong(
        "times the slope",
        edit((STORE, "grad_out[i] * (np.float32(1) if x[i] > 0 else np.float32(0))")),
        says="got nan (x[2] = -0.5, grad_out[2] = inf",
    ),
    Wrong(
        "grad_out in place",
        edit(("grad_x[i] = " + STORE, "grad_out[i] = " + STORE)),
        says="never written",
    ),
    Wrong("one past the end", edit(("i < x.size", "i <= x.size")), says="guard the access"),
    Wrong(
        "neighbours far apart",
        edit(("cuda.grid(1)", "cuda.threadIdx.x * cuda.gridDim.x + cuda.blockIdx.x")),
        says="Neighbouring threads should take neighbouring elements",
        grade="but",
    ),
    serial("""
        if cuda.grid(1) == 0:
            for i in range(x.size):
                grad_x[i] = grad_out[i] if x[i] > 0 else np.float32(0)
    """),
    Right(
        "an if and an else",
        body("""
            i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
            if i >= x.size:
                return
            if x[i] > 0:
                grad_x[i] = grad_out[i]
            else:
                grad_x[i] = 0
        """),
    ),
    Right(
        "a grid-stride loop, 0 first",
        body("""
            for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
                passed = np.float32(0)
                if x[i] > np.float32(0):
                    passed = grad_out[i]
                grad_x[i] = passed
        """),
    ),
]
