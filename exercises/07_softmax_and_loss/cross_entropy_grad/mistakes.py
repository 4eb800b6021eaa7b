"""What learners get wrong here, by the sentence that names it: edits of the solution."""

MISTAKES = {
    "The 1 of the right class is not subtracted: where col == target[row] the "
    "gradient is share - 1.": [
        ("(share - hot) / np.float32(grad.shape[0])", "share / np.float32(grad.shape[0])")
    ],
    "The gradient is not divided by the number of samples: the loss is their mean.": [
        ("(share - hot) / np.float32(grad.shape[0])", "share - hot")
    ],
    "The gradient is divided by the number of classes. The loss is the mean over the "
    "samples: grad.shape[0].": [
        ("(share - hot) / np.float32(grad.shape[0])", "(share - hot) / np.float32(grad.shape[1])")
    ],
    "The gradient is divided by the number of all scores. The loss is the mean over "
    "the samples: grad.shape[0].": [
        ("(share - hot) / np.float32(grad.shape[0])", "(share - hot) / np.float32(grad.size)")
    ],
    "The sign is wrong: it is share minus 1, so that a larger score for the right "
    "class makes the loss smaller.": [
        ("(share - hot) / np.float32(grad.shape[0])", "(hot - share) / np.float32(grad.shape[0])")
    ],
    "Only the 1 is divided by the number of samples: parentheses around share - 1 are missing.": [
        ("(share - hot) / np.float32(grad.shape[0])", "share - hot / np.float32(grad.shape[0])")
    ],
    "Only the share is divided by the number of samples, not the 1: subtract first.": [
        ("(share - hot) / np.float32(grad.shape[0])", "share / np.float32(grad.shape[0]) - hot")
    ],
    "1 is subtracted from every share; only the right class, col == target[row], has it.": [
        (
            "(share - hot) / np.float32(grad.shape[0])",
            "(share - np.float32(1)) / np.float32(grad.shape[0])",
        )
    ],
    "The gradient of the wrong classes is 0 here. It is their share: their scores should fall.": [
        (
            "(share - hot) / np.float32(grad.shape[0])",
            "(share - hot) * hot / np.float32(grad.shape[0])",
        )
    ],
    "Only the right class of each sample was written. The others have a gradient, "
    "too: their share.": [
        (
            "if row < grad.shape[0] and col < grad.shape[1]",
            "if row < grad.shape[0] and col == target[row]",
        )
    ],
    "log_sum is not subtracted in the exponent: exp(score) alone is no share.": [
        ("scores[row, col] - log_sum[row]", "scores[row, col]")
    ],
    "This takes score - log_sum, the logarithm of the share: exp is missing.": [
        ("math.exp(scores[row, col] - log_sum[row])", "scores[row, col] - log_sum[row]")
    ],
    "Class 0 counts as the right one for every sample: it is target[row].": [
        ("col == target[row]", "col == 0")
    ],
    "The class after the right one has the 1: classes are counted from 0.": [
        ("col == target[row]", "col == target[row] + 1")
    ],
}
