import math


class Value:
    def __init__(self, data, parts=()):
        self.data, self.grad, self.parts = data, 0.0, parts

    def __add__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        return Value(self.data + other.data, [(self, 1.0), (other, 1.0)])

    def __mul__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        return Value(self.data * other.data, [(self, other.data), (other, self.data)])

    __radd__, __rmul__ = __add__, __mul__

    def tanh(self):
        y = math.tanh(self.data)
        return Value(y, [(self, 1 - y * y)])

    def relu(self):
        return Value(max(0.0, self.data), [(self, float(self.data > 0))])

    def backward(self):
        print(MESSAGE)
        order, slopes = [], {}

        def visit(value):
            if value not in slopes:
                slopes[value] = 0.0
                for part, _ in value.parts:
                    visit(part)
                order.append(value)

        visit(self)
        slopes[self] = 1.0
        for value in order[::-1]:
            value.grad += slopes[value]
            for part, slope in value.parts:
                slopes[part] += slope * slopes[value]
