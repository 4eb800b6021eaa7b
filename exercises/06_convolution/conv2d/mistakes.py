"""What learners get wrong here, by the sentence that names it: edits of the solution."""

MISTAKES = {
    "The bias is missing: the sum begins with bias[f].": [("acc = bias[f]", "acc = np.float32(0)")],
    "The bias is added once for each channel; it belongs to a result once.": [
        ("        acc = bias[f]\n", "        acc = np.float32(0)\n"),
        (
            "        for c in range(x.shape[0]):\n",
            "        for c in range(x.shape[0]):\n            acc += bias[f]\n",
        ),
    ],
    "The padding is left out: the window of a result begins `pad` before row * "
    "stride, col * stride.": [
        ("stride + m - pad", "stride + m"),
        ("stride + n - pad", "stride + n"),
    ],
    "The padding is added; the window begins `pad` before: row * stride + m - pad.": [
        ("stride + m - pad", "stride + m + pad"),
        ("stride + n - pad", "stride + n + pad"),
    ],
    "The stride is left out: the window of a result begins at row * stride - pad.": [
        ("row * stride", "row"),
        ("col * stride", "col"),
    ],
    "The stride multiplies the padding too: it is row * stride - pad.": [
        ("row * stride + m - pad", "(row - pad) * stride + m"),
        ("col * stride + n - pad", "(col - pad) * stride + n"),
    ],
    "The window is turned round: weight[f, c, 0, 0] belongs to its upper left pixel.": [
        (
            "acc += weight[f, c, m, n]",
            "acc += weight[f, c, weight.shape[2] - 1 - m, weight.shape[3] - 1 - n]",
        )
    ],
    "Only the first channel was added: the sum goes over all channels, too.": [
        ("range(x.shape[0])", "range(1)")
    ],
    "Only the last channel is there: the sum begins anew for each channel.": [
        ("            for m in range(w", "            acc = bias[f]\n            for m in range(w")
    ],
    "Every channel takes the weights of the first: weight[f, c, m, n].": [
        ("weight[f, c, m, n]", "weight[f, 0, m, n]")
    ],
    "Every filter takes the weights of the first: weight[f, c, m, n].": [
        ("weight[f, c, m, n]", "weight[0, c, m, n]")
    ],
    "Outside the picture its edge is repeated; padding counts as 0.": """
        col, row, f = cuda.grid(3)
        if f < out.shape[0] and row < out.shape[1] and col < out.shape[2]:
            acc = bias[f]
            for c in range(x.shape[0]):
                for m in range(weight.shape[2]):
                    i = min(max(row * stride + m - pad, 0), x.shape[1] - 1)
                    for n in range(weight.shape[3]):
                        j = min(max(col * stride + n - pad, 0), x.shape[2] - 1)
                        acc += weight[f, c, m, n] * x[c, i, j]
            out[f, row, col] = acc
    """,
    "Only as many columns of a window were added as it has rows: they are weight.shape[3].": [
        ("range(weight.shape[3])", "range(weight.shape[2])")
    ],
    "A window has 3 rows and 5 columns here, whatever weight says: they are "
    "weight.shape[2] and weight.shape[3].": [
        ("range(weight.shape[2])", "range(3)"),
        ("range(weight.shape[3])", "range(5)"),
    ],
    "Only the last product is there: each one replaced the one before. It is `+=`.": [
        ("acc += weight", "acc = weight")
    ],
    "Row 0 and column 0 of x are taken for padding; they are inside: >= 0.": [
        ("i >= 0 and i", "i > 0 and i"),
        ("j >= 0 and j", "j > 0 and j"),
    ],
}
