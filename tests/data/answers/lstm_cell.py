"""Answers to lstm_cell."""

from tests.data.answers import Right, Wrong, body, edit, serial

TAKE = "sigmoid(sums[sample, unit])"
KEEP = "sigmoid(sums[sample, unit + units])"
NEW = "math.tanh(sums[sample, unit + 2 * units])"
SHOW = "sigmoid(sums[sample, unit + 3 * units])"
C = "keep * c[sample, unit] + take * new"
STORED = "new_c[sample, unit] = remembered"
H = "show * math.tanh(remembered)"


def over(old, new):
    return edit((old, new))


def order(*places):
    """Return the solution with the four parts of a row read from these places."""
    parts = dict(zip(("take", "keep", "new", "show"), places, strict=True))
    return edit(
        (TAKE, f"sigmoid(sums[sample, unit + {parts['take']} * units])"),
        (KEEP, f"sigmoid(sums[sample, unit + {parts['keep']} * units])"),
        (NEW, f"math.tanh(sums[sample, unit + {parts['new']} * units])"),
        (SHOW, f"sigmoid(sums[sample, unit + {parts['show']} * units])"),
    )


ANSWERS = [
    Wrong(
        "tanh by a quotient of exponentials",
        over(
            H,
            "show * ((math.exp(np.float32(2) * remembered) - ONE)"
            " / (math.exp(np.float32(2) * remembered) + ONE))",
        ),
        says="out of finite numbers",
    ),
    Wrong("c in place", over(STORED, "c[sample, unit] = remembered"), says="wrote to c"),
    Wrong("new_c not written", over(f"        {STORED}\n", ""), says="never written"),
    Wrong("new_c added to", over(STORED, "new_c[sample, unit] += remembered"), says="with `=`"),
    Wrong(
        "no guard along x",
        over("sample < c.shape[0] and unit < units", "sample < c.shape[0]"),
        says="guard the access",
    ),
    Wrong(
        "no guard along y",
        over("sample < c.shape[0] and unit < units", "unit < units"),
        says="guard the access",
    ),
    Wrong(
        "the guard of the sums",
        over("units = c.shape[1]", "units = sums.shape[1]"),
        says="but the shape of sums",
    ),
    Wrong(
        "x is the sample",
        over("unit, sample = cuda.grid(2)", "sample, unit = cuda.grid(2)"),
        says="x is the column, y the row",
    ),
    Wrong(
        "the place in the block",
        over("unit, sample = cuda.grid(2)", "unit, sample = cuda.threadIdx.x, cuda.threadIdx.y"),
        says="cuda.blockIdx",
    ),
    Wrong(
        "tanh by exponentials that overflow",
        over(
            NEW,
            "(math.exp(sums[sample, unit + 2 * units]) - math.exp(-sums[sample, unit + 2 * "
            "units])) / (math.exp(sums[sample, unit + 2 * units]) + math.exp(-sums[sample, unit + "
            "2 * units]))",
        ),
        says="out of finite numbers",
    ),
    Wrong(
        "the gates meet in shared memory without a barrier",
        body("""
            unit, sample = cuda.grid(2)
            units = c.shape[1]
            tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
            gates = cuda.shared.array((4, 128), np.float32)
            for k in range(4):  # thread (tx, ty) computes gate ty of the four samples of its block
                other = cuda.blockIdx.y * 4 + k
                if other < c.shape[0] and unit < units:
                    value = sums[other, unit + ty * units]
                    gates[ty, 32 * k + tx] = math.tanh(value) if ty == 2 else sigmoid(value)
            if sample < c.shape[0] and unit < units:
                at = 32 * ty + tx
                remembered = gates[1, at] * c[sample, unit] + gates[0, at] * gates[2, at]
                new_c[sample, unit] = remembered
                new_h[sample, unit] = gates[3, at] * math.tanh(remembered)
        """),
        says="with no barrier in between",
    ),
    Wrong(
        "the gates meet in shared memory",
        body("""
            unit, sample = cuda.grid(2)
            units = c.shape[1]
            tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
            gates = cuda.shared.array((4, 128), np.float32)
            for k in range(4):
                other = cuda.blockIdx.y * 4 + k
                if other < c.shape[0] and unit < units:
                    value = sums[other, unit + ty * units]
                    gates[ty, 32 * k + tx] = math.tanh(value) if ty == 2 else sigmoid(value)
            cuda.syncthreads()
            if sample < c.shape[0] and unit < units:
                at = 32 * ty + tx
                remembered = gates[1, at] * c[sample, unit] + gates[0, at] * gates[2, at]
                new_c[sample, unit] = remembered
                new_h[sample, unit] = gates[3, at] * math.tanh(remembered)
        """),
        says="the four gates of a unit stay in the variables of its thread",
        grade="but",
    ),
    Wrong(
        "read again",
        over(H, "show * math.tanh(new_c[sample, unit])"),
        says="instead of reading back what was stored",
        grade="but",
    ),
    Wrong(
        "the old c read twice",
        over(C, "keep * c[sample, unit] + take * new + np.float32(0) * c[sample, unit]"),
        says="Each thread needs one element of c",
        grade="but",
    ),
    Wrong(
        "in float64",
        over("ONE = np.float32(1)", "ONE = 1.0"),
        says="operations in float64",
        grade="but",
    ),
    serial("""
        if cuda.grid(2) == (0, 0):
            units = c.shape[1]
            for sample in range(c.shape[0]):
                for unit in range(units):
                    take = sigmoid(sums[sample, unit])
                    keep = sigmoid(sums[sample, unit + units])
                    new = math.tanh(sums[sample, unit + 2 * units])
                    show = sigmoid(sums[sample, unit + 3 * units])
                    remembered = keep * c[sample, unit] + take * new
                    new_c[sample, unit] = remembered
                    new_h[sample, unit] = show * math.tanh(remembered)
    """),
    Wrong(
        "a thread for each sample",
        body("""
            unit, sample = cuda.grid(2)
            units = c.shape[1]
            if unit == 0 and sample < c.shape[0]:
                for unit in range(units):
                    take = sigmoid(sums[sample, unit])
                    keep = sigmoid(sums[sample, unit + units])
                    new = math.tanh(sums[sample, unit + 2 * units])
                    show = sigmoid(sums[sample, unit + 3 * units])
                    remembered = keep * c[sample, unit] + take * new
                    new_c[sample, unit] = remembered
                    new_h[sample, unit] = show * math.tanh(remembered)
        """),
        says="one thread of a warp does the work",
        grade="but",
    ),
    Wrong(
        "only threads outside along both axes stay out",
        edit(("c.shape[0] and unit", "c.shape[0] or unit")),
        says="write `and` for `or` in line",
    ),
    Right(
        "the sigmoid by tanh",
        body("""
            unit, sample = cuda.grid(2)
            if sample >= new_c.shape[0] or unit >= new_c.shape[1]:
                return
            h = sums.shape[1] // 4
            half = np.float32(0.5)
            o = half + half * math.tanh(half * sums[sample, 3 * h + unit])
            g = math.tanh(sums[sample, 2 * h + unit])
            f = half + half * math.tanh(half * sums[sample, h + unit])
            i = half + half * math.tanh(half * sums[sample, unit])
            cell = i * g + f * c[sample, unit]
            new_h[sample, unit] = o * math.tanh(cell)
            new_c[sample, unit] = cell
        """),
    ),
    Right(
        "a loop over the grid",
        body("""
            unit, sample = cuda.grid(2)
            units = c.shape[1]
            across, down = cuda.gridsize(2)
            for row in range(sample, c.shape[0], down):
                for col in range(unit, units, across):
                    keep = sigmoid(sums[row, col + units])
                    new = sigmoid(sums[row, col]) * math.tanh(sums[row, col + 2 * units])
                    cell = c[row, col] * keep + new
                    new_c[row, col] = cell
                    new_h[row, col] = math.tanh(cell) * sigmoid(sums[row, col + 3 * units])
        """),
    ),
]
