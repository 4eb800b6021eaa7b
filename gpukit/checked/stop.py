"""Why an instrumented run was stopped before its end, for reports that must not seem complete."""

from __future__ import annotations

from collections.abc import Callable

CTRL_C = "Ctrl-C"


def _ctrl_c() -> str:
    return CTRL_C


_why: Callable[[], str] = _ctrl_c


def explain(why: Callable[[], str] | None) -> None:
    """Let `why` explain from now on what causes a KeyboardInterrupt; None: Ctrl-C."""
    global _why
    _why = why or _ctrl_c


def cause() -> str:
    """Return the cause of the KeyboardInterrupt that is being handled."""
    return _why()
