"""What learners get wrong here, by the sentence that names it: edits of the solution."""

MISTAKES = {
    "Short gradients became longer: clipping only shortens, so the factor must not be above 1.": [
        ("LIMIT / max(norm[0], LIMIT)", "LIMIT / (norm[0] + np.float32(1e-8))")
    ],
    "The weights move by the old velocity; it is the new one that moves them.": [
        ("w[i] - LR * speed", "w[i] - LR * velocity[i]")
    ],
    "Nothing is clipped: the gradient is added whole.": [
        ("LIMIT / max(norm[0], LIMIT)", "np.float32(1)")
    ],
    "The factor is upside down: a gradient that is too long became longer. It is "
    "LIMIT divided by the length.": [
        ("LIMIT / max(norm[0], LIMIT)", "max(norm[0], LIMIT) / LIMIT")
    ],
    "Every gradient is shortened to nothing or to the limit: one below the limit stays as it is.": [
        ("LIMIT / max(norm[0], LIMIT)", "LIMIT / norm[0] if norm[0] > LIMIT else np.float32(0)")
    ],
    "Each number was clipped by itself, which turns the gradient. All are multiplied "
    "by one factor.": [("factor * grad[i]", "min(max(grad[i], -LIMIT), LIMIT)")],
    "The velocity was shortened along with the gradient: the factor belongs to the "
    "gradient alone.": [
        ("MU * velocity[i] + factor * grad[i]", "factor * (MU * velocity[i] + grad[i])")
    ],
    "The weights move along the velocity, uphill: it is w - LR * new_velocity.": [
        ("w[i] - LR", "w[i] + LR")
    ],
    "The weights move by the clipped gradient alone: the velocity is not used.": [
        ("w[i] - LR * speed", "w[i] - LR * factor * grad[i]")
    ],
    "Short gradients became longer and long ones stayed: max and min are exchanged.": [
        ("max(norm[0], LIMIT)", "min(norm[0], LIMIT)")
    ],
    "The fraction is upside down: the factor is LIMIT / norm where the norm is above LIMIT.": [
        ("LIMIT / max(norm[0], LIMIT)", "min(np.float32(1), norm[0] / LIMIT)")
    ],
}
