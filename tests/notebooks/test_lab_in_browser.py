"""Lessons in JupyterLab, in a real Chromium: run, play, follow links, solve an exercise."""

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest

from gpukit.course import workbook
from tests.notebooks import running

# In one process, so that there is one Lab, and each lesson runs as a whole once.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("lab")]

SECONDS = 150


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """A workbook, so that the reader's own files stay as they are."""
    folder = tmp_path_factory.mktemp("lab") / "workbook"
    workbook.start(folder, running.ROOT)
    return folder


@pytest.fixture(scope="module")
def address(book):
    """The address of a Lab that serves the workbook."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["--allow-root", "--no-browser", f"--port={port}", "--IdentityProvider.token="]
    options += [f"--config={workbook.LAB_CONFIG}", "--LabApp.expose_app_in_browser=True"]
    home = {name: str(book.parent / name) for name in ("JUPYTER_DATA_DIR", "IPYTHONDIR")}
    lab = subprocess.Popen(
        [sys.executable, "-m", "jupyter", "lab", *options],
        cwd=book,
        env={**os.environ, **home, "PYTHONPATH": str(running.ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(f"http://127.0.0.1:{port}/api")
        yield f"http://127.0.0.1:{port}/lab/tree/notebooks"
    finally:
        stop(lab)


def stop(lab):
    """End a Lab: it first ends its kernels, which may take longer than a test should wait."""
    lab.terminate()
    try:
        lab.wait(timeout=30)
    except subprocess.TimeoutExpired:
        lab.kill()
        lab.wait()


def wait_for(url):
    for _ in range(120):
        try:
            urllib.request.urlopen(url).close()
            return
        except urllib.error.URLError:
            time.sleep(0.5)
    raise TimeoutError(url)


NOTEBOOK = "window.jupyterapp.shell.currentWidget"
CODE = f"[...{NOTEBOOK}.content.model.cells].filter(cell => cell.type === 'code')"


class Lesson:
    """A lesson in Lab, and what a person does there."""

    def __init__(self, browser, address, name):
        self.name = name
        self.page = browser.new_page(viewport={"width": 1400, "height": 900})
        self.page.set_default_timeout(60_000)
        self.errors = []
        self.page.on("console", lambda m: self.errors.append(m.text) if m.type == "error" else None)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.goto(f"{address}/{name}.ipynb?reset")
        self.until("window.jupyterapp?.shell?.currentWidget")  # neither is there from the start
        self.until(f"{NOTEBOOK}?.sessionContext?.session?.kernel?.status === 'idle'")

    def follow(self, file):
        """Click the link to a file of the project."""
        links = (
            f"[...{NOTEBOOK}.content.model.cells].findIndex(cell => cell.type === 'markdown' && "
        )
        name = file.rpartition("/")[2] if file.startswith("notebooks/") else f"../{file}"
        number = self.page.evaluate(
            f"link => {links} cell.sharedModel.source.includes(link))", name
        )
        self.page.evaluate(f"{NOTEBOOK}.content.scrollToItem({number}, 'start')")
        self.page.locator(f"a[href*='{file.rpartition('/')[2]}']:visible").first.click()

    def until(self, condition):
        self.page.wait_for_function(condition, timeout=1000 * SECONDS)

    def run_all(self):
        self.page.evaluate("window.jupyterapp.commands.execute('runmenu:run-all')")
        self.until(f"{CODE}.every(cell => cell.executionCount)")
        self.until(f"{NOTEBOOK}.sessionContext.session.kernel.status === 'idle'")

    def run(self, code):
        """Run the first cell, which imports, and the one whose code holds some text."""
        first = self.show("import gpukit")
        for number in (first, self.show(code)):
            self.page.evaluate(f"{NOTEBOOK}.content.activeCellIndex = {number}")
            self.page.evaluate("window.jupyterapp.commands.execute('notebook:run-cell')")
            self.until(f"{NOTEBOOK}.content.model.cells.get({number}).executionCount")
        self.show(code)

    def show(self, code):
        """Go to the cell whose code holds some text, and return its number."""
        find = f"[...{NOTEBOOK}.content.model.cells].findIndex(cell => cell.type === 'code' && "
        number = self.page.evaluate(f"text => {find} cell.sharedModel.source.includes(text))", code)
        assert number >= 0, code
        self.page.evaluate(f"{NOTEBOOK}.content.activeCellIndex = {number}")
        self.page.evaluate(f"{NOTEBOOK}.content.scrollToItem({number}, 'start')")
        self.page.wait_for_timeout(1500)
        return number

    def raised(self):
        """The names of the errors that cells ended with."""
        outputs = f"{CODE}.flatMap(cell => cell.sharedModel.outputs)"
        return self.page.evaluate(
            f"{outputs}.filter(o => o.output_type === 'error').map(o => o.ename + o.evalue)"
        )


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


@pytest.fixture
def opened(chromium, address):
    """Open a lesson by its name, and close it at the end."""
    lessons = []

    def lesson(name):
        lessons.append(Lesson(chromium, address, name))
        return lessons[-1]

    yield lesson
    for one in lessons:
        one.page.close()


def moves(lesson, key):
    """Whether an explorer's card says something else after a key on its first slider."""
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
    player.locator("text=Source").first.click()  # into the frame, as a person would
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
    """A lesson in whose cell an exercise was solved."""
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


def test_outputs_are_there_when_a_saved_lesson_is_loaded_again(solved, opened):
    solved.until(f"{OUTPUTS}.includes('Right: 10 of 10 points')")
    solved.page.evaluate("window.jupyterapp.commands.execute('docmanager:save')")
    solved.until(f"!{NOTEBOOK}.context.model.dirty")
    again = opened(solved.name)
    again.until(f"{OUTPUTS}.includes('Right: 10 of 10 points')")
