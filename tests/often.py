"""Selects the rows of parametrised tests that `make test` runs; `make test-all` runs all."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

import pytest

# Of the selected rows of a test with one of these marks, one in EVERY runs.
COSTLY = frozenset(["costly", "watched", "programs", "corpus"])
EVERY = 4


def row(*values: Any, often: bool, name: str | None = None) -> Any:
    """Return one row of parameters, marked exhaustive unless it runs `often`."""
    return pytest.param(*values, id=name, marks=() if often else (pytest.mark.exhaustive,))


def each(values: Iterable[Any], step: int) -> list[Any]:
    """Return one row per value, of which the first of every `step` runs often."""
    return [row(value, often=number % step == 0) for number, value in enumerate(values)]


def parameters(test: Any) -> dict[tuple[str, ...], tuple[int, ...]]:
    """Return the values of a row, grouped by the `parametrize` mark that sets them.

    Values are compared by `id`: all rows contain the same objects.
    """
    params = test.callspec.params
    names = [mark.args[0] for mark in test.iter_markers("parametrize")]
    groups = [n.replace(",", " ").split() if isinstance(n, str) else n for n in names]
    fixtures = params.keys() - {name for group in groups for name in group}
    groups += [[name] for name in sorted(fixtures)]
    return {tuple(group): tuple(id(params[name]) for name in group) for group in groups}


def covering(rows: Sequence[Mapping[Hashable, Hashable]]) -> set[int]:
    """Return the indices of few rows in which every value of every parameter occurs.

    A test of sizes, dtypes and variants then runs as often as its longest list has values, not as
    often as their product. Greedily, the next row has the most values that do not occur yet; among
    such rows, the most pairs that do occur, since each pair of a variant and a dtype is one more
    kernel to compile; among those, the least used values.
    """
    values = [tuple(row.items()) for row in rows]
    found = Counter(value for row in values for value in row)
    # Rows with a unique value, such as all rows of a test with one parameter.
    chosen = {index for index, row in enumerate(values) if any(found[v] == 1 for v in row)}
    used = Counter(value for index in chosen for value in values[index])
    pairs = {pair for index in chosen for pair in combinations(values[index], 2)}
    missing = found.keys() - used.keys()

    def worth(index: int) -> tuple[int, int, int]:
        row = values[index]
        return (
            sum(value in missing for value in row),
            sum(pair in pairs for pair in combinations(row, 2)),
            -sum(used[value] for value in row),
        )

    while missing:
        best = max((index for index in range(len(rows)) if index not in chosen), key=worth)
        chosen.add(best)
        used.update(values[best])
        pairs.update(combinations(values[best], 2))
        missing.difference_update(values[best])
    return chosen


def mark_exhaustive(items: Iterable[Any]) -> None:
    """Mark the rows that only `make test-all` runs.

    The first costly test of a file runs from its first row on, the second from its second, and so
    on, as such tests often have the same rows.
    """
    functions: dict[str, list[Any]] = {}
    for item in items:
        if hasattr(item, "callspec") and not item.get_closest_marker("exhaustive"):
            functions.setdefault(item.nodeid.partition("[")[0], []).append(item)
    offsets: Counter[str] = Counter()
    for name, rows in functions.items():
        chosen = sorted(covering([parameters(row) for row in rows]))
        if not COSTLY.isdisjoint(mark.name for mark in rows[0].iter_markers()):
            file = name.partition("::")[0]
            chosen = chosen[offsets[file] % min(EVERY, len(chosen)) :: EVERY]
            offsets[file] += 1
        for index, row in enumerate(rows):
            if index not in chosen:
                row.add_marker(pytest.mark.exhaustive)
