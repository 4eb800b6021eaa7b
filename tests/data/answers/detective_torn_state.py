"""Answers to detective_torn_state."""

from tests.data.answers import Right, Wrong, body, edit, without

BARRIER = "        cuda.syncthreads()  # all have read the old state before anyone replaces it\n"
STORED = "        h[unit] = new\n        cuda.syncthreads()\n"

ANSWERS = [
    Wrong(
        "the weights fixed, the barrier not",
        without("all have read the old state"),
        says="with no barrier in between",
    ),
    Wrong(
        "the barrier behind the storing alone",
        edit((BARRIER + STORED, STORED + BARRIER)),
        says="with no barrier in between",
    ),
    Wrong(
        "the second barrier moved in front",
        edit((BARRIER + STORED, BARRIER + BARRIER + "        h[unit] = new\n")),
        says="with no barrier in between",
    ),
    Wrong(
        "only threads with a unit wait", edit((BARRIER, "    " + BARRIER)), says="do not come to it"
    ),
    Wrong(
        "stored where it is computed",
        edit((BARRIER + STORED, "    " + STORED.replace("\n        cuda", "\n            cuda"))),
        says="barrier",
    ),
    Wrong(
        "no barrier after the zeros",
        edit(
            (
                "    h[unit] = np.float32(0)\n    cuda.syncthreads()\n",
                "    h[unit] = np.float32(0)\n",
            )
        ),
        says="with no barrier in between",
    ),
    Wrong("the state begins with nothing", edit(("    h[unit] = np.float32(0)\n", "")), says="h["),
    Wrong(
        "three barriers",
        edit((BARRIER, BARRIER + BARRIER)),
        says="more keep threads waiting",
        grade="but",
    ),
    Wrong(
        "the state from global memory",
        body("""
        sample, unit = cuda.blockIdx.x, cuda.threadIdx.x
        units = w.shape[0]
        for t in range(from_input.shape[0]):
            if unit < units:
                new = from_input[t, sample, unit]
                if t > 0:
                    for k in range(units):
                        new += w[unit, k] * states[t - 1, sample, k]
                states[t, sample, unit] = math.tanh(new)
            cuda.syncthreads()
    """),
        says="global memory is far slower",
        grade="but",
    ),
    Right(
        "the barrier as the last of the branch's other side",
        edit((BARRIER, "        cuda.syncthreads()\n")),
    ),
    Right(
        "two arrays in turn, one barrier a step",
        body("""
        sample, unit = cuda.blockIdx.x, cuda.threadIdx.x
        units = w.shape[0]
        h = cuda.shared.array((2, BLOCK), np.float32)
        h[0, unit] = np.float32(0)
        cuda.syncthreads()
        for t in range(from_input.shape[0]):
            if unit < units:
                new = from_input[t, sample, unit]
                for k in range(units):
                    new += w[unit, k] * h[t % 2, k]
                new = math.tanh(new)
                h[(t + 1) % 2, unit] = new
                states[t, sample, unit] = new
            cuda.syncthreads()
    """),
    ),
]
