"""Training in JupyterLab in a real Chromium: Stop, the next cell, save, reload the page."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

import gpukit
from tests.notebooks import running
from tests.notebooks.lab import CODE, NOTEBOOK, Lesson

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("lab"),
    pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix"),
]

PACKAGE = str(Path(gpukit.__file__).parent)
EXERCISE = "zip_add"
SETTING_UP = """import json
import numpy as np
from gpukit import draw, nn

rng = np.random.default_rng(0)
x, labels = rng.normal(size=(64, 8)).astype(np.float32), rng.integers(0, 3, 64)
model, live = nn.Linear(8, 3), draw.LiveLoss()
optimizer = nn.SGD(nn.Parameters(model, seed=0), lr=0.01)
loader = nn.Loader(x, labels, batch=16)
"""
TRAINING = """ended = False
nn.fit(model, optimizer, loader, epochs=1_000_000, report=live, checkpoint="saved.npz")
ended = True
"""
AFTERWARDS = """kept = nn.load("saved.npz", nn.Parameters(model, seed=1), optimizer)
out, _ = model.forward(x)
print(json.dumps({"ended": ended, "saved": len(kept["losses"]), "shape": list(out.shape)}))
"""
ANSWER = f"%%exercise {EXERCISE}\n" + running.code_of(EXERCISE, "solution")
CELLS = [SETTING_UP, TRAINING, AFTERWARDS, "%load_ext gpukit", ANSWER]


class Notebook(Lesson):
    """A notebook in Lab whose cells are run one by one, with the keys and buttons of a user."""

    def begin(self, number):
        self.page.locator(".jp-Notebook .jp-Cell").nth(number).locator(".cm-content").click()
        self.page.keyboard.press("Control+Enter")

    def run_cell(self, number):
        self.begin(number)
        self.wait_for_cell(number)

    def wait_for_cell(self, number):
        self.until(f"{CODE}[{number}].executionCount")

    def outputs(self, number):
        return self.page.evaluate(f"{CODE}[{number}].sharedModel.outputs")

    def pictures(self):
        """Return the alt texts of the displayed images."""
        return self.page.eval_on_selector_all(".jp-OutputArea img", "all => all.map(p => p.alt)")

    def save_and_reload(self):
        self.page.keyboard.press("Control+s")
        self.until(f"!{NOTEBOOK}.context.model.dirty")
        self.page.reload()
        self.wait_until_ready()


@pytest.fixture(scope="module")
def stopped(chromium, address, book):
    """Return a notebook whose training was stopped before its other cells were run."""
    cells = [nbformat.v4.new_code_cell(source) for source in CELLS]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    written = nbformat.v4.new_notebook(cells=cells, metadata=kernel)
    nbformat.write(written, book / "notebooks" / "mine.ipynb")
    notebook = Notebook(chromium, address, "mine")
    notebook.run_cell(0)
    notebook.begin(1)
    notebook.page.wait_for_selector(".jp-OutputArea img")
    notebook.page.locator("[data-jp-item-name=interrupt]:visible").click()
    notebook.wait_for_cell(1)
    for number in range(2, len(CELLS)):
        notebook.run_cell(number)
    yield notebook
    notebook.page.close()


@pytest.fixture(scope="module")
def error(stopped):
    """Return the error of the training cell."""
    (error,) = [o for o in stopped.outputs(1) if o["output_type"] == "error"]
    return error


def last_step(error):
    return int(re.search(r"stopped by Ctrl-C after step ([\d,]+) of", error["evalue"])[1])


def test_stop_ends_the_cell_with_a_short_interrupt(error):
    assert error["ename"] == "KeyboardInterrupt"
    shown = re.sub(r"\x1b\[[\d;]*m", "", "\n".join(error["traceback"]))
    assert PACKAGE not in shown
    assert len(shown.splitlines()) < 6


def test_the_figure_says_that_the_training_was_stopped(stopped, error):
    (words,) = stopped.pictures()
    assert f"stopped by Ctrl-C after step {last_step(error)} of" in words


def test_the_next_cell_loads_the_saved_state_and_training_has_stopped(stopped, error):
    (printed,) = stopped.outputs(2)
    assert json.loads(printed["text"]) == {
        "ended": False,
        "saved": last_step(error),
        "shape": [64, 3],
    }


@pytest.fixture(scope="module")
def reloaded(stopped, error):
    """Return the saved and reloaded notebook, and its outputs and image before that."""
    before = [stopped.outputs(number) for number in range(len(CELLS))], stopped.pictures()
    stopped.save_and_reload()
    return stopped, before


def test_outputs_persist_after_a_page_reload(reloaded):
    notebook, (outputs, pictures) = reloaded
    assert [notebook.outputs(number) for number in range(len(CELLS))] == outputs
    assert notebook.pictures() == pictures
    assert notebook.errors == []


@pytest.mark.usefixtures("reloaded")
@pytest.mark.parametrize(
    ("command", "words"),
    [(["test", EXERCISE], "10 of 10 points"), (["list"], f"{EXERCISE} .*right")],
)
def test_commands_find_the_answer_of_a_cell_after_a_page_reload(book, command, words):
    done = subprocess.run(
        [sys.executable, "-m", "gpukit", *command],
        cwd=book,
        env={**os.environ, "PYTHONPATH": str(running.ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(words, done.stdout), done.stdout
