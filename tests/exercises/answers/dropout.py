"""Answers to dropout."""

from tests.exercises.answers import Right, Wrong, body, edit, serial

Y = "x[i] / KEEP if mask[i]"
GRAD = "grad_out[i] / KEEP if mask[i]"

ANSWERS = [
    Wrong(
        "not divided",
        edit((Y, "x[i] if mask[i]"), (GRAD, "grad_out[i] if mask[i]")),
        says="the sums of the next layer are too small",
    ),
    Wrong(
        "multiplied",
        edit((Y, "x[i] * KEEP if mask[i]"), (GRAD, "grad_out[i] * KEEP if mask[i]")),
        says="What stays is multiplied by KEEP",
    ),
    Wrong(
        "divided by what is dropped",
        edit(
            (Y, "x[i] / (np.float32(1) - KEEP) if mask[i]"),
            (GRAD, "grad_out[i] / (np.float32(1) - KEEP) if mask[i]"),
        ),
        says="divided by the share that is dropped",
    ),
    Wrong(
        "the gradient not divided",
        edit((GRAD, "grad_out[i] if mask[i]")),
        says="The gradient is not divided by KEEP",
    ),
    Wrong(
        "the gradient multiplied",
        edit((GRAD, "grad_out[i] * KEEP if mask[i]")),
        says="The slope of x / KEEP is 1 / KEEP",
    ),
    Wrong(
        "the mask turned round",
        edit((Y, "x[i] / KEEP if not mask[i]"), (GRAD, "grad_out[i] / KEEP if not mask[i]")),
        says="The mask is turned round",
    ),
    Wrong(
        "all gradients pass",
        edit(("grad_out[i] / KEEP if mask[i] else np.float32(0)", "grad_out[i] / KEEP")),
        says="where mask is 0 nothing passes back",
    ),
    Wrong(
        "times the mask",
        edit((Y + " else np.float32(0)", "x[i] / KEEP * np.float32(mask[i])")),
        says="expected 0.0, got nan",
    ),
    Wrong(
        "dropped numbers are not written",
        body("""
            i = cuda.grid(1)
            if i < x.size and mask[i]:
                y[i] = x[i] / KEEP
                grad_x[i] = grad_out[i] / KEEP
        """),
        says="somebody has to write it",
    ),
    Wrong(
        "exchanged",
        edit((Y, "grad_out[i] / KEEP if mask[i]"), ("grad_x[i] = grad_out[i]", "grad_x[i] = x[i]")),
        says="x and grad_out are exchanged",
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
        "the gradient passes where y is not 0",
        edit((GRAD, "grad_out[i] / KEEP if y[i] != 0")),
        says="mask says what passes back, not the value",
    ),
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
