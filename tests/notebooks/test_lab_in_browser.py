"""Lessons in JupyterLab, in a real Chromium: run, play, follow links, solve an exercise."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest

from tests.notebooks import running

pytestmark = pytest.mark.slow

SECONDS = 150


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A copy of what Lab shows, so that the reader's own files stay as they are."""
    root = tmp_path_factory.mktemp("lab") / "gpukit"
    for folder in ("notebooks", "exercises", "gpukit"):
        skip = shutil.ignore_patterns("__pycache__", "answer*.py", ".progress.json")
        shutil.copytree(running.ROOT / folder, root / folder, ignore=skip)
    return root


@pytest.fixture(scope="module")
def address(project):
    """The address of a Lab that serves the project."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["--allow-root", "--no-browser", f"--port={port}", "--IdentityProvider.token="]
    options += [
        "--config=notebooks/lab_config.py",
        "--LabApp.news_url=None",
        "--LabApp.expose_app_in_browser=True",
    ]
    home = {name: str(project.parent / name) for name in ("JUPYTER_DATA_DIR", "IPYTHONDIR")}
    lab = subprocess.Popen(
        [sys.executable, "-m", "jupyter", "lab", *options],
        cwd=project,
        env={**os.environ, **home, "PYTHONPATH": str(project)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(f"http://127.0.0.1:{port}/api")
        yield f"http://127.0.0.1:{port}/lab/tree/notebooks"
    finally:
        lab.terminate()
        lab.wait(timeout=30)


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

    def __init__(self, browser, url):
        self.page = browser.new_page(viewport={"width": 1400, "height": 900})
        self.page.set_default_timeout(60_000)
        self.errors = []
        self.page.on("console", lambda m: self.errors.append(m.text) if m.type == "error" else None)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.goto(f"{url}?reset")
        self.until(f"{NOTEBOOK}?.sessionContext?.session?.kernel?.status === 'idle'")

    def until(self, condition):
        self.page.wait_for_function(condition, timeout=1000 * SECONDS)

    def run_all(self):
        self.page.evaluate("window.jupyterapp.commands.execute('runmenu:run-all')")
        self.until(f"{CODE}.every(cell => cell.executionCount)")
        self.until(f"{NOTEBOOK}.sessionContext.session.kernel.status === 'idle'")

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


@pytest.fixture(scope="module")
def lesson(chromium, address):
    one = Lesson(chromium, f"{address}/01_threads_blocks_grid.ipynb")
    one.run_all()
    yield one
    one.page.close()


def test_a_lesson_runs_without_an_error_in_a_cell_or_in_the_console(lesson):
    assert (lesson.raised(), lesson.errors) == ([], [])


def test_git_sees_no_change_when_a_lesson_was_run_and_saved(lesson, project):
    lesson.page.evaluate("window.jupyterapp.commands.execute('docmanager:save')")
    lesson.page.wait_for_timeout(2000)
    name = "notebooks/01_threads_blocks_grid.ipynb"
    assert (project / name).read_text() == (running.ROOT / name).read_text()


@pytest.mark.parametrize("name", ["gpukit/kernels/vector.py", "exercises/README.md"])
def test_links_of_a_lesson_lead_to_files_that_lab_can_open(lesson, name):
    opened = lesson.page.evaluate(
        "path => window.jupyterapp.serviceManager.contents.get(path).then(file => file.path)", name
    )
    assert opened == name


def test_the_launch_explorer_moves_with_the_keyboard(lesson):
    lesson.show("launch_explorer(")
    slider = lesson.page.locator(".jp-OutputArea input[type=range]:visible").first
    card = "slider => slider.closest('.card').innerText"
    before = slider.evaluate(card)
    slider.focus()
    lesson.page.keyboard.press("ArrowRight")
    lesson.page.wait_for_timeout(500)
    assert slider.evaluate(card) != before
    assert lesson.errors == []


def test_the_player_steps_with_the_keyboard(lesson):
    lesson.show("gpukit.play(")
    player = lesson.page.frame_locator(".jp-OutputArea iframe").first
    before = player.locator("body").inner_text()
    player.locator("text=Source").first.click()  # into the frame, as a person would
    lesson.page.keyboard.press("ArrowRight")
    lesson.page.wait_for_timeout(500)
    assert player.locator("body").inner_text() != before
    assert lesson.errors == []


def test_an_exercise_is_solved_in_its_cell(lesson):
    code = "%%exercise zip_add\n" + running.code_of("zip_add", "solution")
    number = lesson.show("%%exercise zip_add")
    lesson.page.evaluate(
        f"code => {NOTEBOOK}.content.model.cells.get({number}).sharedModel.setSource(code)", code
    )
    lesson.page.evaluate("window.jupyterapp.commands.execute('notebook:run-cell')")
    cell = f"{NOTEBOOK}.content.model.cells.get({number})"
    lesson.until(f"JSON.stringify({cell}.sharedModel.outputs).includes('Right: 10 of 10 points')")
