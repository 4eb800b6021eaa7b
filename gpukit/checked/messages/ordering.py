"""Sentences about operations in streams and on the host that nothing puts in order."""

from __future__ import annotations

from gpukit.checked.messages.phrases import ONCE, Facts

Words = tuple[str, str]
_DOES = {**ONCE, "both": "reads and writes"}
_DOING = {
    "read": "reading",
    "write": "writing",
    "atomic": "updating",
    "both": "reading and writing",
}


def stream_race(facts: Facts) -> Words:
    """Two operations in different streams on the same bytes of one array."""
    early, late = str(facts.get("other_use", "write")), str(facts.get("use", "write"))
    one, two = _stream(facts, "other_stream"), _stream(facts, "stream")
    message = (
        f"{facts.get('other_call', 'an operation')}{_other_line(facts)} on {one} {_DOES[early]} "
        f"{_array(facts)}, and {facts.get('call', 'an operation')}{facts.here} on {two} "
        f"{_DOES[late]} the same bytes; no event and no synchronization orders the two, so "
        f"{_consequence(early, late)}"
    )
    return message, (
        f"record an event on {one} after {_earlier(facts)} and make {two} wait for it before "
        f"{_later(facts)}{_calls(facts)}; or use one stream for both"
    )


def host_race(facts: Facts) -> Words:
    """The host uses or frees memory that an operation in flight needs."""
    use, other = str(facts.get("use", "read")), str(facts.get("other_use", "write"))
    stream = _stream(facts, "other_stream")
    does = {
        "unlock": f"{_memory(facts)} is unpinned{facts.here}",
        "change": f"the host changes {_array(facts)}{_between(facts)}",
        "free": f"{_memory(facts)} is freed{facts.here}",
    }.get(use, f"the host {ONCE.get(use, 'accesses')} {_array(facts)}{facts.here}")
    message = (
        f"{does}, while {facts.get('other_call', 'an operation')}{_other_line(facts)} on {stream} "
        f"may still be {_DOING[other]} it; nothing waits for the stream in between"
    )
    if use in ONCE or use == "change":
        message += f", so {_consequence(other, use)}"
    return message, f"{_synchronize(facts)} before {_until(facts, use)}{_keep(use)}"


def _array(facts: Facts) -> str:
    """Return the array's name, or the kind of memory that it has."""
    return str(facts.get("array") or f"the {facts.get('memory', '')} array".replace("  ", " "))


def _memory(facts: Facts) -> str:
    """Return words for the memory with which a sentence can begin: a name keeps its case."""
    return f"the memory of {facts.get('array')}" if facts.get("array") else _array(facts)


def _between(facts: Facts) -> str:
    """Say where a change was noticed: the line in which it was made is not known."""
    return f" before line {facts.line}" if facts.line else ""


def _keep(use: str) -> str:
    return ", and keep a reference to the array until then" if use == "free" else ""


def _consequence(early: str, late: str) -> str:
    if late in ("read", "both"):
        return "the values read may be the old or the new ones"
    if early in ("read", "both"):
        return "the earlier operation may read the new values"
    return "either result may remain"


def _until(facts: Facts, use: str) -> str:
    return f"{_array(facts)} is changed" if use == "change" else _later(facts)


def _earlier(facts: Facts) -> str:
    file = facts.get("other_file")
    if not facts.other_line:
        return "the first one"
    return f"line {facts.other_line}{f' of {file}' if file else ''}"


def _later(facts: Facts) -> str:
    return f"line {facts.line}" if facts.line else "the second one"


def _other_line(facts: Facts) -> str:
    return f" in {_earlier(facts)}" if facts.other_line else ""


def _stream(facts: Facts, role: str) -> str:
    """Return what a stream is called: by the program, by its number, or by CUDA.

    >>> _stream(Facts({"stream": "copies", "stream_number": 2}), "stream")
    'stream `copies`'
    """
    number = int(facts.get(f"{role}_number", 0))
    if not number:
        return "the default stream"
    name = facts.get(role)
    same = name and name == facts.get("stream") == facts.get("other_stream")
    if not name:
        return f"stream {number}"
    return f"stream `{name}` (number {number})" if same else f"stream `{name}`"


def _calls(facts: Facts) -> str:
    one, two = facts.get("other_stream"), facts.get("stream")
    if not one or not two or one == two:
        return ""
    return f": `done.record({one})`, then `done.wait({two})`"


def _synchronize(facts: Facts) -> str:
    name = facts.get("other_stream")
    return f"call `{name}.synchronize()`" if name else "call `cuda.synchronize()`"
