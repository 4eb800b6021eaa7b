"""What the process of an answer replies to each command, run as a plain child without a grader."""

import json
import subprocess
import sys

import numpy as np
import pytest

from gpukit.checked.report import Report
from gpukit.course import catalogue, frames, runner
from tests.course.maps import MAP, RIGHT

pytestmark = pytest.mark.slow
COMMANDS = ("launch", "check", "doubles", "profile", "origin")


def talk(file, exercise, *commands, entry="", case=None, log=""):
    """Send a file and commands to a new child; return its replies, and the arrays of each."""
    driver = str(exercise.driver or "")
    load = {"file": str(file), "entry": entry or exercise.entry, "driver": driver, "audit_log": log}
    case = case or exercise.case(exercise.shapes[exercise.measured])
    shapes, body = frames.pack(case.args)
    sizes = {"args": shapes, "grid": case.grid, "block": case.block}
    with subprocess.Popen(
        [sys.executable, "-m", "gpukit.course.child"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**runner.environment(), "GPUKIT_TARGET": "cpu"},
    ) as child:
        frames.send(child.stdin, load)
        for command in commands:
            frames.send(child.stdin, {"command": command, **sizes}, body)
        child.stdin.close()
        replies = []
        while (frame := frames.receive(child.stdout)) is not None:
            if "busy" not in frame[0]:
                replies.append(frame)
    assert child.returncode == 0  # it ends when the channel is closed
    return replies


def arrays(reply):
    header, body = reply
    return frames.unpack(header["arrays"], body[header["text"] :])


def text(reply):
    header, body = reply
    return body[: header["text"]].decode()


@pytest.fixture
def written(tmp_path):
    def write(text):
        file = tmp_path / "answer.py"
        file.write_text(text, encoding="utf-8")
        return file

    return write


def test_a_kernel_is_launched_in_every_way_that_is_asked_for(written, tmp_path):
    exercise = catalogue.find("guarded_map")
    case = exercise.case(exercise.shapes[exercise.measured])
    log = tmp_path / "log"  # of the files that the answer changes
    log.touch()
    ready, *replies = talk(written(RIGHT), exercise, *COMMANDS, case=case, log=str(log))
    assert ready[0] == {"ready": True, "parameters": ["celsius", "fahrenheit"]}
    launched, checked, doubles, profiled, origin = replies
    for reply in (launched, checked, profiled):
        expected = case.expected["fahrenheit"]
        np.testing.assert_allclose(arrays(reply)["fahrenheit"], expected, atol=1e-4)
    assert text(launched) == text(origin) == ""
    assert Report.from_json(text(checked)).errors == Report.from_json(text(doubles)).errors == []
    assert json.loads(text(profiled))["total"]["global_load_requests"] > 0


def test_host_code_is_called_by_the_driver_of_its_exercise(tmp_path):
    exercise = catalogue.find("training_step")
    _, *replies = talk(exercise.solution, exercise, "launch", "check", "profile")
    plain, checked, profiled = replies
    for name, array in arrays(plain).items():
        np.testing.assert_allclose(arrays(checked)[name], array, rtol=1e-5, atol=1e-6)
    assert Report.from_json(text(checked)).launches == json.loads(text(profiled))["launches"] > 0


def test_an_error_of_a_launch_is_described_and_the_child_goes_on(written):
    outside = MAP + "    fahrenheit[cuda.grid(1) + 10**6] = celsius[0]\n"
    exercise = catalogue.find("guarded_map")
    _, first, second = talk(written(outside), exercise, "launch", "launch")
    error = first[0]["error"]
    assert error == second[0]["error"]
    assert (error["type"], error["array"], error["line"]) == ("OutOfBounds", "fahrenheit", 6)


WITHOUT = {
    "nothing": ("x = 1\n", {"kernels": [], "plain": False, "foreign": ""}),
    "a kernel of another name": (
        RIGHT.replace("fahrenheit_kernel", "other_kernel"),
        {"kernels": ["other_kernel"], "plain": False},
    ),
    "a function": ("def fahrenheit_kernel(a, b): pass\n", {"plain": True, "device": False}),
    "a device function": (
        "from gpukit import cuda\n@cuda.jit(device=True)\ndef fahrenheit_kernel(a): return a\n",
        {"device": True},
    ),
    "a kernel of the book": (
        "from gpukit.kernels.vector import vector_add_kernel as fahrenheit_kernel\n",
        {"foreign": "gpukit.kernels"},
    ),
}


@pytest.mark.parametrize("what", WITHOUT)
def test_a_file_without_the_kernel_says_what_there_is(what, written):
    source, facts = WITHOUT[what]
    ((header, _),) = talk(written(source), catalogue.find("guarded_map"))
    assert header["missing"] == "fahrenheit_kernel"
    assert header.items() >= facts.items()


def test_host_code_that_is_missing_says_what_the_file_defines(written):
    file = written("from gpukit.nn import cross_entropy\ndef step(): pass\nclass Tape: pass\n")
    ((header, _),) = talk(file, catalogue.find("training_step"), entry="cross_entropy")
    assert header["own"] == ["step", "Tape"]
    assert header["foreign"].startswith("gpukit.")


@pytest.mark.parametrize(
    ("source", "line"),
    [("x = 1\n1 / 0\n", 2), ("def f():\n    return (\n", 2), ("raise OSError", 1)],
)
def test_a_file_that_cannot_be_loaded_is_described_with_its_line(source, line, written):
    ((header, _),) = talk(written(source), catalogue.find("guarded_map"))
    assert header["error"]["line"] == line
