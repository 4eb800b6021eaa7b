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
        "a division before a sum",
        body("""
            i = cuda.grid(1)
            if i < pairs.size:
                speedup[i] = pairs[i] * CPU_SECONDS / LAUNCH + pairs[i] * GPU_SECONDS
        """),
        says="This is cpu / LAUNCH + gpu",
    ),
    Wrong(
        "the difference",
        edit(("cpu / gpu", "cpu - gpu")),
        says="This is the difference of the two times",
    ),
    Wrong(
        "the launch on both sides",
        edit(("cpu = pairs", "cpu = LAUNCH + pairs")),
        says="The launch was added to both times",
    ),
    Wrong(
        "the index for the number of pairs",
        edit(
            ("cpu = pairs[i]", "cpu = np.float32(i)"),
            ("LAUNCH + pairs[i]", "LAUNCH + np.float32(i)"),
        ),
        says="the number of pairs is pairs[i]",
    ),
    Wrong(
        "never below 1",
        edit(("cpu / gpu", "max(cpu / gpu, np.float32(1))")),
        says="No speedup is below 1 here",
    ),
    Wrong(
        "divided by the CPU's time, which may be 0",
        edit(
            ("cpu / gpu", "np.float32(1) / (LAUNCH / cpu + (gpu - LAUNCH) / cpu)"),
        ),
        says="nan",
    ),
    Wrong(
        "neighbours far apart",
        edit(("cuda.grid(1)", "cuda.threadIdx.x * cuda.gridDim.x + cuda.blockIdx.x")),
        says="Neighbouring threads should take neighbouring elements",
        grade="but",
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
