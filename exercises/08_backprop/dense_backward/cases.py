"""Cases of the gradient of the weights: whole tiles, and ragged ones in each direction."""

import numpy as np

from gpukit.course import Case, poison

TILE = 16
# Batch, outputs, inputs.
SHAPES = {
    "one tile": (TILE, TILE, TILE),
    "three steps along the batch": (3 * TILE, TILE, TILE),
    "two by three tiles": (TILE, 2 * TILE, 3 * TILE),
    "the batch one less than a tile": (TILE - 1, TILE, TILE),
    "one more in every direction": (TILE + 1, TILE + 1, TILE + 1),
    "three different primes": (53, 31, 37),
    "one weight": (29, 1, 1),
    "a batch of one": (1, 5, 7),
    "many tiles": (4 * TILE, 4 * TILE, 4 * TILE),
    "many tiles, the last ones ragged": (61, 56, 56),
}


def tiles_turned(matrix: np.ndarray) -> np.ndarray:
    """Return the matrix, filled up with 0, with each of its tiles transposed in its place."""
    rows, cols = (-(-size // TILE) for size in matrix.shape)
    padded = np.zeros((rows * TILE, cols * TILE))
    padded[: matrix.shape[0], : matrix.shape[1]] = matrix
    tiles = padded.reshape(rows, TILE, cols, TILE)
    return tiles.transpose(0, 3, 2, 1).reshape(rows * TILE, cols * TILE)


def case(rng: np.random.Generator, batch: int, outputs: int, inputs: int) -> Case:
    """Return the case of a batch that goes through a layer of these outputs and inputs."""
    grad = rng.normal(size=(batch, outputs)).astype(np.float32)
    x = rng.normal(size=(batch, inputs)).astype(np.float32)
    wide, by = grad.astype(np.float64), x.astype(np.float64)
    turned_grad, turned_x = tiles_turned(wide), tiles_turned(by)
    steps = len(turned_grad)
    full_grad, full_x = np.zeros((steps, outputs)), np.zeros((steps, inputs))
    full_grad[:batch], full_x[:batch] = wide, by

    def left(values: np.ndarray) -> dict[str, np.ndarray]:
        return {"grad_weight": values[:outputs, :inputs].astype(np.float32)}

    def of_part(part: slice) -> dict[str, np.ndarray]:
        return left(wide[part].T @ by[part])

    sample, output = np.arange(batch)[:, None], np.arange(outputs)
    loaded = output // TILE * TILE + sample % TILE < outputs
    # Some mistakes leave the matrices in all other shapes.
    special = {}
    for size, words in ((outputs, "the outputs"), (inputs, "the inputs")):
        if size < batch:
            special[
                f"The number of steps comes from {words}. The sum goes over the batch: "
                "(batch + TILE - 1) // TILE."
            ] = of_part(slice(-(-size // TILE) * TILE))
    if batch == outputs:
        special[
            "This is grad_out @ x. The sum goes over the samples, the rows of both: "
            "grad_out[sample, row] * x[sample, col]."
        ] = left(wide @ by)
    return Case(
        args={"grad_out": grad, "x": x, "grad_weight": poison((outputs, inputs))},
        grid=(-(-inputs // TILE), -(-outputs // TILE)),
        block=(TILE, TILE),
        expected=left(wide.T @ by),
        scale={"grad_weight": np.abs(wide).T @ np.abs(by)},
        mistakes={
            "The tile of grad_out is read along its rows. A row of it is a sample, and the sum "
            "goes over samples: grad_tile[k, ty] * x_tile[k, tx].": left(turned_grad.T @ full_x),
            "The tile of x is read along its rows. A row of it is a sample, and the sum goes over "
            "samples: grad_tile[k, ty] * x_tile[k, tx].": left(full_grad.T @ turned_x),
            "Both tiles are read along their rows. A row is a sample, and the sum goes over "
            "samples: grad_tile[k, ty] * x_tile[k, tx].": left(turned_grad.T @ turned_x),
            "The sum is divided by the batch. That belongs into the loss, whose gradient arrives "
            "in grad_out: here the samples are only added up.": left(wide.T @ by / batch),
            "The last samples are missing: the number of steps is rounded down.": of_part(
                slice(batch // TILE * TILE)
            ),
            "Only the first 16 samples were added: the steps go on along the batch.": of_part(
                slice(TILE)
            ),
            "Only the samples of the last step are there: acc is set to 0 once, before the loop.": (
                of_part(slice((batch - 1) // TILE * TILE, batch))
            ),
            "A thread loads grad_out only where its row, the output, exists. It loads the column "
            "left + "
            "tx for others: left + tx < grad_out.shape[1] is the guard.": left(
                np.einsum("so,si,so->oi", wide, by, loaded)
            ),
            **special,
        },
    )
