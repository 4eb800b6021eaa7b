"""What learners get wrong here, by the sentence that names it: edits of the solution."""

MISTAKES = {
    "The coefficients stand in the wrong order: table[0] belongs to x ** 0.": """
        table = cuda.const.array_like(COEFFICIENTS)
        i = cuda.grid(1)
        if i < x.size:
            acc = table[0]
            for k in range(1, 6):
                acc = acc * x[i] + table[k]
            out[i] = acc
    """,
    "The last coefficient, table[5], is left out.": [("acc = table[5]", "acc = np.float32(0)")],
    "The powers are one too low: the loop ends before table[0].": [
        ("range(4, -1, -1)", "range(4, 0, -1)")
    ],
    "This is the sum of the coefficients: no x is multiplied in.": [
        ("acc * x[i] + table[k]", "acc + table[k]")
    ],
    "table[k] is added before x is multiplied in: it is acc * x[i] + table[k].": [
        ("acc * x[i] + table[k]", "(acc + table[k]) * x[i]")
    ],
    "The powers are one too high: x is multiplied in once more after table[0].": [
        ("out[i] = acc", "out[i] = acc * x[i]")
    ],
    "The index of table depends on the thread. All threads need the same coefficient "
    "at the same time: table[k].": [("x[i] + table[k]", "x[i] + table[(k + i) % 6]")],
}
