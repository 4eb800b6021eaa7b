"""What learners get wrong here, by the sentence that names it: edits of the solution."""

MISTAKES = {
    "A pixel of exactly 128 is to be white: >= is asked, not >.": [
        ("photo[row, col] >= 128", "photo[row, col] > 128")
    ],
    "Pixels between 127 and 128 became white, and they are below 128: compare with 128.": [
        ("photo[row, col] >= 128", "photo[row, col] > 127")
    ],
    "127.5 is below 128 and became white: the pixel itself is compared with 128, not "
    "a rounded one.": [
        ("photo[row, col] >= 128", "int(photo[row, col] + np.float32(0.5)) >= 128"),
        ("from gpukit import cuda", "import numpy as np\n\nfrom gpukit import cuda"),
    ],
    "127.5 stays black, yet 127.999 became white: compare with 128 itself.": [
        ("photo[row, col] >= 128", "photo[row, col] > 127.5")
    ],
    "A division by 128 gives 0 and 1 only for pixels from 0 to 255, and some lie "
    "below or above. Compare instead.": """
        col, row = cuda.grid(2)
        if row < out.shape[0] and col < out.shape[1]:
            out[row, col] = int(photo[row, col]) // 128 * 255
    """,
    "The dark pixels keep their grey: they should become 0.": [
        ("out[row, col] = 0", "out[row, col] = photo[row, col]")
    ],
    "The bright pixels keep their grey: they should become 255.": [("= 255", "= photo[row, col]")],
    "Black and white are exchanged: 255 is white, and it is for the bright pixels.": [
        ("photo[row, col] >= 128", "photo[row, col] < 128")
    ],
    "The bright pixels are 1, and white is 255: a comparison is only 0 or 1.": """
        col, row = cuda.grid(2)
        if row < out.shape[0] and col < out.shape[1]:
            out[row, col] = photo[row, col] >= 128
    """,
    "The dark pixels were never written: every pixel needs a value, the black ones 0.": [
        ("        else:\n", ""),
        ("            out[row, col] = 0\n", ""),
    ],
    "Pixels below 0 or above 255 wrap around here; compare the value as it is.": [
        ("if photo[row, col] >= 128:", "if int(photo[row, col]) & 255 >= 128:")
    ],
}
