"""Which rows of a test every change is tried with."""

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


def test_as_many_rows_are_chosen_as_the_longest_list_has_values():
    given = rows(size=SIZES, dtype=DTYPES, variant=VARIANTS)
    assert len(often.covering(given)) == len(SIZES)


def test_all_rows_of_one_list_are_chosen():
    assert often.covering(rows(size=SIZES)) == set(range(len(SIZES)))


def test_rows_that_need_no_new_value_repeat_a_pair():
    """A kernel is compiled for a variant and a dtype: a further size needs no further kernel."""
    given = rows(size=SIZES, dtype=DTYPES, variant=VARIANTS)
    chosen = [given[place] for place in often.covering(given)]
    assert len({(row["dtype"], row["variant"]) for row in chosen}) == len(VARIANTS)


def test_no_rows_choose_none():
    assert often.covering([]) == set()


class Item:
    """What `mark_exhaustive` asks of a test that pytest has collected."""

    def __init__(self, name, number, marks, params):
        self.nodeid = f"tests/test_made.py::{name}[{number}]"
        self.callspec = SimpleNamespace(params=params)
        self.marks = list(marks)

    def iter_markers(self, name=None):
        return [mark for mark in self.marks if name in (None, mark.name)]

    def get_closest_marker(self, name):
        return next(iter(self.iter_markers(name)), None)

    def add_marker(self, mark):
        self.marks.append(mark.mark)


def items(name, count, *marks, argument="size"):
    """The rows of a test with one list of parameters."""
    parametrize = pytest.mark.parametrize(argument, range(count)).mark
    return [Item(name, k, [parametrize, *marks], {argument: k}) for k in range(count)]


def often_run(made):
    often.mark_exhaustive(made)
    return [
        item.nodeid.partition("::")[2] for item in made if len(item.iter_markers("exhaustive")) == 0
    ]


COSTLY = pytest.mark.costly.mark


def test_every_row_of_one_list_runs_often():
    assert len(often_run(items("test_a", 9))) == 9


def test_one_of_four_costly_rows_runs_often_and_each_test_of_a_file_has_others():
    made = items("test_a", 9, COSTLY) + items("test_b", 9, COSTLY)
    a, b = ["test_a[0]", "test_a[4]", "test_a[8]"], ["test_b[1]", "test_b[5]"]
    assert often_run(made) == a + b


def test_a_costly_test_of_one_row_runs_often_wherever_it_stands():
    made = items("test_a", 9, COSTLY) + items("test_b", 1, COSTLY)
    assert often_run(made)[-1] == "test_b[0]"


def test_values_that_are_given_together_are_one():
    pairs = [(1, 1), (1, 2), (2, 1), (2, 2)]
    together = pytest.mark.parametrize(("given", "wanted"), pairs).mark
    made = [
        Item("test_a", k, [together], {"given": g, "wanted": w}) for k, (g, w) in enumerate(pairs)
    ]
    assert len(often_run(made)) == 4
