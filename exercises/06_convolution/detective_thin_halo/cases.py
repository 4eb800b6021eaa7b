"""Cases of the blur: pictures of whole tiles, ragged ones, one pixel."""

import numpy as np

from gpukit.course import Case, areas, poison

TILE = 16
SHAPES = {**areas(TILE, TILE), "many blocks": (62, 40)}


def case(rng: np.random.Generator, rows: int, cols: int) -> Case:
    """Return the case of a picture of rows x cols."""
    image = rng.uniform(50, 200, (rows, cols)).astype(np.float32)
    wide = image.astype(np.float64)

    def windows(mode: str = "constant") -> np.ndarray:
        """Return the 3 x 3 pixels around each pixel."""
        return np.lib.stride_tricks.sliding_window_view(np.pad(wide, 1, mode=mode), (3, 3))

    def left(sums: np.ndarray) -> dict[str, np.ndarray]:
        return {"out": (sums / 9).astype(np.float32)}

    seen = windows()
    h = np.arange(rows)[:, None, None, None] + np.arange(-1, 2)[:, None]
    w = np.arange(cols)[:, None, None] + np.arange(-1, 2)
    same_block = (h // TILE == h[:, :, 1:2] // TILE) & (w // TILE == w[:, :, 1:2] // TILE)
    inside = (
        windows("edge") * 0
        + np.pad(np.ones_like(wide), 1)[
            np.arange(rows)[:, None, None, None] + np.arange(3)[:, None],
            np.arange(cols)[:, None, None] + np.arange(3),
        ]
    )
    total, many = seen.sum((2, 3)), inside.sum((2, 3))
    return Case(
        args={"image": image, "out": poison((rows, cols))},
        grid=(-(-cols // TILE), -(-rows // TILE)),
        block=(TILE, TILE),
        expected=left(total),
        scale={"out": total / 9},
        mistakes={
            "The halo is filled with 0 everywhere: the neighbours that belong to the next block "
            "are missing.": left(np.where(same_block, seen, 0).sum((2, 3))),
            "Outside the picture the edge is repeated; there should be 0.": left(
                windows("edge").sum((2, 3))
            ),
            "Above and left of the picture its edge is repeated; there should be 0.": left(
                np.lib.stride_tricks.sliding_window_view(
                    np.pad(np.pad(wide, ((1, 0), (1, 0)), "edge"), ((0, 1), (0, 1))), (3, 3)
                ).sum((2, 3))
            ),
            "The first row and the first column of the picture count as 0: inside is 0 <= h and "
            "0 <= w.": left(
                np.lib.stride_tricks.sliding_window_view(
                    np.pad(wide[1:, 1:], ((2, 1), (2, 1))), (3, 3)
                ).sum((2, 3))
            ),
            "Outside the picture the opposite edge is taken, by negative indices or by a "
            "remainder; there should be 0.": left(windows("wrap").sum((2, 3))),
            "This is the sum of the nine pixels: it should be divided by 9.": left(9 * total),
            "The sum is divided by the number of pixels inside the picture; it should be divided "
            "by 9 everywhere.": left(9 * total / many),
            "The window begins at the pixel itself; the pixel should be in its middle.": left(
                np.lib.stride_tricks.sliding_window_view(np.pad(wide, (0, 2)), (3, 3)).sum((2, 3))
            ),
            "The pixel in the middle of the window is missing.": left(total - wide),
            "Only the four pixels beside, above and below were added, and the pixel itself: the "
            "corners of the window are missing.": left(total - seen[:, :, ::2, ::2].sum((2, 3))),
        },
    )
