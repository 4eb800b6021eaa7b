"""Cases of the gradient of the weights: fewer and more results than threads, unequal windows."""

import numpy as np

from gpukit.course import Case, lanes, poison

BLOCK = 128
# Rows and columns of the results, rows and columns of the window.
SHAPES = {
    "a result for each thread": (1, 128, 1, 1),
    "one number": (1, 1, 1, 1),
    "a window": (8, 16, 3, 3),
    "a wide window": (3, 129, 2, 5),
    "a high window": (2, 127, 4, 1),
    "one column": (131, 1, 3, 2),
    "two primes": (29, 37, 3, 3),
    "many results": (64, 16, 3, 3),
}


def case(rng: np.random.Generator, rows: int, cols: int, k_rows: int, k_cols: int) -> Case:
    """Return the case of rows x cols results of a window of k_rows x k_cols."""
    x = rng.normal(0.5, 1, (rows + k_rows - 1, cols + k_cols - 1)).astype(np.float32)
    grad = rng.normal(0.5, 1, (rows, cols)).astype(np.float32)
    wide, by = x.astype(np.float64), grad.astype(np.float64)
    windows = np.lib.stride_tricks.sliding_window_view(wide, (rows, cols))  # of each weight
    products = (windows * by).reshape(k_rows, k_cols, rows * cols)
    held = lanes.own(products.reshape(-1, rows * cols), np.add, 0, BLOCK)  # by each thread
    held = held.reshape(k_rows, k_cols, BLOCK)
    right = products.sum(axis=2)

    def left(values: np.ndarray) -> dict[str, np.ndarray]:
        return {"grad_weight": values.astype(np.float32)}

    special = {}
    if k_rows == k_cols:  # in other shapes such a kernel leaves the matrices
        special[
            "The two indices of a weight are exchanged: m, its row, comes from cuda.blockIdx.y and "
            "goes with the row of x."
        ] = left(right.T)
    return Case(
        args={"x": x, "grad_out": grad, "grad_weight": poison((k_rows, k_cols))},
        grid=(k_cols, k_rows),
        block=BLOCK,
        expected=left(right),
        scale={"grad_weight": np.abs(products).sum(axis=2)},
        mistakes={
            **special,
            "The window is turned round: the weight [0, 0] meets x[row, col], the upper left pixel "
            "of each window.": left(right[::-1, ::-1]),
            "All weights have the same gradient: the pixel that a weight meets is x[row + m, col + "
            "n].": left(np.broadcast_to(right[:1, :1], right.shape)),
            "Only the first 128 results were added: each thread took one and stopped.": left(
                products[:, :, :BLOCK].sum(axis=2)
            ),
            "The results behind the last whole 128 are missing: a division is rounded down.": left(
                products[:, :, : rows * cols // BLOCK * BLOCK].sum(axis=2)
            ),
            "This is the part of thread 0: the sums of the 128 threads are not added up.": left(
                held[:, :, 0]
            ),
            **{words: left(sums) for words, sums in lanes.wrong_levels(held).items()},
            "Each thread kept its last product only: in its loop stands = where += belongs.": left(
                products[:, :, -BLOCK:].sum(axis=2)
            ),
            "Only the first row of results was added: the sum goes over all of grad_out.": left(
                products[:, :, :cols].sum(axis=2)
            ),
            "This is the mean over the results; their sum is asked.": left(products.mean(axis=2)),
            "grad_out is not multiplied in: this is the sum of the pixels that it met.": left(
                windows.sum(axis=(2, 3))
            ),
        },
        per="block",
    )
