"""What different gradients on the ranks come from: each function knows one mistake, or none.

The names are those of `explanations`.
"""

from __future__ import annotations

from gpukit.parallel.checker import memory
from gpukit.parallel.checker.cases import Case
from gpukit.parallel.checker.findings import Finding, ranks_in_words
from gpukit.parallel.checker.memory import factor
from gpukit.parallel.checker.wording import gradient, number, say, total

SUMS = (
    "Where the model is split over the ranks, look for a sum of activations, or of their gradients "
    "in the backward pass, that is left out: the gradients of the ranks do not add up to that of "
    "one process. Where each rank has its own examples, exchange the gradients."
)
EXCHANGE = (
    "Sum the gradients over the ranks between the backward pass and the update, "
    "`world.all_reduce(parameters.grad)`, and divide by `world.size` if the loss is a mean; "
    "`parallel.DataParallel` does both."
)


def not_exchanged(case: Case) -> Finding | None:
    """No exchange before the update: none at all, one afterwards, or one among some ranks only."""
    many = ranks_in_words(case.ranks)
    if not any(case.exchanges.values()):
        late = [operations[0] for operations in case.later.values() if operations]
        if len(late) == len(case.ranks):
            return say(
                "late-exchange",
                case,
                f"{gradient(case)} is exchanged in line {late[0].line}, after the update"
                f"{case.at_update} has used it: each of {many} was updated with its own "
                f"gradient{total(case)}.",
                "Exchange the gradients before the update.",
                late[0],
                case.update,
            )
        return say(
            "missing-exchange",
            case,
            f"{gradient(case)} is never exchanged: {many} make the update"
            f"{case.at_update} with different gradients{total(case)}.",
            EXCHANGE if total(case) or case.expected is None else SUMS,
            case.update,
        )
    made = [operations[-1] for operations in case.exchanges.values() if operations]
    some = next((o for o in made if not {*case.ranks} <= {*o.ranks}), None)
    if some is not None and len(made) == len(case.ranks):
        return say(
            "missing-exchange",
            case,
            f"{gradient(case)} is exchanged among {ranks_in_words(some.ranks)} only, and differs "
            f"between {many}.",
            "Exchange it among all ranks that hold a copy of the parameter: the world, or the "
            "group of these ranks.",
            some,
        )
    return None


def unused(case: Case) -> Finding | None:
    """An exchange that came before the gradients, or whose result was not used."""
    last = {rank: case.reductions(rank)[-1] for rank in case.ranks if case.reductions(rank)}
    if len(last) < len(case.ranks):
        return None
    own: list[int] = []
    early: list[int] = []
    for rank, (before, after, _) in last.items():
        found = case.found[rank]
        if memory.proportional(found, after):
            continue
        (own if memory.proportional(found, before) else early).append(rank)
    if own:
        operation = last[own[0]][2]
        return say(
            "lost-result",
            case,
            f"{operation.what} in line {operation.line} gives {ranks_in_words(own)} the sum, but "
            f"the update{case.at_update} uses the rank's own gradient of `{case.name}` "
            "all the same.",
            "`all_reduce` works in place: on a copy, copy the result back, "
            "`parameters.grad.copy_to_device(copy)`; or give it `parameters.grad` itself.",
            operation,
            case.update,
        )
    if early and (case.expected is None or total(case)):
        operation = last[early[0]][2]
        return say(
            "early-exchange",
            case,
            f"{gradient(case)} is computed after the exchange in line {operation.line}: the "
            f"update{case.at_update} uses what each of {ranks_in_words(early)} has "
            f"computed alone{total(case)}.",
            "Call the exchange after `backward`, when the gradients are complete.",
            operation,
            case.update,
        )
    return None


def own_factor(case: Case) -> Finding | None:
    """The same gradient times a number of each rank's own."""
    first = case.expected if case.expected is not None else case.found[case.ranks[0]]
    factors = {rank: factor(g, first) for rank, g in case.found.items()}
    if not all(case.close(g, factors[rank] * first) for rank, g in case.found.items()):
        return None
    words = ", ".join(f"{number(c)} on rank {rank}" for rank, c in factors.items())
    return say(
        "scaled",
        case,
        f"{gradient(case)} has a factor of its own on each rank: {words}.",
        "Scale by the same number on all ranks: one that does not depend on the rank or on how "
        "many examples it has. The number of all examples is a sum over the ranks.",
        case.place,
        case.update,
    )
