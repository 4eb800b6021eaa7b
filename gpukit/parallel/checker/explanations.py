"""What a wrong gradient comes from: each function here knows one mistake, or returns None.

With n ranks, G is the gradient of one process, g that which a rank's optimizer used, L what the
rank had computed before the exchange.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from gpukit.checked.finding import ERROR, WARNING
from gpukit.parallel.checker import memory
from gpukit.parallel.checker.cases import Case
from gpukit.parallel.checker.disagreements import not_exchanged, own_factor, unused
from gpukit.parallel.checker.findings import Finding, ranks_in_words
from gpukit.parallel.checker.memory import Host, factor
from gpukit.parallel.checker.wording import gradient, number, say, total


def diagnose(case: Case) -> Finding | None:
    """Return what is wrong with the gradient of a parameter."""
    if case.split:
        right = case.expected is None or case.close(case.found[min(case.found)], case.expected)
        return None if right else by_factor(case) or unknown(case)
    if not case.agree:
        return _first(case, not_exchanged, unused, stale, own_factor)
    if case.expected is None or case.close(case.found[case.ranks[0]], case.expected):
        return repeated(case, wrong=False)
    found = repeated(case, wrong=True)
    return found or _first(case, by_factor, same_batch, stale, accumulated, unequal_parts)


def _first(case: Case, *causes: Callable[[Case], Finding | None]) -> Finding:
    """Return the finding of the first cause that applies, or one that names no cause."""
    return next(filter(None, (cause(case) for cause in causes)), None) or unknown(case)


# --- The same wrong gradient on all ranks --------------------------------------------------------


def repeated(case: Case, *, wrong: bool) -> Finding | None:
    """Exchanged again, with numbers that all ranks have in common already."""
    first = case.reductions(case.ranks[0])
    for k in range(1, len(first)):
        starts = [case.reductions(rank)[k][0] for rank in case.ranks]
        if not all(memory.same_bits(starts[0], other) for other in starts[1:]):
            continue
        if not starts[0].any() or first[k][2].call.op != "sum":
            continue
        c = factor(case.found[case.ranks[0]], case.expected) if case.expected is not None else 0
        result = f" The result is {number(c)} times that of one process." if wrong else ""
        again, once = first[k][2], first[k - 1][2]
        finding = say(
            "repeated-exchange",
            case,
            f"{gradient(case)} is exchanged in line {once.line} and once more in line "
            f"{again.line}, when all ranks have the same numbers already.{result}",
            "Leave out one of the two. `DataParallel.backward` exchanges the gradients itself.",
            again,
            once,
        )
        return _with_severity(finding, ERROR if wrong else WARNING)
    return None


def _with_severity(finding: Finding, severity: str) -> Finding:
    return replace(finding, severity=severity)


def by_factor(case: Case) -> Finding | None:
    """G times a number: n, 1 / n, the number of parts, ..."""
    assert case.expected is not None
    found, n = case.found[min(case.found)], len(case.ranks)
    c = factor(found, case.expected)
    if not c or not case.close(found, c * case.expected):
        return None
    exact = (
        f"{gradient(case)} is {number(c)} times that of one process on {ranks_in_words(case.ranks)}"
    )
    if math.isclose(c, n, rel_tol=0.01):
        return say(
            "summed",
            case,
            f"{exact}: the sum over {n} ranks, where the mean is meant.",
            "Divide the sum by `world.size` once, after the exchange, as the loss is a mean over "
            "the examples of each rank.",
            case.place,
            case.update,
        )
    if math.isclose(c, 1 / n, rel_tol=0.01):
        return say(
            "averaged",
            case,
            f"{exact}: it is divided by the {n} ranks once too often, or a mean was taken where "
            "the parts add up.",
            "Divide once: where each rank divides its loss by the number of examples of all ranks, "
            "or holds a part of the sum, add the gradients and do not divide by `world.size`.",
            case.place,
            case.update,
        )
    return say(
        "scaled",
        case,
        f"{exact}.",
        "Look for a factor that is applied twice or left out: a batch that is computed in parts "
        "divides each part's mean by the number of parts once, either in the loss or after the "
        "sum.",
        case.place,
        case.update,
    )


def same_batch(case: Case) -> Finding | None:
    """The same L on all ranks."""
    if case.local is None or len(case.local) < 2:
        return None
    first, *others = case.local.values()
    if not first.any() or not all(case.close(first, other) for other in others):
        return None
    return say(
        "same-batch",
        case,
        f"{ranks_in_words(case.ranks)} have computed the same gradient of `{case.name}` in update "
        f"{case.step} before the exchange in line {case.place.line}, and it is not that of one "
        "process: they all have the same examples.",
        "Give each rank its own part of the batch: `nn.Loader(..., rank=world.rank, "
        "ranks=world.size)`, or `examples[world.rank::world.size]`.",
        case.place,
    )


def stale(case: Case) -> Finding | None:
    """An L that is zero, or that of the update before."""
    if case.local is None:
        return None
    old = [
        rank
        for rank, numbers in case.local.items()
        if not numbers.any()
        or (rank in case.previous and memory.same_bits(numbers, case.previous[rank]))
    ]
    if not old or len(old) == len(case.ranks):
        return None
    zero = not case.local[old[0]].any()
    what = "zero" if zero else f"still that of update {case.step - 1}"
    return say(
        "stale-gradient",
        case,
        f"{gradient(case)} is {what} on {ranks_in_words(old)} before the exchange in line "
        f"{case.place.line}: the rank has computed no gradient for this update, and the others "
        "average with it.",
        "Let every rank compute its part of every batch. One without examples contributes zeros, "
        "and the sum is divided by the number of examples of all ranks.",
        case.place,
    )


def accumulated(case: Case) -> Finding | None:
    """Sums of parts exchanged after each part: the earlier parts are summed again and again."""
    assert case.expected is not None
    parts: list[Host] = []
    for rank in case.ranks:
        made = case.reductions(rank)
        if len(made) < 2:
            return None
        parts.append(made[0][0])
        parts += [made[k][0] - made[k - 1][1] for k in range(1, len(made))]
    total = np.sum(parts, axis=0)
    c = factor(total, case.expected)
    if not c or not case.close(total, c * case.expected):
        return None
    operation = case.exchanges[case.ranks[0]][0]
    return say(
        "repeated-exchange",
        case,
        f"{gradient(case)} is exchanged {len(case.reductions(case.ranks[0]))} times in line "
        f"{operation.line} while it accumulates: what was exchanged before is summed over the "
        "ranks again with each part of the batch.",
        "Accumulate without an exchange and exchange the sum once, after the last part: "
        "`with replica.no_sync():` around the others.",
        operation,
        case.update,
    )


def unequal_parts(case: Case) -> Finding | None:
    """G is a weighted sum of the L, and g one with equal weights, or without some rank."""
    assert case.expected is not None
    if case.local is None or len(case.local) < 2:
        return None
    columns = np.stack([each.ravel() for each in case.local.values()], axis=1).astype(np.float64)
    found = case.found[case.ranks[0]]
    weights, *_ = np.linalg.lstsq(columns, case.expected.ravel().astype(np.float64), rcond=None)
    used, *_ = np.linalg.lstsq(columns, found.ravel().astype(np.float64), rcond=None)
    fits = case.close((columns @ weights).reshape(found.shape), case.expected)
    if not fits or not case.close((columns @ used).reshape(found.shape), found):
        return None
    if len(columns) <= columns.shape[1] or weights.min() <= 0 or np.ptp(used) > 0.01 * used.max():
        return None
    sizes = " : ".join(number(w / weights.min()) for w in weights)
    times = float(used.sum())
    what = "the mean over the ranks with equal weights"
    if abs(times - 1) > 0.01:
        what = f"{number(times)} times {what}"
        if abs(float(used.mean()) - 1) < 0.01:
            what = "the sum over the ranks, which nothing divides"
    return say(
        "unequal-parts",
        case,
        f"{gradient(case)} is {what}, but their parts of the batch have sizes in the proportion "
        f"{sizes} on {ranks_in_words(case.ranks)}: examples of a smaller part count more than "
        "others.",
        "Weight each rank's mean by its number of examples: multiply the gradient of the loss by "
        "it, and divide the sum by the number of examples of all ranks. `DataParallel` does so.",
        case.place,
        case.update,
    )


def unknown(case: Case) -> Finding:
    """No mistake that is known here."""
    if not case.agree and not case.split:
        first = case.ranks[0]
        others = [r for r in case.ranks if not case.close(case.found[r], case.found[first])]
        gap = max(float(np.abs(case.found[r] - case.found[first]).max()) for r in others)
        return say(
            "different-gradient",
            case,
            f"{gradient(case)} differs between rank {first} and {ranks_in_words(others)} by up to "
            f"{gap:.3g}{total(case)}.",
            "The ranks hold copies of this parameter and must update it alike: look at what they "
            "exchange before it, and at what changes it between the exchange and the update.",
            case.place,
            case.update,
        )
    assert case.expected is not None
    gap = float(np.abs(case.found[min(case.found)] - case.expected).max())
    largest = float(np.abs(case.expected).max())
    alike = f"; {ranks_in_words(case.ranks)} agree with each other" if case.ranks[1:] else ""
    return say(
        "different-gradient",
        case,
        f"{gradient(case)} differs from that of one process by up to {gap:.3g}, where its largest "
        f"element is {largest:.3g}{alike}.",
        "Compare which examples the ranks compute in this update with those of one process: "
        "together they must be the same, each once. In a model that is split over ranks, compare "
        "what is exchanged in the forward and the backward pass.",
        case.place,
        case.update,
    )
