"""The chart of tasks that share a device: boxes, waits, panels, words."""

import pytest
from matplotlib.patches import Rectangle

from gpukit import draw
from gpukit.parallel import Launch, simulate_blocks
from tests.draw.figures import words

CALLS = {
    "training": [("training", 0, 0.0, 0.0, 2.0), ("training", 1, 2.0, 2.5, 4.5)],
    "requests": [("requests", 0, 0.5, 2.0, 2.5)],
}


def boxes(axes):
    return sorted(
        (round(r.get_y() + r.get_height() / 2), r.get_x(), r.get_x() + r.get_width())
        for r in axes.patches
        if isinstance(r, Rectangle) and r.get_height() > 0.5
    )


def test_each_call_is_a_box_from_its_start_to_its_end():
    (axes,) = draw.task_chart({"here": CALLS}, title="Two tasks").axes
    assert boxes(axes) == [(0, 0, 2), (0, 2.5, 4.5), (1, 2, 2.5)]


def test_a_wait_is_a_strip_from_arrival_to_start():
    (axes,) = draw.task_chart({"here": CALLS}, title="Two tasks").axes
    strips = [(r.get_x(), r.get_width()) for r in axes.patches if r.get_height() < 0.5]
    assert strips == [(2, 0.5), (0.5, 1.5)]


def test_every_arrival_has_a_mark_whether_or_not_the_launch_waits():
    (axes,) = draw.task_chart({"here": CALLS}, title="Two tasks").axes
    assert [line.get_xdata()[0] for line in axes.lines] == [0, 2, 0.5]


def test_the_wait_of_a_launch_is_drawn_where_its_first_block_starts():
    launches = [Launch("long", 4, 1.0), Launch("short", 3, 1.0, arrives=0.5)]
    (axes,) = draw.task_chart({"": simulate_blocks(launches, slots=2)[1]}, title="Slots").axes
    strips = [(r.get_x(), r.get_width()) for r in axes.patches if r.get_height() < 0.5]
    assert strips == [(0.5, 1.5)] * 2


def test_tasks_differ_in_more_than_colour():
    figure = draw.task_chart({"here": CALLS}, title="Two tasks")
    first, second, _wait = figure.legends[0].get_patches()
    assert first.get_hatch() != second.get_hatch()


@pytest.mark.parametrize(("seconds", "merged"), [(1.0, False), (0.001, True)])
def test_the_axis_says_where_short_launches_merge(seconds, merged):
    calls = [("a", 0, 0.0, 0.0, seconds), ("a", 1, seconds, seconds, 2.0)]
    said = " ".join(words(draw.task_chart({"": {"a": calls}}, title="One task")))
    assert ("adjacent short launches merge" in said) == merged


def test_panels_share_the_axis_of_time_and_a_task_its_colour():
    figure = draw.task_chart({"a": CALLS, "b": {"requests": CALLS["requests"]}}, title="Two")
    first, second = figure.axes
    assert first.get_xlim() == second.get_xlim()
    last, only = (axes.patches[-2].get_facecolor() for axes in (first, second))
    assert last == only


def test_short_times_are_in_milliseconds():
    calls = {"a": [("a", 0, 0.0, 0.0, 0.25)]}
    figure = draw.task_chart({"": calls}, title="One task")
    assert boxes(figure.axes[0]) == [(0, 0, 250)]
    assert "time in ms" in " ".join(words(figure))


def test_the_slots_of_the_model_are_rows():
    _, slots = simulate_blocks([Launch("a", 5, 1.0)], slots=2)
    (axes,) = draw.task_chart({"": slots}, title="Slots").axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["slot 0", "slot 1"]
    assert len(boxes(axes)) == 5


def test_words_have_the_unit_of_the_picture():
    calls = {"a": [("a", 0, 0.0, 0.0123456, 0.25)]}
    said = draw.task_chart_in_words({"": calls})
    assert "from 12.3 to 250 ms, and waits for at most 12.3 ms" in said


def test_words_name_each_task_its_launches_times_and_longest_wait():
    assert draw.task_chart_in_words({"Here": CALLS}) == (
        "Time line of what a device runs. Here: 2 rows; training has 2 launches, from 0 to 4.5 s, "
        "and waits for at most 0.5 s; requests has 1 launch, from 2 to 2.5 s, and waits for at "
        "most 1.5 s."
    )


@pytest.mark.parametrize("panels", [{}, {"a": {}}, {"a": {"b": []}}])
def test_nothing_to_draw_is_an_error(panels):
    with pytest.raises(ValueError, match="expected 1 to 32 rows"):
        draw.task_chart(panels, title="Nothing")
