"""Lessons in JupyterLab in a real Chromium: run, play, follow links, solve an exercise."""

import pytest

from tests.notebooks import running
from tests.notebooks.lab import CODE, NOTEBOOK, Lesson

# In one process, so that there is one Lab at a time and each lesson runs once.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("lab")]

RUN_WHOLE = "04_reduction"
EXPLORERS = {
    "launch_explorer(": "01_threads_blocks_grid",
    "latency_explorer(": "02_latency_and_throughput",
    "memory_explorer(": "03_memory",
}


@pytest.fixture(scope="module")
def lesson(chromium, address):
    one = Lesson(chromium, address, RUN_WHOLE)
    one.run_all()
    yield one
    one.page.close()


def moves(lesson, key):
    """Return whether a key press on the first slider changes an explorer's text."""
    slider = lesson.page.locator(".jp-OutputArea input[type=range]:visible").first
    card = "slider => slider.closest('.card').innerText"
    before = slider.evaluate(card)
    slider.focus()
    lesson.page.keyboard.press(key)
    lesson.page.wait_for_timeout(500)
    return slider.evaluate(card) != before


def test_a_lesson_runs_without_an_error_in_a_cell_or_in_the_console(lesson):
    assert (lesson.raised(), lesson.errors) == ([], [])


def test_the_player_steps_with_the_keyboard(lesson):
    lesson.show("gpukit.play(")
    player = lesson.page.frame_locator(".jp-OutputArea iframe").first
    before = player.locator("body").inner_text()
    player.locator("text=Source").first.click()  # focuses the frame, like a user
    lesson.page.keyboard.press("ArrowRight")
    lesson.page.wait_for_timeout(500)
    assert player.locator("body").inner_text() != before
    assert lesson.errors == []


@pytest.mark.parametrize("explorer", EXPLORERS)
def test_an_explorer_moves_with_the_keyboard(opened, explorer):
    lesson = opened(EXPLORERS[explorer])
    lesson.run(explorer)
    assert moves(lesson, "ArrowRight")
    assert lesson.errors == []


def test_number_is_submitted_with_enter(opened):
    lesson = opened("00_start_here")
    lesson.run('unit="threads"')
    lesson.page.locator(".card input:visible").first.click()
    lesson.page.keyboard.type("1")
    lesson.page.keyboard.press("Enter")
    assert lesson.page.get_by_role("button", name="Answer again").is_visible()


@pytest.mark.parametrize(
    "file",
    [
        "gpukit/kernels/vector.py",
        "exercises/01_threads_blocks_grid/zip_add/task.md",
        "notebooks/02_latency_and_throughput.ipynb",
    ],
)
def test_links_of_a_lesson_open_in_lab(opened, file):
    lesson = opened("01_threads_blocks_grid")
    lesson.follow(file)
    lesson.until(f"{NOTEBOOK}?.context?.path === '{file}' && {NOTEBOOK}.context.isReady")
    assert lesson.errors == []


@pytest.fixture(scope="module")
def solved(chromium, address):
    """Return a lesson in which an exercise was solved in its cell."""
    lesson = Lesson(chromium, address, "01_threads_blocks_grid")
    lesson.run("%%exercise zip_add")
    code = "%%exercise zip_add\n" + running.code_of("zip_add", "solution")
    number = lesson.show("%%exercise zip_add")
    lesson.page.evaluate(
        f"code => {NOTEBOOK}.content.model.cells.get({number}).sharedModel.setSource(code)", code
    )
    lesson.page.evaluate("window.jupyterapp.commands.execute('notebook:run-cell')")
    lesson.until(f"{NOTEBOOK}.content.model.cells.get({number}).executionCount")
    yield lesson
    lesson.page.close()


OUTPUTS = f"JSON.stringify({CODE}.flatMap(cell => cell.sharedModel.outputs))"


def test_an_exercise_is_solved_in_its_cell(solved):
    solved.until(f"{OUTPUTS}.includes('Right: 10 of 10 points')")


def test_outputs_persist_when_a_saved_lesson_is_reloaded(solved, opened):
    solved.until(f"{OUTPUTS}.includes('Right: 10 of 10 points')")
    solved.page.evaluate("window.jupyterapp.commands.execute('docmanager:save')")
    solved.until(f"!{NOTEBOOK}.context.model.dirty")
    again = opened(solved.name)
    again.until(f"{OUTPUTS}.includes('Right: 10 of 10 points')")
