"""Races between stream operations in every report format and every way to check a program."""

import json
from xml.etree import ElementTree

import pytest

from gpukit import cli

PROGRAM = """
import numpy as np
from {package} import cuda

@cuda.jit
def add_one_kernel(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += 1

def main():
    uploads, compute = cuda.stream(), cuda.stream()
    h_x = cuda.pinned_array(70, np.float32)
    h_x[:] = 0
    d_x = cuda.to_device(h_x, stream=uploads)
    {upload}
    add_one_kernel[3, 32, compute](d_x)
    d_x.copy_to_host(h_x, stream=compute)
    {download}
    print(h_x.sum())

main()
"""
UPLOAD, LAUNCH, DOWNLOAD, READ = (
    1 + next(k for k, line in enumerate(PROGRAM.split("\n")) if text in line)
    for text in ("cuda.to_device", "compute](d_x)", "copy_to_host", "print(")
)


@pytest.fixture
def program(tmp_path):
    """Return a function that writes the program, with or without its synchronizations."""

    def write(upload="", download="", package="numba"):
        path = tmp_path / "pipeline.py"
        text = PROGRAM.format(upload=upload, download=download, package=package)
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


def test_check_names_both_lines_and_both_streams(program, capsys):
    assert cli.main(["check", program()]) == 1
    words = " ".join(capsys.readouterr().out.split())
    assert "error: stream-race at" in words
    assert f"pipeline.py:{LAUNCH} in main" in words
    assert (
        f"The copy to the device in line {UPLOAD} on stream `uploads` writes d_x, and the launch "
        f"of `add_one_kernel` in line {LAUNCH} on stream `compute` reads and writes the same bytes"
    ) in words
    assert "error: host-race at" in words
    assert (
        f"The host reads h_x in line {READ}, while the copy to the host in line {DOWNLOAD} on "
        "stream `compute` may still be writing it"
    ) in words
    assert f"What to do: call `compute.synchronize()` before line {READ}" in words


def test_check_of_the_ordered_program_finds_nothing(program, capsys):
    script = program(upload="uploads.synchronize()", download="compute.synchronize()")
    assert cli.main(["check", script]) == 0
    assert "No findings" in capsys.readouterr().out


def test_json_has_lines_streams_and_operations(program, capsys):
    cli.main(["check", "--json", program()])
    report = json.loads(capsys.readouterr().out)
    race = next(f for f in report["findings"] if f["kind"] == "stream-race" and f["line"] == LAUNCH)
    assert (race["other_line"], race["array"]) == (UPLOAD, "d_x")
    details = race["details"]
    assert (details["stream"], details["other_stream"]) == ("compute", "uploads")
    assert details["stream_number"] == details["other_stream_number"] + 1
    assert (details["use"], details["other_use"]) == ("both", "write")


def test_junit_has_a_failing_case_for_each_race(program, tmp_path):
    cli.main(["check", "--junit", str(tmp_path / "junit.xml"), program()])
    cases = ElementTree.parse(tmp_path / "junit.xml").iter("testcase")
    failing = {c.get("name") for c in cases if c.find("failure") is not None}
    assert failing == {"stream-race", "host-race"}


def test_html_shows_both_lines(program, tmp_path):
    cli.main(["check", "--html", str(tmp_path / "page.html"), program()])
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    for text in ("stream-race", "host-race", "d_x = cuda.to_device(h_x", "print(h_x.sum())"):
        assert text in page


@pytest.mark.parametrize("command", ["run", "profile"])
def test_other_commands_do_not_report_races(command, program, capsys):
    assert cli.main([command, program()]) == 0
    captured = capsys.readouterr()
    assert "race" not in captured.out + captured.err


# --- GPUKIT_TARGET=checked ---------------------------------------------------------------------


def last_place(done):
    files = [line for line in done.stderr.splitlines() if line.lstrip().startswith("File ")]
    return files[-1].partition("pipeline.py")[2]


def test_checked_target_raises_at_the_launch_that_races(program, fresh_python):
    done = fresh_python(program(package="gpukit"), GPUKIT_TARGET="checked")
    assert "gpukit.errors.CheckFailed" in done.stderr
    assert "stream-race: " in done.stderr
    assert last_place(done) == f'", line {LAUNCH}, in main'


def test_checked_target_raises_at_the_line_in_which_the_host_reads(program, fresh_python):
    script = program(upload="uploads.synchronize()", package="gpukit")
    done = fresh_python(script, GPUKIT_TARGET="checked")
    assert "host-race: The host reads h_x" in done.stderr
    assert last_place(done) == f'", line {READ}, in main'
    assert done.stdout == ""


def test_checked_target_runs_the_ordered_program_as_the_cpu_does(program, fresh_python):
    order = {"upload": "uploads.synchronize()", "download": "compute.synchronize()"}
    done = fresh_python(program(package="gpukit", **order), GPUKIT_TARGET="checked")
    assert (done.stdout, done.stderr, done.returncode) == ("70.0\n", "", 0)


def test_race_with_freed_memory_is_raised_by_the_next_operation(program, fresh_python):
    order = {
        "upload": "uploads.synchronize()",
        "download": "del h_x; compute.synchronize(); h_x = np.zeros(1)",
    }
    done = fresh_python(program(package="gpukit", **order), GPUKIT_TARGET="checked")
    assert "host-race: The pinned array is freed" in done.stderr
    assert (done.stdout, done.returncode) == ("", 1)


def test_warning_of_the_checked_target_is_at_the_line_of_the_program(program, fresh_python):
    script = program(
        upload="uploads.synchronize(); h_x = np.zeros(70, np.float32); lock = cuda.pinned(h_x); "
        "lock.__enter__()",
        download="lock.__exit__(None, None, None); compute.synchronize()",
        package="gpukit",
    )
    done = fresh_python("-W", "default", script, GPUKIT_TARGET="checked")
    assert f"pipeline.py:{DOWNLOAD + 1}: CheckWarning: " in done.stderr
    assert "host-race: The memory of h_x is unpinned" in done.stderr
    assert (done.stdout, done.returncode) == ("70.0\n", 0)


def test_module_level_error_is_located_in_the_module(tmp_path, fresh_python):
    path = tmp_path / "pipeline.py"
    path.write_text(
        "import numpy as np\nfrom gpukit import cuda\n"
        "h, s = cuda.pinned_array(8), cuda.stream()\n"
        "cuda.to_device(np.zeros(8)).copy_to_host(h, stream=s)\nprint(h)\n",
        encoding="utf-8",
    )
    done = fresh_python(str(path), GPUKIT_TARGET="checked")
    assert last_place(done) == '", line 5, in <module>'
