"""What learners get wrong here, by the sentence that names it: edits of the solution."""

MISTAKES = {
    "The bright pixels pass 255: nothing holds them there.": [
        ("min(np.float32(2)", "(np.float32(2)"),
        (", np.float32(255))", ")"),
    ],
    "The picture is as bright as it was: no pixel was doubled.": [
        ("min(np.float32(2) * photo[row, col], np.float32(255))", "photo[row, col]")
    ],
    "The fractions are cut off: somewhere the pixels pass through whole numbers.": [
        ("np.float32(2) * photo[row, col]", "int(np.float32(2) * photo[row, col])")
    ],
    "The bright pixels were never written: where twice the pixel passes 255, out is 255.": """
        col, row = cuda.grid(2)
        if row < out.shape[0] and col < out.shape[1]:
            value = np.float32(2) * photo[row, col]
            if value < 255:
                out[row, col] = value
    """,
    "It is held at 256, and white is 255.": [("np.float32(255))", "np.float32(256))")],
    "Pixels below 0 became 0: 255 is the only bound, and a pixel of -3 becomes -6.": [
        ("min(np.float32(2)", "max(np.float32(0), min(np.float32(2)"),
        ("255))", "255)))"),
    ],
    "Pixels below 0 lost their sign: a pixel of -3 becomes -6.": [
        ("np.float32(2) * photo[row, col]", "np.float32(2) * abs(photo[row, col])")
    ],
    "Every pixel is 255: that is max where min is meant.": [("min(np", "max(np")],
}
