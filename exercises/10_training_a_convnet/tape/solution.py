"""A tape: numbers that remember how they were computed. The task is in task.md."""

import math


class Value:
    """A number that remembers how it was computed, so that `backward` can find gradients."""

    def __init__(self, data, made_of=()):
        self.data, self.grad = data, 0.0
        self.made_of = made_of  # pairs (operand, derivative with respect to it)

    def __add__(self, other):
        if not isinstance(other, Value):
            other = Value(other)
        return Value(self.data + other.data, ((self, 1.0), (other, 1.0)))

    def __mul__(self, other):
        if not isinstance(other, Value):
            other = Value(other)
        return Value(self.data * other.data, ((self, other.data), (other, self.data)))

    __radd__, __rmul__ = __add__, __mul__  # 2.0 * a calls a.__rmul__

    def tanh(self):
        y = math.tanh(self.data)
        return Value(y, ((self, 1.0 - y * y),))

    def relu(self):
        return Value(max(self.data, 0.0), ((self, 1.0 if self.data > 0 else 0.0),))

    def backward(self):
        order, seen = [], set()

        def visit(value):
            if value not in seen:
                seen.add(value)
                for part, _ in value.made_of:
                    visit(part)
                order.append(value)  # after everything that it was computed from

        visit(self)
        found = dict.fromkeys(order, 0.0)  # the derivatives of this loss alone
        found[self] = 1.0
        for value in reversed(order):
            value.grad += found[value]
            for part, slope in value.made_of:
                found[part] += slope * found[value]
