"""A tape: numbers that remember how they were computed. The task is in task.md."""

import math


class Value:
    """A number that remembers how it was computed, so that `backward` can find gradients."""

    def __init__(self, data, made_of=()):
        self.data, self.grad = data, 0.0
        self.made_of = made_of  # pairs (operand, derivative with respect to it)

    # FILL ME IN (about 29 lines)
