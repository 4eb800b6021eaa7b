"""Compute on the learner's tape what a program says. The words of the program are in cases.py."""

LEFT = {4: "+", 5: "*"}


def run(value_class, x, program, constants, value, grad, grad_twice, grad_shared):
    """Write the last result, the gradients of x, these after a second time, and of shared parts."""
    leaves = [value_class(float(number)) for number in x]
    for out in (grad, grad_twice):  # the second time on the same leaves
        last = computed(leaves, program, constants)
        last.backward()
        out[:] = [leaf.grad for leaf in leaves]
    value[0] = last.data
    leaves = [value_class(float(number)) for number in x]
    last = computed(leaves, program, constants)
    for loss in (last * 1.0, last * 5.0, last):  # all go back through the same values
        loss.backward()
    grad_shared[:] = [leaf.grad for leaf in leaves] + [last.grad]


def computed(leaves, program, constants):
    """Return the last result of a program on these leaves."""
    made = list(leaves)
    for (word, left, right), constant in zip(program.tolist(), constants.tolist(), strict=True):
        a, b = made[left], made[right]
        made.append(apply(word, a, b, constant))
        a * made[-1]  # a value may also go into what is no part of the loss
    return made[-1]


def apply(word, a, b, number):
    """Return the result of one operation on Values; `number` is an int where it is whole."""
    number = int(number) if number == int(number) else number
    if word in LEFT:
        return with_number_on_the_left(LEFT[word], number, a)
    if word == 6:
        return a.tanh()
    if word == 7:
        return a.relu()
    return a + (b if word == 0 else number) if word in (0, 2) else a * (b if word == 1 else number)


def with_number_on_the_left(sign, number, a):
    """Return number + a or number * a; say what is missing where Python cannot."""
    name = {"+": "__radd__", "*": "__rmul__"}[sign]
    if not hasattr(a, name):
        raise TypeError(
            f"Python cannot compute 2.0 {sign} a: a float does not know how, so Python asks a for "
            f"{name}, and Value has none. It does the same as {name.replace('r', '', 1)}."
        )
    return number + a if sign == "+" else number * a
