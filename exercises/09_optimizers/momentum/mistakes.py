"""What learners get wrong here, by the sentence that names it: edits of the solution."""

MISTAKES = {
    "The weights move along the velocity, uphill: it is w - LR * new_velocity.": [
        ("w[i] - LR * speed", "w[i] + LR * speed")
    ],
    "The weights move by the old velocity; it is the new one that moves them.": [
        ("w[i] - LR * speed", "w[i] - LR * velocity[i]")
    ],
    "The weights move by the gradient alone: the velocity is not used.": [
        ("w[i] - LR * speed", "w[i] - LR * grad[i]")
    ],
    "The learning rate is missing in the move of the weights.": [("LR * speed", "speed")],
    "The learning rate is applied twice, to the gradient and to the move.": [
        ("MU * velocity[i] + grad[i]", "MU * velocity[i] + LR * grad[i]")
    ],
    "The learning rate belongs to the move, w - LR * new_velocity; here it went into "
    "the velocity.": [
        ("MU * velocity[i] + grad[i]", "MU * velocity[i] + LR * grad[i]"),
        ("w[i] - LR * speed", "w[i] - speed"),
    ],
    "The gradient counts only 1 - MU here. In this momentum it is added whole: MU * "
    "velocity + grad.": [
        ("MU * velocity[i] + grad[i]", "MU * velocity[i] + (np.float32(1) - MU) * grad[i]")
    ],
    "The velocity loses nothing: it is MU * velocity + grad.": [
        ("MU * velocity[i] + grad[i]", "velocity[i] + grad[i]")
    ],
    "The gradient is multiplied by MU, too: it is MU * velocity + grad.": [
        ("MU * velocity[i] + grad[i]", "MU * (velocity[i] + grad[i])")
    ],
    "MU belongs to the velocity, not to the gradient: MU * velocity + grad.": [
        ("MU * velocity[i] + grad[i]", "velocity[i] + MU * grad[i]")
    ],
    "The gradient is subtracted from the velocity and the velocity from the weights: "
    "minus stands twice, so they go uphill.": [
        ("MU * velocity[i] + grad[i]", "MU * velocity[i] - grad[i]")
    ],
    "The velocity is pointed downhill and added. That is a convention, too, but here "
    "it is MU * velocity + grad, and w - LR * new_velocity.": [
        ("MU * velocity[i] + grad[i]", "MU * velocity[i] - grad[i]"),
        ("w[i] - LR * speed", "w[i] + LR * speed"),
    ],
    "The velocity holds the learning rate and is added: MU * velocity - LR * grad. "
    "Here it is MU * velocity + grad, and w - LR * new_velocity.": [
        ("MU * velocity[i] + grad[i]", "MU * velocity[i] - LR * grad[i]"),
        ("w[i] - LR * speed", "w[i] + speed"),
    ],
    "This is Nesterov's move, grad + MU * new_velocity; plain momentum moves by new_velocity.": [
        ("w[i] - LR * speed", "w[i] - LR * (grad[i] + MU * speed)")
    ],
    "MU and LR are exchanged: MU is the share of the velocity that stays.": [
        ("MU * vel", "LR * vel"),
        ("w[i] - LR", "w[i] - MU"),
    ],
}
