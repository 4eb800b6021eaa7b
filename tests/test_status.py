"""The status line: it appears after a delay, in terminals and notebooks only, and is removed.

The clock is fake and never advances; tests wait for the line by an event.
"""

import io
import re
import sys
import threading
from types import SimpleNamespace

import numpy as np
import pytest

import gpukit
from gpukit import cuda, nn, status


class Screen(io.StringIO):
    """A terminal, unless `is_terminal` is False."""

    is_terminal = True

    def isatty(self):
        return self.is_terminal


@pytest.fixture
def terminal(monkeypatch):
    screen = Screen()
    fake = SimpleNamespace(stderr=screen, stdout=screen, modules=sys.modules)
    monkeypatch.setattr(status, "sys", fake)  # not sys.stderr, which pytest replaces
    return screen


@pytest.fixture
def notebook(monkeypatch):
    """The current contents of the outputs of a notebook cell."""
    outputs = []

    def display(content, raw, display_id):
        assert (raw, display_id) == (True, True)
        outputs.append(content)
        number = len(outputs) - 1
        return SimpleNamespace(update=lambda new, raw: outputs.__setitem__(number, new))

    monkeypatch.setattr("IPython.get_ipython", lambda: SimpleNamespace(kernel=object()))
    monkeypatch.setattr("IPython.display.display", display)
    return outputs


@pytest.fixture
def status_texts(monkeypatch):
    """The texts that the status line showed, and `wait`, which waits for the first."""
    texts, shown = [], threading.Event()
    genuine = status.StatusLine.show

    def show(line, text):
        genuine(line, text)
        texts.append(text)
        shown.set()

    monkeypatch.setattr(status.StatusLine, "show", show)
    monkeypatch.setattr(status, "PATIENCE", 0.001)
    monkeypatch.setattr(status.time, "monotonic", lambda: 0.0)
    return SimpleNamespace(texts=texts, wait=lambda: shown.wait(30))


def test_long_work_shows_its_description_and_then_removes_it(terminal, status_texts):
    with status.doing("compiling it"):
        status_texts.wait()
        shown = terminal.getvalue()
    assert shown == "\rcompiling it ... 0 s"
    assert terminal.getvalue() == shown + "\r" + " " * (len(shown) - 1) + "\r"


def test_a_description_may_be_computed_when_it_is_shown(terminal, status_texts):
    with status.doing(lambda: "loading it"):
        status_texts.wait()
        assert terminal.getvalue() == "\rloading it ... 0 s"


def test_long_work_that_fails_removes_its_description(terminal, status_texts):
    def work():
        with status.doing("compiling it"):
            status_texts.wait()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work()
    assert terminal.getvalue().endswith(" \r")


def test_short_work_shows_nothing(terminal):
    with status.doing("compiling it"):
        pass
    assert terminal.getvalue() == ""


def test_work_without_a_terminal_starts_no_thread(terminal, monkeypatch):
    monkeypatch.setattr(Screen, "is_terminal", False)
    before = threading.active_count()
    with status.doing("compiling it"):
        assert threading.active_count() == before


def test_nothing_is_shown_inside_silent(terminal):
    with status.silent(), status.doing("compiling it"):
        assert not status.StatusLine().watched
    assert status.StatusLine().watched


def test_the_line_is_cut_at_the_width_of_the_terminal(terminal, monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    status.StatusLine().show("x" * 50)
    assert terminal.getvalue() == "\r" + "x" * 19


def test_a_shorter_text_overwrites_all_of_a_longer_one(terminal):
    line = status.StatusLine()
    line.show("twelve chars")
    line.show("four")
    assert terminal.getvalue() == "\rtwelve chars\rfour        "


def test_a_missing_standard_error_is_no_error(monkeypatch):
    monkeypatch.setattr(status, "sys", SimpleNamespace(stderr=None, modules=sys.modules))
    status.StatusLine().show("text")


def test_a_notebook_has_one_output_which_is_empty_at_the_end(notebook, status_texts):
    with status.doing("compiling it"):
        status_texts.wait()
        assert notebook == [{"text/plain": "compiling it ... 0 s"}]
    assert notebook == [{"text/plain": ""}]


def test_a_first_launch_shows_that_its_kernel_is_being_compiled(terminal, monkeypatch):
    doing = []
    genuine = status.doing
    monkeypatch.setattr(status, "doing", lambda what: doing.append(what) or genuine(what))

    @cuda.jit
    def compiled_kernel(a):
        a[cuda.grid(1)] = 1

    compiled_kernel[1, 32](np.zeros(32))
    compiled_kernel[1, 32](np.zeros(32))
    assert doing == ["compiling compiled_kernel"]
    gpukit.profile(compiled_kernel)[1, 32](np.zeros(32))
    assert "compiling compiled_kernel for the profile" in doing


@pytest.fixture
def long_delay(monkeypatch):
    """Show no status line for compiling, however long it takes."""
    monkeypatch.setattr(status, "PATIENCE", 1000)


def train():
    model = nn.Sequential(nn.Linear(3, 2))
    optimizer = nn.SGD(nn.Parameters(model, seed=0), lr=0.1)
    loader = nn.Loader(np.ones((6, 3), np.float32), [0, 1] * 3, batch=2)
    return nn.fit(model, optimizer, loader, epochs=2)


@pytest.mark.usefixtures("long_delay")
def test_training_in_a_notebook_leaves_one_output(notebook, capsys):
    train()
    (output,) = notebook
    assert output["text/plain"].startswith("epoch 2/2  step 6/6  loss ")
    assert capsys.readouterr().out == ""


@pytest.mark.usefixtures("long_delay")
def test_training_in_a_terminal_ends_its_status_line(terminal):
    train()
    lines = terminal.getvalue().split("\r")
    assert re.fullmatch(r"epoch 2/2  step 6/6  .*  \d+ s *\n", lines[-1])
