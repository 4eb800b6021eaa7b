"""Cases of the gradient of the weights: fewer and more results than threads, non-square windows."""

import numpy as np

from gpukit.course import Case, poison

BLOCK = 128
# Rows and columns of the results, rows and columns of the window.
SHAPES = {
    "a result for each thread": (1, BLOCK, 1, 1),
    "one number": (1, 1, 1, 1),
    "a window": (8, 16, 3, 3),
    "a wide window": (3, BLOCK + 1, 2, 5),
    "a tall window": (2, BLOCK - 1, 4, 1),
    "one column": (131, 1, 3, 2),
    "two primes": (29, 37, 3, 3),
    "many results": (64, 16, 3, 3),
}


def case(rng: np.random.Generator, rows: int, cols: int, k_rows: int, k_cols: int) -> Case:
    """Return the case of rows x cols results of a window of k_rows x k_cols."""
    x = rng.normal(0.5, 1, (rows + k_rows - 1, cols + k_cols - 1)).astype(np.float32)
    grad = rng.normal(0.5, 1, (rows, cols)).astype(np.float32)
    wide, by = x.astype(np.float64), grad.astype(np.float64)
    windows = np.lib.stride_tricks.sliding_window_view(
        wide, (rows, cols)
    )  # what each weight multiplies
    products = (windows * by).reshape(k_rows, k_cols, rows * cols)
    return Case(
        args={"x": x, "grad_out": grad, "grad_weight": poison((k_rows, k_cols))},
        grid=(k_cols, k_rows),
        block=BLOCK,
        expected={"grad_weight": products.sum(axis=2).astype(np.float32)},
        scale={"grad_weight": np.abs(products).sum(axis=2)},
        per="block",
    )
