"""What learners get wrong here, by the sentence that names it: edits of the solution."""

MISTAKES = {
    "This is the sigmoid of -x: the sign in front of x is missing or there twice.": [
        ("math.exp(-x[i])", "math.exp(x[i])")
    ],
    "This is the sigmoid of abs(x): for negative x it is below a half.": [
        ("math.exp(-x[i])", "math.exp(-abs(x[i]))")
    ],
    "This is 1 / 1 + exp(-x): a division comes before a sum. Put 1 + exp(-x) into parentheses.": [
        ("one / (one + math.exp(-x[i]))", "one / one + math.exp(-x[i])")
    ],
    "Small results are lost: as the sum or the difference of two numbers near 1 a "
    "result is a multiple of 6e-8 in float32, or 0. Divide 1 by 1 + exp(-x).": [
        ("one / (one + math.exp(-x[i]))", "one - one / (one + math.exp(x[i]))")
    ],
    "Large numbers give 0: exp(x) / (1 + exp(x)) is infinity divided by infinity "
    "there, and the right result is 1.": [
        (
            "one / (one + math.exp(-x[i]))",
            "np.float32(0) if x[i] > 89 else one / (one + math.exp(-x[i]))",
        )
    ],
    "The base is 2.718 and e has more digits: math.exp knows them all.": [
        ("math.exp(-x[i])", "np.float32(2.718) ** -x[i]")
    ],
    "Where x is 0 nothing was written: neither x > 0 nor x < 0 holds there.": [
        ("        out[i]", "        if x[i] != 0:\n            out[i]")
    ],
    "This is tanh, which runs from -1 to 1.": [
        ("one / (one + math.exp(-x[i]))", "math.tanh(x[i])")
    ],
    **{
        f"x is held above -{most}, yet the result goes on falling: sigmoid(-60) is 9e-27.": [
            ("math.exp(-x[i])", f"math.exp(min(max(-x[i], -{most}), {most}))")
        ]
        for most in (10, 15, 20, 30, 50)
    },
    **{
        f"This is {slope} * x + 0.5, held between 0 and 1: a straight line, not a sigmoid.": [
            (
                "one / (one + math.exp(-x[i]))",
                f"min(max(np.float32({slope}) * x[i] + np.float32(0.5), np.float32(0)), one)",
            )
        ]
        for slope in (0.25, 0.2)
    },
}
