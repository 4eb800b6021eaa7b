"""Diagnose the common mistake in a source line that Numba rejects.

Only rejected lines are examined, so correct code is never blamed. Each rule looks at the
expressions of the line and at Numba's message. The first rule that matches returns the violated
rule and what to do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gpukit.compiler.diagnostics.mistakes import calls, floats, several, values
from gpukit.compiler.diagnostics.mistakes.line import Advice, Line, functions, line_of
from gpukit.compiler.unit import Unit

NO_TEXT = values.NO_TEXT

_RULES: tuple[Callable[[Line], Advice | None], ...] = (
    calls.python_object,
    calls.arguments,
    calls.not_callable,
    values.text,
    several.whole_index,
    several.several,
    several.unpacked,
    several.no_sequence,
    values.global_array,
    values.atomic,
    floats.bits,
    values.power,
    values.attribute,
    calls.nothing_returned,
    values.whole_array,
)


def explain(unit: Unit, name: str, line: int, said: str, inferred: Any = None) -> Advice | None:
    """Return the mistake in a line of the function `name`: the unit's, or one that it calls.

    `inferred` are Numba's IR of the unit and the types that it had inferred before it stopped.
    """
    function = next((f for f in functions(unit) if f.__name__ == name), None)
    if function is None:
        return None
    where = line_of(unit, function, line, " ".join(said.split()))
    where.inferred = inferred if function is unit.function else None
    return next((advice for rule in _RULES if (advice := rule(where)) is not None), None)


__all__ = ["NO_TEXT", "Advice", "explain", "functions"]
