"""What learners get wrong here, by the sentence that names it: edits of the solution."""

MISTAKES = {
    "Keys behind the query have a finite score, and real scores may be lower still: a score of "
    "-inf counts nothing.": [("score = np.float32(-math.inf)", "score = np.float32(-100)")],
    "Keys behind the query have the score 0, and exp(0 - high) is not 0: a score of "
    "-inf counts nothing.": [
        ("        score = np.float32(-math.inf)\n", "        score = np.float32(0)\n")
    ],
    "There is no mask: a query sees the keys behind it, too.": [("if key <= row:", "if key >= 0:")],
    "A query sees the key behind its own, too: key <= row.": [
        ("if key <= row:", "if key <= row + 1:")
    ],
    "A query does not see its own key, so the first sees none, and 0 / 0 is NaN: key <= row.": [
        ("if key <= row:", "if key < row:")
    ],
    "The mask is the wrong way round: a key is seen if key <= row.": [
        ("if key <= row:", "if key >= row:")
    ],
    "The keys behind the query are left out of the values only, and still count in the sum.": [
        ("if key <= row:", "if key >= 0:"),
        (
            "acc += weight * v[key, tid]",
            "acc += weight * v[key, tid] if key <= row else np.float32(0)",
        ),
    ],
    "The scores are not divided by the root of the number of columns.": [
        (" / math.sqrt(np.float32(q.shape[1]))", "")
    ],
    "The shares are not divided by their sum.": [("acc / total", "acc")],
    "The maximum is taken over hidden keys, too, whose scores are 0: where all others are "
    "far below, all weights become 0.": [
        ("score = np.float32(-math.inf)", "score = np.float32(0)"),
        ("range(k.shape[0]):\n            weight", "range(row + 1):\n            weight"),
    ],
}
