"""What learners get wrong here, by the sentence that names it: edits of the solution."""

MISTAKES = {
    "Where x is 0 the gradient passes here; there relu is flat: the comparison is x > 0.": [
        ("x[i] > 0", "x[i] >= 0")
    ],
    "A small positive x counts as 0: the comparison is x > 0.": [("x[i] > 0", "x[i] > 1e-6")],
    "The gradient passes everywhere: x is not looked at.": [
        ("grad_out[i] if x[i] > 0 else np.float32(0)", "grad_out[i]")
    ],
    "This is relu of the gradient; it is x that decides, not the sign of grad_out.": [
        ("grad_out[i] if x[i] > 0 else np.float32(0)", "max(grad_out[i], np.float32(0))")
    ],
    "This is relu(x), the way forward; backwards, grad_out passes where x is positive.": [
        ("grad_out[i] if x[i] > 0 else np.float32(0)", "max(x[i], np.float32(0))")
    ],
    "This is the slope alone, 1 or 0: grad_out is not multiplied in.": [
        (
            "grad_out[i] if x[i] > 0 else np.float32(0)",
            "np.float32(1) if x[i] > 0 else np.float32(0)",
        )
    ],
    "x and grad_out are exchanged: grad_out passes where x is positive.": [
        ("grad_out[i] if x[i] > 0 else np.float32(0)", "x[i] if grad_out[i] > 0 else np.float32(0)")
    ],
    "The gradient passes where x is negative, and is 0 where it is positive.": [
        ("x[i] > 0", "x[i] < 0")
    ],
    "Where x is not positive nothing was written. The gradient there is 0, and "
    "somebody has to write it.": """
        i = cuda.grid(1)
        if i < x.size and x[i] > 0:
            grad_x[i] = grad_out[i]
    """,
    "Where x is negative the sign of the gradient was turned; it is 0 there.": [
        (
            "grad_out[i] if x[i] > 0 else np.float32(0)",
            "grad_out[i] if x[i] > 0 else (-grad_out[i] if x[i] < 0 else np.float32(0))",
        )
    ],
    "This is grad_out * x: the slope of relu is 1, not x.": [
        ("grad_out[i] if", "grad_out[i] * x[i] if")
    ],
}
