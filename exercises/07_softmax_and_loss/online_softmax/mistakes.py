"""What learners get wrong here, by the sentence that names it: edits of the solution."""

from gpukit.course import lanes

MISTAKES = {
    "Where a larger number came, the sum of a lane was not multiplied by exp(old - "
    "new): compute that factor before the maximum is replaced.": [
        ("acc * math.exp(high - above) + math.exp(value - above)", "acc + math.exp(value - above)")
    ],
    "The sums of two lanes were added as they are. They count from different maxima: "
    "each is multiplied by exp(its own maximum - the larger one) first.": [
        (
            "acc * math.exp(high - above) + other_acc * math.exp(other_high - above)",
            "acc + other_acc",
        )
    ],
    "Of two lanes that join, the own sum was not multiplied by exp(old - new): "
    "compute that factor before the maximum is replaced.": [
        ("above = max(high, other_high)", "above = high = max(high, other_high)")
    ],
    "Of two lanes that join, the other's sum was not multiplied by exp(its maximum - "
    "the larger one).": [
        (
            "acc * math.exp(high - above) + other_acc * math.exp(other_high - above)",
            "acc * math.exp(high - above) + other_acc",
        )
    ],
    "Where a larger number came, its own exponential, which is 1, was not added.": [
        (
            "math.exp(high - above) + math.exp(value - above)\n",
            "math.exp(high - above) + (math.exp(value - above) if value <= high else "
            "np.float32(0))\n",
        )
    ],
    "Nothing is multiplied by exp(old - new): sums that count from different maxima "
    "cannot be added.": [
        (
            "acc * math.exp(high - above) + other_acc * math.exp(other_high - above)",
            "acc + other_acc",
        ),
        ("acc * math.exp(high - above) + math.exp(value - above)", "acc + math.exp(value - above)"),
    ],
    "These are maximum and sum of lane 0, of every 32nd column. The 32 lanes must be "
    "joined by shuffles.": """
        row = cuda.grid(1) // 32
        if row < x.shape[0]:
            high, acc = LOWEST, np.float32(0)
            for k in range(cuda.laneid, x.shape[1], 32):
                above = max(high, x[row, k])
                acc = acc * math.exp(high - above) + math.exp(x[row, k] - above)
                high = above
            if cuda.laneid == 0:
                highest[row] = high
                total[row] = acc
    """,
    "The sum is that of lane 0, of every 32nd column. The sums of the 32 lanes must "
    "be joined, too.": [
        ("            other_acc = cuda.shfl_xor_sync(ALL, acc, offset)\n", ""),
        (
            "            above = max(high, other_high)\n"
            "            acc = acc * math.exp(high - above) + other_acc * "
            "math.exp(other_high - above)\n"
            "            high = above\n",
            "            high = max(high, other_high)\n",
        ),
    ],
    "Only the first 32 columns were taken: each lane took one and stopped.": [
        ("range(cuda.laneid, x.shape[1], 32)", "range(cuda.laneid, min(32, x.shape[1]), 32)")
    ],
    "Only the last 32 columns are there: each number replaced the one before.": [
        (
            "above = max(high, value)\n"
            "            acc = acc * math.exp(high - above) + math.exp(value - above)",
            "above = value\n            acc = np.float32(1)",
        )
    ],
    "This is the sum of exp(x): the maximum is not subtracted in the exponents.": [
        ("acc * math.exp(high - above) + math.exp(value - above)", "acc + math.exp(value)"),
        (
            "acc * math.exp(high - above) + other_acc * math.exp(other_high - above)",
            "acc + other_acc",
        ),
    ],
    "The maximum begins with -infinity, and a lane without a column keeps it. Where "
    "two such lanes join, -infinity minus -infinity is NaN: begin with the lowest "
    "finite number, or leave their exp out.": [
        ("high, acc = LOWEST,", "high, acc = np.float32(-math.inf),")
    ],
    "The total is the sum of the numbers themselves: exp is missing.": [
        ("acc * math.exp(high - above) + math.exp(value - above)", "acc + value"),
        (
            "acc * math.exp(high - above) + other_acc * math.exp(other_high - above)",
            "acc + other_acc",
        ),
    ],
    "These are the logarithms of the sums; the sums themselves are asked.": [
        ("= acc\n", "= math.log(acc)\n")
    ],
    **{
        f"The maximum begins with {start:g}, and all numbers of a row may be lower. Begin with "
        "the lowest finite number, or with the first of the row.": [
            ("high, acc = LOWEST", f"high, acc = np.float32({start})")
        ]
        for start in lanes.STARTS
    },
}
