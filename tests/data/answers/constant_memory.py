"""Answers to constant_memory."""

from tests.data.answers import Right, Wrong, body, edit, serial

ANSWERS = [
    Wrong(
        "past the end of the table",
        edit(("acc = table[5]", "acc = table[6]")),
        says="uses table[6] in line 17, but table has only 6 elements",
    ),
    Wrong(
        "powers",
        body("""
            table = cuda.const.array_like(COEFFICIENTS)
            i = cuda.grid(1)
            if i < x.size:
                value, acc = x[i], np.float32(0)
                for k in range(6):
                    power = np.float32(1)
                    for _ in range(k):
                        power *= value
                    acc += table[k] * power
                out[i] = acc
        """),
        says="Horner's rule needs one multiplication",
        grade="but",
    ),
    Wrong(
        "float64 coefficients",
        edit(("-3.75, 1.5], np.float32)", "-3.75, 1.5])")),
        says="operations in float64",
        grade="but",
    ),
    serial("""
            table = cuda.const.array_like(COEFFICIENTS)
            if cuda.grid(1) == 0:
                for i in range(x.size):
                    acc = table[5]
                    for k in range(4, -1, -1):
                        acc = acc * x[i] + table[k]
                    out[i] = acc
        """),
    Wrong(
        "the coefficients written into the code",
        body("""
            i = cuda.grid(1)
            if i < x.size:
                v = x[i]
                acc = np.float32(1.5) * v - np.float32(3.75)
                acc = acc * v + np.float32(2.5)
                out[i] = acc * v * v * v + np.float32(0.75) * v
        """),
        says="asked: at least 6",
        grade="but",
    ),
    Wrong(
        "the table is read, and the numbers in the code are used",
        body("""
            table = cuda.const.array_like(COEFFICIENTS)
            i = cuda.grid(1)
            if i < x.size:
                most = table[0]
                for k in range(1, 6):
                    most = max(most, table[k])
                v = x[i]
                acc = np.float32(1.5) * v - np.float32(3.75)
                acc = (acc * v + np.float32(2.5)) * v * v + np.float32(0.75)
                out[i] = acc * v if most > 0 else most
        """),
        says="Hard-coded coefficients",
        grade="but",
    ),
    Wrong(
        "a literal of float64",
        edit(("acc = table[5]", "acc = 1.0 * table[5]")),
        says="float64 because of the literal",
        grade="but",
    ),
    Right(
        "written out",
        body("""
            c = cuda.const.array_like(COEFFICIENTS)
            i = cuda.grid(1)
            if i < x.size:
                t = x[i]
                out[i] = ((((c[5] * t + c[4]) * t + c[3]) * t + c[2]) * t + c[1]) * t + c[0]
        """),
    ),
    Right(
        "the captured array itself, which Numba puts into constant memory",
        body("""
            for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
                t, acc = x[i], COEFFICIENTS[5]
                for k in range(1, 6):
                    acc = acc * t + COEFFICIENTS[5 - k]
                out[i] = acc
        """),
    ),
]
