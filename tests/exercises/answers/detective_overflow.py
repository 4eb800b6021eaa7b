"""Answers to detective_overflow."""

from tests.exercises.answers import Right, Wrong, body, edit, serial

ANSWERS = [
    Wrong(
        "only large numbers fixed",
        edit(("math.log1p(e)", "math.log(np.float32(1) + e)")),
        says="Where exp(x) is small it is lost",
    ),
    Wrong(
        "only small numbers fixed",
        edit(("-abs(x[i])", "x[i]"), ("max(x[i], np.float32(0)) + ", "")),
        says="makes inf out of finite numbers",
    ),
    Wrong(
        "the x not added",
        edit(("max(x[i], np.float32(0)) + ", "")),
        says="max(x, 0) is not added",
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
        "minus for plus",
        edit((" + math.log1p", " - math.log1p")),
        says="math.log1p(e) was subtracted",
    ),
    Wrong(
        "1 added twice",
        edit(("math.log1p(e)", "math.log1p(np.float32(1) + e)")),
        says="log1p adds the 1 itself",
    ),
    Wrong(
        "nothing of the bend above 10",
        body("""
            i = cuda.grid(1)
            if i < x.size:
                out[i] = x[i] if x[i] > 10 else math.log1p(math.exp(x[i]))
        """),
        says="Above 10 the result is x itself",
    ),
    Wrong(
        "abs for max",
        edit(("max(x[i], np.float32(0))", "abs(x[i])")),
        says="abs(x) was added for negative x too",
    ),
    Wrong(
        "neighbours far apart",
        edit(("cuda.grid(1)", "cuda.threadIdx.x * cuda.gridDim.x + cuda.blockIdx.x")),
        says="Neighbouring threads should take neighbouring elements",
        grade="but",
    ),
    Wrong(
        "relu",
        edit((" + math.log1p(e)", "")),
        says="nothing of the smooth bend is left",
    ),
    Wrong(
        "x added for negative numbers too",
        edit(("max(x[i], np.float32(0))", "x[i]")),
        says="x was added where it is negative too",
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
