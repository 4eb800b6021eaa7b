"""Answers to detective_glimpse."""

from tests.data.answers import Right, Wrong, edit, without

BARRIER = "    cuda.syncthreads()  # all scores are there before any thread reads another's\n"
MASKED = "        score = np.float32(-math.inf)\n"
STORED = "        scores[key] = score\n"

ANSWERS = [
    Wrong(
        "the mask fixed, the barrier not",
        without("all scores are there"),
        says="with no barrier in between",
    ),
    Wrong(
        "masked with a small number",
        edit((MASKED, "        score = np.float32(1e-9)\n")),
        says="Keys behind the query have the score 0",
    ),
    Wrong(
        "masked with -1e9",
        edit((MASKED, "        score = np.float32(-1e9)\n")),
        says="correct:  score = np.float32(-math.inf)",
    ),
    Wrong("masked with -1", edit((MASKED, "        score = np.float32(-1)\n")), says="of out"),
    Wrong(
        "the barrier inside the loop",
        edit((BARRIER, ""), (STORED, STORED + "    " + BARRIER)),
        says="barrier",
    ),
    Wrong(
        "the barrier behind the maximum",
        edit((BARRIER, ""), ("    if tid < v.shape[1]:", BARRIER + "    if tid < v.shape[1]:")),
        says="with no barrier in between",
    ),
    Wrong(
        "only threads with a column wait",
        edit((BARRIER, "    if tid < v.shape[1]:\n    " + BARRIER)),
        says="do not come to it",
    ),
    Wrong(
        "no maximum",
        edit(("math.exp(scores[key] - high)", "math.exp(scores[key])")),
        says="changed:  weight = math.exp(scores[key])",
    ),
    Wrong(
        "two barriers",
        edit((BARRIER, BARRIER + BARRIER)),
        says="All threads wait for the scores once",
        grade="but",
    ),
    Wrong(
        "all products, masked afterwards",
        edit(
            ("if key <= row:", "if True:"),
            (STORED, "        scores[key] = score if key <= row else np.float32(-math.inf)\n"),
        ),
        says="the products with the others are not needed",
        grade="but",
    ),
    Right("a number below all scores", edit((MASKED, "        score = np.float32(-3e38)\n"))),
    Right(
        "the loops end with the query",
        edit(
            ("range(tid, k.shape[0], BLOCK)", "range(tid, row + 1, BLOCK)"),
            (
                "    for key in range(k.shape[0]):\n        high",
                "    for key in range(row + 1):\n        high",
            ),
            (
                "        for key in range(k.shape[0]):\n            weight",
                "        for key in range(row + 1):\n            weight",
            ),
        ),
    ),
]
