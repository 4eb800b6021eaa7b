"""What learners get wrong here, by the sentence that names it: edits of the solution."""

MISTAKES = {
    "This is a forward difference, (loss above - loss) / STEP, whose error is as "
    "large as STEP. Take (loss above - loss below) / (2 * STEP).": [
        ("(above - below) / (2 * STEP)", "(above - below) / STEP"),
        ("math.tanh(net - STEP * x[b, i])", "math.tanh(net)"),
    ],
    "This is a backward difference, (loss - loss below) / STEP, whose error is as "
    "large as STEP. Take (loss above - loss below) / (2 * STEP).": [
        ("net + STEP * x[b, i]", "net"),
        ("(2 * STEP)", "STEP"),
    ],
    "Each value is twice what it should be: the two losses lie 2 * STEP apart, and "
    "half of the squares is the loss.": [
        ("(above - below) / (2 * STEP)", "(above - below) / STEP")
    ],
    "Each value is half of what it should be: the loss is half of the squares, once.": [
        ("(2 * STEP)", "(4 * STEP)")
    ],
    "The sign is wrong: it is the loss above minus the loss below.": [
        ("(above - below) / (2 * STEP)", "(below - above) / (2 * STEP)")
    ],
    "All weights were moved at once: for each result only its own weight moves.": """
        i = cuda.grid(1)
        if i < w.size:
            above = below = 0.0
            for b in range(x.shape[0]):
                net_up = net_down = 0.0
                for k in range(w.size):
                    net_up += x[b, k] * (w[k] + STEP)
                    net_down += x[b, k] * (w[k] - STEP)
                above += 0.5 * (math.tanh(net_up) - target[b]) ** 2
                below += 0.5 * (math.tanh(net_down) - target[b]) ** 2
            value = (above - below) / (2 * STEP)
            numeric[i] = value
            suspect[i] = 1 if abs(value - grad[i]) > 1e-4 * max(1.0, abs(value)) else 0
    """,
    "Only the first sample was looked at: the loss is a sum over all.": [
        ("for b in range(x.shape[0])", "for b in range(1)")
    ],
    "This is the mean over the samples; the loss is their sum.": [
        ("(above - below) / (2 * STEP)", "(above - below) / (2 * STEP) / x.shape[0]")
    ],
    "The difference is not divided by 2 * STEP.": [
        ("(above - below) / (2 * STEP)", "above - below")
    ],
    "This is the gradient by a formula. The check is worth something because it "
    "needs none and only tries out.": """
        i = cuda.grid(1)
        if i < w.size:
            value = 0.0
            for b in range(x.shape[0]):
                net = 0.0
                for k in range(w.size):
                    net += x[b, k] * w[k]
                y = math.tanh(net)
                value += (y - target[b]) * (1 - y * y) * x[b, i]
            numeric[i] = value
            suspect[i] = 1 if abs(value - grad[i]) > 1e-4 * max(1.0, abs(value)) else 0
    """,
    "The marks are exchanged: 1 is for weights where the formula does not agree.": [
        (
            "abs(value - grad[i]) > 1e-4 * max(1.0, abs(value))",
            "not abs(value - grad[i]) > 1e-4 * max(1.0, abs(value))",
        )
    ],
    "suspect is only written where the formula does not agree. Elsewhere it is 0, "
    "and somebody has to write it.": [
        (
            "suspect[i] = 1 if abs(value - grad[i]) > 1e-4 * max(1.0, abs(value)) else 0",
            "if abs(value - grad[i]) > 1e-4 * max(1.0, abs(value)):\n            suspect[i] = 1",
        )
    ],
    "Only as many weights as there are samples were checked: the guard is i < w.size.": [
        ("if i < w.size:", "if i < min(w.size, x.shape[0]):")
    ],
    "Only formulas that are too small are marked: the distance is abs(numeric - grad).": [
        (
            "abs(value - grad[i]) > 1e-4 * max(1.0, abs(value))",
            "value - grad[i] > 1e-4 * max(1.0, abs(value))",
        )
    ],
    "Only formulas that are too large are marked: the distance is abs(numeric - grad).": [
        ("abs(value - grad[i])", "grad[i] - value")
    ],
    "No weight is marked, though the formula is wrong for many.": [
        ("1 if abs(value - grad[i]) > 1e-4 * max(1.0, abs(value)) else 0", "0")
    ],
    "Only wrong signs are marked. A formula can be wrong in its size alone: compare "
    "the distance, abs(numeric - grad), with what is allowed.": [
        ("abs(value - grad[i]) > 1e-4 * max(1.0, abs(value))", "value * grad[i] < 0")
    ],
    "The sizes are compared without their signs: the distance is abs(numeric - grad).": [
        (
            "abs(value - grad[i]) > 1e-4 * max(1.0, abs(value))",
            "abs(abs(value) - abs(grad[i])) > 1e-4 * max(1.0, abs(value))",
        )
    ],
    "What is allowed does not grow with the result: it is 1e-4 * max(1, abs(numeric)).": [
        ("abs(value - grad[i]) > 1e-4 * max(1.0, abs(value))", "abs(value - grad[i]) > 1e-4")
    ],
    "What is allowed gets too small where the result is near 0: it is 1e-4 * max(1, "
    "abs(numeric)).": [
        (
            "abs(value - grad[i]) > 1e-4 * max(1.0, abs(value))",
            "abs(value - grad[i]) > 1e-4 * abs(value)",
        )
    ],
    "What is allowed is the smaller of both, min; it is the larger, 1e-4 * max(1, abs(numeric)).": [
        (
            "abs(value - grad[i]) > 1e-4 * max(1.0, abs(value))",
            "abs(value - grad[i]) > 1e-4 * min(1.0, abs(value))",
        )
    ],
    "What is allowed is a sum, 1e-4 * (1 + abs(numeric)); it is the larger of both, "
    "1e-4 * max(1, abs(numeric)).": [
        (
            "abs(value - grad[i]) > 1e-4 * max(1.0, abs(value))",
            "abs(value - grad[i]) > 1e-4 * (1.0 + abs(value))",
        )
    ],
    "What is allowed has no abs(): for negative results, too, it grows with their "
    "size, 1e-4 * max(1, abs(numeric)).": [
        (
            "abs(value - grad[i]) > 1e-4 * max(1.0, abs(value))",
            "abs(value - grad[i]) > 1e-4 * max(1.0, value)",
        )
    ],
    "Too much is allowed: errors far above 1e-4 * max(1, abs(numeric)) are not marked.": [
        (
            "abs(value - grad[i]) > 1e-4 * max(1.0, abs(value))",
            "abs(value - grad[i]) > 1e-2 * max(1.0, abs(value))",
        )
    ],
    "Too little is allowed: errors below 1e-4 * max(1, abs(numeric)) are marked, too.": [
        (
            "abs(value - grad[i]) > 1e-4 * max(1.0, abs(value))",
            "abs(value - grad[i]) > 1e-5 * max(1.0, abs(value))",
        )
    ],
    "Every weight is marked, for a difference is never exactly the gradient: allow "
    "1e-4 * max(1, abs(numeric)).": [
        ("abs(value - grad[i]) > 1e-4 * max(1.0, abs(value))", "True")
    ],
    "net is not reset to 0 for each sample: it continues from sample to sample.": [
        ("above = below = 0.0", "above = below = net = 0.0"),
        ("            net = 0.0\n", ""),
    ],
}
