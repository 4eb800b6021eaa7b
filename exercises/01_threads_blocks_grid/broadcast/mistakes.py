"""What learners get wrong here, by the sentence that names it: edits of the solution."""

MISTAKES = {
    "These are products of left and top, not sums.": [("= left[r] + top[c]", "= left[r] * top[c]")],
    "Every row holds the same numbers: left is never added.": [("= left[r] + top[c]", "= top[c]")],
    "top is read at the row; it has an element for each column of out.": [
        ("= left[r] + top[c]", "= left[r] + top[r % top.size]")
    ],
    "left is read at the column; it has an element for each row of out.": [
        ("= left[r] + top[c]", "= left[c % left.size] + top[c]")
    ],
    "Every column holds the same numbers: top is never added.": [
        ("= left[r] + top[c]", "= left[r]")
    ],
}
