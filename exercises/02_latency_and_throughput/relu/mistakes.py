"""What learners get wrong here, by the sentence that names it: edits of the solution."""

MISTAKES = {
    "The fractions are cut off: somewhere the numbers pass through whole ones.": [
        (
            "max(x[i], np.float32(0))",
            "max(min(x[i] // np.float32(1), np.float32(2.0**63)), np.float32(0))",
        )
    ],
    "This is the larger of x[i] and x[0]; it should be the larger of x[i] and 0.": [
        ("max(x[i], np.float32(0))", "max(x[i], x[0])")
    ],
    "Small positive numbers became 0: each number above 0 stays as it is.": """
        i = cuda.grid(1)
        if i < x.size:
            out[i] = x[i] if x[i] > np.float32(1e-6) else np.float32(0)
    """,
    "The numbers above 6 became 6: relu has no upper bound.": [
        ("max(x[i], np.float32(0))", "min(max(x[i], np.float32(0)), np.float32(6))")
    ],
    "The numbers above 1 became 1: relu has no upper bound.": [
        ("max(x[i], np.float32(0))", "min(max(x[i], np.float32(0)), np.float32(1))")
    ],
    "A comparison alone is 1 or 0: where x is positive, x itself is asked.": [
        ("max(x[i], np.float32(0))", "1 if x[i] > 0 else 0")
    ],
    "Only the positive numbers were written. Where x is negative, out must become 0.": """
        i = cuda.grid(1)
        if i < x.size and x[i] > 0:
            out[i] = x[i]
    """,
    "Where x is 0 nothing was written: neither x > 0 nor x < 0 holds there.": """
        i = cuda.grid(1)
        if i < x.size:
            if x[i] > 0:
                out[i] = x[i]
            elif x[i] < 0:
                out[i] = 0
    """,
    "These are the absolute values: a negative number became positive, not 0.": [
        ("max(x[i], np.float32(0))", "abs(x[i])")
    ],
    "The positive numbers became 0 and the negative ones stayed: min for max.": [
        ("max(x[i]", "min(x[i]")
    ],
    "The numbers are as they were: the negative ones did not become 0.": [
        ("max(x[i], np.float32(0))", "x[i]")
    ],
    "Negative numbers became 0.01 * x: that is a leaky relu. They become 0.": [
        ("max(x[i], np.float32(0))", "max(x[i], np.float32(0.01) * x[i])")
    ],
    "Negative numbers became 0.1 * x: that is a leaky relu. They become 0.": [
        ("max(x[i], np.float32(0))", "max(x[i], np.float32(0.1) * x[i])")
    ],
    "Negative numbers became 0.2 * x: that is a leaky relu. They become 0.": [
        ("max(x[i], np.float32(0))", "max(x[i], np.float32(0.2) * x[i])")
    ],
}
