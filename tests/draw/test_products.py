"""Figures of matrix products: element reads per thread, bytes moved, mma lane layout."""

import numpy as np
import pytest

from gpukit import draw
from gpukit.draw import products
from tests.draw.figures import words


@pytest.mark.parametrize("swapped", [False, True])
def test_a_warp_reads_two_or_sixteen_rows_of_a_per_step(swapped):
    a, b, out = products.counted(32, 16, "warp", swapped=swapped, iteration=5)
    rows, cols = (16, 2) if swapped else (2, 16)
    assert (a > 0).sum() == (a[:rows, 5] == cols).sum() == rows
    assert (b > 0).sum() == (b[5, :cols] == rows).sum() == cols
    assert out.sum() == (out[:rows, :cols] == 1).sum() == 32


def test_every_element_is_read_once_per_thread_that_needs_it():
    a, b, out = products.counted(20, 16, "block", swapped=False, iteration=None)
    assert np.array_equal(np.unique(a[:16]), [16])
    assert np.array_equal(np.unique(b[:, :16]), [16])
    assert a[16:].sum() == b[:, 16:].sum() == 0
    assert out.sum() == 256


def test_a_block_larger_than_the_product_has_idle_threads():
    a, b, out = products.counted(3, 16, "block", swapped=False, iteration=None)
    assert a.min() == a.max() == b.min() == b.max() == 3
    assert out.sum() == 9


def test_a_thread_with_8_by_8_results_reads_8_plus_8_elements_per_step():
    a_tile, b_tile, sums = products.results_counted(4, 8, 3, (1, 2))
    assert np.array_equal(np.argwhere(a_tile), [(row, 3) for row in range(2, 32, 4)])
    assert np.array_equal(np.argwhere(b_tile), [(3, col) for col in range(1, 32, 4)])
    assert a_tile.sum() == b_tile.sum() == 8
    assert np.array_equal(sums[2::4, 1::4], np.ones((8, 8)))
    assert sums.sum() == 64


def test_tiles_and_results_of_a_thread_have_one_scale():
    figure = products.thread_results(4, 8)
    figure.canvas.draw()
    _, b_tile, a_tile, sums = figure.axes
    scales = [axes.transData.get_matrix()[0, 0] for axes in (a_tile, b_tile, sums)]
    np.testing.assert_allclose(scales, scales[0], rtol=0.01)


def test_both_orders_are_labelled():
    assert {"x is the row", "x is the column"} <= set(
        words(products.product_orders(8, 4, iteration=3))
    )


def test_bytes_are_labelled_with_their_ratio_to_the_minimum():
    assert any(
        "4,000 bytes, 4 times" in text
        for text in words(draw.bytes_moved([("one", 4000), ("two", 1000)], 1000, "Bytes"))
    )


def test_large_ratios_are_written_without_an_exponent():
    shown = words(draw.bytes_moved([("a", 1_234_000), ("b", 1000)], 1000, "Bytes"))
    assert "1,234,000 bytes, 1,234 times the minimum" in shown
    assert "1,000 bytes, the minimum" in shown


def test_only_the_chosen_lane_is_bold():
    figure = draw.lanes(("a", np.arange(8).reshape(4, 2)), lane=5)
    bold = [t.get_text() for t in figure.axes[0].texts if t.get_fontweight() == "bold"]
    assert bold == ["5"]


@pytest.mark.parametrize("wrong", [{"who": "grid"}, {"size": 65}, {"size": 0}, {"block": 33}])
def test_products_too_large_to_draw_are_rejected(wrong):
    with pytest.raises(ValueError, match="Draw a smaller product"):
        draw.product_reads(**wrong)


@pytest.mark.parametrize("wrong", [{"block": 33}, {"per_thread": 0}, {"per_thread": 17}, {"k": 4}])
def test_too_many_results_to_draw_are_rejected(wrong):
    with pytest.raises(ValueError, match="Draw a smaller product"):
        products.thread_results(**wrong)


@pytest.mark.parametrize(("most", "scale"), [(40_000, "linear"), (41_000, "log")])
def test_bytes_have_a_logarithmic_axis_only_for_large_ratios(most, scale):
    axes = draw.bytes_moved([("one", most), ("two", 1000)], 1000, "Bytes").axes[0]
    assert axes.get_xscale() == scale
    points = [line.get_xdata()[0] for line in axes.lines if line.get_marker() == "o"]
    lengths = [bar.get_width() for bar in axes.patches]
    assert [*points, *lengths] == [most, 1000]
    assert bool(points) == (scale == "log")
