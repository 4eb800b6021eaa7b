"""What learners get wrong here, by the sentence that names it: edits of the solution."""

MISTAKES = {
    "What stays is not divided by KEEP: without that the sums of the next layer are too small.": [
        ("x[i] / KEEP if mask[i]", "x[i] if mask[i]"),
        ("grad_out[i] / KEEP if mask[i]", "grad_out[i] if mask[i]"),
    ],
    "What stays is multiplied by KEEP; it is divided, so that it becomes larger.": [
        ("x[i] / KEEP if mask[i]", "x[i] * KEEP if mask[i]"),
        ("grad_out[i] / KEEP if mask[i]", "grad_out[i] * KEEP if mask[i]"),
    ],
    "What stays is divided by the share that is dropped, 1 - KEEP; it is KEEP.": [
        ("x[i] / KEEP if mask[i]", "x[i] / (np.float32(1) - KEEP) if mask[i]"),
        ("grad_out[i] / KEEP if mask[i]", "grad_out[i] / (np.float32(1) - KEEP) if mask[i]"),
    ],
    "The gradient is not divided by KEEP. It goes the way that the numbers went.": [
        ("grad_out[i] / KEEP if mask[i]", "grad_out[i] if mask[i]")
    ],
    "What was divided by KEEP forwards is multiplied by it backwards. The slope of x "
    "/ KEEP is 1 / KEEP.": [("grad_out[i] / KEEP if mask[i]", "grad_out[i] * KEEP if mask[i]")],
    "The mask is turned round: 1 is for what stays.": [
        ("x[i] / KEEP if mask[i]", "x[i] / KEEP if not mask[i]"),
        ("grad_out[i] / KEEP if mask[i]", "grad_out[i] / KEEP if not mask[i]"),
    ],
    "The gradient passes everywhere: where mask is 0 nothing passes back.": [
        ("grad_out[i] / KEEP if mask[i] else np.float32(0)", "grad_out[i] / KEEP")
    ],
    "Where a number that stays is 0, its gradient became 0, too: mask says what "
    "passes back, not the value.": [
        ("grad_out[i] / KEEP if mask[i]", "grad_out[i] / KEEP if y[i] != 0")
    ],
    "What is dropped was not written. It is 0, and somebody has to write it.": """
        i = cuda.grid(1)
        if i < x.size and mask[i]:
            y[i] = x[i] / KEEP
            grad_x[i] = grad_out[i] / KEEP
    """,
    "x and grad_out are exchanged: y comes from x, grad_x from grad_out.": [
        ("x[i] / KEEP if mask[i]", "grad_out[i] / KEEP if mask[i]"),
        ("grad_x[i] = grad_out[i]", "grad_x[i] = x[i]"),
    ],
}
