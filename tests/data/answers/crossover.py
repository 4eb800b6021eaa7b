"""Answers to crossover."""

from tests.data.answers import Right, Wrong, body, edit, serial

ANSWERS = [
    Wrong(
        "divided by the CPU's time, which may be 0",
        edit(("cpu / gpu", "np.float32(1) / (LAUNCH / cpu + (gpu - LAUNCH) / cpu)")),
        says="nan",
    ),
    Wrong(
        "neighbours far apart",
        edit(("cuda.grid(1)", "cuda.threadIdx.x * cuda.gridDim.x + cuda.blockIdx.x")),
        says="Neighbouring threads should take neighbouring elements",
        grade="but",
    ),
    Wrong("no guard", edit(("    if i < pairs.size:", "    if i >= 0:")), says="guard the access"),
    Wrong(
        "float64 by a literal",
        edit(("LAUNCH + pairs", "5e-6 + pairs")),
        says="operations in float64",
        grade="but",
    ),
    Wrong(
        "the numbers of pairs as int32",
        edit(
            ("cpu = pairs[i]", "many = np.int32(pairs[i])\n        cpu = many"),
            ("LAUNCH + pairs[i]", "LAUNCH + many"),
        ),
        says="went through an int32",
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
