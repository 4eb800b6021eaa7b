"""What learners get wrong here, by the sentence that names it: edits of the solution."""

MISTAKES = {
    "The weights are transposed: unit j adds up w[j, k] * h[k].": [("w[unit, k]", "w[k, unit]")],
    "Each unit adds up its own state alone, h[unit]: it is w[unit, k] * h[k].": [
        ("w[unit, k] * h[k]", "w[unit, k] * h[unit]")
    ],
    "The past has no effect: each step is made of its input alone.": [
        ("w[unit, k] * h[k]", "w[unit, k] * np.float32(0)")
    ],
    "The states are the sums themselves: tanh is missing.": [
        ("math.tanh(from_input[t, sample, unit] + new)", "from_input[t, sample, unit] + new")
    ],
    "Every step got the input of the first.": [
        ("from_input[t, sample, unit]", "from_input[0, sample, unit]")
    ],
    "The past is subtracted; it is added to the input.": [(" + new)", " - new)")],
}
