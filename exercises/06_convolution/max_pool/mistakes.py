"""What learners get wrong here, by the sentence that names it: edits of the solution."""

from gpukit.course import lanes

MISTAKES = {
    "Where all pixels of a window are negative the result is 0: the maximum begins "
    "with 0. Begin with the first pixel or with -infinity.": [
        ("np.float32(-math.inf)", "np.float32(0)")
    ],
    "The stride is left out: the window of a result begins at row * stride, col * stride.": [
        ("row * stride + i", "row + i"),
        ("col * stride + j", "col + j"),
    ],
    "The stride is left out along the rows of the picture: a window begins in row row * stride.": [
        ("row * stride + i", "row + i")
    ],
    "The stride is left out along the columns of the picture: a window begins in "
    "column col * stride.": [("col * stride", "col")],
    "The windows begin `size` pixels apart. It is the stride that says where they "
    "begin: row * stride.": [
        ("row * stride + i", "min(row * size + i, x.shape[0] - 1)"),
        ("col * stride + j", "min(col * size + j, x.shape[1] - 1)"),
    ],
    "The windows are one pixel too large each way: i and j go from 0 to size - 1.": [
        ("for i in range(size)", "for i in range(min(size + 1, x.shape[0] - row * stride))"),
        ("for j in range(size)", "for j in range(min(size + 1, x.shape[1] - col * stride))"),
    ],
    "This is the mean of each window; its largest pixel is asked.": """
        col, row = cuda.grid(2)
        if row < out.shape[0] and col < out.shape[1]:
            acc = np.float32(0)
            for i in range(size):
                for j in range(size):
                    acc += x[row * stride + i, col * stride + j]
            out[row, col] = acc / np.float32(size * size)
    """,
    "This is the smallest pixel of each window.": [
        ("np.float32(-math.inf)", "np.float32(math.inf)"),
        ("max(high", "min(high"),
    ],
    "This is the sum of each window; its largest pixel is asked.": [
        ("np.float32(-math.inf)", "np.float32(0)"),
        (
            "high = max(high, x[row * stride + i, col * stride + j])",
            "high += x[row * stride + i, col * stride + j]",
        ),
    ],
    "This is the first pixel of each window: nothing was compared with it.": [
        (
            "high = max(high, x[row * stride + i, col * stride + j])",
            "high = x[row * stride, col * stride]",
        )
    ],
    "This is the last pixel of each window: each one replaced the one before. Keep "
    "the larger of the two.": [
        (
            "max(high, x[row * stride + i, col * stride + j])",
            "x[row * stride + i, col * stride + j]",
        )
    ],
    "Only the diagonal of each window was looked at: a window needs two loops, one "
    "for its rows and one for its columns.": [
        (
            "            for j in range(size):\n                high",
            "            for j in range(i, i + 1):\n                high",
        )
    ],
    "The first row and the first column of each window are left out, all but its "
    "first pixel: both loops go over all of the window.": [
        (
            "                high = max(",
            "                if (i > 0 and j > 0) or i + j == 0:\n                    high = max(",
        )
    ],
    "Only the first row of each window was looked at: a window needs two loops.": [
        ("for i in range(size)", "for i in range(1)")
    ],
    "Only the first column of each window was looked at: a window needs two loops.": [
        ("for j in range(size)", "for j in range(1)")
    ],
    "This is the largest size without its sign: abs() does not belong here.": [
        (
            "max(high, x[row * stride + i, col * stride + j])",
            "max(high, abs(x[row * stride + i, col * stride + j]))",
        )
    ],
    "The guard exchanges the sizes: row is less than out.shape[0], col less than out.shape[1].": [
        (
            "row < out.shape[0] and col < out.shape[1]",
            "row < min(out.shape) and col < min(out.shape)",
        )
    ],
    "The windows are 2 x 2 pixels here, whatever size says.": [
        ("for i in range(size)", "for i in range(2)"),
        ("for j in range(size)", "for j in range(2)"),
    ],
    **{
        f"The maximum begins with {start:g}, a number that is not low enough: all pixels of a "
        "window may be lower. Begin with the first pixel or with -infinity.": [
            ("np.float32(-math.inf)", f"np.float32({start})")
        ]
        for start in lanes.STARTS
    },
}
