"""Words for bad accesses, and for memory that was read or returned without being written."""

from __future__ import annotations

import ast

from gpukit.checked.messages.phrases import (
    ONCE,
    Facts,
    in_line,
    index_from_end,
    index_text,
    name_element,
    one_line,
    parsed,
    some,
)

Words = tuple[str, str]


def _does(facts: Facts) -> str:
    return ONCE.get(str(facts.get("hazard")), "accesses")


def _extent(facts: Facts) -> str:
    """How large the array is."""
    if not facts.has("shape"):
        return f"which is outside {facts.array}"
    if len(facts.shape) == 1:
        only = "no elements" if facts.shape[0] == 0 else f"only {some(facts.shape[0], 'element')}"
        return f"but {facts.array} has {only}"
    return f"but the shape of {facts.array} is {facts.shape}"


def out_of_bounds(facts: Facts) -> Words:
    """An access outside an array."""
    message = f"{facts.who} {_does(facts)} {facts.element}{facts.here}, {_extent(facts)}"
    for axis, (i, n) in enumerate(zip(facts.index, facts.shape, strict=False)):
        text = index_text(facts.get("what"), axis)
        if not n and facts.get("space") not in ("shared", "local"):
            return message, (
                f"let no thread reach the access where {facts.array} has no elements: guard it "
                f"with the index of the thread, `if ... < {facts.array}.shape[{axis}]:`"
            )
        if i >= n:
            return message, _too_large(facts, axis, text)
        if i < -n:
            return message, (
                f"guard the access with `if {text} >= 0:`, or fix how the index is computed"
            )
    return message, (
        f"guard the access with `if ... < {facts.array}.shape[0]:`, or fix how the index is "
        "computed"
    )


def _too_large(facts: Facts, axis: int, text: str) -> str:
    value, n = facts.index[axis], facts.shape[axis]
    if facts.get("space") in ("shared", "local"):
        if value == n and _counts_down(text):
            return f"fix how `{text}` is computed {_last(value, n)}"
        return f"make {facts.array} larger, or keep `{text}` below {n}, the size of axis {axis}"
    size = f"{facts.array}.shape[{axis}]"
    if _counts_down(text):
        return (
            f"fix how the index is computed: the last index along this axis is `{size} - 1`, and "
            f"`{text}` exceeds it"
        )
    if _is_read(text):
        count = "; a count is one more than the last index" if value == n else ""
        return (
            f"fix the index `{text}` {_last(value, n)}: a guard on the thread index does not "
            f"bound values that are read from an array{count}"
        )
    guard = f"guard the access with `if {text} < {facts.get('least_size', size)}:`"
    if facts.has("bound_kind"):
        return _bounded(facts, axis, text, guard)
    if text.isidentifier() and any(facts.index[axis] < n for n in facts.shape):
        return f"{guard}, or swap the indices if `{text}` indexes another axis"
    if facts.get("of_thread", True):
        return f"{guard}; a grid often has more threads than the array has elements"
    known = _last(value, n)
    if text.isidentifier():
        return f"{guard}, or fix how `{text}` is computed {known}"
    return (
        f"fix how `{text}` is computed {known}; {guard} only if elements outside are to be skipped"
    )


def _last(value: int, size: int) -> str:
    """Say how far an index is beyond the last one.

    >>> _last(9, 5), _last(5, 5)
    ('(it is 9 here, the last index is 4)', '(it is 5 here, one past the last index)')
    """
    if value == size > 0:
        return f"(it is {value} here, one past the last index)"
    return f"(it is {value} here, the last index is {size - 1})"


def _bounded(facts: Facts, axis: int, text: str, guard: str) -> str:
    """What to do where something bounds the index already, or what it is made of."""
    value, n, size = facts.index[axis], facts.shape[axis], f"{facts.array}.shape[{axis}]"
    known = _last(value, n)
    line, bound, kind = facts.get("bound_line"), facts.get("bound_text"), facts.get("bound_kind")
    if kind == "own":
        return f"{guard}: `{bound}` in line {line} lets {value} through"
    if kind == "half":
        return f"{guard} as well: `{bound}` in line {line} is only a lower bound"
    if kind == "outside":
        return (
            f"take the access out, or put it where `{bound}` in line {line} holds: here it runs "
            "only where that does not"
        )
    if kind == "else":
        return (
            f"nest the conditions of line {line}, with `if {bound}:` around the others: the access "
            "runs where not all of them hold, and so also in the threads outside"
        )
    if kind == "loop":
        return (
            f"end the loop in line {line} so that `{text}` stays below `{size}`, which is {n}, or "
            f"fix the index if `{text}` indexes another axis"
        )
    if kind == "or":
        return (
            f"replace `or` with `and` in line {line}: with `or` one true condition is enough, so "
            f"`{bound}` does not bound `{text}`, which is {value} here"
        )
    if kind == "and":
        return (
            f"replace `and` with `or` in line {line}: with `and` a thread is kept out only "
            f"if both conditions hold, so `{bound}` alone lets {value} through"
        )
    if kind == "axis":
        return (
            f"check which axis `{text}` runs along, and from which axis its bound is taken: "
            f"`{bound}` in line {line} bounds it by another axis of {facts.array} than the one "
            f"that it indexes; a guard with `{size}` would only skip the elements beyond it"
        )
    if kind == "other" and facts.get("several_axes", False):
        return (
            f"fix the index if another variable belongs to this axis, whose size is {n}; if "
            f"`{text}` does, bound it by `{size}`: it is {value} here, and `{bound}` in line "
            f"{line} bounds it by something else"
        )
    if kind == "other":
        return f"{guard}: `{bound}` in line {line} bounds it by something else"
    if kind == "free":
        return (
            f"guard the access: nothing bounds `{bound}`, from which `{text}` is computed "
            f"{known}; or fix how `{text}` is computed"
        )
    if kind == "offset":
        return (
            f"guard `{text}` {known} as well, with `if {text} < {size}:`: `{bound}` in line "
            f"{line} does not bound it; or fix the index, if you did not mean that element"
        )
    if kind == "whole":
        return (
            f"{guard} as well: `{bound}` in line {line} bounds a value computed from `{text}` and "
            f"others, so `{text}` alone can be {value}"
        )
    hide = "another guard around the access would hide the mistake"
    if kind == "made":
        if text.isidentifier():
            return f"check `{bound}` in line {line} {known}: {hide}"
        return (
            f"check each part of `{text}`, which is out of range {known}, and how it is computed, "
            f"such as `{bound}` in line {line}; {hide}"
        )
    return f"check `{bound}` in line {line} and how `{text}` is computed {known}; {hide}"


def _is_read(text: str) -> bool:
    """Tell whether an index is made of what an array holds, as in `ends[i]`.

    >>> [_is_read(text) for text in ("ends[i] + 1", "a.shape[0] - i", "i")]
    [True, False, False]
    """
    tree = parsed(text)
    read = [n.value for n in ast.walk(tree) if isinstance(n, ast.Subscript)] if tree else []
    return any(isinstance(array, ast.Name) for array in read)


def _counts_down(text: str) -> bool:
    """Tell whether an index is taken off something, as in `rows - row`: no guard fixes that.

    >>> [_counts_down(text) for text in ("rows - row", "rows - 1 - row", "i - 1", "i + 1")]
    [True, True, False, False]
    """
    try:
        node = ast.parse(text, mode="eval").body
    except SyntaxError:
        return False
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Sub):
        return False
    return not isinstance(node.right, ast.Constant)


def misaligned(facts: Facts) -> Words:
    """An access at an address that is not a multiple of its size."""
    size = facts.get("size", None)
    width = "its size" if size is None else some(size, "byte")
    start = f"byte {facts.get('given')}" if facts.has("given") else "an address"
    message = (
        f"{facts.who} {_does(facts)} {facts.element}{facts.here} at {start}, which is not a "
        f"multiple of {width}: on a GPU the kernel fails with a misaligned address error"
    )
    return message, (
        "make each element start at a multiple of its size: create a record's dtype with "
        "`align=True`, and copy a view that starts at another offset before the launch"
    )


def negative_index(facts: Facts) -> Words:
    """An index below zero, which Numba counts from the end."""
    index, shape = facts.index, facts.shape
    axis = next((k for k, i in enumerate(index) if i < 0), 0)
    known = len(index) == len(shape) and index
    wrapped = [i + n if i < 0 else i for i, n in zip(index, shape, strict=False)]
    meant = f" and means {name_element(facts.get('array'), wrapped)}" if known else ""
    message = f"{facts.who} {_does(facts)} {facts.element}{facts.here}, which counts from the end"
    text = index_text(facts.get("what"), axis)
    size = f"{facts.array}.shape[{axis}]"
    end = index_from_end(text, size)
    if not end and text.startswith("-") and _counts_down(text):
        end = f"{size} - {text[1:]}"
    if end:
        return (
            f"{message}{meant}",
            f"write `{end}`, which means the same and also works in CUDA C",
        )
    counted = _negated(text)
    if counted:
        return f"{message}{meant}", (
            f"write `{size} - 1 - {counted}` to count from the end: `{text}` is 0 where "
            f"`{counted}` is 0, which is the first element"
        )
    return f"{message}{meant}", (
        f"guard the access with `if {text} >= 0:`; to count from the end, subtract from `{size}`, "
        "as CUDA C requires"
    )


def _negated(text: str) -> str:
    """Return the name of which an index is the negative, as in `-row`; nothing where it is none.

    >>> _negated("-row"), _negated("-1"), _negated("-row - 1")
    ('row', '', '')
    """
    rest = text[1:] if text.startswith("-") else ""
    return rest if rest.isidentifier() else ""


def uninitialised_shared(facts: Facts) -> Words:
    """A read of shared memory that no thread of the block wrote."""
    message = (
        f"{facts.who} reads {facts.element}{facts.here}, but no thread of the block has written "
        f"it, and shared memory is not zero-initialized{_unused(facts)}"
    )
    return message, (
        f"write every element of {facts.array} that is read (beyond the edge of the data, a value "
        f"that does not change the result, such as 0 in a sum), then call `cuda.syncthreads()`"
        f"{_before(facts)}"
    )


def uninitialised_local(facts: Facts) -> Words:
    """A read of a thread's own array, or variable, before it was written."""
    if facts.get("variable", False):
        return (
            f"{facts.who} reads {facts.array}{facts.here}, but has executed no assignment to it; "
            "here it is 0, on a GPU whatever the register holds"
        ), f"assign {facts.array} before the `if` or the loop that may leave it unassigned"
    message = (
        f"{facts.who} reads {facts.element}{facts.here} before it has written it, and a local "
        f"array is not zero-initialized{_unused(facts)}"
    )
    return message, (
        f"assign a value, such as 0, to each element of {facts.array}{_before(facts)}; an array "
        "that other threads fill must be a `cuda.shared.array`"
    )


def uninitialised_global(facts: Facts) -> Words:
    """A read of device memory that nothing wrote."""
    message = (
        f"{facts.who} reads {facts.element}{facts.here}, but nothing has been written there: "
        f"memory from `cuda.device_array` is not zero-initialized{_unused(facts)}"
    )
    return message, (
        f"fill {facts.array} before the launch, for example with `cuda.to_device(np.zeros(...))`, "
        f"or write it in the kernel{_before(facts)}"
    )


def _unused(facts: Facts) -> str:
    return "; the value is not used" if facts.get("unused", False) else ""


def _before(facts: Facts) -> str:
    return f" before line {facts.line}" if facts.line else ""


def never_written(facts: Facts) -> Words:
    """An output that the kernel leaves as it was, in part or as a whole."""
    total = facts.get("elements", facts.get("total", facts.get("size", None)))
    written = facts.get("written", None)
    first = facts.get("first_unwritten", facts.get("index", ()))
    place = name_element(facts.get("array"), first)
    if facts.get("forgotten", False) and written == 0:
        return f"the kernel never accesses {facts.array}, which is new, uninitialized memory", (
            f"store the result in {facts.array}, or remove it from the arguments"
        )
    if written == 0:
        of = "" if total is None else f"any of the {total} elements of "
        message = f"no thread writes {of}{facts.array}{in_line(facts.line)}"
    elif written is None or total is None:
        message = f"no thread writes {place}"
    else:
        message = (
            f"the kernel writes {written} of the {some(total, 'element')} of {facts.array}; the "
            f"first that it does not write is {place}"
        )
    why = f" ({one_line(facts.get('reason'))})" if facts.has("reason") else ""
    if facts.get("severity") == "info":
        return f"{message}{why}", (
            "nothing, if only a part is meant to be written; otherwise check the guard and the "
            "index of the store"
        )
    return f"{message}{why}", (
        f"launch a thread for every element of {facts.array}: round the number of blocks up with "
        "`launch.ceil_div(n, threads)`, and check the guard and the index of the store"
    )
