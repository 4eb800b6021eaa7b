"""What learners get wrong here, by the sentence that names it: edits of the solution."""

MISTAKES = {
    "Only every fourth row was written: each thread has four rows.": [
        ("for r in range(EACH):\n            if", "for r in range(1):\n            if")
    ],
    "All four rows of a thread hold the same sums: a[top, k] for a[top + r, k].": [
        ("a[top + r, k]", "a[top, k]")
    ],
    "The four rows of a thread stand upside down: the sum of row top + r belongs there.": [
        ("= acc[r]\n", "= acc[EACH - 1 - r]\n")
    ],
    "The groups of rows overlap: the first row of a thread is EACH times its group.": [
        ("group * EACH", "group")
    ],
    "Each thread made results of one row. Its four results lie below each other, in "
    "the rows from top = EACH * group on.": """
        group, row = cuda.grid(2)
        for col in range(EACH * group, min(EACH * group + EACH, out.shape[1])):
            acc = np.float32(0)
            if row < out.shape[0]:
                for k in range(a.shape[1]):
                    acc += a[row, k] * b[k, col]
                out[row, col] = acc
    """,
    "Each thread made two rows. EACH is 4: the launch has one thread for four rows.": [
        (
            "        for r in range(EACH):\n            if top + r < out",
            "        for r in range(2):\n            if top + r < out",
        )
    ],
    "A thread without four whole rows did nothing. Guard each row by itself: top + r "
    "< out.shape[0].": [
        ("if col < out.shape[1]:", "if col < out.shape[1] and top + EACH <= out.shape[0]:")
    ],
    "The last product of each sum is missing: the loop ends one too early.": [
        ("range(a.shape[1])", "range(a.shape[1] - 1)")
    ],
    "Only the last product is there: each one replaced the one before. It is `+=`.": [
        ("acc[r] += a", "acc[r] = a")
    ],
    "The loop over k ends at N, the columns of b. It ends at K, the columns of a: a.shape[1].": [
        ("range(a.shape[1])", "range(b.shape[1])")
    ],
    "The loop over k ends at M, the rows of a. It ends at K, the columns of a: a.shape[1].": [
        ("range(a.shape[1])", "range(min(a.shape))")
    ],
}
