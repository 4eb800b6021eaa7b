"""The player in a real Chromium: stepping, jumping, selecting, announcements."""

import itertools
import json
import random

import pytest

from gpukit.checked.player import Player
from tests.checked import recordings
from tests.checked.chromium import READY_MS, Shown
from tests.checked.replayed import state_at

REDUCE, RACE = recordings.reduction(), recordings.reduction(forgotten_barrier=True)
TRANSPOSE, VOTE = recordings.transpose(), recordings.vote()
ALL = pytest.mark.parametrize(
    "recording", [REDUCE, RACE, TRANSPOSE, VOTE], ids=["reduce", "race", "transpose", "vote"]
)
# The positions at which the last warp of a block reaches a barrier, from the simulation.
BARRIERS = [
    number
    for number, (step, later) in enumerate(itertools.pairwise(REDUCE["steps"]), 1)
    if step["kind"] == "barrier" != later["kind"]
]
# As JSON text, which transfers quickly.
SNAPSHOT = "JSON.stringify(gpukitPlayer.replay.snapshot())"


@ALL
def test_player_opens_from_a_file_without_further_requests(show, recording):
    shown = show(recording).keys("End", "Home", "b")
    assert [url.rsplit("/", 1)[1] for url in shown.requests] == ["player.html"]
    assert shown.console == []


@ALL
def test_state_equals_an_independent_replay_forward_and_back(show, recording):
    shown = show(recording)
    last = len(recording["steps"])
    expected = [state_at(recording, position) for position in range(last + 1)]
    walk = [*range(last + 1), *range(last, -1, -1)]
    found = shown.page.evaluate(
        f"walk => walk.map(at => {{ gpukitPlayer.replay.seek(at); return {SNAPSHOT}; }})", walk
    )
    wrong = [at for at, state in zip(walk, found, strict=True) if json.loads(state) != expected[at]]
    assert wrong == []


def test_state_equals_an_independent_replay_after_any_jump(show):
    shown = show(RACE)
    chance = random.Random(3)
    for _ in range(40):
        position = chance.randint(0, len(RACE["steps"]))
        shown.go_to(position)
        assert json.loads(shown.page.evaluate(SNAPSHOT)) == state_at(RACE, position)


def test_recording_without_findings_opens_before_the_first_step(show):
    shown = show(REDUCE)
    assert shown.position == 0
    assert not shown.seen("#finding")
    assert shown.text("#count") == "step 0 of 114"


def test_player_opens_at_the_first_finding(show):
    shown = show(RACE)
    (finding,) = RACE["findings"]
    assert shown.position == finding["step"] + 1
    assert finding["message"] in shown.text("#finding")
    assert finding["fix"] in shown.text("#finding")


def test_player_opens_at_an_error_before_an_earlier_note(show):
    note = recordings.finding("same-value-race", "same value", severity="info", step=2)
    shown = show({**RACE, "findings": [note, *RACE["findings"]]})
    assert shown.position == RACE["findings"][0]["step"] + 1


def test_finding_marks_both_threads_the_lines_and_the_element(show):
    shown = show(RACE)
    sides = shown.page.locator(".lane-sides:not(:empty)").evaluate_all(
        "all => all.map(side => [side.textContent, side.parentNode.innerText.split('\\n')[0]])"
    )
    assert sides == [["A", "0"], ["B", "16"]]
    assert "finding" in shown.cell(2, 16)
    assert "AB" in shown.text("#source li[data-finding]")
    assert shown.choice == {"block": 0, "warp": 0, "lane": 0}


def test_side_of_a_finding_chooses_its_thread(show):
    shown = show(RACE).click(".side >> nth=1")
    assert shown.choice["lane"] == 16


def test_closing_the_banner_removes_its_marks(show):
    shown = show(RACE).click("#finding-close")
    assert not shown.seen("#finding")
    assert "finding" not in shown.cell(2, 16)
    assert shown.click("#finding-open").seen("#finding")


def test_two_findings_at_one_step_are_both_visited(show):
    first = RACE["findings"][0]
    shown = show({**RACE, "findings": [first, {**first, "message": "The second one."}]})
    assert "The second one." in shown.keys("f").text("#finding")
    assert shown.keys("f").announcement == "There is no later finding."
    assert "The second one." not in shown.keys("F").text("#finding")


def test_finding_without_a_step_or_threads_is_shown(show):
    lint = recordings.finding("float64", "float64 by accident", line=16, message="Slow.", step=None)
    shown = show({**REDUCE, "findings": [lint]})
    assert shown.position == 0
    assert "Slow." in shown.text("#finding")
    assert not shown.seen("#finding-go")
    assert shown.console == []


def test_buttons_step_forward_and_back(show):
    shown = show(REDUCE).click("#forward").click("#forward").click("#back")
    assert shown.position == 1
    assert shown.click("#last").position == len(REDUCE["steps"])
    assert shown.click("#first").position == 0


def test_arrow_keys_home_and_end_step(show):
    shown = show(REDUCE)
    walked = [
        shown.keys(key).position for key in ("ArrowRight", "ArrowRight", "ArrowLeft", "End", "Home")
    ]
    assert walked == [1, 2, 1, len(REDUCE["steps"]), 0]


def test_slider_goes_to_any_step(show):
    shown = show(REDUCE)
    shown.page.locator("#slider").fill("57")
    assert shown.position == 57
    assert json.loads(shown.page.evaluate(SNAPSHOT)) == state_at(REDUCE, 57)


def test_arrow_key_on_the_slider_steps_once(show):
    shown = show(REDUCE)
    shown.page.focus("#slider")
    assert shown.keys("ArrowRight").position == 1


def test_barrier_keys_stop_where_the_last_warp_arrives(show):
    shown = show(REDUCE)
    forward = [shown.keys("b").position for _ in BARRIERS]
    assert forward == BARRIERS
    assert shown.keys("b").announcement == "There is no later barrier."
    assert [shown.keys("B").position for _ in BARRIERS[1:]] == BARRIERS[-2::-1]


def test_divergent_barrier_is_a_stop(show):
    shown = show({**REDUCE, "steps": REDUCE["steps"][:7]})
    assert shown.keys("b").position == 7
    assert "32 of 64 running threads of the block are there." in shown.announcement


def test_grid_sync_is_a_stop_where_the_last_block_arrives(show):
    shown = show(VOTE).keys("b")
    assert shown.position == 20
    assert "All 128 recorded threads of the grid are there" in shown.announcement


def test_single_warp_can_be_stepped(show):
    shown = show(REDUCE).click(".warp >> nth=1").click("#one-warp")
    own = [
        number
        for number, step in enumerate(REDUCE["steps"], 1)
        if (step["block"], step["warp"]) == (0, 1)
    ]
    assert [shown.keys("ArrowRight").position for _ in own] == own
    assert shown.keys("ArrowRight").announcement == "Warp 1 takes no later step."
    assert [shown.keys("ArrowLeft").position for _ in own] == [*own[-2::-1], 0]


def test_choosing_a_warp_by_hand_stops_following(show):
    shown = show(REDUCE).go_to(6).click(".warp >> nth=0").keys("ArrowLeft")
    assert shown.choice["warp"] == 0
    assert shown.click("#follow").choice["warp"] == REDUCE["steps"][4]["warp"]


def test_playing_stops_at_a_finding(show):
    shown = show(RACE)
    shown.page.select_option("#speed", "fastest")
    shown.keys("Home", "Space")
    shown.page.wait_for_selector("#play:not([data-playing])")
    assert shown.position == RACE["findings"][0]["step"] + 1


def test_space_plays_and_pauses(show):
    shown = show(REDUCE).keys("Space")
    shown.page.wait_for_selector("#back:not([aria-disabled])")
    shown.keys("Space")
    assert shown.page.evaluate("gpukitPlayer.isPlaying") is False


def test_clicking_a_line_number_goes_to_its_next_step(show):
    shown = show(REDUCE)
    line = REDUCE["steps"][6]["line"]
    shown.click(f"#source li >> nth={line - REDUCE['source'][0]['line']} >> button")
    assert shown.position == 7


def test_chosen_thread_shows_its_registers(show):
    shown = show(REDUCE).go_to(90).click(".lane >> nth=5")
    block, warp = shown.choice["block"], shown.choice["warp"]
    registers = next(
        state["registers"]
        for state in state_at(REDUCE, 90)["warps"]
        if (state["block"], state["warp"]) == (block, warp)
    )
    rows = shown.page.locator("#registers tr").evaluate_all(
        "rows => rows.map(row => [row.cells[0].textContent, row.cells[1].textContent])"
    )
    assert rows == [[name, str(values[5])] for name, values in registers.items()]


def test_lanes_show_the_chosen_variable(show):
    shown = show(REDUCE).go_to(3)
    shown.page.select_option("#variable", "i")
    shown.click("#warps .warp >> nth=0")
    assert shown.page.locator(".lane-value").all_inner_texts() == [str(i) for i in range(32)]


def test_live_text_describes_the_step(show):
    shown = show(REDUCE).go_to(2).keys("ArrowRight")
    assert shown.announcement == (
        "Block 0, warp 0, line 16: all 32 lanes read a[0] to a[31], write tile[0] to tile[31]."
    )


def test_live_text_counts_threads_at_the_barrier(show):
    shown = show(REDUCE).keys("b")
    assert shown.announcement.endswith(
        "All 64 running threads of the block are there, so it opens."
    )


def test_question_mark_opens_the_help_and_escape_closes_it(show):
    shown = show(REDUCE).keys("?")
    assert shown.seen("#help-text")
    assert not shown.keys("Escape").seen("#help-text")


def test_player_works_in_a_notebooks_frame(chromium):
    shown = Shown(chromium.new_page())
    shown.page.set_content(Player(RACE)._repr_html_())
    frame = shown.page.frame_locator("iframe")
    frame.locator("html[data-ready]").wait_for(timeout=READY_MS)
    assert frame.locator("#count").inner_text() == "step 17 of 90"
    frame.locator("#forward").click()
    assert frame.locator("#count").inner_text() == "step 18 of 90"
    frame.locator("#help").click()
    frame.locator("#close-help").click()
    assert frame.locator("#help-text").is_hidden()
    assert (shown.console, shown.requests) == ([], [])
    shown.page.close()


def test_player_in_a_notebook_fits_the_window_and_can_fill_the_screen(chromium):
    page = chromium.new_page(viewport={"width": 1280, "height": 780})
    page.set_content(Player(RACE)._repr_html_())
    frame = page.frames[1]
    frame.wait_for_selector("html[data-ready]", timeout=READY_MS)
    assert page.locator("iframe").bounding_box()["height"] <= 665
    frame.click("#full")
    frame.wait_for_selector("#full[aria-pressed=true]")
    assert frame.evaluate("innerHeight") >= 780
    frame.press("body", "z")
    frame.wait_for_selector("#full[aria-pressed=false]")
    page.close()


@pytest.mark.parametrize(
    ("fix", "sentence"),
    [("put `b` first", "Put b first."), ("`b` is too large", "b is too large."), ("", "")],
)
def test_advice_is_shown_as_a_sentence(fix, sentence, show):
    shown = show({**RACE, "findings": [{**RACE["findings"][0], "fix": fix}]})
    assert shown.text("#finding-fix") == sentence


def test_code_in_a_finding_is_formatted_as_code(show):
    found = {**RACE["findings"][0], "message": "Read `a[i]` after `b = 1`.", "fix": "Move `b`."}
    shown = show({**RACE, "findings": [found]})
    assert shown.text("#finding-message") == "Read a[i] after b = 1."
    assert shown.page.locator("#finding p code").all_inner_texts() == ["a[i]", "b = 1", "b"]
    assert "`" not in shown.announcement


NOTEBOOK = "<body style='background: {}'><div>{}</div></body>"


@pytest.mark.parametrize("system", ["light", "dark"])
@pytest.mark.parametrize(("colour", "scheme"), [("#111", "dark"), ("rgb(255 255 240)", "light")])
def test_player_uses_the_colours_of_the_surrounding_notebook(chromium, system, colour, scheme):
    page = chromium.new_page(color_scheme=system)
    page.set_content(NOTEBOOK.format(colour, Player(RACE)._repr_html_()))
    frame = page.frames[1]
    frame.wait_for_selector("html[data-ready]", timeout=READY_MS)
    frame.wait_for_selector(f"html[data-scheme={scheme}]")
    page.close()


def test_player_follows_the_notebook_when_its_theme_changes(chromium):
    page = chromium.new_page(color_scheme="light")
    page.set_content(NOTEBOOK.format("white", Player(RACE)._repr_html_()))
    frame = page.frames[1]
    frame.wait_for_selector("html[data-ready]", timeout=READY_MS)
    page.evaluate("document.body.style.background = 'black'")
    frame.wait_for_selector("html[data-scheme=dark]")
    page.close()


def test_hostile_names_are_shown_as_text(show):
    name = "</script><img src=x onerror=document.title='broken'>"
    recording = recordings.reduction()
    recording["kernel"] = recording["arrays"][2]["name"] = name
    recording["source"][0]["text"] = name
    recording["truncated"] = name
    bad = recordings.finding(name, name, message=name, fix=name, source=name, step=3)
    shown = show({**recording, "findings": [bad]})
    assert shown.text("#kernel") == name
    assert shown.text("#finding-message") == name
    assert shown.page.locator("img").count() == 0
    assert shown.console == []


def test_recording_without_steps_is_shown(show):
    shown = show({**REDUCE, "steps": []}).keys("ArrowRight", "b", "f", "End")
    assert (shown.position, shown.console) == (0, [])


def test_truncation_of_the_recording_is_shown(show):
    assert "the first 50 steps" in show({**REDUCE, "truncated": "the first 50 steps"}).text(
        "#truncated"
    )
