"""Parameters of a test of which every change is tried with a few, and `make test-all` with all."""

from collections.abc import Iterable
from typing import Any

import pytest


def row(*values: Any, often: bool, name: str | None = None) -> Any:
    """Return the parameters of one test, which is exhaustive if it does not run often."""
    return pytest.param(*values, id=name, marks=() if often else (pytest.mark.exhaustive,))


def each(values: Iterable[Any], step: int) -> list[Any]:
    """Return one row for each value; the first of every `step` runs often."""
    return [row(value, often=number % step == 0) for number, value in enumerate(values)]
