"""Answers to sigmoid."""

from tests.data.answers import Right, Wrong, body, edit, serial

ANSWERS = [
    Wrong(
        "infinity over infinity",
        body("""
            i = cuda.grid(1)
            if i < x.size:
                e = math.exp(x[i])
                out[i] = e / (np.float32(1) + e)
        """),
        says="makes inf out of finite numbers",
    ),
    Wrong(
        "infinity over infinity in one line",
        edit(("one / (one + math.exp(-x[i]))", "math.exp(x[i]) / (one + math.exp(x[i]))")),
        says="makes nan out of finite numbers",
    ),
    Wrong(
        "float64 by a literal",
        edit(("one = np.float32(1)", "one = 1.0")),
        says="operations in float64",
        grade="but",
    ),
    Wrong(
        "by tanh",
        edit(
            (
                "one / (one + math.exp(-x[i]))",
                "(one + math.tanh(x[i] / np.float32(2))) / np.float32(2)",
            )
        ),
        says="wrong where x lies between",
    ),
    Wrong(
        "neighbours far apart",
        edit(("cuda.grid(1)", "cuda.threadIdx.x * cuda.gridDim.x + cuda.blockIdx.x")),
        says="Neighbouring threads should take neighbouring elements",
        grade="but",
    ),
    Wrong("one past the end", edit(("i < x.size", "i <= x.size")), says="guard the access"),
    serial("""
            if cuda.grid(1) == 0:
                for i in range(x.size):
                    out[i] = np.float32(1) / (np.float32(1) + math.exp(-x[i]))
        """),
    Right(
        "a grid-stride loop",
        body("""
            for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
                e = math.exp(-x[i])
                out[i] = np.float32(1) / (e + np.float32(1))
        """),
    ),
    Right(
        "two branches",
        body("""
            i = cuda.grid(1)
            if i < x.size:
                e = math.exp(-abs(x[i]))
                small = e / (np.float32(1) + e)
                out[i] = small if x[i] < 0 else np.float32(1) - small
        """),
    ),
]
