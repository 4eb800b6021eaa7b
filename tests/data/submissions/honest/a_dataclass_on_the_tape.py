from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import wraps
from itertools import count

_numbers = count()


def lifted(method):
    """Let a method take plain numbers."""

    @wraps(method)
    def wrapper(self, other):
        if not hasattr(other, "data"):
            other = Value(other)
        return method(self, other)

    return wrapper


@dataclass(eq=False)
class Value:
    data: float
    parents: list[tuple[Value, float]] = field(default_factory=list, repr=False)
    grad: float = 0.0
    number: int = field(default_factory=lambda: next(_numbers))

    @lifted
    def __add__(self, other):
        return Value(self.data + other.data, [(self, 1.0), (other, 1.0)])

    @lifted
    def __mul__(self, other):
        return Value(self.data * other.data, [(self, other.data), (other, self.data)])

    __radd__ = __add__
    __rmul__ = __mul__

    def tanh(self):
        return Value(math.tanh(self.data), [(self, 1 / math.cosh(self.data) ** 2)])

    def relu(self):
        return Value(self.data, [(self, 1.0)]) if self.data > 0 else Value(0.0, [(self, 0.0)])

    def backward(self):
        # A value is younger than those that it was computed from.
        pending = {self.number: (self, 1.0)}
        while pending:
            value, slope = pending.pop(max(pending))
            value.grad += slope
            for parent, local in value.parents:
                _, so_far = pending.get(parent.number, (parent, 0.0))
                pending[parent.number] = parent, so_far + slope * local
