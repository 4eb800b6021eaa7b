"""Cases of the tape: random programs, from one operation to many, and a chain of doublings."""

import math

import numpy as np

from gpukit.course import Case, called, poison

# Opcodes of a program. Each row is an opcode and two earlier results; leaves are the first results.
ADD, MUL, ADD_NUMBER, MUL_NUMBER, NUMBER_ADD, NUMBER_MUL, TANH, RELU = range(8)
TREE, SHARED, FUNCTIONS, DOUBLINGS, ALL = range(1, 6)
WORDS = {
    SHARED: (ADD, MUL),
    FUNCTIONS: (ADD, MUL, TANH, RELU),
    ALL: tuple(range(8)) + (ADD, MUL) * 4,
}
# Leaves, operations, kind of program.
SHAPES = {
    "one operation": (2, 1, TREE),
    "each number used once": (5, 4, TREE),
    "numbers used again": (2, 5, SHARED),
    "tanh and relu": (3, 9, FUNCTIONS),
    "plain numbers on either side": (3, 12, ALL),
    "many operations": (7, 120, ALL),
    "a chain of doublings": (1, 100, DOUBLINGS),
}
LETTERS = "abcdefghijkl"  # names of a short program's values
Parts = list[tuple[tuple[int, float], ...]]  # per result: (operand, derivative)


def case(rng: np.random.Generator, n: int, count: int, kind: int) -> Case:
    """Return the case of a program with `count` operations on n leaves."""
    x = rng.uniform(0.3, 1.5, n) * rng.choice([-1, 1], n)
    if kind >= ALL:
        x[n // 2] = 0  # at the kink of relu
    constants = rng.uniform(0.5, 1.5, count) * rng.choice([-1, 1], count)
    constants[::3] = np.sign(constants[::3])  # constants may be integers
    program = written(rng, x, constants, min(kind, ALL))
    values, parts = computed(x, program, constants)
    right = backwards(parts)[:n]
    terms = backwards([tuple((k, abs(s)) for k, s in part) for part in parts])[:n]
    return called(
        args={
            "x": x,
            "program": program,
            "constants": constants,
            "value": poison(1, float),
            "grad": poison(n, float),
            "grad_twice": poison(n, float),
            "grad_shared": poison(n + 1, float),
        },
        expected={
            "value": values[-1:],
            "grad": right,
            "grad_twice": 2 * right,
            # Of the last result times 1, times 5 and itself.
            "grad_shared": 7 * np.append(right, 1),
        },
        scale={
            "value": np.array([4 + np.abs(values).max()]),
            "grad": terms,
            "grad_twice": 2 * terms,
            "grad_shared": 7 * np.append(terms, 1),
        },
        shown=shown(x, program, constants),
        names=names(n, count),
    )


def names(n: int, count: int) -> dict[str, tuple[str, list[str]]]:
    """Return the name of each array in the text of `shown`; if that is short, of each element."""
    leaves = list(LETTERS[:n]) if n + count <= len(LETTERS) else []
    last = LETTERS[n + count - 1 : n + count]
    return {
        "x": ("the first values", [f"{leaf}.data" for leaf in leaves]),
        "value": ("the result", [f"{last}.data"] if leaves else []),
        "grad": ("grad", [f"{leaf}.grad" for leaf in leaves]),
        "grad_twice": (
            "grad after two such programs",
            [f"{leaf}.grad after two such programs" for leaf in leaves],
        ),
        "grad_shared": (
            "grad after backward of three losses",
            [
                f"{leaf}.grad after backward of {last} * 1.0, {last} * 5.0 and {last}"
                for leaf in [*leaves, last]
            ]
            if leaves
            else [],
        ),
    }


# ---- programs -----------------------------------------------------------------------------------


def written(rng: np.random.Generator, x: np.ndarray, numbers: np.ndarray, kind: int) -> np.ndarray:
    """Return a program with one operation per number and small results.

    Numbers that would make a result too large are replaced in place.
    """
    rows: list[tuple[int, int, int]] = []
    values = list(x)
    for step in range(len(numbers)):
        word, one, other = chosen(rng, rows, values, numbers, step, kind)
        rows.append((word, one, other))
        values.append(result(word, values[one], values[other], float(numbers[step])))
    return np.array(rows, np.int32).reshape(-1, 3)


def chosen(
    rng: np.random.Generator,
    rows: list[tuple[int, int, int]],
    values: list[float],
    numbers: np.ndarray,
    step: int,
    kind: int,
) -> tuple[int, int, int]:
    """Return the next operation, on the previous result and any earlier one."""
    last, leaves = len(values) - 1, len(values) - step
    if kind == DOUBLINGS:
        return (MUL_NUMBER if step % 2 else ADD), last, last
    if kind == TREE:
        word, next_leaf = int(rng.choice((ADD, MUL))), min(step + 1, leaves - 1)
        return word, (last if step else 0), next_leaf
    if kind == ALL and step == 0:
        return RELU, leaves // 2, 0  # relu of the leaf that is 0
    if abs(values[last]) > 2 and kind != SHARED:
        numbers[step] = 0.4
        return (MUL_NUMBER if kind == ALL else TANH), last, last
    word, other = int(rng.choice(WORDS[kind])), int(rng.integers(0, len(values)))
    if rows and rows[-1][0] == RELU:
        word, other = ADD, last - 1  # so that no later product is 0 because relu was
    elif word == RELU:
        return RELU, other, last
    if word == MUL and 0 in (values[last], values[other]):
        word = ADD  # in a product with 0 the gradient of the other factor is 0
    return (word, last, other) if rng.random() < 0.5 or word > MUL else (word, other, last)


def result(word: int, a: float, b: float, number: float) -> float:
    """Return the result of one operation."""
    if word in (ADD, ADD_NUMBER, NUMBER_ADD):
        return a + (b if word == ADD else number)
    if word in (MUL, MUL_NUMBER, NUMBER_MUL):
        return a * (b if word == MUL else number)
    return math.tanh(a) if word == TANH else max(a, 0.0)


def slopes(word: int, a: float, b: float, number: float, y: float) -> tuple[float, float]:
    """Return the derivatives of one operation, with result y, with respect to its operands."""
    if word in (MUL, MUL_NUMBER, NUMBER_MUL):
        return (b, a) if word == MUL else (number, 0.0)
    if word == TANH:
        return 1 - y * y, 0.0
    return (float(a > 0), 0.0) if word == RELU else (1.0, 1.0)


def computed(x: np.ndarray, program: np.ndarray, numbers: np.ndarray) -> tuple[np.ndarray, Parts]:
    """Return all results and, for each, its operands and the derivatives with respect to them."""
    values, parts = [float(v) for v in x], [()] * len(x)
    for (word, one, other), number in zip(program.tolist(), numbers.tolist(), strict=True):
        a, b = values[one], values[other]
        values.append(result(word, a, b, number))
        pair = slopes(word, a, b, number, values[-1])
        parts.append(tuple(zip((one, other), pair, strict=True))[: 2 if word in (ADD, MUL) else 1])
    return np.array(values), parts


def shown(x: np.ndarray, program: np.ndarray, numbers: np.ndarray) -> str:
    """Return a short program as a learner would write it, or the length of a long one."""
    if len(x) + len(program) > len(LETTERS):
        return f"{len(program)} operations that begin with {len(x)} values"
    names = LETTERS
    lines = [f"{names[k]} = Value({v:.3g})" for k, v in enumerate(x)]
    forms = (
        "{a} + {b}",
        "{a} * {b}",
        "{a} + {c:.3g}",
        "{a} * {c:.3g}",
        "{c:.3g} + {a}",
        "{c:.3g} * {a}",
        "{a}.tanh()",
        "{a}.relu()",
    )
    for k, ((word, one, other), c) in enumerate(zip(program.tolist(), numbers, strict=True)):
        made = forms[word].format(a=names[one], b=names[other], c=c)
        lines.append(f"{names[len(x) + k]} = {made}")
    last = names[len(x) + len(program) - 1]
    return f"{'; '.join(lines)}; {last}.backward()"


# ---- gradients ----------------------------------------------------------------------------------


def backwards(parts: Parts) -> np.ndarray:
    """Return the gradient of the last result with respect to each result."""
    grad = np.zeros(len(parts))
    grad[-1] = 1
    for k in ordered(parts):
        for part, slope in parts[k]:
            grad[part] += slope * grad[k]
    return grad


def ordered(parts: Parts) -> list[int]:
    """Return the results that the last one depends on, each before its own operands."""
    order: list[int] = []

    def visit(k: int) -> None:
        if k not in order:
            for part, _ in parts[k]:
                visit(part)
            order.append(k)

    visit(len(parts) - 1)
    return order[::-1]
