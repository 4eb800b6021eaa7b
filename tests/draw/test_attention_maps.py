"""Attention maps: labels, percentages and colour scale."""

import numpy as np
import pytest

from gpukit import draw
from tests.draw.figures import words

CAUSAL = np.tril(np.ones((3, 3))) / [[1], [2], [3]]


def test_attention_map_labels_queries_and_keys():
    axis = draw.attention_weights(("head 0", np.eye(2, 3)), rows="ab", cols="xyz").axes[0]
    looking, seen = axis.get_yticklabels(), axis.get_xticklabels()
    assert [t.get_text() for t in looking] == ["a", "b"]
    assert [t.get_text() for t in seen] == ["x", "y", "z"]


def test_percentages_are_shown_only_for_nonzero_weights():
    numbers = [
        word for word in words(draw.attention_weights(("", CAUSAL), rows="abc")) if word.isdigit()
    ]
    assert sorted(numbers) == ["100", "33", "33", "33", "50", "50"]


def test_attention_map_of_many_positions_shows_no_percentages():
    shown = words(draw.attention_weights(("", np.eye(13)), rows="abcdefghijklm"))
    assert not any(word.isdigit() for word in shown)


def test_attention_map_says_its_unit_or_has_a_colour_bar():
    assert "key; weights in %" in words(draw.attention_weights(("", CAUSAL), rows="abc"))
    _, bar = draw.attention_weights(("", np.eye(13)), rows="abcdefghijklm").axes
    assert bar.get_ylabel() == "weight"


@pytest.mark.parametrize("count", [3, 13, 80])
def test_labels_have_8_points_or_more_and_do_not_overlap(count):
    figure = draw.attention_weights(("", np.eye(count)), rows="a" * count)
    size = figure.axes[0].get_xticklabels()[0].get_fontsize()
    assert size >= 8
    assert count * size < 72 * figure.get_size_inches()[0]


def test_each_head_has_its_own_titled_map():
    shown = words(draw.attention_weights(("head 0", CAUSAL), ("head 1", CAUSAL), rows="abc"))
    assert {"head 0", "head 1"} <= set(shown)


@pytest.mark.parametrize(("shape", "count"), [((3, 3), 2), ((81, 81), 81)])
def test_attention_maps_reject_missing_labels_and_too_many_positions(shape, count):
    with pytest.raises(ValueError, match="attention_weights: expected weights of shape"):
        draw.attention_weights(("head 0", np.ones(shape)), rows="a" * count)


def test_equal_weights_have_equal_colours_in_all_maps():
    images = [
        axis.images[0]
        for axis in draw.attention_weights(("", CAUSAL), ("", CAUSAL / 2), rows="abc").axes
    ]
    assert [image.get_clim() for image in images] == [(0, 1), (0, 1)]
