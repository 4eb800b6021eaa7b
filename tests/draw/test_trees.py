"""Figures of reductions and scans match what the threads do."""

import numpy as np
import pytest

from gpukit import draw, errors

THREAD = np.arange(64)
FIGURES = {
    "chain_and_tree": lambda: draw.chain_and_tree(),
    "chain_and_tree_16": lambda: draw.chain_and_tree(16),
    "who_works": lambda: draw.who_works(("t", [THREAD % 2 == 0, THREAD < 1])),
    "who_works_small": lambda: draw.who_works(("t", [[True, False]]), ("u", [[False, False]])),
    "scan_steps": lambda: draw.scan_steps([3, 1, 7, 0]),
    "drift": lambda: draw.drift(np.cumsum(np.full(5000, 0.5)), 0.5, (1000, 2000)),
    "bars": lambda: draw.bars(("a", [1, 2]), ("b", [3, 4]), x="brightness"),
}


def texts(figure):
    """Return the text inside the axes of a figure."""
    return [text.get_text() for axes in figure.axes for text in axes.texts]


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.costly
def test_figure_can_be_drawn(name):
    picture = draw.show(FIGURES[name](), alt="a picture of threads that add")
    assert picture.png.startswith(b"\x89PNG")


@pytest.mark.parametrize("n", [4, 8, 16])
def test_chain_and_tree_have_the_same_number_of_additions(n):
    chain, tree = draw.chain_and_tree(n).axes
    for axes in (chain, tree):
        assert sum(text.get_text() == "+" for text in axes.texts) == n - 1


def test_a_warp_is_active_when_any_of_its_lanes_is():
    rounds = [THREAD % 2 == 0, THREAD < 1, THREAD > 99]
    running = [text for text in texts(draw.who_works(("t", rounds))) if "warp" in text]
    assert running == ["2 warps add", "1 warp adds", "0 warps add"]


def test_a_scan_ends_with_the_running_sums():
    values = [3, 1, 7, 0, 4]
    assert texts(draw.scan_steps(values))[-5:] == [f"{n}" for n in np.cumsum(values)]


def test_rounds_are_labelled_with_their_strides():
    axes = draw.who_works(("t", [THREAD % 2 == 0, THREAD < 1]), steps=(1, 2)).axes[0]
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == ["round 1, step 1", "round 2, step 2"]


def test_each_sum_of_a_scan_has_two_arrows():
    arrows = [t for t in draw.scan_steps([3, 1, 7, 0]).axes[0].texts if t.get_text() == ""]
    assert len(arrows) == 2 * (3 + 2)


def test_drift_plots_the_error_and_marks_where_the_sum_reaches_given_values():
    sums = np.cumsum(np.full(1000, 0.5)) + 3
    curve, _, line = draw.drift(sums, 0.5, (103,)).axes[0].lines
    np.testing.assert_allclose(curve.get_ydata(), 3)
    assert line.get_xdata()[0] == 200 / 1e6


@pytest.mark.parametrize(
    "make",
    [
        lambda: draw.chain_and_tree(6),
        lambda: draw.who_works(("t", np.ones((2, 65)))),
        lambda: draw.scan_steps([1]),
        lambda: draw.scan_steps(np.ones(17)),
        lambda: draw.drift([1.0], 1.0, ()),
        lambda: draw.drift([1.0, 2.0], 1.0, (3,)),
    ],
)
def test_unreadable_figures_are_rejected(make):
    with pytest.raises(errors.LaunchError, match=r"expected .* got .*[Dd]raw"):
        make()


def test_bars_have_equal_scales_on_request():
    tall, low = draw.bars(("a", [1, 9]), ("b", [1, 2]), x="digit", y="share", same=True).axes
    assert tall.get_ylim() == low.get_ylim()
    assert tall.get_ylabel() == "share"


def test_bars_of_counts_have_thousands_separators_and_those_of_probabilities_decimals():
    counts, probabilities = draw.bars(("a", [0, 2000]), ("b", [0.0, 0.5]), x="class").axes
    assert counts.yaxis.get_major_formatter()(2000) == "2,000"
    assert probabilities.yaxis.get_major_formatter().format_ticks([0.0, 0.5]) == ["0.0", "0.5"]


def test_bars_have_gaps_on_request():
    (axes,) = draw.bars(("a", [1, 2]), x="class", width=0.8).axes
    assert [bar.get_width() for bar in axes.patches] == [0.8, 0.8]
