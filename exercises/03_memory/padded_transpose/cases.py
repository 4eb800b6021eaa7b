"""Cases of the tiled transpose: sizes on both sides of a tile, along each axis."""

import numpy as np

from gpukit.course import Case, areas, poison

TILE = 32
BLOCK = (TILE, 8)
SHAPES = {**areas(TILE, TILE), "many blocks": (120, 88)}


def turned_in_place(a: np.ndarray) -> np.ndarray:
    """Return what is left where each tile is transposed, but stored where it came from."""
    rows, cols = a.shape
    tiles = a.reshape(rows // TILE, TILE, cols // TILE, TILE).transpose(0, 3, 2, 1)
    out, height, width = poison((cols, rows)), min(rows, cols), min(rows, cols)
    out[:height, :width] = tiles.reshape(rows, cols)[:height, :width]
    return out


def case(rng: np.random.Generator, rows: int, cols: int) -> Case:
    """Return the case of a matrix of rows x cols."""
    a = rng.normal(size=(rows, cols)).astype(np.float32)
    across, down = -(-cols // TILE), -(-rows // TILE)
    exchanged = poison((cols, rows))
    exchanged[: down * TILE, : across * TILE] = a.T[: down * TILE, : across * TILE]
    # out[left + k, top + tx] is stored by a thread whose column of a is left + tx.
    column = np.arange(cols)[:, None] // TILE * TILE + np.arange(rows) % TILE
    in_place = {}
    if not rows % TILE and not cols % TILE:
        in_place[
            "Each tile is stored where it came from: the tile at row top, column left of a belongs "
            "at row left, column top of out."
        ] = {"out": turned_in_place(a)}
    return Case(
        args={"a": a, "out": poison((cols, rows))},
        grid=(across, down),
        block=BLOCK,
        expected={"out": a.T},
        mistakes={
            **in_place,
            "`cuda.blockIdx.x` and `cuda.blockIdx.y` are exchanged: left, a column of a, comes "
            "from x, and top from y.": {"out": exchanged},
            "Threads whose column lies outside a return before they store. They have elements of "
            "out to store: only the load and the store are guarded.": {
                "out": np.where(column < cols, a.T, poison((cols, rows)))
            },
        },
    )
