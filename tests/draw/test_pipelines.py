"""Charts of pipelines: pictures, text, and an explorer that agrees with the simulator."""

import json
from itertools import product

import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle

from gpukit import draw
from gpukit.draw import style
from gpukit.parallel.cost_model import bubble
from gpukit.parallel.schedules import SCHEDULES, gpipe, one_f_one_b
from gpukit.parallel.simulator import simulate
from tests.draw.figures import words
from tests.draw.shown import javascript

TIMELINE = simulate(one_f_one_b(3, 4), forward=1.0, backward=2.0, transfer=0.5)
STATES = [
    {"schedule": name, "stages": p, "batches": m, "backward": backward, "transfer": transfer}
    for name, p, m, backward, transfer in product(
        SCHEDULES, (1, 3, 8), (1, 2, 5, 20), (1, 2.5), (0, 0.3, 1.7)
    )
]


def simulated(state):
    schedule = SCHEDULES[state["schedule"]](state["stages"], state["batches"])
    return simulate(schedule, 1.0, state["backward"], transfer=state["transfer"])


def boxes(figure, colour):
    """The (stage, start, end) of each rectangle of a colour."""
    found = [r for r in figure.axes[0].findobj(Rectangle) if matches(r, colour)]
    return sorted(
        (round(r.get_y() + 0.42), r.get_x(), round(r.get_x() + r.get_width(), 9)) for r in found
    )


def matches(patch, colour):
    return to_hex(patch.get_facecolor()).upper() == colour


# ---- pictures ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "colour"), [("forward", style.SKY), ("backward", style.ORANGE)])
def test_each_pass_is_a_box_from_its_start_to_its_end(kind, colour):
    expected = sorted(
        (stage, span.start, span.end)
        for stage, row in enumerate(TIMELINE)
        for span in row
        if span.kind == kind
    )
    assert boxes(draw.pipeline_chart(TIMELINE, title="t"), colour) == expected


def test_boxes_show_their_micro_batch_where_there_is_room():
    texts = draw.pipeline_chart(TIMELINE, title="t").axes[0].texts
    numbers = sorted(text.get_text() for text in texts)
    assert numbers == sorted(f"{m}" for m in range(4) for _ in range(2 * 3))


def test_small_boxes_have_no_number_and_the_axis_promises_none():
    axes = draw.pipeline_chart(simulate(gpipe(2, 200), 1.0, 1.0), title="t").axes[0]
    assert list(axes.texts) == []
    assert axes.get_xlabel() == "time in s"


def test_title_says_the_idle_fraction():
    assert f"1F1B: {TIMELINE.idle_fraction:.1%} idle" in words(
        draw.pipeline_chart(TIMELINE, title="1F1B")
    )


def test_key_names_recomputation_only_where_there_is_one():
    again = simulate(gpipe(2, 2), 1.0, 2.0, recompute=1.0)
    assert "recomputation" in words(draw.pipeline_chart(again, title="t"))
    assert "recomputation" not in words(draw.pipeline_chart(TIMELINE, title="t"))


def test_idle_fraction_counts_recomputation_as_work():
    again = simulate(gpipe(4, 3), 1.0, 2.0, recompute=1.0)
    assert f"{again.idle_fraction:.1%} of it is idle" in draw.pipeline_chart_in_words(again)


def test_words_say_how_large_the_pipeline_is_and_when_it_ends():
    said = draw.pipeline_chart_in_words(TIMELINE)
    assert said.startswith("Time line of 3 stages and 4 micro-batches.")
    assert said.endswith(f"The last operation ends at {TIMELINE.seconds:.4g} s.")


@pytest.mark.parametrize(
    ("schedule", "order"),
    [
        (gpipe(4, 8), "F0 to F7, then B7 to B0"),
        (one_f_one_b(4, 8), "F0 to F3, then B0, F4, B1, F5, B2 and so on to B7"),
        (gpipe(2, 1), "F0, then B0"),
    ],
)
def test_words_say_the_order_of_the_operations_of_the_first_stage(schedule, order):
    said = draw.pipeline_chart_in_words(simulate(schedule, 1.0, 2.0))
    assert f"Stage 0 runs {order}; F is" in said


def test_kinds_of_passes_differ_in_more_than_colour():
    figure = draw.pipeline_chart(simulate(gpipe(2, 2), 1.0, 2.0, recompute=1.0), title="t")
    keys = figure.legends[0].get_patches()
    assert len({patch.get_hatch() for patch in keys}) == len(keys) == 4


@pytest.mark.parametrize("function", [draw.pipeline_chart_in_words, draw.pipeline_text])
def test_pipeline_that_is_too_large_to_be_seen_is_refused(function):
    with pytest.raises(ValueError, match=r"expected 1 to 64 stages .* got 65 and 130"):
        function(simulate(gpipe(65, 1), 1.0, 1.0))


def test_nothing_is_refused():
    with pytest.raises(ValueError, match="pipeline_chart: expected 1 to 64 stages"):
        draw.pipeline_chart([], title="t")


# ---- text ----------------------------------------------------------------------------------------


def test_text_has_a_column_for_each_unit_of_time():
    timeline = simulate(gpipe(2, 2), forward=1.0, backward=2.0)
    assert draw.pipeline_text(timeline, width=4 + 9).splitlines() == [
        "0 | 01...bbaa",
        "1 | .01bbaa..",
    ]


def test_text_shows_recomputation_in_capitals():
    timeline = simulate(gpipe(1, 1), forward=1.0, backward=2.0, recompute=1.0)
    assert draw.pipeline_text(timeline, width=8) == "0 | 0Aaa"


@pytest.mark.parametrize("width", [30, 80, 117])
@pytest.mark.parametrize("stages", [1, 11])
def test_text_is_as_wide_as_asked_for(width, stages):
    lines = draw.pipeline_text(simulate(one_f_one_b(stages, 12), 1.0, 1.7), width).splitlines()
    assert {len(line) for line in lines} == {width}


# ---- the explorer --------------------------------------------------------------------------------


def each(call):
    states = [{**state, "schedule": state["schedule"].lower()} for state in STATES]
    return javascript("pipeline_rules.js", f"{json.dumps(states)}.map((s) => {call})")


def test_explorer_runs_every_pass_when_the_simulator_does():
    call = "timeline(s).map((row) => row.map((o) => [o.kind, o.batch, o.start, o.end]))"
    for state, found in zip(STATES, each(call), strict=True):
        for row, spans in zip(found, simulated(state), strict=True):
            assert [tuple(one[:2]) for one in row] == [span[:2] for span in spans], state
            times = [time for one in row for time in one[2:]]
            assert times == pytest.approx([t for span in spans for t in span[2:]], abs=1e-9), state


def test_explorer_says_the_idle_fraction_of_the_simulator_and_the_bubble():
    for state, (idle, formula) in zip(
        STATES, each("[idleShare(timeline(s)), bubble(s)]"), strict=True
    ):
        assert idle == pytest.approx(simulated(state).idle_fraction, abs=1e-12), state
        assert formula == pytest.approx(bubble(state["stages"], state["batches"])), state


def test_explorer_counts_the_activations_that_a_schedule_holds():
    call = "Array.from({ length: s.stages }, (_, stage) => held(s, stage))"
    for state, found in zip(STATES, each(call), strict=True):
        schedule = SCHEDULES[state["schedule"]](state["stages"], state["batches"])
        assert found == [schedule.held(s).activations for s in range(len(schedule))], state


def test_sliders_change_the_pipeline_and_what_is_said(shown):
    page = shown(draw.pipeline_explorer(stages=4, batches=8))
    assert "(p - 1) / (m + p - 1) = 3 / 11 = 27.3 %" in page.text()
    page.page.get_by_role("slider", name="Stages").press("ArrowRight")
    page.page.get_by_role("slider", name="Micro-batches").fill("16")
    assert "(p - 1) / (m + p - 1) = 4 / 20 = 20 %" in page.text()
    assert "20 % of 60 forward passes" in page.text()
    assert page.console == []


def test_schedule_changes_the_activations_held(shown):
    page = shown(draw.pipeline_explorer(stages=4, batches=8, schedule="1F1B"))
    assert "4 micro-batches in stage 0, 1 in stage 3" in page.text()
    page.page.get_by_role("combobox").select_option("GPipe")
    assert "8 micro-batches in every stage" in page.text()


def test_schedule_that_does_not_exist_is_refused():
    with pytest.raises(ValueError, match='expected schedule to be "GPipe" or "1F1B"'):
        draw.pipeline_explorer(schedule="zero bubble")


def test_slider_limits_are_those_of_the_function():
    with pytest.raises(ValueError, match="expected batches from 1 to 64, got 65"):
        draw.pipeline_explorer(batches=65)
