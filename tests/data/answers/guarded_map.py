"""Answers to guarded_map."""

from tests.data.answers import Right, Wrong, body, edit, serial, whole

ANSWERS = [
    Wrong(
        "the place in the block for that in the grid",
        edit(("cuda.grid(1)", "cuda.threadIdx.x")),
        says="the index lacks `cuda.blockIdx.x * cuda.blockDim.x`",
    ),
    Wrong(
        "one past the end", edit(("i < celsius", "i <= celsius")), says="`if i < celsius.shape[0]:`"
    ),
    Wrong(
        "the last element left out",
        edit(("i < celsius.shape[0]", "i < celsius.shape[0] - 1")),
        says="never written",
    ),
    Wrong(
        "float64 by a literal",
        edit(("np.float32(1.8)", "1.8")),
        says="operations in float64",
        grade="but",
    ),
    Wrong(
        "every thread does all",
        body("""
            for i in range(celsius.shape[0]):
                fahrenheit[i] = celsius[i] * np.float32(1.8) + np.float32(32)
        """),
        says="reads of celsius one after the other",
        grade="but",
    ),
    serial("""
            if cuda.grid(1) == 0:
                for i in range(celsius.shape[0]):
                    fahrenheit[i] = celsius[i] * np.float32(1.8) + np.float32(32)
        """),
    Wrong(
        "written for one size", edit(("i < celsius.shape[0]", "i < 128")), says="guard the access"
    ),
    Wrong(
        "a name for a number",
        edit(("fahrenheit[i] =", "fahrenheit =")),
        says="gives the name `fahrenheit` another value",
    ),
    Wrong(
        "neighbours far apart",
        edit(("cuda.grid(1)", "cuda.threadIdx.x * cuda.gridDim.x + cuda.blockIdx.x")),
        says="Neighbouring threads should take neighbouring elements",
        grade="but",
    ),
    Wrong(
        "NumPy on the host",
        whole("""
            def fahrenheit_kernel(celsius, fahrenheit):
                fahrenheit[:] = celsius * 1.8 + 32
        """),
        says="it is not a kernel. Put @cuda.jit on the line above it",
    ),
    Wrong(
        "a native loop on the host, launched like a kernel",
        whole("""
            import numba


            @numba.njit
            def loop(celsius, fahrenheit):
                for i in range(celsius.size):
                    fahrenheit[i] = celsius[i] * 1.8 + 32


            class Launched:
                def __getitem__(self, shape):
                    return loop


            fahrenheit_kernel = Launched()
        """),
        says="Expected a kernel named fahrenheit_kernel, found none",
    ),
    Wrong(
        "the number of blocks for that of threads",
        edit(("cuda.grid(1)", "cuda.blockIdx.x * cuda.gridDim.x + cuda.threadIdx.x")),
        says="give each thread elements of its own",
    ),
    Right(
        "the index written out, and an early return",
        body("""
            i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
            if i >= fahrenheit.size:
                return
            fahrenheit[i] = np.float32(32) + np.float32(1.8) * celsius[i]
        """),
    ),
    Right(
        "a grid-stride loop",
        body("""
            for i in range(cuda.grid(1), celsius.size, cuda.gridsize(1)):
                fahrenheit[i] = celsius[i] * np.float32(1.8) + np.float32(32)
        """),
    ),
]
