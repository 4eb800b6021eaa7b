"""Figures can be drawn, have text, and reject unreadable sizes."""

import numpy as np
import pytest

from gpukit import draw, errors
from gpukit.bench import Line, Result, Timing
from gpukit.bench.ceilings import Ceilings
from gpukit.bench.estimated import GpuTime
from gpukit.bench.recorded import Record
from gpukit.bench.timing import Spread
from gpukit.draw import launches, pictures, products, timings
from gpukit.launch import Cost
from tests.draw.figures import words


def result(name, ours=1.0, numpy=2.0):
    timing = Timing(ours, numpy, 5) if ours else None
    return Result(name, "", "10", bool(ours), "" if ours else "bad", 0.0, timing, Cost(1, 1), 4)


ROOFS = Ceilings(bytes=100.0, flops=1000.0, how="fake")


FIGURES = {
    "launch_1d": lambda: draw.launch_1d(20, 8),
    "launch_1d_long": lambda: draw.launch_1d(1000, 256),
    "launch_2d": lambda: draw.launch_2d(10, 13, (8, 4)),
    "launch_2d_missing": lambda: draw.launch_2d(43, 64, (16, 16), (3, 4)),
    "grid_stride": lambda: draw.grid_stride(20, 2, 4),
    "block_3d": lambda: draw.block_3d((4, 3, 2)),
    "warp_iterations": lambda: draw.warp_iterations(np.arange(40), warp=1),
    "images": lambda: draw.images(("a", np.eye(4)), ("b", np.zeros((4, 4, 3), np.uint8))),
    "counts": lambda: draw.counts(("a", np.eye(4, dtype=int)), ("b", np.full((3, 2), 9))),
    "matrix": lambda: draw.matrix(np.eye(4), title="t", groups=[0, 0, 1, 1], bar="b"),
    "curve": lambda: draw.curve([1, 2, 3], title="t", x="x", y="y"),
    "ratios": lambda: draw.ratios([result("fast"), result("slow", 4.0)]),
    "measured": lambda: timings.measured([result("fast"), result("slow", 4.0)], ROOFS),
    "product_reads": lambda: draw.product_reads(8, 4, "block"),
    "product_reads_swapped": lambda: draw.product_reads(8, 4, "warp", swapped=True, iteration=3),
    "product_orders": lambda: products.product_orders(8, 4, iteration=3),
    "thread_results": lambda: products.thread_results(2, 3),
    "lanes": lambda: draw.lanes(("a", np.arange(8).reshape(4, 2)), ("b", np.eye(2, dtype=int))),
    "bytes_moved": lambda: draw.bytes_moved([("one", 4000), ("two", 1000)], 1000, "Bytes"),
    "walks": lambda: draw.walks(4),
    "walks_marked": lambda: draw.walks(4, iteration=1),
    "memories": lambda: draw.memories(),
    "stream_timeline": lambda: draw.stream_timeline((2, 1, 2), 4),
    "tile_steps": lambda: draw.tile_steps(),
    "tile_banks": lambda: draw.tile_banks(),
    "stride_bars": lambda: draw.stride_bars([1, 1, 2]),
}


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.costly
def test_figure_can_be_shown(name):
    picture = draw.show(FIGURES[name](), alt="A picture drawn by a test.")
    assert picture.png.startswith(b"\x89PNG")


@pytest.mark.parametrize("name", FIGURES)
def test_figure_contains_text(name):
    assert words(FIGURES[name]())


def test_measured_kernels_are_labelled_with_their_ratio_to_the_floor():
    shown = "\n".join(words(timings.measured([result("fast"), result("none", None)], ROOFS)))
    assert "1  fast, 10: 25 times its floor" in shown
    assert "none" not in shown


def test_one_dimensional_launch_labels_every_block():
    shown = words(draw.launch_1d(20, 8))
    assert {"block 0", "block 1", "block 2"} <= set(shown)


def test_long_launch_has_one_line_per_block():
    shown = words(draw.launch_1d(1000, 256))
    assert {"block 0", "0 to 255", "block 3", "768 to 999", "thread without element"} <= set(shown)


def test_long_launch_with_too_few_blocks_shows_missing_elements():
    shown = words(draw.launch_1d(1000, 256, 3))
    assert {"block 3", "element without thread"} <= set(shown)


def test_launch_of_too_many_blocks_to_draw_is_rejected():
    with pytest.raises(errors.LaunchError, match="33"):
        draw.launch_1d(33 * 64, 64)


def test_block_labels_do_not_look_like_decimal_numbers():
    assert "block (1, 2)" in words(draw.launch_2d(10, 13, (8, 4)))


def test_legend_has_hatching_only_if_it_is_used():
    full, part = words(draw.launch_2d(8, 8, (4, 4))), words(draw.launch_2d(7, 8, (4, 4)))
    assert "thread without element" not in full
    assert "thread without element" in part


def test_missed_elements_are_labelled():
    assert "element without thread" in words(draw.launch_2d(4, 8, (4, 4), (1, 1)))


def test_launch_that_is_too_large_to_draw_is_rejected():
    with pytest.raises(errors.LaunchError, match="to draw"):
        draw.launch_2d(4000, 4000, (16, 16))


def test_grid_stride_loop_that_is_too_large_to_draw_is_rejected():
    with pytest.raises(errors.LaunchError, match="to draw"):
        draw.grid_stride(10, 100, 256)


@pytest.mark.parametrize(
    "mask", [np.zeros((3, 4), bool), np.ones((3, 4), bool), np.eye(5, dtype=bool)]
)
def test_rectangles_cover_a_mask_exactly_once(mask):
    covered = np.zeros(mask.shape, int)
    for left, right, top, bottom in launches._rectangles(mask):
        covered[top:bottom, left:right] += 1
    np.testing.assert_array_equal(covered, mask)


def test_photo_is_a_copy():
    first = draw.photo("china")
    first[:] = 0
    assert draw.photo("china").max() == 255


def test_unknown_photo_is_rejected():
    with pytest.raises(ValueError, match="'china' or 'flower'"):
        draw.photo("castle")


def test_unwritten_pixels_are_orange():
    drawn = pictures._pixels(np.array([[0.0, np.nan, 1.0]]))
    np.testing.assert_allclose(drawn[0, 1], [0xD5 / 255, 0x5E / 255, 0], atol=1e-6)


def test_unwritten_image_is_orange():
    assert (pictures._pixels(np.full((2, 2), np.nan))[:, :, 2] == 0).all()


def missing_marks(figure):
    """Return the mark of missing elements in each panel, None where nothing is missing."""
    figure.canvas.draw()
    return [axes.patches[0] if axes.patches else None for axes in figure.axes]


def test_large_unwritten_pixels_have_a_diagonal_each():
    values = np.array([[np.nan, 1, 2], [3, np.nan, np.nan]])
    mark, none = missing_marks(draw.images(("a", values), ("b", np.eye(3))))
    assert none is None
    centres = mark.get_path().vertices.reshape(-1, 2, 2).mean(axis=1)
    np.testing.assert_allclose(centres[:, ::-1], np.argwhere(np.isnan(values)))


def test_small_unwritten_pixels_are_hatched():
    values = np.zeros((40, 300))
    values[3:5, 250:] = np.nan
    (mark,) = missing_marks(draw.images(("a", values), cols=1, width=4))
    assert mark.get_hatch()
    assert mark.get_path().get_extents().bounds == (249.5, 2.5, 50, 2)


def test_images_of_one_span_can_be_compared():
    figure = draw.images(
        ("a", np.array([[0.0, 51, 300]])), ("b", np.full((1, 3), 51)), span=(0, 255)
    )
    assert [axes.images[0].get_array()[0, 1, 0] for axes in figure.axes] == [0.2, 0.2]
    assert figure.axes[0].images[0].get_array()[0, 2, 0] == 1


def test_images_of_different_shapes_have_one_scale():
    figure = draw.images(("wide", np.eye(40, 60)), ("high", np.eye(60, 40)), ("low", np.eye(9, 20)))
    figure.canvas.draw()
    scales = [axes.transData.get_matrix()[0, 0] for axes in figure.axes[:3]]
    np.testing.assert_allclose(scales, scales[0], rtol=0.001)


def test_the_longest_lane_of_a_warp_is_labelled_below_the_edge():
    axes = draw.warp_iterations([3, 111, 0]).axes[0]
    assert [text.get_text() for text in axes.texts] == ["111"]
    assert axes.get_ylim()[1] > 111


def test_table_shows_that_a_result_is_wrong():
    assert "wrong: bad" in repr(draw.table([result("broken", 0)]))


def test_table_gives_the_ratio_in_words():
    assert "2.0x faster" in repr(draw.table([result("fast")]))


STEADY = Line(Timing(1.0, 2.0, 5), "cpu", GpuTime("V100", why="it uses tensor cores"))
SIDES = (Spread(1, 0.5, 3, 5), Spread(2, 1, 4, 5))
BUSY = Line(
    Timing(1.0, 2.0, 5, 0.9, 1.5, 3.0, 2.0, SIDES),
    "cpu",
    recorded=Record("a CPU", "k", "10", 1.0, 2.0),
)


def test_table_of_lines_has_a_column_of_the_gpu():
    made = draw.table({"one": STEADY})
    assert made.headers[-1] == "estimated, V100"
    assert made.rows == [["one", "1 s", "2 s", "2.0x faster", "none: it uses tensor cores"]]


def test_table_of_a_busy_machine_has_ranges_and_recorded_times():
    made = draw.table({"one": STEADY, "two": BUSY})
    assert made.headers[-2] == "recorded"
    assert "recorded ones are from a CPU." in made.caption
    assert made.rows[0][-2] == "-"
    assert made.rows[1][1:] == [
        "500 ms to 3 s",
        "1 to 4 s",
        "busy: 1.50x to 3.0x faster",
        "1 s, NumPy 2 s at 10",
        "-",
    ]


def test_table_fits_a_terminal_of_80_columns(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert max(map(len, repr(draw.table({"one": STEADY, "two": BUSY})).splitlines())) <= 80


def test_html_table_has_row_and_column_headers():
    html = draw.table([result("<fast>")])._repr_html_()
    assert '<th scope="row">&lt;fast&gt;</th>' in html
    assert html.count('scope="col"') == 6


def test_wrong_results_have_no_bar():
    shown = words(draw.ratios([result("fast"), result("broken", 0)]))
    assert "broken" not in shown


def test_counts_are_in_their_cells_and_zeros_are_omitted():
    figure = draw.counts(("reads", np.array([[0, 1], [2, 9]])), marked=[(1, 0)])
    assert words(figure) == ["1", "2", "9", "reads"]
    *_, border = figure.axes[0].patches
    assert (border.get_xy(), border.get_fill()) == ((0, 1), False)


def test_counts_reject_tables_too_large_to_read():
    with pytest.raises(ValueError, match="counts: expected at most 24 rows and columns"):
        draw.counts(("wide", np.zeros((2, 25), int)))
