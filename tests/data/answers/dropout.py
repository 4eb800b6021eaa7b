"""Answers to dropout."""

from tests.data.answers import Right, Wrong, body, edit, serial

Y = "x[i] / KEEP if mask[i]"
GRAD = "grad_out[i] / KEEP if mask[i]"

ANSWERS = [
    Wrong(
        "times the mask",
        edit((Y + " else np.float32(0)", "x[i] / KEEP * np.float32(mask[i])")),
        says="expected 0.0, got nan",
    ),
    Wrong(
        "float64 by a literal",
        edit((Y, "x[i] / 0.75 if mask[i]")),
        says="operations in float64",
        grade="but",
    ),
    Wrong(
        "neighbours far apart",
        edit(("cuda.grid(1)", "cuda.threadIdx.x * cuda.gridDim.x + cuda.blockIdx.x")),
        says="Neighbouring threads should take neighbouring elements",
        grade="but",
    ),
    serial("""
        if cuda.grid(1) == 0:
            for i in range(x.size):
                y[i] = x[i] / KEEP if mask[i] else np.float32(0)
                grad_x[i] = grad_out[i] / KEEP if mask[i] else np.float32(0)
    """),
    Wrong(
        "0 first, and then the gradient",
        edit(
            (
                f"grad_x[i] = {GRAD} else np.float32(0)",
                "grad_x[i] = np.float32(0)\n        if mask[i]:\n"
                "            grad_x[i] = grad_out[i] / KEEP",
            )
        ),
        says="writes to grad_x for each element; asked: at most 1",
        grade="but",
    ),
    Right(
        "a factor, and 0 first",
        body("""
            i = cuda.grid(1)
            if i >= x.size:
                return
            value = slope = np.float32(0)
            if mask[i] == 1:
                value = x[i] * (np.float32(1) / KEEP)
                slope = grad_out[i] * (np.float32(1) / KEEP)
            y[i] = value
            grad_x[i] = slope
        """),
    ),
    Right(
        "a grid-stride loop with both branches",
        body("""
            for i in range(cuda.grid(1), y.size, cuda.gridsize(1)):
                if mask[i] != 0:
                    y[i] = x[i] / KEEP
                    grad_x[i] = grad_out[i] / KEEP
                else:
                    y[i] = grad_x[i] = 0
        """),
    ),
]
