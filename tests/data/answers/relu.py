"""Answers to relu."""

from tests.data.answers import Right, Wrong, body, edit, serial

ANSWERS = [
    Wrong(
        "half of x + abs(x)",
        edit(("max(x[i], np.float32(0))", "(x[i] + abs(x[i])) * np.float32(0.5)")),
        says="makes inf out of finite numbers",
    ),
    Wrong(
        "through whole numbers",
        edit(("max(x[i], np.float32(0))", "int(max(x[i], np.float32(0)))")),
        says="The fractions are cut off",
    ),
    Wrong(
        "neighbours far apart",
        edit(("cuda.grid(1)", "cuda.threadIdx.x * cuda.gridDim.x + cuda.blockIdx.x")),
        says="Neighbouring threads should take neighbouring elements",
        grade="but",
    ),
    Wrong(
        "half of x + abs(x), in float64",
        edit(("max(x[i], np.float32(0))", "0.5 * x[i] + 0.5 * abs(x[i])")),
        says="operations in float64",
        grade="but",
    ),
    Wrong(
        "no guard",
        body("""
            i = cuda.grid(1)
            out[i] = max(x[i], np.float32(0))
        """),
        says="guard the access",
    ),
    Wrong(
        "every thread does all",
        body("""
            for i in range(x.size):
                out[i] = max(x[i], np.float32(0))
        """),
        says="each thread goes through many elements",
        grade="but",
    ),
    serial(
        """
            if cuda.threadIdx.x == 0:
                first = cuda.blockIdx.x * cuda.blockDim.x
                for i in range(first, min(first + cuda.blockDim.x, x.size)):
                    out[i] = max(x[i], np.float32(0))
        """,
        name="one thread a block",
    ),
    Right(
        "an if with two sides",
        body("""
            i = cuda.grid(1)
            if i < x.size:
                if x[i] > 0:
                    out[i] = x[i]
                else:
                    out[i] = 0
        """),
    ),
    Right(
        "a conditional expression in a grid-stride loop",
        body("""
            for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
                value = x[i]
                out[i] = value if value > 0 else np.float32(0)
        """),
    ),
]
