import abc
import math
import operator


class Node(abc.ABC):
    """Anything with operands and slopes."""

    def __init__(self, data):
        self.data = data
        self.grad = 0.0

    @abc.abstractmethod
    def edges(self):
        """Return pairs (operand, slope)."""

    def _ordered(self, seen):
        if id(self) in seen:
            return []
        seen.add(id(self))
        order = []
        for operand, _ in self.edges():
            order.extend(operand._ordered(seen))
        order.append(self)
        return order

    def backward(self):
        flow = {id(self): 1.0}
        for node in reversed(self._ordered(set())):
            node.grad = operator.add(node.grad, flow[id(node)])
            for operand, slope in node.edges():
                flow[id(operand)] = flow.get(id(operand), 0.0) + slope * flow[id(node)]


class Value(Node):
    def __init__(self, data, edges=()):
        super().__init__(data)
        self._edges = list(edges)

    def edges(self):
        return self._edges

    def __add__(self, other):
        try:
            return Value(self.data + other.data, [(self, 1.0), (other, 1.0)])
        except AttributeError:  # a plain number
            return Value(self.data + other, [(self, 1.0)])

    def __mul__(self, other):
        try:
            return Value(self.data * other.data, [(self, other.data), (other, self.data)])
        except AttributeError:
            return Value(self.data * other, [(self, other)])

    def __radd__(self, other):
        return Value.__add__(self, other)

    def __rmul__(self, other):
        return Value.__mul__(self, other)

    def tanh(self):
        y = math.tanh(self.data)
        return Value(y, [(self, 1 - y * y)])

    def relu(self):
        return Value(max(self.data, 0.0), [(self, float(self.data > 0))])
