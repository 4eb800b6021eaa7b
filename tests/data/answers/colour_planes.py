"""Answers to colour_planes."""

from tests.data.answers import Right, Wrong, body, edit

ANSWERS = [
    Wrong(
        "the planes along x",
        edit(("col, row, plane = cuda.grid(3)", "plane, row, col = cuda.grid(3)")),
        says="never written",
    ),
    Wrong("no guard on the columns", edit((" and col < out.shape[2]", "")), says="col < "),
    Wrong(
        "the factor of the row",
        edit(("= factor[plane]", "= factor[row]")),
        says="uses factor[1] in line 13, but factor has only 1 element",
    ),
    Wrong(
        "the factor held at 1",
        edit(("= factor[plane]", "= min(factor[plane], np.float32(1))")),
        says="The factor is held at 1",
    ),
    Right(
        "the product in the if and in its branch",
        body("""
            col, row, plane = cuda.grid(3)
            if plane < out.shape[0] and row < out.shape[1] and col < out.shape[2]:
                if factor[plane] * planes[plane, row, col] > 255:
                    out[plane, row, col] = 255
                else:
                    out[plane, row, col] = factor[plane] * planes[plane, row, col]
        """),
    ),
    Right(
        "the plane from blockIdx.z",
        body("""
            col, row = cuda.grid(2)
            plane = cuda.blockIdx.z
            if row < out.shape[1] and col < out.shape[2]:
                out[plane, row, col] = min(planes[plane, row, col] * factor[plane], np.float32(255))
        """),
    ),
    Right(
        "a view of the plane",
        body("""
            col, row, z = cuda.grid(3)
            if z < planes.shape[0]:
                plane = planes[z]
                if row < plane.shape[0] and col < plane.shape[1]:
                    value = factor[z] * plane[row, col]
                    out[z, row, col] = 255 if value > 255 else value
        """),
    ),
]
