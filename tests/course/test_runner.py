"""Communication with the child process, whose compilation does not count towards the time limit."""

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
    """A child that has sent all its messages, and then closes the channel or stays silent."""

    def __init__(self, *headers, closes=False, code=None):
        (there, stdin), (stdout, self.output), (stderr, self.errors) = (os.pipe() for _ in range(3))
        self.stdin, self.stdout = os.fdopen(stdin, "wb", 0), os.fdopen(stdout, "rb", 0)
        self.stderr, self.there, self.exit_code = os.fdopen(stderr, "rb", 0), there, code
        with os.fdopen(os.dup(self.output), "wb") as output:
            for header in headers:
                frames.send(output, *(header if isinstance(header, tuple) else (header,)))
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
def child(tmp_path):
    def of(process, **options):
        file = tmp_path / "answer.py"
        return runner.Child(file, "x_kernel", starts=lambda environment: process, **options)

    return of


@pytest.fixture
def launched(child, monkeypatch):
    def launch(process, seconds=30.0, clock=()):
        noticed = []
        with child(process, notice=noticed.append) as running:
            if clock:
                times = iter(clock)
                monkeypatch.setattr(runner, "time", SimpleNamespace(monotonic=lambda: next(times)))
            return running.launch(CASE, seconds), noticed

    return launch


def test_compilation_time_does_not_count_towards_the_time_limit(launched):
    # The runner waits; a note arrives; it waits; 100 seconds later another arrives; it waits.
    clock = (0.0, 0.0, 0.0, 100.0, 100.0)
    outcome, noticed = launched(Scripted(COMPILING, RUNNING, ANSWER), clock=clock)
    assert outcome.kind == "arrays"
    assert noticed == ["compiling x_kernel", ""]


def test_an_answer_that_exceeds_the_time_limit_times_out(launched):
    outcome, _ = launched(Scripted(COMPILING, RUNNING), 5.0, (0.0, 5.0, 5.0, 5.0, 5.0))
    assert (outcome.kind, outcome.facts) == ("timeout", {"seconds": 5.0})


def test_messages_without_end_do_not_put_off_the_time_limit(launched):
    clock = (t for n in range(9999) for t in (n, n + 1.0))  # each message takes a second
    outcome, _ = launched(Scripted(*[RUNNING] * 40), 5.0, clock)
    assert (outcome.kind, outcome.facts) == ("timeout", {"seconds": 5.0})


@pytest.mark.parametrize(
    "header",
    [
        {"busy": [1e22]},
        {"text": float("inf"), "arrays": []},
        {"text": runner.TEXT_LIMIT + 1, "arrays": []},
        {"text": -1, "arrays": []},
        {"text": 0, "arrays": [None]},
    ],
    ids=["a list for a note", "an infinite text", "a long text", "a negative text", "no array"],
)
def test_a_message_that_means_nothing_is_a_protocol_error(launched, header):
    outcome, _ = launched(Scripted(header))
    assert outcome.kind == "protocol"


def test_an_answer_that_nobody_has_asked_for_is_a_protocol_error(child):
    with child(Scripted(ANSWER, ANSWER)) as running:
        assert running.loaded().kind == "arrays"  # asked for by the file that was sent
        assert running.loaded().kind == "protocol"


def test_a_message_about_what_is_being_done_carries_no_data(child):
    with child(Scripted((RUNNING, b"data"))) as running:
        assert running.loaded().kind == "protocol"


def test_messages_do_not_pile_up_faster_than_they_are_read(child, monkeypatch):
    monkeypatch.setattr(runner, "UNREAD", -1)  # not even one may wait
    with child(Scripted(RUNNING)) as running:
        assert running.loaded().kind == "protocol"


def test_a_child_that_was_too_late_gives_no_answers_to_later_questions(child):
    with child(Scripted()) as running:
        assert running.launch(CASE, 0.01).kind == "timeout"
        assert running.launch(CASE, 30.0).kind == "timeout"  # at once


def test_a_dead_child_is_reported_with_its_exit_code(launched):
    outcome, _ = launched(Scripted(closes=True, code=-11))
    assert (outcome.kind, outcome.facts) == ("died", {"code": -11})


def test_a_live_child_that_closes_the_channel_is_a_protocol_error(launched):
    outcome, _ = launched(Scripted(closes=True, code=None))
    assert outcome.kind == "protocol"
