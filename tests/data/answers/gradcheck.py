"""Answers to gradcheck."""

from tests.data.answers import Right, Wrong, body, edit, serial

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
        "no half",
        edit(("0.5 * up * up", "up * up"), ("0.5 * down * down", "down * down")),
        says="half of the squares is the loss",
    ),
    Wrong(
        "exactly the gradient",
        edit((MARK, "value != grad[i]")),
        says="a difference is never exactly the gradient",
    ),
    Wrong("no guard", edit(("if i < w.size", "if i >= 0")), says="guard the access"),
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
