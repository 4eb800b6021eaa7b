"""Bytes of arrays and of flagged cells, against sets of addresses."""

import numpy as np
import pytest

from gpukit.checked.ordering.memory import Bytes, of_array, of_flags

CELLS = 12
ROWS = np.arange(240, dtype=np.uint8).reshape(4, 6, 10)
VIEWS = {
    "whole": ROWS,
    "row": ROWS[1],
    "columns": ROWS[:, :, 2:4],
    "every_second": ROWS[:, ::2],
    "backwards": ROWS[::-1, :, 5],
    "element": ROWS[2, 3, 4:5],
    "transposed": ROWS.T[1:3],
    "last_axis_split": ROWS[1:3, 4:, ::3],
}


def addresses(array):
    """Return the address of every byte of an array, element by element."""
    base = ROWS.__array_interface__["data"][0]
    return {base + int(k) for k in array.ravel()}  # the values are the offsets


def covered(touched):
    begins, ends = touched.pieces()
    return {a for b, e in zip(begins, ends, strict=True) for a in range(int(b), int(e))}


@pytest.mark.parametrize("name", VIEWS)
def test_bytes_of_a_view_are_those_of_its_elements(name):
    assert covered(of_array(VIEWS[name])) == addresses(VIEWS[name])


@pytest.mark.parametrize("one", VIEWS)
@pytest.mark.parametrize("two", VIEWS)
def test_views_overlap_where_they_share_an_address(one, two):
    shared = addresses(VIEWS[one]) & addresses(VIEWS[two])
    assert of_array(VIEWS[one]).overlap(of_array(VIEWS[two])) == bool(shared)


@pytest.mark.parametrize("granule", [1, 4])
def test_bytes_of_flags_are_those_of_the_flagged_cells(granule):
    for number in range(1 << CELLS):
        flags = np.array([number >> k & 1 for k in range(CELLS)], bool)
        wanted = {1000 + granule * k + j for k in np.flatnonzero(flags) for j in range(granule)}
        touched = of_flags(flags, 1000, granule)
        assert (covered(touched) if touched else set()) == wanted


def test_bytes_cover_others_only_if_proven():
    gaps = of_array(VIEWS["columns"])
    assert Bytes(gaps.low, gaps.high).covers(gaps)
    assert gaps.covers(gaps)
    assert not gaps.covers(Bytes(gaps.low, gaps.high))
    assert not gaps.covers(of_array(VIEWS["element"]))
