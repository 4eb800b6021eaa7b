"""Say what went wrong: first the fact, then the place, then what to look at."""

from __future__ import annotations

import difflib
import re
import signal
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from gpukit.checked.report import content
from gpukit.course.case import Case
from gpukit.course.compare import Mismatch
from gpukit.course.contracts import Contract
from gpukit.course.runner import Outcome
from gpukit.course.variations import Variation

if TYPE_CHECKING:
    from gpukit.checked.finding import Finding


# What to do where several threads write to one element of an output, and none to another.
OVERLAP = (
    "give each thread its own elements: here several threads compute the same index, and no thread "
    "computes those of other elements"
)


# Elements of all inputs of a case, up to which they are shown.
MOST_SHOWN = 12
_SHORT: Any = {"float_kind": str}
# Before a line of a correct answer and what it is changed to.
_VARIED = "A correct answer with one change gives exactly your results:"


def finding(found: Finding) -> str:
    """Explain what `gpukit.check` found: the sentence, the lines, what to do."""
    lines = [_sentence(found.message)]
    for line in content.source_lines(found):
        lines.append(f"  {'>' if line.marked else ' '} {line.number:3d} | {line.text}")
    if found.fix:
        lines.append(f"What to do: {_sentence(found.fix)}")
    return "\n".join(lines)


def _sentence(words: str) -> str:
    words = content.clean(words).strip()
    return words if words.endswith((".", "!", "?")) else f"{words}."


def contract(
    broken: Contract,
    counted: float,
    case: Case,
    busiest: list[dict[str, Any]],
    source: str,
    literals: list[Finding],
    line: int = 0,
) -> str:
    """Explain a broken contract: what is required and was counted, where, and why it matters.

    `busiest` holds the access that costs most, `literals` what the checker said about it, `line`
    is where most of what was counted was done, where that is no access.
    """
    lines = [f"Almost right: {broken.counted(counted)}; required: {broken.required}."]
    if broken.case:
        lines.append(f"That was counted with {case.sizes()}.")
    if literals:
        return "\n".join([*lines, finding(literals[0])])
    lines += _excerpt(source, line)
    for access in busiest:
        lines += _excerpt(source, access["line"])
        lines.append(_takes_part(access, broken, case))
    return "\n".join(filter(None, [*lines, " ".join(broken.why.split())]))


def _takes_part(access: dict[str, Any], broken: Contract, case: Case) -> str:
    """Say how many threads share in the costliest access, where that is the trouble."""
    if access["space"] != "global":
        return ""
    requests = sum(v for k, v in access.items() if k.endswith("_requests"))
    elements = access.get("global_bytes_asked", 0) / access["size"]
    if not requests or case.threads < 4:
        return ""
    if elements / requests < 2:
        return "There one thread of a warp does the work while the others wait."
    shared = broken.array and elements > 2 * np.size(case.args[broken.array])
    if shared and access["op"] == "load" and requests / case.warps > 32:
        return "There each thread reads many elements that other threads read as well."
    return ""


def mismatch(found: Mismatch, case: Case) -> str:
    """Explain a wrong output: how much of it, where, and the first element with its inputs."""
    element, whole = case.element(found.output, found.index), case.whole(found.output)
    lines = [
        _how_many(found, f" elements of {whole}")
        if found.total > 1
        else f"The only element of {whole} is wrong."
    ]
    nothing = "its old contents" if found.kept else "nothing: it was never written"
    got = nothing if found.first_unwritten else str(found.got)
    given = "" if found.first_unwritten else _inputs(found, case)
    lines.append(f"The first is {element}: expected {found.expected!s}, got {got}{given}.")
    lines += _small_inputs(case)
    if found.kept:
        return "\n".join(lines)
    if found.wrong > 1 and found.unwritten == found.wrong:
        lines.append("None of the wrong elements was ever written: no thread stored to them.")
    elif found.wrong > 1 and found.unwritten:
        verb = "was" if found.unwritten == 1 else "were"
        lines.append(
            f"{found.unwritten:,} of them {verb} never written: no thread stored to them. The "
            "others hold wrong values."
        )
    return "\n".join(lines)


def _how_many(found: Mismatch, what: str = "") -> str:
    """Say how many elements are wrong, and which."""
    action = "is" if found.wrong == 1 else "are"
    return f"{found.wrong:,} of {found.total:,}{what} {action} wrong{found.where}."


def _small_inputs(case: Case) -> list[str]:
    """Show the inputs of a case that is small enough to be computed by hand."""
    inputs = {
        name: value
        for name, value in case.args.items()
        if isinstance(value, np.ndarray) and name not in case.expected
    }
    each = {value.shape for value in case.expected.values() if value.size == 1}
    if all(value.shape in each for value in inputs.values()):  # they are in the line before
        return []
    if sum(value.size for value in inputs.values()) > MOST_SHOWN:
        return []
    shown = (f"{name} = {_short(value)}" for name, value in inputs.items())
    return [f"The inputs: {'; '.join(shown)}."]


def around(found: Mismatch, case: Case) -> str:
    """Show what stands beside the first wrong element in the inputs of a long vector."""
    expected = case.expected[found.output]
    if expected.ndim != 1 or expected.size <= MOST_SHOWN or found.first_unwritten:
        return ""
    low = max(0, min(found.index[0] - 4, expected.size - 9))
    shown = "; ".join(
        f"{name}[{low}:{low + 9}] = {_short(value[low : low + 9])}"
        for name, value in case.args.items()
        if isinstance(value, np.ndarray)
        and name not in case.expected
        and value.shape == expected.shape
    )
    return f"Around the first: {shown}." if shown else ""


def _short(values: Any) -> str:
    return " ".join(np.array2string(values, separator=", ", formatter=_SHORT).split())


def _inputs(found: Mismatch, case: Case) -> str:
    """Name the inputs of the first wrong element, where each element has its own."""
    shape = case.expected[found.output].shape
    given = [
        f"{case.element(name, found.index)} = {value[found.index]!s}"
        for name, value in case.args.items()
        if isinstance(value, np.ndarray) and name not in case.expected and value.shape == shape
    ]
    given += [f"{k} = {v!s}" for k, v in case.args.items() if not isinstance(v, np.ndarray)]
    return f" ({', '.join(given)})" if given else ""


def varied(found: list[Variation], source: str) -> str:
    """Explain results that a small change of the solution leaves, too.

    Changes in more than two different places say little about where the mistake is. A line of a
    detective's starter is only called wrong where the answer has it.
    """
    changes: dict[str, Variation] = {}
    lines = [line.strip() for line in source.splitlines()]
    found = [v._replace(still="") if v.still == v.wrong not in lines else v for v in found]
    found = [v for v in found if v.still in ("", *lines)]
    found = [v for v in found if not _has(v, lines)]
    fewest = min((v.right.count("\n") for v in found), default=0)
    found = [v for v in found if v.right.count("\n") == fewest]
    for variation in found:
        changes.setdefault(variation.right, variation)
    if not 0 < len(changes) < 3:
        return ""
    still = f"This line of the starter is still wrong: `{found[0].still}`."
    if found[0].still and found[0].still == found[0].wrong:
        return still
    lines = [still] if found[0].still else []
    for number, change in enumerate(changes.values()):
        lines.append("So does this change:" if number else _VARIED)
        lines += _change("correct:", change.right) + _change("changed:", change.wrong)
    return "\n".join([*lines, "Look for the equivalent in your code."])


def _has(variation: Variation, answer: list[str]) -> bool:
    """Tell whether an answer has a corrected line already: then its names mean something else."""
    right, wrong, left = (
        [line.strip() for line in text.splitlines()]
        for text in (variation.right, variation.wrong, variation.text)
    )
    return any(answer.count(line) > left.count(line) for line in right if line not in wrong)


def _change(word: str, text: str) -> list[str]:
    first, *others = text.splitlines() or ["(this line is missing)"]
    return [f"  {word}  {first}", *(" " * (len(word) + 4) + line for line in others)]


def kept(output: str, source: str) -> str:
    """Explain an output that is computed from the old contents of an output, this or another."""
    if source != output:
        return (
            f"The value stored in {output} is computed from what {source} held before the launch, "
            f"which is not a number: {source} is an output. Compute what you need in a variable."
        )
    return (
        f"The value stored in {output} is computed from what {output} held before the launch, "
        "which is not a number: compute it in a local variable, and store that with `=` at the end."
    )


NO_BARRIER = "delete the barrier: a right answer needs none, since the threads share nothing here"


def input_race(array: str) -> str:
    """Say what to do about a race in an array that nobody should write to."""
    return (
        f"do not write to {array}, which is an input that other threads read: keep the changed "
        "value in a variable"
    )


def hint(found: Mismatch) -> str:
    """Return what the wrong values say about the mistake behind them, or nothing."""
    if found.added:
        return (
            f"A value was added to the old contents of {found.output}, which does not start at 0: "
            "store with `=`, not with `+=` or an atomic."
        )
    if _is_start(found):
        return (
            "The result is the initial value of the search, since no element is larger: initialize "
            "a maximum with minus infinity, `np.float32(-np.inf)`, or with the first element."
        )
    return f"Note that {found.resembles}." if found.resembles else ""


def start(found: Mismatch, source: str) -> str:
    """Say of a value that it is the start of a search, if the answer has such a start."""
    kind = getattr(found.got, "dtype", np.dtype(object)).kind
    if kind not in "iuf" or not re.search(r"\binf\b|[fi]info|infty|3\.40?28\d*e|1e3[08]", source):
        return ""
    info: Any = np.finfo(found.got.dtype) if kind == "f" else np.iinfo(found.got.dtype)
    for ends, word in (((-np.inf, info.min), "maximum"), ((np.inf, info.max), "minimum")):
        if found.got in ends and found.expected not in ends:
            return (
                f"{found.got!s} is what a {word} starts with: no element was taken into "
                "account there."
            )
    return ""


def outputs(wrong: list[str], right: list[str]) -> str:
    """Say which of several outputs are wrong in some cases, and which in none.

    >>> outputs(["new_w"], ["new_m", "new_v"])
    'Wrong: new_w. Right in all cases: new_m, new_v.'
    """
    if not right:
        all_of = "Both" if len(wrong) == 2 else f"All {len(wrong)}"
        return f"{all_of} outputs are wrong." if len(wrong) > 1 else ""
    return f"Wrong: {', '.join(wrong)}. Right in all cases: {', '.join(right)}."


def _is_start(found: Mismatch) -> bool:
    """Tell whether a large negative number came out where minus infinity is the largest."""
    return bool(found.expected < -3e38 and found.expected < found.got < -1000)


def elsewhere(found: Mismatch, sizes: str) -> str:
    """Say where the wrong elements of a larger case lie."""
    return f"With {sizes}: {_how_many(found)}"


def parameters(entry: str, asked: list[str], mine: list[str]) -> str:
    """Explain parameters that are not the task's."""
    wanted = f"The task asks for {entry}({', '.join(asked)})"
    given = f"{entry}({', '.join(mine)})"
    if len(mine) == len(asked):
        return f"{wanted}, in this order. Yours is {given}."
    return f"{wanted}: {len(asked)} parameters. Yours has {len(mine)}: {given}."


def changed(names: Iterable[str]) -> str:
    """Explain that a kernel wrote to its inputs."""
    names = list(names)
    what = "which is an input" if len(names) == 1 else "which are inputs"
    return f"The kernel wrote to {' and '.join(names)}, {what}. Write only to the output."


def outcome(found: Outcome, source: str, slow: str = "") -> str:
    """Explain why a case has no answer; `slow` is what to say where the time was over."""
    facts = found.facts
    if found.kind == "timeout":
        return (
            f"Stopped after {facts['seconds']:g} seconds without a result. "
            f"{slow or 'Look for a loop whose condition never becomes false.'}"
        )
    if found.kind == "died":
        return _died(int(facts["code"]))
    if found.kind == "missing":
        return _missing(facts)
    if found.kind == "protocol":
        return "The process that ran your file did not send a readable result."
    return _error(facts, source)


def _died(code: int) -> str:
    if code >= 0:
        return f"Your file ended the Python process (exit code {code}) before it gave a result."
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    return f"The process that ran your file was killed by {name}."


def _missing(facts: dict[str, Any]) -> str:
    if facts.get("host"):
        return _missing_host_code(facts)
    entry, kernels = facts["missing"], facts["kernels"]
    if facts["foreign"]:
        return (
            f"{entry} is imported from {facts['foreign']}, where it is already implemented. Write "
            "the kernel yourself."
        )
    if facts["device"]:
        return (
            f"{entry} is a device function, which only kernels can call. Write @cuda.jit above it, "
            "without device=True."
        )
    if facts["plain"]:
        return f"{entry} is defined, but it is not a kernel. Put @cuda.jit on the line above it."
    text = f"Expected a kernel named {entry}, found none."
    close = difflib.get_close_matches(entry, kernels, n=1, cutoff=0.6)
    if close:
        return f"{text} Did you mean {close[0]}? Rename it to {entry}."
    if kernels:
        return f"{text} Found: {', '.join(kernels)}."
    return f"{text} Define it with @cuda.jit."


def _missing_host_code(facts: dict[str, Any]) -> str:
    entry = facts["missing"]
    if facts["foreign"]:
        return (
            f"{entry} is imported from {facts['foreign']}, where it is already implemented. Write "
            "it yourself."
        )
    close = difflib.get_close_matches(entry, facts["own"], n=1, cutoff=0.6)
    guess = f" Did you mean {close[0]}? Rename it to {entry}." if close else ""
    return f"Expected {entry}, found nothing callable with that name.{guess}"


def _error(facts: dict[str, Any], source: str) -> str:
    """Explain an exception that the student's file or its kernel raised."""
    kind, number = facts["type"], int(facts["line"])
    ours = "GpukitError" in facts["bases"]
    lines = [f"{kind} in line {number}:" if number else f"{kind}:"]
    lines += _excerpt(source, number)
    lines.append(facts["message"].strip() or "(no message)")
    if ours and facts.get("fix"):
        lines.append(f"What to do: {facts['fix']}")
    return "\n".join(lines)


def _excerpt(source: str, number: int) -> list[str]:
    """Return the line and one above and below, the line itself marked."""
    text = source.splitlines()
    if not 1 <= number <= len(text):
        return []
    numbers = range(max(1, number - 1), min(len(text), number + 1) + 1)
    return [f"  {'>' if n == number else ' '} {n:3d} | {text[n - 1].rstrip()}" for n in numbers]
