"""Answers to gradcheck."""

from tests.exercises.answers import Right, Wrong, body, edit, serial

VALUE = "(above - below) / (2 * STEP)"
MARK = "abs(value - grad[i]) > 1e-4 * max(1.0, abs(value))"
DOWN = "math.tanh(net - STEP * x[b, i])"

ANSWERS = [
    Wrong(
        "the weight moved in place",
        body("""
            i = cuda.grid(1)
            if i < w.size:
                above = below = 0.0
                w[i] += STEP
                for b in range(x.shape[0]):
                    net = 0.0
                    for k in range(w.size):
                        net += x[b, k] * w[k]
                    above += 0.5 * (math.tanh(net) - target[b]) ** 2
                w[i] -= 2 * STEP
                for b in range(x.shape[0]):
                    net = 0.0
                    for k in range(w.size):
                        net += x[b, k] * w[k]
                    below += 0.5 * (math.tanh(net) - target[b]) ** 2
                w[i] += STEP
                value = (above - below) / (2 * STEP)
                numeric[i] = value
                suspect[i] = 1 if abs(value - grad[i]) > 1e-4 * max(1.0, abs(value)) else 0
        """),
        says="The kernel wrote to w, which is an input",
    ),
    Wrong(
        "the weight moved in place, and restored",
        body("""
            i = cuda.grid(1)
            if i < w.size:
                old = w[i]
                value = 0.0
                for side in range(-1, 2, 2):
                    w[i] = old + side * STEP
                    for b in range(x.shape[0]):
                        net = 0.0
                        for k in range(w.size):
                            net += x[b, k] * w[k]
                        value += side * 0.5 * (math.tanh(net) - target[b]) ** 2
                w[i] = old
                value /= 2 * STEP
                numeric[i] = value
                suspect[i] = 1 if abs(value - grad[i]) > 1e-4 * max(1.0, abs(value)) else 0
        """),
        says="write nothing to w, which is an input",
    ),
    Wrong(
        "a forward difference",
        edit((VALUE, "(above - below) / STEP"), (DOWN, "math.tanh(net)")),
        says="This is a forward difference",
    ),
    Wrong(
        "divided by STEP",
        edit((VALUE, "(above - below) / STEP")),
        says="the two losses lie 2 * STEP apart",
    ),
    Wrong(
        "no half",
        edit(("0.5 * up * up", "up * up"), ("0.5 * down * down", "down * down")),
        says="half of the squares is the loss",
    ),
    Wrong(
        "below minus above", edit((VALUE, "(below - above) / (2 * STEP)")), says="The sign is wrong"
    ),
    Wrong(
        "all weights moved",
        body("""
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
        """),
        says="All weights were moved at once",
    ),
    Wrong(
        "one sample",
        edit(("for b in range(x.shape[0])", "for b in range(1)")),
        says="Only the first sample was looked at",
    ),
    Wrong(
        "the mean over the samples",
        edit((VALUE, "(above - below) / (2 * STEP) / x.shape[0]")),
        says="This is the mean over the samples",
    ),
    Wrong("not divided", edit((VALUE, "above - below")), says="is not divided by 2 * STEP"),
    Wrong(
        "by a formula",
        body("""
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
        """),
        says="This is the gradient by a formula",
    ),
    Wrong("the marks exchanged", edit((MARK, f"not {MARK}")), says="The marks are exchanged"),
    Wrong(
        "no abs",
        edit((MARK, "value - grad[i] > 1e-4 * max(1.0, abs(value))")),
        says="Only formulas that are too small are marked",
    ),
    Wrong(
        "nothing is marked",
        edit((f"1 if {MARK} else 0", "0")),
        says="No weight is marked",
    ),
    Wrong(
        "exactly the gradient",
        edit((MARK, "value != grad[i]")),
        says="a difference is never exactly the gradient",
    ),
    Wrong(
        "no guard",
        edit(("if i < w.size", "if i >= 0")),
        says="guard the access",
    ),
    Wrong(
        "the place in the block",
        edit(("cuda.grid(1)", "cuda.threadIdx.x")),
        says="the index lacks `cuda.blockIdx.x * cuda.blockDim.x`",
    ),
    serial("""
        if cuda.grid(1) == 0:
            for i in range(w.size):
                above = below = 0.0
                for b in range(x.shape[0]):
                    net = 0.0
                    for k in range(w.size):
                        net += x[b, k] * w[k]
                    above += 0.5 * (math.tanh(net + STEP * x[b, i]) - target[b]) ** 2
                    below += 0.5 * (math.tanh(net - STEP * x[b, i]) - target[b]) ** 2
                value = (above - below) / (2 * STEP)
                numeric[i] = value
                suspect[i] = 1 if abs(value - grad[i]) > 1e-4 * max(1.0, abs(value)) else 0
    """),
    Wrong(
        "only wrong signs",
        edit((MARK, "value * grad[i] < 0")),
        says="A formula can be wrong in its size alone",
    ),
    Wrong(
        "sizes without signs",
        edit((MARK, "abs(abs(value) - abs(grad[i])) > 1e-4 * max(1.0, abs(value))")),
        says="compared without their signs",
    ),
    Wrong(
        "the same allowed for all",
        edit((MARK, "abs(value - grad[i]) > 1e-4")),
        says="does not grow with the result",
    ),
    Wrong(
        "a share of the result allowed",
        edit((MARK, "abs(value - grad[i]) > 1e-4 * abs(value)")),
        says="too small where the result is near 0",
    ),
    Wrong(
        "the smaller of both allowed",
        edit((MARK, "abs(value - grad[i]) > 1e-4 * min(1.0, abs(value))")),
        says="it is the larger",
    ),
    Wrong(
        "the sum of both allowed",
        edit((MARK, "abs(value - grad[i]) > 1e-4 * (1.0 + abs(value))")),
        says="What is allowed is a sum",
    ),
    Wrong(
        "no abs() in what is allowed",
        edit((MARK, "abs(value - grad[i]) > 1e-4 * max(1.0, value)")),
        says="has no abs()",
    ),
    Wrong(
        "a hundredth allowed",
        edit((MARK, "abs(value - grad[i]) > 1e-2 * max(1.0, abs(value))")),
        says="Too much is allowed",
    ),
    Wrong(
        "a tenth of it allowed",
        edit((MARK, "abs(value - grad[i]) > 1e-5 * max(1.0, abs(value))")),
        says="Too little is allowed",
    ),
    Wrong(
        "every weight is marked",
        edit((MARK, "True")),
        says="Every weight is marked",
    ),
    Right(
        "the weight shifted in the sum",
        body("""
            i = cuda.grid(1)
            if i >= w.size:
                return
            value = 0.0
            for side in range(-1, 2, 2):
                loss = 0.0
                for b in range(x.shape[0]):
                    net = 0.0
                    for k in range(w.size):
                        weight = w[k]
                        if k == i:
                            weight += side * STEP
                        net += weight * x[b, k]
                    off = math.tanh(net) - target[b]
                    loss += off * off / 2
                value += side * loss
            value /= 2 * STEP
            numeric[i] = value
            suspect[i] = abs(value - grad[i]) > max(1e-4, 1e-4 * abs(value))
        """),
    ),
    Right(
        "the difference of the squares sample by sample",
        body("""
            i = cuda.grid(1)
            if i < w.size:
                twice = 0.0
                for b in range(target.size):
                    net = -0.0
                    for k in range(w.size - 1, -1, -1):
                        net += w[k] * x[b, k]
                    up = math.tanh(net + x[b, i] * STEP)
                    down = math.tanh(net - x[b, i] * STEP)
                    twice += (up - target[b]) ** 2 - (down - target[b]) ** 2
                numeric[i] = twice / (4 * STEP)
                suspect[i] = 0
                if abs(numeric[i] - grad[i]) > 1e-4 * max(1.0, abs(numeric[i])):
                    suspect[i] = 1
        """),
    ),
]
