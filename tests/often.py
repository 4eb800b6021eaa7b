"""Which parameters of a test every change is tried with; `make test-all` runs them all."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

import pytest

# Of the rows of a test with one of these marks, every change is tried with one of SHARE.
COSTLY = frozenset(["costly", "watched", "programs", "corpus"])
SHARE = 4


def row(*values: Any, often: bool, name: str | None = None) -> Any:
    """Return the parameters of one test, which is exhaustive if it does not run often."""
    return pytest.param(*values, id=name, marks=() if often else (pytest.mark.exhaustive,))


def each(values: Iterable[Any], step: int) -> list[Any]:
    """Return one row for each value; the first of every `step` runs often."""
    return [row(value, often=number % step == 0) for number, value in enumerate(values)]


def parameters(test: Any) -> dict[tuple[str, ...], tuple[int, ...]]:
    """Return the values of a test, together what one `parametrize` gives together.

    They are known by their `id`: in all rows the values of one list are the same objects.
    """
    params = test.callspec.params
    names = [mark.args[0] for mark in test.iter_markers("parametrize")]
    groups = [n.replace(",", " ").split() if isinstance(n, str) else n for n in names]
    fixtures = params.keys() - {name for group in groups for name in group}
    groups += [[name] for name in sorted(fixtures)]
    return {tuple(group): tuple(id(params[name]) for name in group) for group in groups}


def covering(rows: Sequence[Mapping[Hashable, Hashable]]) -> set[int]:
    """Return the places of few rows among which every value of every parameter occurs.

    A row gives a value for each parameter. A test of sizes, dtypes and variants runs
    as often as its longest list is long, not as often as their product. Each next row has the most
    values that none before it has; of those, the most pairs that some before it have, as a
    variant and a dtype are one more kernel to compile; of those, the values least used.
    """
    values = [tuple(row.items()) for row in rows]
    found = Counter(value for row in values for value in row)
    # Rows with a value that no other has: all rows of a test with one parameter.
    chosen = {place for place, row in enumerate(values) if any(found[v] == 1 for v in row)}
    used = Counter(value for place in chosen for value in values[place])
    pairs = {pair for place in chosen for pair in combinations(values[place], 2)}
    missing = found.keys() - used.keys()

    def worth(place: int) -> tuple[int, int, int]:
        row = values[place]
        return (
            sum(value in missing for value in row),
            sum(pair in pairs for pair in combinations(row, 2)),
            -sum(used[value] for value in row),
        )

    while missing:
        best = max((place for place in range(len(rows)) if place not in chosen), key=worth)
        chosen.add(best)
        used.update(values[best])
        pairs.update(combinations(values[best], 2))
        missing.difference_update(values[best])
    return chosen


def mark_exhaustive(items: Iterable[Any]) -> None:
    """Leave rows of a test to `make test-all`: products of its parameters, most of costly ones.

    Of costly tests in one file one begins at the first row, the next at the second and so on, as
    they often have the same rows.
    """
    functions: dict[str, list[Any]] = {}
    for item in items:
        if hasattr(item, "callspec") and not item.get_closest_marker("exhaustive"):
            functions.setdefault(item.nodeid.partition("[")[0], []).append(item)
    turns: Counter[str] = Counter()
    for name, rows in functions.items():
        chosen = sorted(covering([parameters(row) for row in rows]))
        if not COSTLY.isdisjoint(mark.name for mark in rows[0].iter_markers()):
            file = name.partition("::")[0]
            chosen = chosen[turns[file] % min(SHARE, len(chosen)) :: SHARE]
            turns[file] += 1
        for place, row in enumerate(rows):
            if place not in chosen:
                row.add_marker(pytest.mark.exhaustive)
