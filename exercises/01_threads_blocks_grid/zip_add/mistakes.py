"""What learners get wrong here, by the sentence that names it: edits of the solution."""

MISTAKES = {
    "The values are those of a alone: b is never added.": [("= a[i] + b[i]", "= a[i]")],
    "These are the differences a - b, not the sums.": [("= a[i] + b[i]", "= a[i] - b[i]")],
    "b is read back to front: out[i] is a[i] + b[i], with the same i.": [
        ("= a[i] + b[i]", "= a[i] + b[out.size - 1 - i]")
    ],
    "These are products a * b, not the sums.": [("= a[i] + b[i]", "= a[i] * b[i]")],
    "Each sum stands one place too far on, and the first is missing: indices begin at 0.": [
        ("cuda.grid(1)", "cuda.grid(1) + 1"),
        ("a[i] + b[i]\n", "a[i - 1] + b[i - 1]\n"),
    ],
    "Each element is a[i] + a[i]: b is never read.": [("= a[i] + b[i]", "= a[i] + a[i]")],
}
