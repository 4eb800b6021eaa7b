"""`make lab`: its output, its address, and Ctrl-C."""

import os
import pty
import re
import select
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from gpukit.course import workbook
from tests.notebooks import running

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("lab")]

SECONDS = 150


class Terminal:
    """A program in a pseudo-terminal, with its output and key presses."""

    def __init__(self, *command, **environment):
        self.keys, end = pty.openpty()
        self.process = subprocess.Popen(
            ["setsid", "--ctty", *command],
            stdin=end,
            stdout=end,
            stderr=end,
            cwd=running.ROOT,
            env=os.environ | environment,
        )
        os.close(end)
        self.printed = ""

    def until(self, pattern):
        """Read until a pattern matches or the program has ended; return the match."""
        deadline = time.monotonic() + SECONDS
        while (found := re.search(pattern, self.printed)) is None and time.monotonic() < deadline:
            if select.select([self.keys], [], [], 1.0)[0] and not self._read():
                break
        assert found, self.printed
        return found

    def _read(self):
        try:
            chunk = os.read(self.keys, 65536)
        except OSError:  # on Linux, the terminal was closed
            return False
        self.printed += chunk.decode(errors="replace")
        return bool(chunk)

    def press(self, keys):
        os.write(self.keys, keys.encode())

    def ended(self):
        """Read to the end and return the exit code."""
        while self._read():
            pass
        return self.process.wait(timeout=SECONDS)


@dataclass
class Session:
    """Observations of one run of `make lab`."""

    address: str
    port: int
    lesson: str = ""
    notices: list[str] = field(default_factory=list)
    screen: str = ""  # before Ctrl-C
    printed: str = ""
    code: int = -1


def make(*arguments, **environment):
    """Start make with the tools of this Python, without setup."""
    tools = os.path.relpath(Path(sys.executable).parent, running.ROOT)
    command = ["make", "-o", ".venv/.ready", *arguments, f"BIN={tools}"]
    return Terminal(*command, BROWSER="/bin/true", PYTHONPATH=str(running.ROOT), **environment)


@pytest.fixture(scope="module")
def session(chromium, tmp_path_factory):
    """Make a workbook, open the printed address and press Ctrl-C twice."""
    home = tmp_path_factory.mktemp("make_lab")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder = home / "my workbook"
    own = {name: str(home / name) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR")}
    lab = make("lab", f"WORKBOOK={folder}", f"PORT={port}", **own)
    try:
        seen = Session(lab.until(r"http://127\.0\.0\.1:\S+token=\w+(?=\s)")[0], port)
        page = chromium.new_page()
        page.goto(seen.address)
        page.wait_for_selector(".jp-NotebookPanel-notebook h1", timeout=1000 * SECONDS)
        seen.lesson = page.locator(".jp-NotebookPanel-notebook h1").first.inner_text()
        page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status=idle]")
        seen.notices = page.locator(".Toastify__toast").all_inner_texts()
        page.close()
        lab.press("\x03")
        lab.until(r"Shut down this Jupyter server")
        seen.screen = lab.printed
        lab.press("\x03")
        seen.code, seen.printed = lab.ended(), lab.printed
        yield seen
    finally:
        lab.process.kill()


def test_the_printed_address_opens_the_first_lesson(session):
    title = running.read(running.NOTEBOOKS[0]).cells[0].source.splitlines()[0]
    assert session.lesson.startswith(title.removeprefix("# "))


def test_nothing_pops_up_over_the_lesson(session):
    assert session.notices == []


def test_the_requested_port_is_used(session):
    assert f":{session.port}/" in session.address


def test_the_start_prints_no_warning(session):
    assert "Warning" not in session.printed


def test_what_start_prints_and_the_address_fit_one_screen(session):
    assert session.screen.startswith("Created your workbook, ")
    assert len(session.screen.splitlines()) < 24


def test_the_start_says_how_to_stop_lab(session):
    assert "To stop it, press Ctrl-C twice." in session.screen


def test_ctrl_c_is_no_failure_of_make(session):
    assert (session.code, "***" in session.printed) == (0, False)


@pytest.mark.parametrize("port", ["abc", "0", "65536", "80 81"])
def test_an_invalid_port_is_rejected_before_anything_is_created(tmp_path, port):
    lab = make("lab", f"WORKBOOK={tmp_path / 'mine'}", f"PORT={port}")
    assert lab.ended() == 2
    assert f"expected PORT to be a number from 1 to 65535, got {port}" in lab.printed
    assert not (tmp_path / "mine").exists()


def test_a_folder_that_is_no_workbook_is_rejected_with_a_message(tmp_path):
    (tmp_path / "thesis.tex").write_text("mine")
    lab = make("lab", f"WORKBOOK={tmp_path}")
    assert lab.ended() == 2
    assert "such as thesis.tex" in lab.printed


def test_commands_use_the_folder_that_make_lab_creates():
    makefile = (running.ROOT / "Makefile").read_text(encoding="utf-8")
    assert f"\nWORKBOOK ?= {workbook.USUAL}\n" in makefile
