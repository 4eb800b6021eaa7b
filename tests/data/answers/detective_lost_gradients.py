"""Answers to detective_lost_gradients."""

from tests.data.answers import Right, Wrong, body, edit

ADD = "cuda.atomic.add(grad_weight, (row, col), acc)"
MASK = "net[sample, row] > 0"

ANSWERS = [
    Wrong(
        "the mask fixed, the sum not",
        edit((ADD, "grad_weight[row, col] += acc")),
        says="update it with `cuda.atomic.add(",
    ),
    Wrong(
        "a barrier for the atomic",
        edit((f"        {ADD}", "        grad_weight[row, col] += acc\n    cuda.syncthreads()")),
        says="update it with `cuda.atomic.add(",
    ),
    Wrong(
        "no end of the samples",
        edit(("min(first + SHARE, x.shape[0])", "first + SHARE")),
        says="end the loop in line",
    ),
    Wrong(
        "an atomic for each sample",
        edit(("acc += grad_out", "acc = grad_out"), (f"        {ADD}", f"                {ADD}")),
        says="atomic updates of grad_weight",
        grade="but",
    ),
    Wrong(
        "the first block takes all samples",
        body("""
            col, row = cuda.grid(2)
            if cuda.blockIdx.z == 0:
                if row < grad_weight.shape[0] and col < grad_weight.shape[1]:
                    acc = np.float32(0)
                    for sample in range(x.shape[0]):
                        if net[sample, row] > 0:
                            acc += grad_out[sample, row] * x[sample, col]
                    grad_weight[row, col] = acc
        """),
        says="warps do the work of others",
        grade="but",
    ),
    Right(
        "the mask as a factor",
        edit(
            (
                f"            if {MASK}:\n                acc",
                "            on = np.float32(net[sample, row] > 0)\n            acc",
            ),
            ("acc += grad_out", "acc += on * grad_out"),
        ),
    ),
    Right(
        "strides over the samples",
        edit(
            (
                "range(first, min(first + SHARE, x.shape[0]))",
                "range(cuda.blockIdx.z, x.shape[0], cuda.gridDim.z)",
            )
        ),
    ),
]
