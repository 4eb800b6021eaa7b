"""Answers to crossover."""

from tests.exercises.answers import Right, Wrong, body, edit, serial

ANSWERS = [
    Wrong(
        "no launch",
        edit(("LAUNCH + pairs", "pairs")),
        says="The launch is left out",
    ),
    Wrong(
        "upside down",
        edit(("cpu / gpu", "gpu / cpu")),
        says="upside down",
    ),
    Wrong(
        "a launch for each pair",
        edit(("LAUNCH + pairs[i] * GPU_SECONDS", "pairs[i] * (LAUNCH + GPU_SECONDS)")),
        says="it is paid once",
    ),
    Wrong(
        "the launch on the CPU's side",
        edit(("cpu = pairs", "cpu = LAUNCH + pairs"), ("gpu = LAUNCH + pairs", "gpu = pairs")),
        says="the GPU needs it",
    ),
    Wrong(
        "no guard",
        edit(("    if i < pairs.size:", "    if i >= 0:")),
        says="guard the access",
    ),
    Wrong(
        "float64 by a literal",
        edit(("LAUNCH + pairs", "5e-6 + pairs")),
        says="operations in float64",
        grade="but",
    ),
    serial("""
            if cuda.grid(1) == 0:
                for i in range(pairs.size):
                    gpu = LAUNCH + pairs[i] * GPU_SECONDS
                    speedup[i] = pairs[i] * CPU_SECONDS / gpu
        """),
    Right(
        "in one line",
        body("""
            i = cuda.grid(1)
            if i >= pairs.size:
                return
            speedup[i] = pairs[i] * CPU_SECONDS / (pairs[i] * GPU_SECONDS + LAUNCH)
        """),
    ),
    Right(
        "a grid-stride loop",
        body("""
            for i in range(cuda.grid(1), pairs.size, cuda.gridsize(1)):
                n = pairs[i]
                speedup[i] = CPU_SECONDS / (LAUNCH / n + GPU_SECONDS)
        """),
    ),
]
