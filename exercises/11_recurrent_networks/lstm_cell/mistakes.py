"""What learners get wrong here, by the sentence that names it: edits of the solution."""

import itertools

# Each part of a row: its letter, the function that it goes through, and where it begins.
PARTS = (
    ("i", "take = sigmoid", ""),
    ("f", "keep = sigmoid", " + units"),
    ("g", "new = math.tanh", " + 2 * units"),
    ("o", "show = sigmoid", " + 3 * units"),
)

MISTAKES = {
    "The four sums of a unit are read as neighbours, 4 * unit, 4 * unit + 1, ...; "
    "its i, f, g and o lie a whole layer apart: unit, unit + units, ...": [
        ("sigmoid(sums[sample, unit])", "sigmoid(sums[sample, 4 * unit])"),
        ("sigmoid(sums[sample, unit + units])", "sigmoid(sums[sample, 4 * unit + 1])"),
        ("math.tanh(sums[sample, unit + 2 * units])", "math.tanh(sums[sample, 4 * unit + 2])"),
        ("sigmoid(sums[sample, unit + 3 * units])", "sigmoid(sums[sample, 4 * unit + 3])"),
    ],
    "g goes through a sigmoid; what is new may be negative, too: tanh.": [
        ("math.tanh(sums[sample, unit + 2 * units])", "sigmoid(sums[sample, unit + 2 * units])")
    ],
    "All four go through tanh; gates are shares between 0 and 1: sigmoid for i, f, o.": [
        ("take = sigmoid", "take = math.tanh"),
        ("keep = sigmoid", "keep = math.tanh"),
        ("show = sigmoid", "show = math.tanh"),
    ],
    "Sigmoid and tanh are exchanged: i, f and o are shares between 0 and 1, g is not.": [
        ("sigmoid(sums[sample, unit])", "math.tanh(sums[sample, unit])"),
        ("sigmoid(sums[sample, unit + units])", "math.tanh(sums[sample, unit + units])"),
        ("math.tanh(sums[sample, unit + 2 * units])", "sigmoid(sums[sample, unit + 2 * units])"),
        ("sigmoid(sums[sample, unit + 3 * units])", "math.tanh(sums[sample, unit + 3 * units])"),
    ],
    "The output gate goes through tanh; it is a share between 0 and 1: sigmoid.": [
        ("sigmoid(sums[sample, unit + 3 * units])", "math.tanh(sums[sample, unit + 3 * units])")
    ],
    "The input gate goes through tanh; it is a share between 0 and 1: sigmoid.": [
        ("sigmoid(sums[sample, unit])", "math.tanh(sums[sample, unit])")
    ],
    "The forget gate goes through tanh; it is a share between 0 and 1: sigmoid.": [
        ("sigmoid(sums[sample, unit + units])", "math.tanh(sums[sample, unit + units])")
    ],
    "The sums were taken as they are: i, f and o go through a sigmoid, g through a tanh.": [
        ("sigmoid(sums[sample, unit])", "sums[sample, unit]"),
        ("sigmoid(sums[sample, unit + units])", "sums[sample, unit + units]"),
        ("math.tanh(sums[sample, unit + 2 * units])", "sums[sample, unit + 2 * units]"),
        ("sigmoid(sums[sample, unit + 3 * units])", "sums[sample, unit + 3 * units]"),
    ],
    "g is taken as it is: tanh(g) is what is new.": [
        ("math.tanh(sums[sample, unit + 2 * units])", "sums[sample, unit + 2 * units]")
    ],
    "The sign in the sigmoid is wrong: 1 / (1 + exp(-x)).": [
        ("math.exp(-x))\n\n\n", "math.exp(x))\n\n\n")
    ],
    "new_h is made of the old c; what is shown comes from new_c.": [
        ("show * math.tanh(remembered)", "show * math.tanh(c[sample, unit])")
    ],
    "new_h lacks tanh: it is sigmoid(o) * tanh(new_c).": [
        ("show * math.tanh(remembered)", "show * remembered")
    ],
    "new_h has no output gate: it is sigmoid(o) * tanh(new_c).": [
        ("show * math.tanh(remembered)", "math.tanh(remembered)")
    ],
    "new_h is the output gate alone: it is sigmoid(o) * tanh(new_c).": [
        ("show * math.tanh(remembered)", "show")
    ],
    "new_h takes the sigmoid of new_c: it is sigmoid(o) * tanh(new_c).": [
        ("show * math.tanh(remembered)", "show * sigmoid(remembered)")
    ],
    "new_c went through tanh. What is remembered is not: only what is shown.": [
        ("new_c[sample, unit] = remembered", "new_c[sample, unit] = math.tanh(remembered)")
    ],
    "new_c went through tanh, and once more for new_h. What is remembered does not.": [
        ("keep * c[sample, unit] + take * new", "math.tanh(keep * c[sample, unit] + take * new)")
    ],
    "The output gate is part of new_c; it bounds only what is shown.": [
        ("new_c[sample, unit] = remembered", "new_c[sample, unit] = show * remembered")
    ],
    "The old c is kept in full: the forget gate is missing.": [
        ("keep * c[sample, unit] + take * new", "c[sample, unit] + take * new")
    ],
    "The new is taken in full: the input gate is missing.": [
        ("keep * c[sample, unit] + take * new", "keep * c[sample, unit] + new")
    ],
    "The old c is missing in new_c.": [("keep * c[sample, unit] + take * new", "take * new")],
    "What is new is missing in new_c: sigmoid(i) * tanh(g).": [
        ("keep * c[sample, unit] + take * new", "keep * c[sample, unit]")
    ],
    "The forget gate says how much is kept, and 1 - f was kept.": [
        ("keep * c[sample, unit] + take * new", "(ONE - keep) * c[sample, unit] + take * new")
    ],
    "Only one gate for both: what is forgotten is not what is taken in. The input "
    "gate has sums of its own.": [
        ("keep * c[sample, unit] + take * new", "keep * c[sample, unit] + (ONE - keep) * new")
    ],
    "new_h and new_c are exchanged.": [
        ("new_c[sample, unit] = remembered", "new_c[sample, unit] = show * math.tanh(remembered)"),
        ("new_h[sample, unit] = show * math.tanh(remembered)", "new_h[sample, unit] = remembered"),
    ],
    "new_c is the old one still.": [
        ("new_c[sample, unit] = remembered", "new_c[sample, unit] = c[sample, unit]")
    ],
    **{
        f"The parts of a row are read in the order {', '.join(order)}; they lie in the order i, f, "
        "g, o.": [
            (
                f"{name}(sums[sample, unit{own}])",
                f"{name}(sums[sample, unit + {order.index(gate)} * units])",
            )
            for gate, name, own in PARTS
        ]
        for order in itertools.permutations("ifgo")
        if order != tuple("ifgo")
    },
}
