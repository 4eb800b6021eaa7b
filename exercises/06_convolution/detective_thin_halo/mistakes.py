"""What learners get wrong here, by the sentence that names it: edits of the solution."""

MISTAKES = {
    "The halo is filled with 0 everywhere: the neighbours that belong to the next "
    "block are missing.": [
        (
            "0 <= h < image.shape[0] and 0 <= w < image.shape[1]",
            "top < h <= top + TILE and left < w <= left + TILE and h < "
            "image.shape[0] and w < image.shape[1]",
        )
    ],
    "Outside the picture the edge is repeated; there should be 0.": [
        (
            "image[h, w] if inside else np.float32(0)",
            "image[min(max(h, 0), image.shape[0] - 1), min(max(w, 0), image.shape[1] - 1)]",
        )
    ],
    "Above and left of the picture its edge is repeated; there should be 0.": [
        (
            "image[h, w] if inside else np.float32(0)",
            "image[max(h, 0), max(w, 0)] if h < image.shape[0] and w < "
            "image.shape[1] else np.float32(0)",
        )
    ],
    "The first row and the first column of the picture count as 0: inside is 0 <= h and 0 <= w.": [
        ("0 <= h <", "0 < h <"),
        ("0 <= w <", "0 < w <"),
    ],
    "Outside the picture the opposite edge is taken, by negative indices or by a "
    "remainder; there should be 0.": [
        (
            "image[h, w] if inside else np.float32(0)",
            "image[h % image.shape[0], w % image.shape[1]]",
        )
    ],
    "This is the sum of the nine pixels: it should be divided by 9.": [(" / np.float32(9)", "")],
    "The sum is divided by the number of pixels inside the picture; it should be "
    "divided by 9 everywhere.": [
        ("acc = np.float32(0)", "acc = many = np.float32(0)"),
        (
            "acc += tile[ty + m, tx + n]",
            "acc += tile[ty + m, tx + n]\n"
            "                h, w = row + m - 1, col + n - 1\n"
            "                many += 0 <= h < image.shape[0] and 0 <= w < image.shape[1]",
        ),
        ("acc / np.float32(9)", "acc / many"),
    ],
    "The window begins at the pixel itself; the pixel should be in its middle.": [
        ("TILE - 1, cuda", "TILE, cuda"),
        ("cuda.blockIdx.y * TILE - 1", "cuda.blockIdx.y * TILE"),
    ],
    "The pixel in the middle of the window is missing.": [
        (
            "                acc +=",
            "                if m != 1 or n != 1:\n                    acc +=",
        )
    ],
    "Only the four pixels beside, above and below were added, and the pixel itself: "
    "the corners of the window are missing.": [
        (
            "                acc +=",
            "                if m == 1 or n == 1:\n                    acc +=",
        )
    ],
}
