import math
import sys
from collections import deque
from numbers import Real
from typing import Iterator, Union

sys.setrecursionlimit(10_000)

Number = Union[int, float]


class Value:
    """A tape without recursion, with slots, properties and class methods."""

    __slots__ = ("_data", "grad", "edges", "__weakref__")
    created = 0

    def __init__(self, data: Number, edges: tuple = ()) -> None:
        super().__init__()
        self._data = float(data)
        self.grad = 0.0
        self.edges = edges
        type(self).created += 1

    @property
    def data(self) -> float:
        return self._data

    @classmethod
    def of(cls, other: "Number | Value") -> "Value":
        return other if isinstance(other, cls) else cls(other)

    @staticmethod
    def _is_plain(value: object) -> bool:
        return isinstance(value, Real)

    def __add__(self, other: "Number | Value") -> "Value":
        other = Value.of(other)
        return self.__class__(self.data + other.data, ((self, 1.0), (other, 1.0)))

    __radd__ = __add__

    def __mul__(self, other: "Number | Value") -> "Value":
        if Value._is_plain(other):
            return Value(self.data * other, ((self, float(other)),))
        return Value(self.data * other.data, ((self, other.data), (other, self.data)))

    def __rmul__(self, other: Number) -> "Value":
        return self.__mul__(other)

    def tanh(self) -> "Value":
        y = math.tanh(self.data)
        return Value(y, ((self, 1.0 - y**2),))

    def relu(self) -> "Value":
        return Value(max(0.0, self.data), ((self, 1.0 if self.data > 0.0 else 0.0),))

    def _operands(self) -> Iterator["Value"]:
        for operand, _ in self.edges:
            yield operand

    def backward(self) -> None:
        uses = {self: 0}
        todo = deque([self])
        while todo:
            for operand in todo.pop()._operands():
                if operand not in uses:
                    uses[operand] = 0
                    todo.append(operand)
                uses[operand] += 1
        flow = {self: 1.0}
        ready = deque([self])
        while ready:
            value = ready.popleft()
            value.grad += flow[value]
            for operand, slope in value.edges:
                flow[operand] = flow.get(operand, 0.0) + slope * flow[value]
                uses[operand] -= 1
                if not uses[operand]:
                    ready.append(operand)
