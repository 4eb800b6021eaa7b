"""Answers to tape."""

from tests.data.answers import Right, Wrong, edit, whole, without

ADDS = "found[part] += slope * found[value]"
WALK = """        order, seen = [], set()

        def visit(value):
            if value not in seen:
                seen.add(value)
                for part, _ in value.made_of:
                    visit(part)
                order.append(value)  # behind everything that it was made of

        visit(self)
        found = dict.fromkeys(order, 0.0)  # the derivatives of this loss alone
        found[self] = 1.0
        for value in reversed(order):
            value.grad += found[value]
            for part, slope in value.made_of:
                found[part] += slope * found[value]
"""
SUM = "return Value(self.data + other.data, ((self, 1.0), (other, 1.0)))"
PRODUCT = "((self, other.data), (other, self.data))"
OLD = (
    WALK[: WALK.index("        found")]
    + """        self.grad = 1.0
        for value in reversed(order):
            for part, slope in value.made_of:
                part.grad += slope * value.grad
"""
)
SET_FIRST = "            value.grad = 1.0 if value is self else value.grad + found[value]\n"
TANH, RELU = "1.0 - y * y", "1.0 if self.data > 0 else 0.0"


def walk(text):
    """Return the solution with another backward."""
    return edit((WALK, text))


def over(old, new):
    return edit((old, new))


ANSWERS = [
    Wrong(
        "the gradient begins with the result",
        over("found[self] = 1.0", "found[self] = self.data"),
        says="begins with is the result itself",
    ),
    Wrong(
        "the last operation alone",
        walk("""        self.grad = 1.0
        for part, slope in self.made_of:
            part.grad += slope * self.grad
"""),
        says="Only the operands of the last operation have a gradient",
    ),
    Wrong(
        "the operands noted behind the value",
        walk(
            OLD.replace(
                "                for part, _ in value.made_of:\n"
                "                    visit(part)\n"
                "                order.append(value)  # behind everything that it was made of",
                "                order.insert(0, value)\n"
                "                for part, _ in value.made_of:\n"
                "                    visit(part)",
            )
        ),
        says="handed on its gradient before all its uses had given theirs",
    ),
    Wrong(
        "shared values visited again",
        walk("""        self.grad = 1.0
        self.hand_on()

    def hand_on(self):
        for part, slope in self.made_of:
            part.grad += slope * self.grad
            part.hand_on()
"""),
        says="visit each value once, after all its uses",
    ),
    Wrong(
        "every way back for itself",
        walk("""        def along(value, grad):
            value.grad += grad
            for part, slope in value.made_of:
                along(part, slope * grad)

        along(self, 1.0)
"""),
        says="visit each value once, after all its uses",
    ),
    Wrong(
        "no number on the left",
        without("__radd__, __rmul__"),
        says="Python asks a for __rmul__, and Value has none",
    ),
    Wrong(
        "no number on the left of a product",
        over("__radd__, __rmul__ = __add__, __mul__", "__radd__ = __add__"),
        says="Python asks a for __rmul__, and Value has none",
    ),
    Wrong(
        "no plain numbers at all",
        over(
            """    def __mul__(self, other):
        if not isinstance(other, Value):
            other = Value(other)
""",
            "    def __mul__(self, other):\n",
        ),
        says="has no attribute 'data'",
    ),
    Wrong("no chain", over(ADDS, "found[part] += slope"), says="which is what the chain rule says"),
    Wrong("gradients without slopes", over(ADDS, "found[part] += found[value]"), says="of grad"),
    Wrong(
        "the second operand only",
        edit(
            (SUM, SUM.replace("(self, 1.0), (other, 1.0)", "(other, 1.0),")),
            (PRODUCT, "((other, self.data),)"),
        ),
        says="of grad",
    ),
    Wrong(
        "relu of the size", over("max(self.data, 0.0)", "abs(self.data)"), says="of value is wrong"
    ),
    Wrong(
        "equal numbers taken for one",
        walk(
            OLD.replace("value not in seen", "value.data not in seen").replace(
                "seen.add(value)", "seen.add(value.data)"
            )
        ),
        says="of grad",
    ),
    Wrong(
        "the tape is shared and never emptied",
        whole("""
            import math

            TAPE = []


            class Value:
                def __init__(self, data, made_of=()):
                    self.data, self.grad, self.made_of = data, 0.0, made_of
                    TAPE.append(self)

                def __add__(self, other):
                    other = other if isinstance(other, Value) else Value(other)
                    return Value(self.data + other.data, ((self, 1.0), (other, 1.0)))

                def __mul__(self, other):
                    other = other if isinstance(other, Value) else Value(other)
                    return Value(self.data * other.data, ((self, other.data), (other, self.data)))

                __radd__, __rmul__ = __add__, __mul__

                def tanh(self):
                    y = math.tanh(self.data)
                    return Value(y, ((self, 1.0 - y * y),))

                def relu(self):
                    return Value(max(self.data, 0.0), ((self, 1.0 if self.data > 0 else 0.0),))

                def backward(self):
                    self.grad = 1.0
                    for value in reversed(TAPE):
                        for part, slope in value.made_of:
                            part.grad += slope * value.grad
        """),
        says="of grad_twice",
    ),
    Wrong(
        "uses counted where values are made",
        edit(
            (
                "        self.made_of = made_of",
                "        self.uses = 0\n"
                "        for part, _ in made_of:\n"
                "            part.uses += 1\n"
                "        self.made_of = made_of",
            ),
            (
                WALK,
                """        self.grad, ready = 1.0, [self]
        while ready:
            value = ready.pop()
            for part, slope in value.made_of:
                part.grad += slope * value.grad
                part.uses -= 1
                if part.uses == 0:
                    ready.append(part)
""",
            ),
        ),
        says="of grad",
    ),
    Wrong(
        "functions that remember and hand on all of grad, as in micrograd",
        whole("""
            import math


            class Value:
                def __init__(self, data, parts=()):
                    self.data, self.grad, self.parts = data, 0.0, set(parts)
                    self.hand_on = lambda: None

                def __add__(self, other):
                    other = other if isinstance(other, Value) else Value(other)
                    out = Value(self.data + other.data, (self, other))

                    def hand_on():
                        self.grad += out.grad
                        other.grad += out.grad

                    out.hand_on = hand_on
                    return out

                def __radd__(self, other):
                    return self + other

                def __mul__(self, other):
                    other = other if isinstance(other, Value) else Value(other)
                    out = Value(self.data * other.data, (self, other))

                    def hand_on():
                        self.grad += other.data * out.grad
                        other.grad += self.data * out.grad

                    out.hand_on = hand_on
                    return out

                def __rmul__(self, other):
                    return self * other

                def tanh(self):
                    out = Value(math.tanh(self.data), (self,))

                    def hand_on():
                        self.grad += (1 - out.data**2) * out.grad

                    out.hand_on = hand_on
                    return out

                def relu(self):
                    out = Value(self.data if self.data > 0 else 0.0, (self,))

                    def hand_on():
                        self.grad += (out.data > 0) * out.grad

                    out.hand_on = hand_on
                    return out

                def backward(self):
                    topo, visited = [], set()

                    def build(v):
                        if v not in visited:
                            visited.add(v)
                            for part in v.parts:
                                build(part)
                            topo.append(v)

                    build(self)
                    self.grad = 1
                    for v in reversed(topo):
                        v.hand_on()
        """),
        says="What stood in grad from an earlier loss was handed on again",
    ),
    Wrong(
        "a mark that stays behind",
        edit(
            ("self.made_of = made_of  #", "self.visited, self.made_of = False, made_of  #"),
            (
                WALK,
                OLD.replace("value not in seen", "not value.visited").replace(
                    "seen.add(value)", "value.visited = True"
                ),
            ),
        ),
        says="Forget what was visited when backward ends",
    ),
    Wrong(
        "plain numbers with a point only",
        lambda exercise: edit()(exercise).replace(
            "if not isinstance(other, Value)", "if isinstance(other, float)"
        ),
        says="'int' object has no attribute 'data'",
    ),
    Right(
        "functions that remember and hand on what they are given",
        whole("""
            import math


            class Value:
                def __init__(self, data, parts=(), hand_on=lambda g: ()):
                    self.data, self.grad = float(data), 0.0
                    self.parts, self.hand_on = parts, hand_on

                def __add__(self, other):
                    other = other if isinstance(other, Value) else Value(other)
                    return Value(self.data + other.data, (self, other), lambda g: (g, g))

                def __mul__(self, other):
                    other = other if isinstance(other, Value) else Value(other)
                    a, b = self.data, other.data
                    return Value(a * b, (self, other), lambda g: (b * g, a * g))

                def __radd__(self, other):
                    return self + other

                def __rmul__(self, other):
                    return self * other

                def tanh(self):
                    y = math.tanh(self.data)
                    return Value(y, (self,), lambda g: ((1 - y**2) * g,))

                def relu(self):
                    passes = self.data > 0
                    return Value(self.data * passes, (self,), lambda g: (g * passes,))

                def backward(self):
                    topo, visited = [], set()

                    def build(v):
                        if id(v) not in visited:
                            visited.add(id(v))
                            for part in v.parts:
                                build(part)
                            topo.append(v)

                    build(self)
                    before = [v.grad for v in topo]
                    for v in topo:
                        v.grad = 0.0
                    self.grad = 1.0
                    for v in reversed(topo):
                        for part, g in zip(v.parts, v.hand_on(v.grad)):
                            part.grad += g
                    for v, old in zip(topo, before):
                        v.grad += old
        """),
    ),
    Right(
        "counted uses and no recursion",
        walk("""        uses, stack = {}, [self]
        while stack:
            for part, _ in stack.pop().made_of:
                uses[part] = uses.get(part, 0) + 1
                if uses[part] == 1:
                    stack.append(part)
        found, ready = {self: 1.0}, [self]
        while ready:
            value = ready.pop()
            value.grad += found[value]
            for part, slope in value.made_of:
                found[part] = found.get(part, 0.0) + slope * found[value]
                uses[part] -= 1
                if uses[part] == 0:
                    ready.append(part)
"""),
    ),
    Right(
        "in the order of birth",
        whole("""
            import math


            class Value:
                born = 0

                def __init__(self, data, *made_of):
                    self.data, self.grad, self.made_of = data, 0.0, made_of
                    Value.born += 1
                    self.number = Value.born

                def __add__(self, other):
                    other = other if isinstance(other, Value) else Value(other)
                    return Value(self.data + other.data, (self, 1.0), (other, 1.0))

                def __mul__(self, other):
                    other = other if isinstance(other, Value) else Value(other)
                    return Value(self.data * other.data, (self, other.data), (other, self.data))

                __radd__, __rmul__ = __add__, __mul__

                def tanh(self):
                    return Value(math.tanh(self.data), (self, math.cosh(self.data) ** -2))

                def relu(self):
                    return Value(max(self.data, 0.0), (self, float(self.data > 0)))

                def backward(self):
                    reached = {self: 1.0}
                    while reached:
                        value = max(reached, key=lambda v: v.number)
                        g = reached.pop(value)
                        value.grad += g
                        for part, slope in value.made_of:
                            reached[part] = reached.get(part, 0.0) + slope * g
        """),
    ),
]
