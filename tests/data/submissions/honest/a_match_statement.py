import math


class Value:
    """Keeps the name of the operation, and matches it in the backward pass."""

    def __init__(self, data, name="leaf", *operands):
        self.data, self.name, self.operands, self.grad = data, name, operands, 0.0

    def __add__(self, other):
        match other:
            case Value(data=number):
                return Value(self.data + number, "add", self, other)
            case int() | float():
                return Value(self.data + other, "shift", self)
        return NotImplemented

    def __mul__(self, other):
        match other:
            case Value():
                return Value(self.data * other.data, "mul", self, other)
            case int() | float() as factor:
                return Value(self.data * factor, "scale", self, Value(factor))
            case _:
                return NotImplemented

    __radd__, __rmul__ = __add__, __mul__

    def tanh(self):
        return Value(math.tanh(self.data), "tanh", self)

    def relu(self):
        return Value(self.data * (self.data > 0), "relu", self)

    def slopes(self):
        match self.name, self.operands:
            case "add", _:
                return 1.0, 1.0
            case "shift", _:
                return (1.0,)
            case ("mul" | "scale"), (a, b):
                return b.data, a.data
            case "tanh", _:
                return (1.0 - self.data * self.data,)
            case "relu", (a,):
                return (float(a.data > 0),)
        return ()

    def backward(self):
        order, seen = [], set()

        def visit(value):
            if value in seen:
                return
            seen.add(value)
            for operand in value.operands:
                visit(operand)
            order.append(value)

        visit(self)
        flow = dict.fromkeys(order, 0.0)
        flow[self] = 1.0
        while order:
            value = order.pop()
            value.grad += flow[value]
            for operand, slope in zip(value.operands, value.slopes()):
                flow[operand] += slope * flow[value]
