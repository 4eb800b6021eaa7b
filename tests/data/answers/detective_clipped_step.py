"""Answers to detective_clipped_step."""

from tests.data.answers import Right, Wrong, body, edit, serial

FACTOR = "LIMIT / max(norm[0], LIMIT)"

ANSWERS = [
    Wrong(
        "the factor fixed, the step not",
        edit(("w[i] - LR * speed", "w[i] - LR * velocity[i]")),
        says="The weights move by the old velocity",
    ),
    Wrong(
        "the step fixed, the factor not",
        edit((FACTOR, "LIMIT / norm[0]")),
        says="This line of the starter is still wrong: `factor = LIMIT / norm[0]`.",
    ),
    Wrong(
        "the least that LIMIT is divided by is 1",
        edit((FACTOR, "LIMIT / max(norm[0], np.float32(1))")),
        says="changed:  factor = LIMIT / max(norm[0], np.float32(1))",
    ),
    Wrong(
        "min for max, and the step as it was",
        edit((FACTOR, "LIMIT / min(norm[0], LIMIT)"), ("LR * speed", "LR * velocity[i]")),
        says="still wrong: `new_w[i] = w[i] - LR * velocity[i]`. Your results are those",
    ),
    Wrong(
        "only zeros are kept from the division",
        edit((FACTOR, "LIMIT / (norm[0] if norm[0] > 0 else LIMIT)")),
        says="Short gradients became longer",
    ),
    Wrong(
        "the new velocity read again",
        edit(("LR * speed", "LR * new_velocity[i]")),
        says="reads of new_velocity",
        grade="but",
    ),
    Wrong(
        "float64 by a literal",
        edit((FACTOR, "min(1.0, LIMIT / max(norm[0], LIMIT))")),
        says="operations in float64",
        grade="but",
    ),
    serial("""
        if cuda.grid(1) == 0:
            factor = LIMIT / max(norm[0], LIMIT)
            for i in range(w.size):
                speed = MU * velocity[i] + factor * grad[i]
                new_velocity[i] = speed
                new_w[i] = w[i] - LR * speed
    """),
    Right(
        "a branch for long gradients",
        edit((FACTOR, "LIMIT / norm[0] if norm[0] > LIMIT else np.float32(1)")),
    ),
    Right(
        "a grid-stride loop",
        body("""
            for i in range(cuda.grid(1), w.size, cuda.gridsize(1)):
                step = grad[i]
                if norm[0] > LIMIT:
                    step *= LIMIT / norm[0]
                step += MU * velocity[i]
                new_velocity[i] = step
                new_w[i] = w[i] - LR * step
        """),
    ),
]
