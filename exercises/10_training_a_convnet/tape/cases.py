"""Cases of the tape: random programs, from one operation to many, and a chain of doublings."""

import math
from collections.abc import Callable, Iterator

import numpy as np

from gpukit.course import Case, called, poison

# Words of a program. Each row is a word and two earlier results; leaves are the first results.
ADD, MUL, ADD_NUMBER, MUL_NUMBER, NUMBER_ADD, NUMBER_MUL, TANH, RELU = range(8)
TREE, SHARED, FUNCTIONS, DOUBLINGS, ALL = range(1, 6)
WORDS = {
    SHARED: (ADD, MUL), FUNCTIONS: (ADD, MUL, TANH, RELU), ALL: tuple(range(8)) + (ADD, MUL) * 4,
}  # fmt: skip
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
FEW = 20  # operations up to which a walk along every way back is short
Parts = list[tuple[tuple[int, float], ...]]  # of each result: its operands and the slopes by them
Slopes = Callable[[int, float, float, float, float], tuple[float, float]]


def case(rng: np.random.Generator, n: int, count: int, kind: int) -> Case:
    """Return the case of a program with so many operations on n leaves."""
    x = rng.uniform(0.3, 1.5, n) * rng.choice([-1, 1], n)
    if kind >= ALL:
        x[n // 2] = 0  # where relu bends
    constants = rng.uniform(0.5, 1.5, count) * rng.choice([-1, 1], count)
    constants[::3] = np.sign(constants[::3])  # plain numbers may be whole ones
    program = written(rng, x, constants, min(kind, ALL))
    values, parts = computed(x, program, constants, slopes)

    def left(found: np.ndarray, first: np.ndarray | None = None) -> dict[str, np.ndarray]:
        """Return the outputs with these gradients, which came in again the second time."""
        return {
            "value": values[-1:],
            "grad": found[:n] if first is None else first[:n],
            "grad_twice": 2 * found[:n] if first is None else found[:n],
        }

    def shared(of_leaves: np.ndarray, of_last: float) -> dict[str, np.ndarray]:
        """Return the outputs where only losses that share values may go wrong."""
        return left(right) | {"grad_shared": np.append(of_leaves[:n], of_last)}

    def by(other: Slopes) -> dict[str, np.ndarray]:
        """Return the outputs where the slopes of an operation are others."""
        return left(backwards(computed(x, program, constants, other)[1], ordered(parts)))

    right = backwards(parts, ordered(parts))
    terms = backwards([tuple((k, abs(s)) for k, s in part) for part in parts], ordered(parts))
    replaced = backwards(parts, ordered(parts), add=False)
    by_program = backwards(parts, reversed(range(len(parts))), add=False)
    unlinked = backwards(parts, ordered(parts), chain=False)
    zeros, kept = np.zeros(len(parts)), handed_on_again(parts, ordered(parts))
    alone = backwards(parts, [len(parts) - 1])
    return called(
        args={
            "x": x, "program": program, "constants": constants, "value": poison(1, float),
            "grad": poison(n, float), "grad_twice": poison(n, float),
            "grad_shared": poison(n + 1, float),
        },
        expected=shared(7 * right, 7),  # of the last result times 1, times 5 and itself
        scale={"value": np.array([4 + np.abs(values).max()]), "grad": terms[:n],
               "grad_twice": 2 * terms[:n], "grad_shared": 7 * np.append(terms[:n], 1)},
        shown=shown(x, program, constants),
        mistakes={
            # Where a value is used by several others, the last to come depends on the order.
            **({
                "A value that is used twice has only the gradient of one of its uses: backward "
                "must add to grad, not replace it.": left(replaced, replaced)
            } if np.array_equal(replaced, by_program) else {}),
            "The second backward left grad as the first one had: it set grad to 0, or did not "
            "visit again what the first one had visited. It must add to what is there: a weight "
            "may go into two losses.": left(right, right),
            "What stood in grad from an earlier loss was handed on again. Each backward hands on "
            "the derivatives of its own loss alone: collect them beside grad, then add them.": (
                shared(kept, kept[-1])
            ),
            "The grad of a result was begun anew, with 0 or with 1. Where it was a part of an "
            "earlier loss, that one's derivative stands there: add to it.": shared(7 * right, 1),
            "A second loss did not go through the values that the first one had visited. Forget "
            "what was visited when backward ends.": shared(right, 1),
            "All gradients are 0: the derivative of the result by itself is 1, and backward begins "
            "with it and goes on to what it was made of.": left(zeros),
            "Only the operands of the last operation have a gradient: backward must go on from "
            "each value to what that was made of, the last result first.": left(alone),
            **({
                "A value handed on its gradient before all its uses had given theirs. Depth first "
                "is no order for that: visit the operands first, note the value behind them, and "
                "go through these notes backwards.": left(backwards(parts, depth_first(parts))),
                "A value handed on its gradient before all its uses had given theirs. Level by "
                "level is no order for that: visit the operands first, note the value behind them, "
                "and go through these notes backwards.": left(
                    backwards(parts, from_a_list(parts, 0))
                ),
                "A value handed on its gradient before all its uses had given theirs. The order in "
                "which values leave a stack is no order for that: visit the operands first, note "
                "the value behind them, and go through these notes backwards.": left(
                    backwards(parts, from_a_list(parts, -1))
                ),
                "A value that is used twice handed on its whole gradient twice: backward must "
                "visit each value once, when all its uses have given theirs.": left(
                    visited_again(parts)
                ),
            } if count <= FEW else {}),
            "The gradient that backward begins with is the result itself; the derivative of the "
            "result by itself is 1.": left(right * values[-1]),
            "The slopes are not multiplied by the gradient of the result, which is what the chain "
            "rule says: part.grad += slope * value.grad.": left(unlinked),
            "The product rule is the wrong way round: a * b grows by b where a grows by 1.": by(
                lambda word, a, b, number, y: (a, b) if word in (MUL, MUL_NUMBER, NUMBER_MUL) else
                slopes(word, a, b, number, y)
            ),
            "Only the first operand of a sum or a product has a gradient.": by(
                lambda word, a, b, number, y: (slopes(word, a, b, number, y)[0], 0.0)
            ),
            "Only the second operand of a sum or a product has a gradient.": by(
                lambda word, a, b, number, y: (0.0, slopes(word, a, b, number, y)[1])
                if word in (ADD, MUL) else slopes(word, a, b, number, y)
            ),
            "A sum passes its gradient on as it is: its slopes are 1 and 1.": by(
                lambda word, a, b, number, y: slopes(word + 1, a, b, number, y)
                if word in (ADD, ADD_NUMBER, NUMBER_ADD) else slopes(word, a, b, number, y)
            ),
            "The slope of tanh is 1 - y * y with its result y, not with its input.": by(
                lambda word, a, b, number, y: (1 - a * a, 0.0) if word == TANH else
                slopes(word, a, b, number, y)
            ),
            "The slope of tanh is 1 - y * y: the square is missing.": by(
                lambda word, a, b, number, y: (1 - y, 0.0) if word == TANH else
                slopes(word, a, b, number, y)
            ),
            "The slope of tanh is 1 - y * y; here it is taken for 1.": by(
                lambda word, a, b, number, y: (1.0, 0.0) if word == TANH else
                slopes(word, a, b, number, y)
            ),
            "relu lets gradients through where its input is not above 0: there its slope is 0.": by(
                lambda word, a, b, number, y: (1.0, 0.0) if word == RELU else
                slopes(word, a, b, number, y)
            ),
            "The slope of relu at 0 is 0 here: it is 1 only where the input is above 0.": by(
                lambda word, a, b, number, y: (float(a >= 0), 0.0) if word == RELU else
                slopes(word, a, b, number, y)
            ),
            "The slope of relu is 1 where the input is above 0, not the input.": by(
                lambda word, a, b, number, y: (y, 0.0) if word == RELU else
                slopes(word, a, b, number, y)
            ),
            "The gradient of a value times a plain number is that number.": by(
                lambda word, a, b, number, y: (1.0, 0.0) if word in (MUL_NUMBER, NUMBER_MUL) else
                slopes(word, a, b, number, y)
            ),
        },
    )  # fmt: skip


# ---- programs -----------------------------------------------------------------------------------


def written(rng: np.random.Generator, x: np.ndarray, numbers: np.ndarray, kind: int) -> np.ndarray:
    """Return a program of one operation for each number; its results stay small.

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
    rng: np.random.Generator, rows: list[tuple[int, int, int]], values: list[float],
    numbers: np.ndarray, step: int, kind: int,
) -> tuple[int, int, int]:  # fmt: skip
    """Return the next operation: every result goes into the next, joined by any earlier one."""
    last, leaves = len(values) - 1, len(values) - step
    if kind == DOUBLINGS:
        return (MUL_NUMBER if step % 2 else ADD), last, last
    if kind == TREE:
        word, next_leaf = int(rng.choice((ADD, MUL))), min(step + 1, leaves - 1)
        return word, (last if step else 0), next_leaf
    if kind == ALL and step == 0:
        return RELU, leaves // 2, 0  # of the leaf that is 0
    if abs(values[last]) > 2 and kind != SHARED:
        numbers[step] = 0.4
        return (MUL_NUMBER if kind == ALL else TANH), last, last
    word, other = int(rng.choice(WORDS[kind])), int(rng.integers(0, len(values)))
    if rows and rows[-1][0] == RELU:
        word, other = ADD, last - 1  # so that nothing is lost where relu made 0
    elif word == RELU:
        return RELU, other, last
    if word == MUL and 0 in (values[last], values[other]):
        word = ADD  # a product with 0 hides what the other went through
    return (word, last, other) if rng.random() < 0.5 or word > MUL else (word, other, last)


def result(word: int, a: float, b: float, number: float) -> float:
    """Return what one operation makes of numbers."""
    if word in (ADD, ADD_NUMBER, NUMBER_ADD):
        return a + (b if word == ADD else number)
    if word in (MUL, MUL_NUMBER, NUMBER_MUL):
        return a * (b if word == MUL else number)
    return math.tanh(a) if word == TANH else max(a, 0.0)


def slopes(word: int, a: float, b: float, number: float, y: float) -> tuple[float, float]:
    """Return the derivatives of one operation, whose result is y, by its operands."""
    if word in (MUL, MUL_NUMBER, NUMBER_MUL):
        return (b, a) if word == MUL else (number, 0.0)
    if word == TANH:
        return 1 - y * y, 0.0
    return (float(a > 0), 0.0) if word == RELU else (1.0, 1.0)


def computed(
    x: np.ndarray, program: np.ndarray, numbers: np.ndarray, by: Slopes
) -> tuple[np.ndarray, Parts]:
    """Return all results and, for each, its operands and the slopes by them."""
    values, parts = [float(v) for v in x], [()] * len(x)
    for (word, one, other), number in zip(program.tolist(), numbers.tolist(), strict=True):
        a, b = values[one], values[other]
        values.append(result(word, a, b, number))
        pair = by(word, a, b, number, values[-1])
        parts.append(tuple(zip((one, other), pair, strict=True))[: 2 if word in (ADD, MUL) else 1])
    return np.array(values), parts


def shown(x: np.ndarray, program: np.ndarray, numbers: np.ndarray) -> str:
    """Return a short program as a learner would write it, of a long one how long it is."""
    if len(x) + len(program) > 12:
        return f"{len(program)} operations that begin with {len(x)} values"
    names = "abcdefghijkl"
    lines = [f"{names[k]} = Value({v:.3g})" for k, v in enumerate(x)]
    forms = ("{a} + {b}", "{a} * {b}", "{a} + {c:.3g}", "{a} * {c:.3g}", "{c:.3g} + {a}",
             "{c:.3g} * {a}", "{a}.tanh()", "{a}.relu()")  # fmt: skip
    for k, ((word, one, other), c) in enumerate(zip(program.tolist(), numbers, strict=True)):
        made = forms[word].format(a=names[one], b=names[other], c=c)
        lines.append(f"{names[len(x) + k]} = {made}")
    last = names[len(x) + len(program) - 1]
    return f"{'; '.join(lines)}; {last}.backward()"


# ---- ways to go back ----------------------------------------------------------------------------


def backwards(
    parts: Parts, order: list[int] | Iterator[int], *, add: bool = True, chain: bool = True
) -> np.ndarray:
    """Return the gradient of each result, where results hand on theirs in this order."""
    grad = np.zeros(len(parts))
    grad[-1] = 1
    with np.errstate(over="ignore", invalid="ignore"):  # wrong slopes may multiply to anything
        for k in order:
            for part, slope in parts[k]:
                grad[part] = (grad[part] if add else 0) + slope * (grad[k] if chain else 1)
    return grad


def handed_on_again(parts: Parts, order: list[int]) -> np.ndarray:
    """Return the gradients after three losses, each of which hands on all that grad holds."""
    grad = np.zeros(len(parts))
    for weight in (1, 5, None):  # the last loss is the last result itself
        grad[-1] = 1 if weight is None else grad[-1] + weight
        for k in order:
            for part, slope in parts[k]:
                grad[part] += slope * grad[k]
    return grad


def ordered(parts: Parts) -> list[int]:
    """Return the results the last one came from, each before all that it was made of."""
    order: list[int] = []

    def visit(k: int) -> None:
        if k not in order:
            for part, _ in parts[k]:
                visit(part)
            order.append(k)

    visit(len(parts) - 1)
    return order[::-1]


def depth_first(parts: Parts) -> list[int]:
    """Return the results in the order in which a walk from the last one meets them."""
    order: list[int] = []

    def visit(k: int) -> None:
        if k not in order:
            order.append(k)
            for part, _ in parts[k]:
                visit(part)

    visit(len(parts) - 1)
    return order


def from_a_list(parts: Parts, which: int) -> list[int]:
    """Return the results as they leave a list, from its begin (0) or end (-1), each once."""
    waiting = [len(parts) - 1]
    met, order = set(waiting), []
    while waiting:
        order.append(waiting.pop(which))
        new = [p for p in dict.fromkeys(p for p, _ in parts[order[-1]]) if p not in met]
        waiting += new
        met.update(new)
    return order


def visited_again(parts: Parts) -> np.ndarray:
    """Return the gradients where each use of a value makes it hand on all it has so far."""
    grad = np.zeros(len(parts))
    grad[-1] = 1

    def visit(k: int) -> None:
        for part, slope in parts[k]:
            grad[part] += slope * grad[k]
            visit(part)

    visit(len(parts) - 1)
    return grad
