"""Pictures of training on many devices: what they draw is what they are given."""

import pytest
from matplotlib.patches import Rectangle

from gpukit import draw
from gpukit.parallel.cost_model import data_parallel_step
from gpukit.parallel.memory import Training, memory_per_rank
from tests.draw.figures import words

PREDICTIONS = {
    "A": ([8, 16, 32], [1.0, 0.8, 0.7], [1.0, 0.95, 0.9]),
    "B": ([1, 2, 4], [1.0, 0.9, 0.8], [1.0, 0.9, 0.8]),
}
PUBLISHED = {"A": ([32], [0.75])}
STEPS = {
    "overlap": data_parallel_step(1.0, 2.0, [1.0, 3.0], lambda n: n)[1:],
    "no overlap": data_parallel_step(1.0, 2.0, [1.0, 3.0], lambda n: n, overlap=False)[1:],
}
TRAINING = Training(parameters=1e9, activations=1e9, batch=8)
MEMORIES = {"one": memory_per_rank(TRAINING)[0], "8 data": memory_per_rank(TRAINING, data=8)[0]}


def bars(figure):
    """The (row, start, width) of each rectangle of a chart of bars."""
    found = [r for r in figure.axes[0].patches if isinstance(r, Rectangle)]
    return [(round(r.get_y() + 0.3), r.get_x(), r.get_width()) for r in found]


# ---- scaling -------------------------------------------------------------------------------------


def test_curves_run_through_their_points_and_figures_are_marks():
    lines = draw.scaling_curve(PREDICTIONS, PUBLISHED, title="t").axes[0].lines
    drawn = [[*map(list, line.get_data())] for line in lines]
    for devices, low, high in PREDICTIONS.values():
        assert [devices, low] in drawn
        assert [devices, high] in drawn
    marks = [line for line in lines if line.get_linestyle() == "None"]
    assert [[*map(list, line.get_data())] for line in marks] == [[[32], [0.75]]]


def test_curve_and_figure_of_a_name_share_a_colour():
    lines = draw.scaling_curve(PREDICTIONS, PUBLISHED, title="t").axes[0].lines
    colours = {line.get_label(): line.get_color() for line in lines}
    assert colours["A, published"] == colours["A, model"] != colours["B, model"]


def test_range_is_filled_and_one_value_is_not():
    axes = draw.scaling_curve(PREDICTIONS, PUBLISHED, title="t").axes[0]
    assert len(axes.collections) == 1


def test_every_curve_and_every_figure_is_in_the_key():
    figure = draw.scaling_curve(PREDICTIONS, PUBLISHED, title="t")
    keys = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    assert keys == ["A, model", "B, model", "A, published", "band: no overlap to full overlap"]


def test_words_compare_the_prediction_with_the_figure():
    said = draw.scaling_curve_in_words(PREDICTIONS, PUBLISHED)
    assert "70% to 90% for A on 32 devices; published: 75% on 32." in said
    assert "80% for B on 4 devices." in said


def test_words_list_every_published_figure():
    said = draw.scaling_curve_in_words(PREDICTIONS, {"A": ([8, 16, 32], [0.9, 0.8, 0.75])})
    assert "published: 90% on 8, 80% on 16, 75% on 32." in said
    assert "C, published: 50% on 2." in draw.scaling_curve_in_words(
        PREDICTIONS, {"C": ([2], [0.5])}
    )


def test_no_curve_at_all_is_refused():
    with pytest.raises(ValueError, match="scaling_curve: expected 1 to 6 entries, got 0"):
        draw.scaling_curve({}, {}, title="t")


# ---- published figures ---------------------------------------------------------------------------

FIGURES = {"in": (2.0, 1.0, 3.0), "below": (2.0, 1.0, 1.5), "one value": (4.0, 5.0, 5.0)}


def test_bar_is_the_range_over_the_published_figure():
    found = bars(draw.published_bars(FIGURES, title="t"))
    assert found[:2] == [(0, 0.5, 1.0), (1, 0.5, 0.25)]
    assert found[2][1] == 1.25


def test_figure_outside_the_range_has_another_colour_and_hatch():
    patches = draw.published_bars(FIGURES, title="t").axes[0].patches
    looks = [(patch.get_facecolor(), patch.get_hatch()) for patch in patches]
    assert looks[0] != looks[1] == looks[2]
    assert looks[0][1] != looks[1][1]


def test_words_count_the_figures_in_range():
    said = draw.published_bars_in_words(FIGURES)
    assert "1 of 3 are in the range" in said
    assert "one value: published 4, predicted 5." in said


# ---- steps ---------------------------------------------------------------------------------------


def test_hidden_communication_lies_inside_the_computation_and_exposed_after_it():
    assert bars(draw.step_bars(STEPS, title="t")) == [
        (0, 0, 3.0),
        (0, 2.0, 1.0),
        (0, 3.0, 3.0),
        (1, 0, 3.0),
        (1, 3.0, 4.0),
    ]


def test_bars_say_the_share_of_computation():
    said = words(draw.step_bars(STEPS, title="t"))
    assert [text for text in said if text.endswith("%")] == ["50%", "43%"]


@pytest.mark.parametrize(("scale", "unit"), [(1, "s"), (1e-3, "ms"), (1e-7, "us")])
def test_times_have_a_unit_that_fits(scale, unit):
    steps = {"a": (3 * scale, scale, scale)}
    assert any(
        f"time of a step in {unit};" in text for text in words(draw.step_bars(steps, title=""))
    )


def test_words_say_how_much_communication_is_exposed():
    said = draw.step_bars_in_words(STEPS)
    assert "overlap: 50% of 6 s is computation, 3 of 4 s of communication is exposed" in said


def test_words_have_the_unit_of_the_picture():
    assert "50% of 6 ms is computation" in draw.step_bars_in_words({"a": (3e-3, 4e-3, 3e-3)})


# ---- memory --------------------------------------------------------------------------------------


def test_parts_of_a_bar_follow_one_another():
    found = bars(draw.memory_bars(MEMORIES, title="t"))
    assert found == [
        (0, 0, 4), (0, 4, 4), (0, 8, 8), (0, 16, 8),
        (1, 0, 4), (1, 4, 4), (1, 8, 8), (1, 16, 1),
    ]  # fmt: skip


def test_rank_that_exceeds_the_device_says_so():
    said = words(draw.memory_bars(MEMORIES, title="t", limit=20e9))
    assert "24 GB: does not fit" in said
    assert "17 GB" in said
    assert "memory of a device: 20 GB" in said


def test_parts_differ_in_more_than_colour():
    figure = draw.memory_bars(MEMORIES, title="t")
    hatches = [patch.get_hatch() for patch in figure.axes[0].patches[:4]]
    assert len(set(hatches)) == 4


def test_words_say_every_part_and_the_limit():
    said = draw.memory_bars_in_words(MEMORIES, limit=20e9)
    assert (
        "one: 24 GB (4 of parameters, 4 of gradients, 8 of optimizer state, 8 of activations)"
        in said
    )
    assert said.endswith("A device has 20 GB.")


@pytest.mark.parametrize(
    "figure",
    [
        lambda: draw.scaling_curve(PREDICTIONS, PUBLISHED, title="t"),
        lambda: draw.step_bars(STEPS, title="t"),
        lambda: draw.memory_bars(MEMORIES, title="t", limit=20e9),
    ],
    ids=["scaling", "steps", "memory"],
)
def test_figures_can_be_shown(figure):
    assert draw.show(figure(), alt="A picture of training on many devices.").png
