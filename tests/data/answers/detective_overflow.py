"""Answers to detective_overflow."""

from tests.data.answers import Right, Wrong, body, edit, serial

ANSWERS = [
    Wrong(
        "only small numbers fixed",
        edit(("-abs(x[i])", "x[i]"), ("max(x[i], np.float32(0)) + ", "")),
        says="makes inf out of finite numbers",
    ),
    Wrong(
        "float64 instead of thinking",
        body("""
            i = cuda.grid(1)
            if i < x.size:
                out[i] = math.log1p(math.exp(np.float64(x[i])))
        """),
        says="makes inf out of finite numbers",
    ),
    Wrong(
        "right, but in float64",
        edit(("-abs(x[i])", "-abs(np.float64(x[i]))")),
        says="operations in float64",
        grade="but",
    ),
    Wrong(
        "half of x + abs(x)",
        edit(("max(x[i], np.float32(0))", "(x[i] + abs(x[i])) * np.float32(0.5)")),
        says="makes inf out of finite numbers",
    ),
    Wrong(
        "the sign of the exponent for positive x only",
        body("""
            i = cuda.grid(1)
            if i < x.size:
                out[i] = x[i] + math.log1p(math.exp(-x[i]))
        """),
        says="makes inf out of finite numbers",
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
                    out[i] = max(x[i], np.float32(0)) + math.log1p(math.exp(-abs(x[i])))
        """),
    Wrong(
        "a plain 0 in max",
        body("""
            i = cuda.grid(1)
            if i < x.size:
                out[i] = max(x[i], 0) + math.log1p(math.exp(-abs(x[i])))
        """),
        says="is float64 because of the literal `0`",
        grade="but",
    ),
    Right(
        "two branches",
        body("""
            i = cuda.grid(1)
            if i < x.size:
                value = x[i]
                if value > 0:
                    out[i] = value + math.log1p(math.exp(-value))
                else:
                    out[i] = math.log1p(math.exp(value))
        """),
    ),
    Right(
        "an early return",
        body("""
            i = cuda.grid(1)
            if i >= x.size:
                return
            out[i] = math.log1p(math.exp(-abs(x[i]))) + max(x[i], np.float32(0))
        """),
    ),
]
