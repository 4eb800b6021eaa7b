"""Why what is watched is stopped before its end, for reports that must not seem complete."""

from __future__ import annotations

from collections.abc import Callable

CTRL_C = "Ctrl-C"


def _ctrl_c() -> str:
    return CTRL_C


_why: Callable[[], str] = _ctrl_c


def explain(why: Callable[[], str] | None) -> None:
    """Let `why` say from now on what a KeyboardInterrupt comes from; None: Ctrl-C."""
    global _why
    _why = why or _ctrl_c


def cause() -> str:
    """Return what the KeyboardInterrupt that is being handled comes from."""
    return _why()
