"""The status line: it comes after a while, says what is done, vanishes, and is seen by people only.

Time does not pass here: the clock stands still, and who waits for the line waits until it shows.
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
    """A terminal, unless `looked_at` is False."""

    looked_at = True

    def isatty(self):
        return self.looked_at


@pytest.fixture
def terminal(monkeypatch):
    screen = Screen()
    seen = SimpleNamespace(stderr=screen, stdout=screen, modules=sys.modules)
    monkeypatch.setattr(status, "sys", seen)  # pytest puts its own streams back before a test
    return screen


@pytest.fixture
def notebook(monkeypatch):
    """The outputs of a notebook's cell: what each shows now."""
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
def said(monkeypatch):
    """Waits until the status line has said something; what it showed, in order."""
    texts, told = [], threading.Event()
    genuine = status.StatusLine.show

    def show(line, text):
        genuine(line, text)
        texts.append(text)
        told.set()

    monkeypatch.setattr(status.StatusLine, "show", show)
    monkeypatch.setattr(status, "PATIENCE", 0.001)
    monkeypatch.setattr(status.time, "monotonic", lambda: 0.0)
    return SimpleNamespace(texts=texts, wait=lambda: told.wait(30))


def test_long_work_says_what_it_is_and_takes_that_away(terminal, said):
    with status.doing("compiling it"):
        said.wait()
        shown = terminal.getvalue()
    assert shown == "\rcompiling it ... 0 s"
    assert terminal.getvalue() == shown + "\r" + " " * (len(shown) - 1) + "\r"


def test_long_work_is_asked_what_it_does_by_then(terminal, said):
    with status.doing(lambda: "loading it"):
        said.wait()
        assert terminal.getvalue() == "\rloading it ... 0 s"


def test_long_work_that_fails_takes_its_words_away(terminal, said):
    def work():
        with status.doing("compiling it"):
            said.wait()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work()
    assert terminal.getvalue().endswith(" \r")


def test_short_work_says_nothing(terminal):
    with status.doing("compiling it"):
        pass
    assert terminal.getvalue() == ""


def test_work_that_nobody_watches_starts_no_thread(terminal, monkeypatch):
    monkeypatch.setattr(Screen, "looked_at", False)
    before = threading.active_count()
    with status.doing("compiling it"):
        assert threading.active_count() == before


def test_work_says_nothing_where_something_else_writes_to_the_terminal(terminal):
    with status.silent(), status.doing("compiling it"):
        assert not status.StatusLine().watched
    assert status.StatusLine().watched


def test_line_is_cut_where_the_terminal_ends(terminal, monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    status.StatusLine().show("x" * 50)
    assert terminal.getvalue() == "\r" + "x" * 19


def test_shorter_text_writes_over_all_of_a_longer_one(terminal):
    line = status.StatusLine()
    line.show("twelve signs")
    line.show("four")
    assert terminal.getvalue() == "\rtwelve signs\rfour        "


def test_no_standard_error_is_no_fault(monkeypatch):
    monkeypatch.setattr(status, "sys", SimpleNamespace(stderr=None, modules=sys.modules))
    status.StatusLine().show("text")


def test_notebook_keeps_one_output_which_is_empty_at_the_end(notebook, said):
    with status.doing("compiling it"):
        said.wait()
        assert notebook == [{"text/plain": "compiling it ... 0 s"}]
    assert notebook == [{"text/plain": ""}]


def test_first_launch_says_that_its_kernel_is_compiled(terminal, monkeypatch):
    doing = []
    genuine = status.doing
    monkeypatch.setattr(status, "doing", lambda what: doing.append(what) or genuine(what))

    @cuda.jit
    def waited_kernel(a):
        a[cuda.grid(1)] = 1

    waited_kernel[1, 32](np.zeros(32))
    waited_kernel[1, 32](np.zeros(32))
    assert doing == ["compiling waited_kernel"]
    gpukit.profile(waited_kernel)[1, 32](np.zeros(32))
    assert "compiling waited_kernel for the profile" in doing


@pytest.fixture
def patient(monkeypatch):
    """However long compiling takes here, nothing is said of it."""
    monkeypatch.setattr(status, "PATIENCE", 1000)


def train():
    model = nn.Sequential(nn.Linear(3, 2))
    optimizer = nn.SGD(nn.Parameters(model, seed=0), lr=0.1)
    loader = nn.Loader(np.ones((6, 3), np.float32), [0, 1] * 3, batch=2)
    return nn.fit(model, optimizer, loader, epochs=2)


@pytest.mark.usefixtures("patient")
def test_training_in_a_notebook_leaves_one_line(notebook, capsys):
    train()
    (output,) = notebook
    assert output["text/plain"].startswith("epoch 2/2  step 6/6  loss ")
    assert capsys.readouterr().out == ""


@pytest.mark.usefixtures("patient")
def test_training_in_a_terminal_ends_its_line(terminal):
    train()
    lines = terminal.getvalue().split("\r")
    assert re.fullmatch(r"epoch 2/2  step 6/6  .*  \d+ s *\n", lines[-1])
