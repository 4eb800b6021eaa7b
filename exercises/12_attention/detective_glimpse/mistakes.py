"""What learners get wrong here, by the sentence that names it: edits of the solution."""

from gpukit.course import lanes

MISTAKES = {
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
    "Keys behind the query have the score 0 and are left out of the values only: "
    "they still count in the sum. A score of -inf counts nothing.": [
        ("        score = np.float32(-math.inf)\n", "        score = np.float32(0)\n")
    ],
    "The scores are not divided by the root of the number of columns.": [
        (" / math.sqrt(np.float32(q.shape[1]))", "")
    ],
    "The shares are not divided by their sum.": [("acc / total", "acc")],
    **{
        f"Keys behind the query have a score like {start:g}, and scores may be lower still: a "
        "score of -inf counts nothing.": [
            ("score = np.float32(-math.inf)", f"score = np.float32({start})")
        ]
        for start in lanes.STARTS
        if start > -5e37
    },
}
