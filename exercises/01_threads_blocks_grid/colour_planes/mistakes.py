"""What learners get wrong here, by the sentence that names it: edits of the solution."""

MISTAKES = {
    "The bright pixels pass 255: nothing holds them there.": [
        ("min(value, np.float32(255))", "value")
    ],
    "Values below 0 became 0: 255 is the only bound.": [
        ("min(value, np.float32(255))", "max(np.float32(0), min(value, np.float32(255)))")
    ],
    "Every value is 255 or more: that is max where min is meant.": [("min(value", "max(value")],
    "The factor is held at 1; it is the product that must not pass 255.": [
        ("= factor[plane]", "= min(factor[plane], np.float32(1))")
    ],
    "The factor is held at 1; it is the product that must not pass 255, and pixels "
    "above 255 still do.": [
        (
            "value = factor[plane] * planes[plane, row, col]",
            "value = min(factor[plane], np.float32(1)) * planes[plane, row, col]",
        ),
        ("min(value, np.float32(255))", "value"),
    ],
    "The factor is chosen by the row; it belongs to the plane.": [
        ("= factor[plane]", "= factor[row % factor.size]")
    ],
    "The factor is chosen by the column; it belongs to the plane.": [
        (
            "value = factor[plane] * planes[plane, row, col]",
            "value = factor[col % factor.size] * planes[plane, row, col]",
        )
    ],
    "The pixel is held at 255 before the factor; it is the product that must not pass 255.": [
        (
            "value = factor[plane] * planes[plane, row, col]",
            "value = factor[plane] * min(planes[plane, row, col], np.float32(255))",
        )
    ],
    "The pixel is held at 255 instead of the product.": [
        (
            "value = factor[plane] * planes[plane, row, col]",
            "value = factor[plane] * min(planes[plane, row, col], np.float32(255))",
        ),
        ("min(value, np.float32(255))", "value"),
    ],
    "Planes with the factor 0 were not written: they become 0, and somebody has to write it.": [
        (
            "        out[plane, row, col] = min",
            "        if factor[plane] != 0:\n            out[plane, row, col] = min",
        )
    ],
    "No factor is multiplied in: the picture is as it was.": [
        ("value = factor[plane] * planes[plane, row, col]", "value = planes[plane, row, col]"),
        ("min(value, np.float32(255))", "value"),
    ],
    "Every plane has the factor of the first one.": [("= factor[plane]", "= factor[0]")],
    "Only the first 3 planes were written: the number of planes is out.shape[0].": [
        ("if plane < out.shape[0]", "if plane < min(3, out.shape[0])")
    ],
    "Only the first 4 planes were written: the number of planes is out.shape[0].": [
        ("plane < out.shape[0]", "plane < min(out.shape[0], 4)")
    ],
}
