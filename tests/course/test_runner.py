"""What a child sends is waited for; what it compiles is not the answer's time."""

import os
from types import SimpleNamespace

import numpy as np
import pytest

from gpukit.course import frames, runner
from gpukit.course.case import Case

CASE = Case({"x": np.zeros(1)}, 1, 1, {})
COMPILING = {"busy": "compiling x_kernel"}
RUNNING = {"busy": ""}
ANSWER = {"text": 0, "arrays": []}


class Scripted:
    """A child that has said all it says, and then closes the channel or stays silent."""

    def __init__(self, *said, closes=False, code=None):
        (there, stdin), (stdout, self.output), (stderr, self.errors) = (os.pipe() for _ in range(3))
        self.stdin, self.stdout = os.fdopen(stdin, "wb", 0), os.fdopen(stdout, "rb", 0)
        self.stderr, self.there, self.exit_code = os.fdopen(stderr, "rb", 0), there, code
        with os.fdopen(os.dup(self.output), "wb") as output:
            for header in said:
                frames.send(output, header)
        if closes:
            self.close()

    def close(self):
        if self.output is not None:
            os.close(self.output)
            self.output = None

    def end(self):
        self.close()
        os.close(self.errors)
        os.close(self.there)

    def code(self, seconds):
        return self.exit_code


@pytest.fixture
def launched(monkeypatch, tmp_path):
    def launch(process, seconds=30.0, clock=()):
        monkeypatch.setattr(runner, "start", lambda environment: process)
        noticed = []
        with runner.Child(tmp_path / "answer.py", "x_kernel", notice=noticed.append) as child:
            if clock:
                times = iter(clock)
                monkeypatch.setattr(runner, "time", SimpleNamespace(monotonic=lambda: next(times)))
            return child.launch(CASE, seconds), noticed

    return launch


def test_a_long_compilation_is_not_the_answers_time(launched):
    # It begins to wait; the note comes; it waits; 100 seconds later another; it waits.
    clock = (0.0, 0.0, 0.0, 100.0, 100.0)
    outcome, noticed = launched(Scripted(COMPILING, RUNNING, ANSWER), clock=clock)
    assert outcome.kind == "arrays"
    assert noticed == ["compiling x_kernel", ""]


def test_an_answer_has_only_its_own_seconds(launched):
    outcome, _ = launched(Scripted(COMPILING, RUNNING), 5.0, (0.0, 5.0, 5.0, 5.0, 5.0))
    assert (outcome.kind, outcome.facts) == ("timeout", {"seconds": 5.0})


def test_a_child_that_has_ended_is_told_by_its_code(launched):
    outcome, _ = launched(Scripted(closes=True, code=-11))
    assert (outcome.kind, outcome.facts) == ("died", {"code": -11})


def test_a_child_that_closes_the_channel_and_lives_on_sends_no_answer(launched):
    outcome, _ = launched(Scripted(closes=True, code=None))
    assert outcome.kind == "protocol"
