"""What the process of an answer says about itself, of which nothing may be believed.

Each message is turned into facts of known names and types; anything else is a ProtocolError. So
what explains an outcome need not look at types, and texts hold no control characters.
"""

from __future__ import annotations

from typing import Any

from gpukit.course.frames import ProtocolError

_LONGEST, _MOST = 4000, 100  # characters of a text, entries of a list
_ERROR = {
    **dict.fromkeys(("type", "message", "kernel", "fix", "array", "source"), str),
    "line": int,
}
_MISSING = {"missing": str, "foreign": str}
_PLACES = ("block", "thread", "index", "shape")


def of_error(found: Any) -> dict[str, Any]:
    """Return the facts of an exception that an answer has raised."""
    facts = {name: _one(found, name, kind) for name, kind in _ERROR.items()}
    places = {name: _list(found, name, int) for name in _PLACES}
    return {**facts, **places, "bases": _list(found, "bases", str)}


def of_missing(found: dict[str, Any]) -> dict[str, Any]:
    """Return the facts about a file in which the entry is not."""
    facts = {name: _one(found, name, kind) for name, kind in _MISSING.items()}
    flags = {name: bool(found.get(name)) for name in ("host", "plain", "device")}
    return {**facts, **flags, **{name: _list(found, name, str) for name in ("kernels", "own")}}


def of_ready(found: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of the entry, if it says some."""
    return {"parameters": _list(found, "parameters", str)} if "parameters" in found else {}


def _one(found: Any, name: str, kind: type) -> Any:
    if not isinstance(found, dict):
        raise ProtocolError("a message is not an object")
    value = found.get(name, kind())
    if not isinstance(value, kind) or isinstance(value, bool):
        raise ProtocolError(f"{name} is not of type {kind.__name__}")
    return printable(value[:_LONGEST]) if isinstance(value, str) else value


def _list(found: Any, name: str, kind: type) -> list[Any]:
    values = found.get(name, []) if isinstance(found, dict) else None
    if not isinstance(values, list) or len(values) > _MOST:
        raise ProtocolError(f"{name} is not a short list")
    return [_one({name: value}, name, kind) for value in values]


def printable(text: str) -> str:
    """Return a text without control characters.

    >>> printable("red: \\x1b[31m\\a")
    'red: [31m'
    """
    return "".join(c for c in text if c in "\n\t" or c.isprintable())
