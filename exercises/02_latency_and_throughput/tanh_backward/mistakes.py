"""What learners get wrong here, by the sentence that names it: edits of the solution."""

MISTAKES = {
    "This is the slope alone: grad_out is not multiplied in.": [("= grad_out[i] * (np", "= (np")],
    "This is grad_out * (1 - y): the y is not squared.": [
        ("(np.float32(1) - y[i] * y[i])", "(np.float32(1) - y[i])")
    ],
    "The tanh is taken a second time: y is tanh(x) already.": """
        i = cuda.grid(1)
        if i < y.size:
            t = np.tanh(y[i])
            grad_x[i] = grad_out[i] * (np.float32(1) - t * t)
    """,
    "This is grad_out - y * y: the parentheses around 1 - y * y are missing.": [
        ("(np.float32(1) - y[i] * y[i])", "np.float32(1) - y[i] * y[i]")
    ],
    "This is grad_out * y * (1 - y), the slope of a sigmoid. That of tanh is 1 - y * y.": [
        ("(np.float32(1) - y[i] * y[i])", "y[i] * (np.float32(1) - y[i])")
    ],
    "y and grad_out are exchanged: y belongs into 1 - y * y, and grad_out before it.": [
        (
            "grad_out[i] * (np.float32(1) - y[i] * y[i])",
            "y[i] * (np.float32(1) - grad_out[i] * grad_out[i])",
        )
    ],
    "This is grad_out * (1 + y * y): the slope is 1 - y * y.": [
        ("np.float32(1) - y[i] * y[i]", "np.float32(1) + y[i] * y[i]")
    ],
    "This is grad_out divided by the slope; it is multiplied by it.": [
        ("= grad_out[i] * (np", "= grad_out[i] / (np")
    ],
    "This is 1 - y * abs(y): for negative y the slope is 1 - y * y, too.": [
        ("np.float32(1) - y[i] * y[i]", "np.float32(1) - y[i] * abs(y[i])")
    ],
    "grad_out alone is stored: the slope is not multiplied in.": [
        (" * (np.float32(1) - y[i] * y[i])", "")
    ],
    "Near 1 and -1 two nearly equal numbers are subtracted after rounding, and "
    "little is right of what is left: subtract y * y from 1 first, then multiply by "
    "grad_out.": """
        i = cuda.grid(1)
        if i < y.size:
            g = grad_out[i]
            grad_x[i] = g - g * y[i] * y[i]
    """,
    "Small slopes became 0. Near 1 the slope is small, not 0: leave 1 - y * y as it is.": """
        i = cuda.grid(1)
        if i < y.size:
            slope = np.float32(1) - y[i] * y[i]
            if slope < np.float32(1e-6):
                slope = np.float32(0)
            grad_x[i] = grad_out[i] * slope
    """,
}
