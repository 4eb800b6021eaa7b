"""What learners get wrong here, by the sentence that names it: edits of the solution."""

MISTAKES = {
    "This is log(1 + exp(-abs(x))): max(x, 0) is not added.": [("max(x[i], np.float32(0)) + ", "")],
    "This is log(1 + exp(-x)): the sign of x is wrong.": [("max(x[i], np", "max(-x[i], np")],
    "Where exp(x) is small it is lost: 1 + exp(x) is 1 in float32. math.log1p(e) "
    "computes log(1 + e) without that sum.": [("math.log1p(e)", "math.log(np.float32(1) + e)")],
    "Small results are lost, for 1 + exp(x) is 1 in float32, and large ones are held "
    "at 88. Take exp(-abs(x)), which is 1 at most, and math.log1p.": [
        (
            "out[i] = max(x[i], np.float32(0)) + math.log1p(e)",
            "if x[i] > -17 and x[i] < 17:\n"
            "            out[i] = max(x[i], np.float32(0)) + math.log1p(e)\n"
            "        else:\n"
            "            out[i] = min(max(x[i], np.float32(0)), np.float32(88))",
        )
    ],
    "x was added where it is negative too: max(x, 0) belongs there.": [
        ("max(x[i], np.float32(0))", "x[i]")
    ],
    "abs(x) was added for negative x too: max(x, 0) belongs there.": [
        ("max(x[i], np.float32(0))", "abs(x[i])")
    ],
    "math.log1p(e) was subtracted; it is added to max(x, 0).": [(" + math.log1p", " - math.log1p")],
    "math.log1p(1 + e) is log(2 + e): log1p adds the 1 itself, so give it e.": [
        ("math.log1p(e)", "math.log1p(np.float32(1) + e)")
    ],
    "Above 10 the result is x itself, and a float32 can tell log(1 + exp(10)) = "
    "10.00005 from 10.": """
        i = cuda.grid(1)
        if i < x.size:
            out[i] = x[i] if x[i] > 10 else math.log1p(math.exp(x[i]))
    """,
    "This is relu: nothing of the smooth bend is left.": [(" + math.log1p(e)", "")],
    **{
        f"The results are held at {most}; for large x the result is x itself.": [
            (
                "max(x[i], np.float32(0)) + math.log1p(e)",
                f"min(max(x[i], np.float32(0)) + math.log1p(e), np.float32({most}))",
            )
        ]
        for most in (80, 88)
    },
    **{
        f"For x below -{least} the result is 0 here; it is exp(x), which a float32 can hold.": [
            ("math.log1p(e)", f"(math.log1p(e) if x[i] >= -{least} else np.float32(0))")
        ]
        for least in (20.5, 30, 50, 80)
    },
}
