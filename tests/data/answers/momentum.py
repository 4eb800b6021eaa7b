"""Answers to momentum."""

from tests.data.answers import Right, Wrong, body, edit, serial

SPEED = "MU * velocity[i] + grad[i]"
MOVE = "w[i] - LR * speed"

ANSWERS = [
    Wrong(
        "the weights in place",
        edit(("new_w[i] = " + MOVE, "w[i] -= LR * speed")),
        says="which is an input",
    ),
    Wrong(
        "the new velocity is not kept",
        edit(("        new_velocity[i] = speed\n", "")),
        says="never written",
    ),
    Wrong(
        "the velocity computed twice",
        body("""
            i = cuda.grid(1)
            if i < w.size:
                new_velocity[i] = MU * velocity[i] + grad[i]
                new_w[i] = w[i] - LR * new_velocity[i]
        """),
        says="instead of reading back what was stored",
        grade="but",
    ),
    Wrong(
        "float64 by a literal",
        edit((SPEED, "0.9 * velocity[i] + grad[i]")),
        says="operations in float64",
        grade="but",
    ),
    Wrong(
        "neighbours far apart",
        edit(("cuda.grid(1)", "cuda.threadIdx.x * cuda.gridDim.x + cuda.blockIdx.x")),
        says="Neighbouring threads should take neighbouring elements",
        grade="but",
    ),
    serial("""
        if cuda.grid(1) == 0:
            for i in range(w.size):
                speed = MU * velocity[i] + grad[i]
                new_velocity[i] = speed
                new_w[i] = w[i] - LR * speed
    """),
    Right(
        "a grid-stride loop",
        body("""
            for k in range(cuda.grid(1), grad.size, cuda.gridsize(1)):
                speed = grad[k] + velocity[k] * MU
                new_w[k] = w[k] - speed * LR
                new_velocity[k] = speed
        """),
    ),
    Right(
        "an early return",
        body("""
            i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
            if i >= new_w.size:
                return
            speed = velocity[i]
            speed *= MU
            speed += grad[i]
            new_velocity[i] = speed
            new_w[i] = -LR * speed + w[i]
        """),
    ),
]
