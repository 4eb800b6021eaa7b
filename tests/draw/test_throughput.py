"""Areas are in proportion, lines can be told apart, and what cannot be drawn is refused."""

import numpy as np
import pytest

from gpukit import draw


def sides(figure):
    """The sides of the squares of a figure, and that they are squares."""
    found = [(patch.get_width(), patch.get_height()) for patch in figure.axes[0].patches]
    assert all(wide == high for wide, high in found)
    return [wide for wide, _ in found]


def test_areas_are_in_proportion():
    small, large = sides(draw.areas({"a": 100, "b": 400}, title="t"))
    assert large / small == pytest.approx(2)


def test_area_of_next_to_nothing_can_be_seen():
    small, _ = sides(draw.areas({"a": 1, "b": 1e12}, title="t"))
    assert small > 0


def test_areas_name_each_quantity_and_its_value():
    texts = [
        text.get_text() for text in draw.areas({"CPU": 16, "T4": 40_960}, title="t").axes[0].texts
    ]
    assert texts == ["CPU\n16", "T4\n40,960"]


@pytest.mark.parametrize("quantities", [{}, {"a": 0}, {"a": 1, "b": -1}])
def test_areas_refuse_nothing(quantities):
    with pytest.raises(ValueError, match="areas: expected"):
        draw.areas(quantities, title="t")


def drawn(count=6, log=""):
    x = np.arange(1, 11)
    series = {f"line {k}": x * (k + 1) - 4.5 * ("y" not in log) for k in range(count)}
    return draw.lines(x, series, title="t", xlabel="x", ylabel="y", log=log)


def test_no_two_lines_look_alike_without_colour():
    found = [line for line in drawn().axes[0].lines if line.get_marker() != "None"]
    assert len({(str(line._dash_pattern), line.get_marker()) for line in found}) == 6


def test_every_line_is_named_in_the_key():
    keys = [text.get_text() for legend in drawn().legends for text in legend.get_texts()]
    assert keys == [f"line {k}" for k in range(6)]


@pytest.mark.parametrize("log", ["", "x", "y", "xy"])
def test_axes_have_the_scales_asked_for(log):
    axes = drawn(log=log).axes[0]
    assert axes.get_xscale() == ("log" if "x" in log else "linear")
    assert axes.get_yscale() == ("log" if "y" in log else "linear")


@pytest.mark.parametrize("count", [0, 7])
def test_too_many_or_no_lines_are_refused(count):
    with pytest.raises(ValueError, match="lines: expected 1 to 6"):
        drawn(count)


def test_figures_can_be_shown():
    for figure in (draw.areas({"a": 1, "b": 2}, title="t"), drawn(2, "xy")):
        assert draw.show(figure, alt="A figure with two quantities in it.").png
