"""Maps of attention name their places and show no weight where there is none."""

import numpy as np
import pytest

from gpukit import draw
from tests.draw.figures import words

CAUSAL = np.tril(np.ones((3, 3))) / [[1], [2], [3]]


def test_map_names_the_places_that_look_and_those_that_are_seen():
    axis = draw.looks(("head 0", np.eye(2, 3)), rows="ab", cols="xyz").axes[0]
    looking, seen = axis.get_yticklabels(), axis.get_xticklabels()
    assert [t.get_text() for t in looking] == ["a", "b"]
    assert [t.get_text() for t in seen] == ["x", "y", "z"]


def test_percentages_stand_where_a_place_looks_and_nowhere_else():
    numbers = [word for word in words(draw.looks(("", CAUSAL), rows="abc")) if word.isdigit()]
    assert sorted(numbers) == ["100", "33", "33", "33", "50", "50"]


def test_map_of_many_places_holds_no_percentages():
    shown = words(draw.looks(("", np.eye(13)), rows="abcdefghijklm"))
    assert not any(word.isdigit() for word in shown)


def test_each_head_has_a_map_with_its_title():
    shown = words(draw.looks(("head 0", CAUSAL), ("head 1", CAUSAL), rows="abc"))
    assert {"head 0", "head 1"} <= set(shown)


@pytest.mark.parametrize(("shape", "count"), [((3, 3), 2), ((81, 81), 81)])
def test_maps_refuse_what_has_no_name_or_no_room(shape, count):
    with pytest.raises(ValueError, match="looks: expected weights of shape"):
        draw.looks(("head 0", np.ones(shape)), rows="a" * count)


def test_equal_weights_have_equal_colours_in_all_maps():
    images = [
        axis.images[0] for axis in draw.looks(("", CAUSAL), ("", CAUSAL / 2), rows="abc").axes
    ]
    assert [image.get_clim() for image in images] == [(0, 1), (0, 1)]
