"""`often`: which rows of a parametrised test `make test` runs."""

import itertools
from types import SimpleNamespace

import pytest

from tests import often

SIZES, DTYPES, VARIANTS = [0, 1, 31, 33, 1009], ["float32", "float64"], ["naive", "tiled", "wide"]


def rows(**lists):
    return [dict(zip(lists, row, strict=True)) for row in itertools.product(*lists.values())]


def test_every_value_of_every_parameter_occurs_in_the_chosen_rows():
    given = rows(size=SIZES, dtype=DTYPES, variant=VARIANTS)
    chosen = [given[place] for place in often.covering(given)]
    assert {row["size"] for row in chosen} == set(SIZES)
    assert {row["dtype"] for row in chosen} == set(DTYPES)
    assert {row["variant"] for row in chosen} == set(VARIANTS)


def test_as_few_rows_are_chosen_as_the_longest_list_has_values():
    given = rows(size=SIZES, dtype=DTYPES, variant=VARIANTS)
    assert len(often.covering(given)) == len(SIZES)


def test_all_rows_of_a_single_parameter_are_chosen():
    assert often.covering(rows(size=SIZES)) == set(range(len(SIZES)))


def test_rows_repeat_pairs_of_values_if_they_can():
    """A kernel is compiled per variant and dtype; another size needs no other kernel."""
    given = rows(size=SIZES, dtype=DTYPES, variant=VARIANTS)
    chosen = [given[place] for place in often.covering(given)]
    assert len({(row["dtype"], row["variant"]) for row in chosen}) == len(VARIANTS)


def test_no_rows_choose_none():
    assert often.covering([]) == set()


class Item:
    """A fake of a collected test, as `mark_exhaustive` uses it."""

    def __init__(self, name, number, marks, params):
        self.nodeid = f"tests/test_fake.py::{name}[{number}]"
        self.callspec = SimpleNamespace(params=params)
        self.marks = list(marks)

    def iter_markers(self, name=None):
        return [mark for mark in self.marks if name in (None, mark.name)]

    def get_closest_marker(self, name):
        return next(iter(self.iter_markers(name)), None)

    def add_marker(self, mark):
        self.marks.append(mark.mark)


def items(name, count, *marks, argument="size"):
    """Return the rows of a test with one parameter."""
    parametrize = pytest.mark.parametrize(argument, range(count)).mark
    return [Item(name, k, [parametrize, *marks], {argument: k}) for k in range(count)]


def run_often(collected):
    often.mark_exhaustive(collected)
    return [
        item.nodeid.partition("::")[2]
        for item in collected
        if len(item.iter_markers("exhaustive")) == 0
    ]


COSTLY = pytest.mark.costly.mark


def test_every_row_of_a_single_parameter_runs_often():
    assert len(run_often(items("test_a", 9))) == 9


def test_one_in_four_costly_rows_runs_often_at_another_offset_per_test():
    collected = items("test_a", 9, COSTLY) + items("test_b", 9, COSTLY)
    a, b = ["test_a[0]", "test_a[4]", "test_a[8]"], ["test_b[1]", "test_b[5]"]
    assert run_often(collected) == a + b


def test_a_costly_test_of_one_row_runs_often_at_any_position():
    collected = items("test_a", 9, COSTLY) + items("test_b", 1, COSTLY)
    assert run_often(collected)[-1] == "test_b[0]"


def test_parameters_of_one_parametrize_mark_are_one_value():
    pairs = [(1, 1), (1, 2), (2, 1), (2, 2)]
    parametrize = pytest.mark.parametrize(("value", "expected"), pairs).mark
    collected = [
        Item("test_a", k, [parametrize], {"value": v, "expected": e})
        for k, (v, e) in enumerate(pairs)
    ]
    assert len(run_often(collected)) == 4
