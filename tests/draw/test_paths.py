"""Figures of descent paths and loss surfaces: points, minimum, missing values."""

import numpy as np
import pytest
from matplotlib.colors import LogNorm, to_rgb

from gpukit import draw

X, Y = np.linspace(-1, 2, 7), np.linspace(0, 1, 5)
HEIGHT = 1 + (X - 1) ** 2 + (Y[:, None] - 0.25) ** 2


def drawn(count=2):
    tracks = {f"rule {k}": [(0, k / 10), (0.5, 0.3), (1, 0.25)] for k in range(count)}
    return draw.paths(X, Y, HEIGHT, tracks, title="t", xlabel="a", ylabel="b")


def test_paths_pass_through_their_points():
    first = drawn().axes[0].lines[0]
    assert first.get_xydata().tolist() == [[0, 0], [0.5, 0.3], [1, 0.25]]


def test_paths_are_distinguishable_without_colour():
    tracks = [line for line in drawn(6).axes[0].lines if len(line.get_xdata()) > 1]
    assert len({(str(t._dash_pattern), t.get_marker()) for t in tracks}) == 6


def test_every_path_is_named_in_the_legend():
    keys = [text.get_text() for legend in drawn().legends for text in legend.get_texts()]
    assert keys == ["rule 0", "rule 1", "large mark: end of the path", "lines of equal loss"]


def test_a_large_mark_is_the_end_of_each_path():
    marks = [line for line in drawn().axes[0].lines if line.get_markersize() == 10]
    assert [mark.get_xydata().tolist() for mark in marks] == [[[1, 0.25]]] * 2


def test_the_longest_path_is_drawn_first():
    tracks = {"short": [(0, 0), (0.1, 0)], "long": [(0, 0), (1, 0)]}
    figure = draw.paths(X, Y, HEIGHT, tracks, title="t", xlabel="a", ylabel="b")
    assert figure.axes[0].lines[0].get_label() == "long"
    assert figure.legends[0].get_texts()[0].get_text() == "short"


def test_a_cross_marks_the_minimum():
    *_, cross = drawn().axes[0].lines
    assert (cross.get_marker(), cross.get_xydata().tolist()) == ("x", [[1, 0.25]])


@pytest.mark.parametrize("count", [0, 7])
def test_paths_reject_more_than_can_be_distinguished(count):
    with pytest.raises(ValueError, match="paths: expected 1 to 6 tracks"):
        drawn(count)


def mapped(values):
    return draw.field(
        values, (0, 4), (0, 2), title="t", xlabel="a", ylabel="b", bar="steps", missing="never"
    )


def test_field_has_its_origin_at_the_lower_left():
    image = mapped([[1.0, 2], [3, 4]]).axes[0].images[0]
    assert (image.origin, list(image.get_extent())) == ("lower", [0, 4, 0, 2])


def test_field_has_a_logarithmic_scale():
    image = mapped([[1.0, 2], [3, 4]]).axes[0].images[0]
    assert isinstance(image.norm, LogNorm)


def test_field_labels_missing_values():
    figure = mapped([[1.0, np.nan], [3, 4]])
    (legend,) = figure.legends
    assert legend.get_texts()[0].get_text() == "never"
    assert legend.get_patches()[0].get_facecolor()[:3] == figure.axes[0].get_facecolor()[:3]
    assert figure.axes[0].get_facecolor()[:3] != to_rgb("white")
    assert figure.axes[0].patch.get_hatch() == legend.get_patches()[0].get_hatch() == "//"


def test_field_without_missing_values_has_no_label():
    assert mapped([[1.0, 2], [3, 4]]).legends == []
