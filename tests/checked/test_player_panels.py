"""The player's panels in a real Chromium: cells, lanes, colour schemes, widths."""

import json

import numpy as np
import pytest

from gpukit.checked.player import HEIGHT
from tests.checked import recordings

REDUCE, RACE, TRANSPOSE = (
    recordings.reduction(),
    recordings.reduction(forgotten_barrier=True),
    recordings.transpose(),
)
WIDTHS = (360, 900, 1280, 1920)
VALUES = "JSON.stringify(gpukitPlayer.replay.arrays[1].values)"
# The most elements of a page, however long its recording is.
MOST_ELEMENTS = 2_500

# Visible texts whose contrast with their solid background is too low (WCAG 2.2, 1.4.3), or that
# have an opacity, which this does not take into account.
FAINT = """() => {
  const channels = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const bright = (colour) => channels(colour).slice(0, 3)
    .map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, at) => sum + c * [0.2126, 0.7152, 0.0722][at], 0);
  const behind = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if ((channels(colour)[3] ?? 1) > 0.99) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const faint = [];
  for (const node of document.querySelectorAll("body *")) {
    const own = [...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim());
    const isShown = node.checkVisibility({visibilityProperty: true});
    if (!own || !isShown || node.closest("[aria-disabled]")) continue;
    const [a, b] = [bright(getComputedStyle(node).color), bright(behind(node))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const isFaded = Number(getComputedStyle(node).opacity) < 1;
    if (!(ratio >= 4.5) || isFaded) faint.push([node.outerHTML.slice(0, 90), ratio]);
  }
  return faint;
}"""
NAMELESS = """() => [...document.querySelectorAll("button, select, input, [tabindex='0']")]
  .filter((node) => node.checkVisibility())
  .filter((node) => !(node.ariaLabel || node.textContent.trim() || node.title
    || node.labels?.length || node.getAttribute("aria-labelledby")))
  .map((node) => node.outerHTML)"""


def test_elements_never_written_are_marked(show):
    cell = show(REDUCE).cell(2, 0)
    assert (cell["state"], cell["text"]) == ("blank", "?")
    assert cell["label"] == "tile[0] = never written"


def test_written_element_stays_marked_after_its_step(show):
    shown = show(REDUCE).go_to(3)
    now = shown.cell(2, 0)
    assert (now["letters"], now["now"], now["text"]) == ("W", "write", "0.5")
    later = shown.keys("ArrowRight").cell(2, 0)
    assert (later["state"], later.get("letters")) == ("written", None)


def test_stepping_back_makes_an_element_unwritten_again(show):
    shown = show(REDUCE).go_to(3).keys("ArrowLeft")
    assert shown.cell(2, 0)["state"] == "blank"


def test_reads_and_atomic_updates_have_distinct_marks(show):
    steps = REDUCE["steps"]
    atomic = next(
        number for number, step in enumerate(steps, 1) if step["writes"] and step["writes"][0][4]
    )
    shown = show(REDUCE).go_to(atomic)
    assert (shown.cell(2, 0)["letters"], shown.cell(1, 0)["letters"]) == ("R", "U")


def test_cells_of_the_chosen_thread_are_framed(show):
    shown = show(REDUCE).go_to(3).click(".lane >> nth=7")
    framed = shown.page.locator(".cell[data-mine]").evaluate_all("all => all.map(cell => cell.id)")
    assert framed == ["cell-2-7", "cell-0-7"]


def test_two_dimensional_array_keeps_its_rows_and_columns(show):
    grid = show(TRANSPOSE).page.locator('[data-array="1"] [role=grid]')
    assert (grid.get_attribute("aria-rowcount"), grid.get_attribute("aria-colcount")) == ("8", "5")


def test_non_finite_values_are_shown(show):
    assert show(TRANSPOSE).cell(0, 7)["text"] == "nan"


def test_local_array_follows_the_chosen_thread(show):
    shown = show(TRANSPOSE).click(".lane >> nth=9")
    shown.keys("End")
    names = shown.page.locator(".array h3 code").all_inner_texts()
    assert names == ["row", "tile", "a", "out"]
    thread = shown.choice["warp"] * 32 + shown.choice["lane"]
    assert shown.cell(3 + thread, 0)["text"] == str(thread % 8)


def test_arrays_that_the_launch_never_accesses_come_last(show):
    idle = {**REDUCE["arrays"][0], "name": "idle"}
    moved = [
        {**step, **{k: [[n + 1, *rest] for n, *rest in step[k]] for k in ("reads", "writes")}}
        for step in REDUCE["steps"]
    ]
    shown = show({**REDUCE, "arrays": [idle, *REDUCE["arrays"]], "steps": moved})
    assert shown.page.locator(".array h3 code").all_inner_texts()[-1] == "idle"


@pytest.mark.parametrize("width", [640, 760, 1000])
def test_an_array_is_above_the_fold_of_a_notebooks_cell(show, width):
    shown = show(RACE, width=width, height=HEIGHT)
    cells, bar = (shown.page.locator(s).first.bounding_box() for s in (".cells", "footer"))
    assert cells["y"] + 100 <= bar["y"]


def test_truncated_array_says_so(show):
    array = {**REDUCE["arrays"][0], "whole": [2_500, 2_000]}
    shown = show({**REDUCE, "arrays": [array, *REDUCE["arrays"][1:]]})
    size = len(array["before"])
    kind = shown.text('[data-array="0"] .array-kind')
    assert kind.endswith(f"first {size} of 2,500 \u00d7 2,000")


def test_shared_array_follows_the_chosen_block(show):
    shown = show(REDUCE)
    shown.page.select_option("#block", "1")
    assert shown.page.locator("#cell-3-0").count() == 1
    assert shown.page.locator("#cell-2-0").count() == 0


def test_lanes_without_a_thread_cannot_be_selected(show):
    shown = show(TRANSPOSE).click(".warp >> nth=1")
    absent = shown.page.locator('.lane[data-state="absent"]')
    assert absent.count() == 24
    assert not absent.first.is_visible()


def test_lanes_wait_at_the_barrier_and_then_continue(show):
    shown = show(REDUCE).go_to(7)
    states = "all => [...new Set(all.map(lane => lane.dataset.state))]"
    assert shown.page.locator(".lane").evaluate_all(states) == ["waiting"]
    assert "waits at the barrier" in shown.text(".warp >> nth=0")
    shown.go_to(9)
    assert shown.page.locator(".lane").evaluate_all(states) == ["active"]


def test_lanes_that_return_are_marked(show):
    shown = show(REDUCE).keys("End")
    assert shown.page.locator('.lane[data-state="returned"]').count() == 32


def test_source_marks_the_current_line_and_those_of_other_warps(show):
    shown = show(REDUCE).go_to(7)
    assert "# the tile is filled" in shown.text('#source li[aria-current="step"]')
    assert shown.page.locator("#source .chips:not(:empty)").all_inner_texts() == ["w1", "w0"]


def test_arrow_keys_select_a_lane_when_focused(show):
    shown = show(REDUCE)
    shown.page.focus(".lane >> nth=0")
    shown.keys("ArrowDown", "ArrowRight")
    assert shown.choice["lane"] == 17
    assert shown.position == 0


def test_arrow_keys_select_an_element_and_describe_its_last_access(show):
    shown = show(REDUCE).go_to(5)
    shown.page.focus('[data-array="2"] [role=grid]')
    shown.keys("ArrowRight", "ArrowRight", "ArrowRight")
    assert shown.text('[data-array="2"] .inspector') == (
        "tile[2] = 2.5 \u00b7 last written by thread 2 of block 0 at step 3"
    )
    shown.click('[data-array="2"] .inspector button')
    assert shown.position == 3


def test_accessed_element_is_scrolled_into_view(show):
    recording = recordings.long(steps=400)
    shown = show(recording).go_to(101)
    array, index, *_ = recording["steps"][100]["reads"][0]
    assert shown.page.locator(f"#cell-{array}-{index}").is_visible()


def test_long_recording_keeps_the_page_small_and_the_state_right(show):
    recording = recordings.long(steps=20_000, size=4_096)
    shown = show(recording).keys("End")
    expected = list(recording["arrays"][1]["before"])
    for step in recording["steps"]:
        for _, index, _, value, _ in step["writes"]:
            expected[index] = value
    assert json.loads(shown.page.evaluate(VALUES)) == expected
    assert shown.page.locator("*").count() < MOST_ELEMENTS
    shown.keys("Home")
    assert json.loads(shown.page.evaluate(VALUES)) == [None] * 4_096


@pytest.mark.parametrize("width", [640, 1280])
def test_every_control_is_visible_in_a_notebook_cell(show, width):
    shown = show(RACE, width=width, height=663)
    for name in "scheme", "full", "help", "play", "jump-next", "all-warps", "one-warp", "speed":
        box = shown.page.locator(f"#{name}").bounding_box()
        assert box is not None, name
        assert box["y"] + box["height"] <= 663, name


@pytest.mark.parametrize("width", [1000, 1280])
def test_registers_keep_their_rows_below_a_finding(show, width):
    shown = show(RACE, width=width, height=663)
    rows = shown.page.locator("#registers tr")
    shown.page.locator("#registers").scroll_into_view_if_needed()
    assert rows.first.bounding_box()["height"] > 20
    card = shown.page.locator(".registers-card").bounding_box()
    assert card["height"] >= 38 + 27 * min(3, rows.count())


@pytest.mark.parametrize("width", [760, 1000, 1280])
def test_short_kernel_is_fully_visible(show, width):
    shown = show({**RACE, "source": RACE["source"][:5]}, width=width, height=663)
    assert shown.page.evaluate("(({scrollHeight: all, clientHeight: seen}) => all <= seen)(source)")


@pytest.mark.parametrize("width", WIDTHS)
def test_page_never_scrolls_sideways(show, width):
    shown = show(RACE, width=width, height=780)
    assert shown.page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", WIDTHS)
def test_playback_buttons_are_visible_at_every_width(show, width):
    box = show(RACE, width=width, height=780).page.locator("#play").bounding_box()
    assert 0 <= box["x"]
    assert box["y"] + box["height"] <= 780


@pytest.mark.parametrize("position", [0, 7, 17, 90])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_has_enough_contrast(show, scheme, position):
    shown = show(RACE, color_scheme=scheme).go_to(position)
    assert shown.page.evaluate("document.documentElement.dataset.scheme") == scheme
    assert shown.page.evaluate(FAINT) == []


def test_colour_scheme_can_be_selected(show):
    shown = show(REDUCE, color_scheme="light").click("#scheme").click("#scheme")
    assert shown.page.evaluate("document.documentElement.dataset.scheme") == "dark"


def test_every_focusable_element_has_an_accessible_name(show):
    assert show(RACE).page.evaluate(NAMELESS) == []


def test_focus_is_visible(show):
    shown = show(REDUCE).keys("Tab")
    style = "getComputedStyle(document.activeElement)"
    assert shown.page.evaluate(f"{style}.outlineStyle") == "solid"
    assert shown.page.evaluate(f"parseFloat({style}.outlineWidth)") >= 2


def test_prefers_reduced_motion_disables_animation(show):
    shown = show(RACE, reduced_motion="reduce").keys("ArrowRight")
    assert shown.page.evaluate("document.getAnimations().length") == 0


def test_float32_is_shown_with_float32_precision(show):
    recording = recordings.reduction()
    recording["arrays"][0]["before"][:3] = [float(np.float32(0.1)), 1 / 3, float(np.float32(1e-20))]
    shown = show(recording)
    labels = [shown.cell(0, index)["label"].removeprefix("a[") for index in range(3)]
    assert labels == ["0] = 0.1", f"1] = {1 / 3}", "2] = 1e-20"]
    assert [shown.cell(0, index)["text"] for index in range(3)] == ["0.1", "0.3333", "1e-20"]
