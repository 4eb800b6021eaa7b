"""Areas in proportion, distinguishable lines, rejected input."""

import numpy as np
import pytest

from gpukit import draw


def sides(figure):
    """Assert that the rectangles of a figure are squares, and return their sides."""
    found = [(patch.get_width(), patch.get_height()) for patch in figure.axes[0].patches]
    assert all(wide == high for wide, high in found)
    return [wide for wide, _ in found]


def test_areas_are_in_proportion():
    small, large = sides(draw.areas({"a": 100, "b": 400}, title="t"))
    assert large / small == pytest.approx(2)


def test_tiny_area_is_visible():
    small, _ = sides(draw.areas({"a": 1, "b": 1e12}, title="t"))
    assert small > 0


def test_areas_are_labelled_with_quantity_and_value():
    texts = [
        text.get_text() for text in draw.areas({"CPU": 16, "T4": 40_960}, title="t").axes[0].texts
    ]
    assert texts == ["CPU\n16", "T4\n40,960"]


@pytest.mark.parametrize("quantities", [{}, {"a": 0}, {"a": 1, "b": -1}])
def test_areas_reject_invalid_quantities(quantities):
    with pytest.raises(ValueError, match="areas: expected"):
        draw.areas(quantities, title="t")


def drawn(count=6, log=""):
    x = np.arange(1, 11)
    series = {f"line {k}": x * (k + 1) - 4.5 * ("y" not in log) for k in range(count)}
    return draw.lines(x, series, title="t", xlabel="x", ylabel="y", log=log)


def test_lines_are_distinguishable_without_colour():
    found = [line for line in drawn().axes[0].lines if line.get_marker() != "None"]
    assert len({(str(line._dash_pattern), line.get_marker()) for line in found}) == 6


def test_every_line_is_named_in_the_legend():
    keys = [text.get_text() for legend in drawn().legends for text in legend.get_texts()]
    assert keys == [f"line {k}" for k in range(6)]


@pytest.mark.parametrize("log", ["", "x", "y", "xy"])
def test_axes_have_the_requested_scales(log):
    axes = drawn(log=log).axes[0]
    assert axes.get_xscale() == ("log" if "x" in log else "linear")
    assert axes.get_yscale() == ("log" if "y" in log else "linear")


def line(values, **how):
    axes = {"title": "t", "xlabel": "x", "ylabel": "y"}
    return draw.lines([1, 10, 100], {"a": values}, **axes, **how).axes[0]


@pytest.mark.parametrize("log", ["", "y", "xy"])
def test_line_at_1_is_drawn_and_named_only_on_request(log):
    assert len(line([0.5, 1, 2], log=log).lines) == 1
    level = line([0.5, 1, 2], log=log, baseline="equal times").lines[1]
    assert (level.get_label(), list(level.get_ydata())) == ("equal times", [1, 1])


def test_axis_that_is_not_logarithmic_has_a_line_at_0_where_values_are_below():
    assert [list(each.get_ydata()) for each in line([-1, 0, 2]).lines[1:]] == [[0, 0]]


def test_levels_have_no_markers_and_are_behind():
    level, curve = line([3, 3, 3]).lines[0], line([1, 2, 3]).lines[0]
    assert (level.get_marker(), curve.get_marker()) == ("", "o")
    assert level.get_zorder() < curve.get_zorder()


def labels(axis):
    return [axis.get_major_formatter()(value, None) for value in axis.get_majorticklocs()]


def test_logarithmic_axis_of_few_decades_has_labels_between_them():
    assert {"2", "5", "10", "20"} <= set(labels(line([2, 20, 50], log="y").yaxis))
    assert "2" not in labels(line([2, 20, 1e6], log="y").yaxis)


def test_small_numbers_have_one_notation_on_an_axis():
    assert {"1e-6", "1e-4", "1e-2"} <= set(labels(line([1e-6, 1e-4, 0.1], log="y").yaxis))
    assert {"0.001", "0.01"} <= set(labels(line([1e-3, 0.1, 10], log="y").yaxis))


@pytest.mark.parametrize("count", [0, 7])
def test_too_many_or_no_lines_are_rejected(count):
    with pytest.raises(ValueError, match="lines: expected 1 to 6"):
        drawn(count)


def test_figures_can_be_shown():
    for figure in (draw.areas({"a": 1, "b": 2}, title="t"), drawn(2, "xy")):
        assert draw.show(figure, alt="A figure with two quantities in it.").png
