"""What learners get wrong here, by the sentence that names it: edits of the solution."""

MISTAKES = {
    "A value that is used twice has only the gradient of one of its uses: backward "
    "must add to grad, not replace it.": [
        (
            "        order, seen = [], set()\n"
            "\n"
            "        def visit(value):\n"
            "            if value not in seen:\n"
            "                seen.add(value)\n"
            "                for part, _ in value.made_of:\n"
            "                    visit(part)\n"
            "                order.append(value)  # behind everything that it was "
            "made of\n"
            "\n"
            "        visit(self)\n"
            "        found = dict.fromkeys(order, 0.0)  # the derivatives of this "
            "loss alone\n"
            "        found[self] = 1.0\n"
            "        for value in reversed(order):\n"
            "            value.grad += found[value]\n"
            "            for part, slope in value.made_of:\n"
            "                found[part] += slope * found[value]\n",
            "        order, seen = [], set()\n"
            "\n"
            "        def visit(value):\n"
            "            if value not in seen:\n"
            "                seen.add(value)\n"
            "                for part, _ in value.made_of:\n"
            "                    visit(part)\n"
            "                order.append(value)  # behind everything that it was "
            "made of\n"
            "\n"
            "        visit(self)\n"
            "        self.grad = 1.0\n"
            "        for value in reversed(order):\n"
            "            for part, slope in value.made_of:\n"
            "                part.grad = slope * value.grad\n",
        )
    ],
    "The second backward left grad as the first one had: it set grad to 0, or did "
    "not visit again what the first one had visited. It must add to what is there: a "
    "weight may go into two losses.": [("value.grad += found[value]", "value.grad = found[value]")],
    "What stood in grad from an earlier loss was handed on again. Each backward "
    "hands on the derivatives of its own loss alone: collect them beside grad, then "
    "add them.": [
        (
            "        found = dict.fromkeys(order, 0.0)  # the derivatives of this "
            "loss alone\n"
            "        found[self] = 1.0\n",
            "        self.grad += 1.0\n",
        ),
        ("            value.grad += found[value]\n", ""),
        ("found[part] += slope * found[value]", "part.grad += slope * value.grad"),
    ],
    "What stood in grad from an earlier loss was handed on again, and the grad of the result was "
    "set to 1. Each backward hands on the derivatives of its own loss alone: collect them beside "
    "grad, then add them.": [
        (
            "        found = dict.fromkeys(order, 0.0)  # the derivatives of this "
            "loss alone\n"
            "        found[self] = 1.0\n",
            "        self.grad = 1.0\n",
        ),
        ("            value.grad += found[value]\n", ""),
        ("found[part] += slope * found[value]", "part.grad += slope * value.grad"),
    ],
    "The grad of a result was begun anew, with 0 or with 1. Where it was a part of "
    "an earlier loss, that one's derivative stands there: add to it.": [
        (
            "            value.grad += found[value]\n",
            "            value.grad = 1.0 if value is self else value.grad + found[value]\n",
        )
    ],
    "A second loss did not go through the values that the first one had visited. "
    "Forget what was visited when backward ends.": [
        (
            "        order, seen = [], set()\n"
            "\n"
            "        def visit(value):\n"
            "            if value not in seen:\n"
            "                seen.add(value)\n"
            "                for part, _ in value.made_of:\n"
            "                    visit(part)\n"
            "                order.append(value)  # behind everything that it was "
            "made of\n"
            "\n"
            "        visit(self)\n"
            "        found = dict.fromkeys(order, 0.0)  # the derivatives of this "
            "loss alone\n"
            "        found[self] = 1.0\n"
            "        for value in reversed(order):\n"
            "            value.grad += found[value]\n"
            "            for part, slope in value.made_of:\n"
            "                found[part] += slope * found[value]\n",
            "        order = []\n"
            "\n"
            "        def visit(value):\n"
            "            if not hasattr(value, 'visited'):\n"
            "                value.visited = True\n"
            "                for part, _ in value.made_of:\n"
            "                    visit(part)\n"
            "                order.append(value)\n"
            "\n"
            "        visit(self)\n"
            "        self.grad = 1.0\n"
            "        for value in reversed(order):\n"
            "            for part, slope in value.made_of:\n"
            "                part.grad += slope * value.grad\n",
        )
    ],
    "All gradients are 0: the derivative of the result by itself is 1, and backward "
    "begins with it and goes on to what it was made of.": [("        found[self] = 1.0\n", "")],
    "Only the operands of the last operation have a gradient: backward must go on "
    "from each value to what that was made of, the last result first.": [
        (
            "        order, seen = [], set()\n"
            "\n"
            "        def visit(value):\n"
            "            if value not in seen:\n"
            "                seen.add(value)\n"
            "                for part, _ in value.made_of:\n"
            "                    visit(part)\n"
            "                order.append(value)  # behind everything that it was "
            "made of\n"
            "\n"
            "        visit(self)\n"
            "        found = dict.fromkeys(order, 0.0)  # the derivatives of this "
            "loss alone\n"
            "        found[self] = 1.0\n"
            "        for value in reversed(order):\n"
            "            value.grad += found[value]\n"
            "            for part, slope in value.made_of:\n"
            "                found[part] += slope * found[value]\n",
            "        order, seen = [], set()\n"
            "\n"
            "        def visit(value):\n"
            "            if value not in seen:\n"
            "                seen.add(value)\n"
            "                for part, _ in value.made_of:\n"
            "                    visit(part)\n"
            "                order.append(value)  # behind everything that it was "
            "made of\n"
            "\n"
            "        visit(self)\n"
            "        self.grad = 1.0\n"
            "        for part, slope in self.made_of:\n"
            "            part.grad += slope * self.grad\n",
        )
    ],
    "A value handed on its gradient before all its uses had given theirs. Depth "
    "first is no order for that: visit the operands first, note the value behind "
    "them, and go through these notes backwards.": [
        (
            "        order, seen = [], set()\n"
            "\n"
            "        def visit(value):\n"
            "            if value not in seen:\n"
            "                seen.add(value)\n"
            "                for part, _ in value.made_of:\n"
            "                    visit(part)\n"
            "                order.append(value)  # behind everything that it was "
            "made of\n"
            "\n"
            "        visit(self)\n"
            "        found = dict.fromkeys(order, 0.0)  # the derivatives of this "
            "loss alone\n"
            "        found[self] = 1.0\n"
            "        for value in reversed(order):\n"
            "            value.grad += found[value]\n"
            "            for part, slope in value.made_of:\n"
            "                found[part] += slope * found[value]\n",
            "        seen = set()\n"
            "\n"
            "        def visit(value):\n"
            "            if value not in seen:\n"
            "                seen.add(value)\n"
            "                for part, slope in value.made_of:\n"
            "                    part.grad += slope * value.grad\n"
            "                for part, _ in value.made_of:\n"
            "                    visit(part)\n"
            "\n"
            "        self.grad = 1.0\n"
            "        visit(self)\n",
        )
    ],
    "A value handed on its gradient before all its uses had given theirs. Level by "
    "level is no order for that: visit the operands first, note the value behind "
    "them, and go through these notes backwards.": [
        (
            "        order, seen = [], set()\n"
            "\n"
            "        def visit(value):\n"
            "            if value not in seen:\n"
            "                seen.add(value)\n"
            "                for part, _ in value.made_of:\n"
            "                    visit(part)\n"
            "                order.append(value)  # behind everything that it was "
            "made of\n"
            "\n"
            "        visit(self)\n"
            "        found = dict.fromkeys(order, 0.0)  # the derivatives of this "
            "loss alone\n"
            "        found[self] = 1.0\n"
            "        for value in reversed(order):\n"
            "            value.grad += found[value]\n"
            "            for part, slope in value.made_of:\n"
            "                found[part] += slope * found[value]\n",
            "        self.grad = 1.0\n"
            "        queue, seen = [self], {self}\n"
            "        while queue:\n"
            "            value = queue.pop(0)\n"
            "            for part, slope in value.made_of:\n"
            "                part.grad += slope * value.grad\n"
            "                if part not in seen:\n"
            "                    seen.add(part)\n"
            "                    queue.append(part)\n",
        )
    ],
    "A value handed on its gradient before all its uses had given theirs. The order "
    "in which values leave a stack is no order for that: visit the operands first, "
    "note the value behind them, and go through these notes backwards.": [
        (
            "        order, seen = [], set()\n"
            "\n"
            "        def visit(value):\n"
            "            if value not in seen:\n"
            "                seen.add(value)\n"
            "                for part, _ in value.made_of:\n"
            "                    visit(part)\n"
            "                order.append(value)  # behind everything that it was "
            "made of\n"
            "\n"
            "        visit(self)\n"
            "        found = dict.fromkeys(order, 0.0)  # the derivatives of this "
            "loss alone\n"
            "        found[self] = 1.0\n"
            "        for value in reversed(order):\n"
            "            value.grad += found[value]\n"
            "            for part, slope in value.made_of:\n"
            "                found[part] += slope * found[value]\n",
            "        self.grad = 1.0\n"
            "        stack, seen = [self], {self}\n"
            "        while stack:\n"
            "            value = stack.pop()\n"
            "            for part, slope in value.made_of:\n"
            "                part.grad += slope * value.grad\n"
            "                if part not in seen:\n"
            "                    seen.add(part)\n"
            "                    stack.append(part)\n",
        )
    ],
    "Operands had their turn before the results that were made of them, whose gradients came too "
    "late to be handed on: backward begins with the result, and each value follows all that was "
    "made of it.": [("in reversed(order)", "in order")],
    "A value had its turn when it was first met, before all its uses had given their gradients: "
    "note a value behind its operands, and go through these notes backwards.": [
        (
            "                for part, _ in value.made_of:\n"
            "                    visit(part)\n"
            "                order.append(value)  # behind everything that it was made of\n",
            "                order.append(value)\n"
            "                for part, _ in value.made_of:\n"
            "                    visit(part)\n",
        ),
        ("in reversed(order)", "in order"),
    ],
    "A value that is used twice handed on its whole gradient twice: backward must "
    "visit each value once, when all its uses have given theirs.": [
        ("            if value not in seen:\n", "            if True:\n")
    ],
    "The gradient that backward begins with is the result itself; the derivative of "
    "the result by itself is 1.": [("found[self] = 1.0", "found[self] = self.data")],
    "The slopes are not multiplied by the gradient of the result, which is what the "
    "chain rule says: part.grad += slope * value.grad.": [
        ("found[part] += slope * found[value]", "found[part] += slope")
    ],
    "The product rule is the wrong way round: a * b grows by b where a grows by 1.": [
        ("((self, other.data), (other, self.data))", "((self, self.data), (other, other.data))")
    ],
    "Only the first operand of a sum or a product has a gradient.": [
        (
            "return Value(self.data + other.data, ((self, 1.0), (other, 1.0)))",
            "return Value(self.data + other.data, ((self, 1.0),))",
        ),
        ("((self, other.data), (other, self.data))", "((self, other.data),)"),
    ],
    "Only the second operand of a sum or a product has a gradient.": [
        ("((self, 1.0), (other, 1.0))", "((self, 0.0), (other, 1.0))"),
        ("((self, other.data), (other, self.data))", "((self, 0.0), (other, self.data))"),
    ],
    "A sum passes its gradient on as it is: its slopes are 1 and 1.": [
        (
            "return Value(self.data + other.data, ((self, 1.0), (other, 1.0)))",
            "return Value(self.data + other.data, ((self, other.data), (other, self.data)))",
        )
    ],
    "The slope of tanh is 1 - y * y with its result y, not with its input.": [
        ("1.0 - y * y", "1.0 - self.data**2")
    ],
    "The slope of tanh is 1 - y * y: the square is missing.": [("1.0 - y * y", "1.0 - y")],
    "The slope of tanh is 1 - y * y; here it is taken for 1.": [("1.0 - y * y", "1.0")],
    "relu lets gradients through where its input is not above 0: there its slope is 0.": [
        ("1.0 if self.data > 0 else 0.0", "1.0")
    ],
    "The slope of relu at 0 is 0 here: it is 1 only where the input is above 0.": [
        ("1.0 if self.data > 0 else 0.0", "1.0 if self.data >= 0 else 0.0")
    ],
    "The slope of relu is 1 where the input is above 0, not the input.": [
        ("1.0 if self.data > 0 else 0.0", "max(self.data, 0.0)")
    ],
    "The gradient of a value times a plain number is that number.": [
        ("__radd__, __rmul__ = __add__, __mul__", "__radd__ = __rmul__ = __mul__")
    ],
    "An operand on both sides, as in a + a, counts once; each side adds its part.": [
        ("for part, slope in value.made_of:", "for part, slope in dict(value.made_of).items():")
    ],
}
