"""Translate Numba's errors into plain messages at the source line that causes them."""

from __future__ import annotations

import ast
import contextlib
import linecache
import re
import traceback
from collections.abc import Iterator
from types import FrameType
from typing import Any

from gpukit import errors
from gpukit.compiler import facts, refuse
from gpukit.compiler.diagnostics import mistakes
from gpukit.compiler.frontend import source
from gpukit.compiler.unit import Unit

# Patterns in Numba's errors for the common mistakes, each with the rule and what to do.
_TYPE_RULES: tuple[tuple[str, str, str], ...] = (
    (
        r"Function\((complex\d+)\) found for signature(?s:.*?)too many positional arguments",
        "np.{0} takes one value in a kernel.",
        "write np.{0}(complex(real, imaginary))",
    ),
    (
        r"Cannot modify readonly array",
        "The kernel writes to an array that is read-only.",
        "pass a writeable copy: x.copy()",
    ),
    (
        r"cannot index array\((\S+), (\d)d, \w\) with (\d) indices",
        "An array of {1} axes is used with {2} indices.",
        "use one index per axis, or pass an array with {2} axes",
    ),
    (
        r"Unsupported array index type ([^\s\]]+)",
        "An array index must be an integer, got {0}.",
        "use // instead of /, or int(...)",
    ),
    (
        r"an array index must be integers, not (.+)",
        "An array index must be an integer, got {0}.",
        "use // instead of /, or int(...)",
    ),
    (
        r"setitem\(array\((\w+), \dd, \w\), .*, array\((\w+), (\d)d, \w\)\)",
        "A {2}-dimensional array is stored in one element of an array of {0}.",
        "index the array on the right once per axis, so that one element is stored",
    ),
    (
        r"setitem\(array\(((?:int|uint|float)\d+), \dd, \w\), .*, complex\d+\)",
        "A complex number cannot be stored in an array of {0}.",
        "store its .real and .imag, or pass an array of dtype complex64",
    ),
    (r"setitem\((?:Uni)?Tuple", "A tuple cannot be changed.", "use cuda.local.array(shape, dtype)"),
    (
        r"setitem\(array\(([^,]+),.*(?:Literal\[str\]|unicode_type|\[(?:unichr|char) x \d+\])",
        "Text (a str) cannot be stored in an array of {0}.",
        "store a number; a kernel cannot work with text",
    ),
    (
        r"setitem\(array\(([^,]+),.*, (?:Uni)?Tuple",
        "A tuple cannot be stored in one element of an array of {0}.",
        "store its elements one by one",
    ),
    (
        r"getitem\(Tuple\(.*\), u?int",
        "A tuple with elements of several types can only be indexed by a constant.",
        "give its elements one type, or write them out: t[0], t[1]",
    ),
    (
        r"[gs]etitem\(((?:int|uint|float|complex)\d+|bool|none),",
        "A value of type {0} is indexed with square brackets, as if it were an array.",
        "pass a NumPy array, for one number np.array([x])",
    ),
    (
        r"[gs]etitem\(array\(\[(?:unichr|char)",
        "The kernel uses an array of text.",
        "pass numbers; a kernel cannot work with text",
    ),
    (
        r"Variable '(\w+)' is not defined",
        "The variable {0} is used before it has a value.",
        "assign one first: {0} = 0",
    ),
    (
        r"print\(\) function implementation does not support keyword",
        "print in a kernel takes no keyword arguments, such as sep, end or file.",
        "remove it",
    ),
    (
        r"matches for function '<function (?:[\w<>]+\.)*(\w+) at \w+>' for the current target",
        "The function {0} is registered with Numba for another target, not for kernels.",
        'register it for kernels: @overload({0}, target="cuda"), or for all targets: "generic"',
    ),
    (
        r"Cannot unify (.+) and (.+) for '(\w+)",
        "{2} is of type {0} in one place and of type {1} in another.",
        "give each its own name",
    ),
    (
        r"built-in function (\w+)>\) found for signature:\s*>>> \w+\((.*)\)",
        "The operation {0} does not exist for ({1}).",
        "",
    ),
    (  # in a device function; except for an intrinsic whose message says why it does not match
        r"intrinsic (\w+)>\) found for signature:\s*>>> \w+\((.*)\)(?s:.*)No match\.",
        "The operation {0} does not exist for ({1}).",
        "",
    ),
    (
        r"Function\(<function (\w+) at \w+>\) found for signature:\s*>>> \w+\((.*)\)",
        "The function {0} cannot be used in a kernel with ({1}).",
        "",
    ),
)


def type_rule(text: str) -> tuple[str, str]:
    """Return rule and fix for a typing error of Numba's, or two empty strings.

    >>> type_rule("cannot index array(float32, 1d, C) with 2 indices: UniTuple(int64 x 2)")[0]
    'An array of 1 axes is used with 2 indices.'
    """
    for pattern, rule, fix in _TYPE_RULES:
        found = re.search(pattern, text)
        if found:
            return rule.format(*found.groups()), fix.format(*found.groups())
    return "", ""


@contextlib.contextmanager
def plain(unit: Unit, kinds: tuple[Any, ...]) -> Iterator[None]:
    """Translate Numba's errors inside a `with` block; `kinds` are the types of the arguments."""
    from numba.core.errors import NumbaError

    try:
        yield
    except errors.GpukitError:
        raise
    except (NotImplementedError, RecursionError) as error:
        raise refuse.unsupported(
            unit,
            unit.tree,
            f"Numba could not compile the kernel: {error}.",
            "write it in smaller or simpler steps",
        ) from error
    except NumbaError as error:
        raise _translated(unit, kinds, error) from None  # Numba's error is kept as __context__
    except Exception as error:
        frames = list(traceback.walk_tb(error.__traceback__))
        if not _of_numba(frames[-1][0]):
            raise
        raise _baffled(unit, kinds, frames, error) from None


def type_error_class() -> type[errors.KernelTypeError]:
    """Return the error class that is also Numba's TypingError, for code that catches that."""
    return refuse.numba_class(errors.KernelTypeError)


def _translated(unit: Unit, kinds: tuple[Any, ...], error: Any) -> errors.KernelTypeError:
    text = str(getattr(error, "msg", error)).strip()
    place = _place(unit, text, getattr(getattr(error, "loc", None), "line", 0))
    inferred = getattr(error, "inferred", None)
    known = mistakes.explain(unit, place["kernel"], place["line"], text, inferred)
    if known is not None:
        if known.function is not None:
            place = _at(known.function, source.find(known.function), known.line)
        return type_error_class()(known.rule, **place, fix=known.fix)
    rule, fix = type_rule(text)
    return type_error_class()(
        rule or _short(text),
        **place,
        fix=fix
        or f"check the types of the arguments ({_given(unit, kinds)}) against what the line needs",
    )


def _of_numba(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] == "numba"


def _baffled(
    unit: Unit, kinds: tuple[Any, ...], frames: list[tuple[FrameType, int]], error: Exception
) -> errors.KernelTypeError:
    """Return the error for types on which Numba's own code fails instead of rejecting them."""
    # The object that Numba was about to type has a location: take the innermost one.
    places = [getattr(frame.f_locals.get("self"), "loc", None) for frame, _ in frames]
    line = next((loc.line for loc in reversed(places) if hasattr(loc, "line")), 0)
    said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return type_error_class()(
        f"Numba cannot infer the types of this statement; its own code fails with {said}.",
        **_place(unit, "", line),
        fix=f"check the types of the arguments ({_given(unit, kinds)}); give arrays one index "
        "per axis",
    )


def _given(unit: Unit, kinds: tuple[Any, ...]) -> str:
    return ", ".join(f"{n}: {k}" for n, k in zip(unit.parameters, kinds, strict=False))


# Numba reports the innermost function first: where its typing failed, then its first lines.
_INNERMOST = re.compile(
    r"^During: typing of .* at (.+) \((\d+)\)$(?s:.*?)^def (\w+)\(", re.MULTILINE
)


def _place(unit: Unit, text: str, line: int) -> dict[str, Any]:
    """Return the location of a Numba error: in the kernel or in a device function that it calls."""
    found = _INNERMOST.search(text)
    if found and unit.devices and linecache.getline(found[1], int(found[2])):
        file, line, name = found[1], int(found[2]), found[3]
        text = linecache.getline(file, line).strip()
        return {"kernel": name, "file": file, "line": line, "source": text}
    inlined = _inlined(unit, line)
    if inlined is not None:
        name, found_there = inlined
        text = found_there.line(line).strip()
        return {"kernel": name, "file": found_there.file, "line": line, "source": text}
    return _at(unit.function, unit.source, line or unit.tree.lineno)


def _inlined(unit: Unit, line: int) -> tuple[str, source.Source] | None:
    """Return name and source of a line that occurs only in inlined functions, else None."""
    origins = {
        facts.of(node).inlined_from
        for node in ast.walk(unit.tree)
        if isinstance(node, (ast.stmt, ast.expr)) and getattr(node, "lineno", 0) == line
    }
    return origins.pop() if len(origins) == 1 else None


def _at(function: Any, found: source.Source, line: int) -> dict[str, Any]:
    text = found.line(line)
    return {"kernel": function.__name__, "file": found.file, "line": line, "source": text}


def _short(text: str) -> str:
    """Keep the sentences of a Numba error that concern the kernel, not Numba's listing."""
    dropped = (
        "Failed in ",
        "There are ",
        "- Of which",
        "Overload ",
        "Rejected",
        "in the ",
        "raised from ",
        ">>> <unknown function>",
    )
    kept: list[str] = []
    for line in (s.rstrip() for s in text.splitlines()):
        if line.strip().startswith(("File ", "During:")) and kept:
            break
        if line.strip() and not line.strip().startswith(("File ", *dropped)):
            kept.append(line.strip())
    return "\n".join(kept[:12])
