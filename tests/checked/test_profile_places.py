"""A profile of a kernel whose device function stands in another file, as in another cell."""

import linecache

import numpy as np
import pytest

import gpukit
from gpukit import errors

DEVICE = "@cuda.jit(device=True)\ndef twice(a, i):\n    a[i] *= 2\n    a[i] *= 2\n    return i\n"
CALLER = "@cuda.jit\ndef calling_kernel(a):\n    i = cuda.grid(1)\n    twice(a, i)\n"


@pytest.fixture(scope="module")
def of_two_cells():
    """Profile a kernel whose device function stands in another file, on the same lines."""
    scope = {"cuda": gpukit.cuda}
    for file, text in (("<cell 1>", DEVICE), ("<cell 2>", CALLER)):
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        exec(compile(text, file, "exec"), scope)
    return gpukit.profile(scope["calling_kernel"])[1, 32](np.ones(32, np.float32))


def test_lines_of_two_files_have_counts_of_their_own(of_two_cells):
    loads = {tuple(at): counts["global_load_requests"] for at, counts in of_two_cells.lines.items()}
    assert {at: n for at, n in loads.items() if n} == {("<cell 1>", 3): 1, ("<cell 1>", 4): 1}
    assert of_two_cells.lines["<cell 2>", 3]["global_load_requests"] == 0


def test_a_device_function_of_another_file_is_shown_with_its_counts(of_two_cells):
    assert "twice(a, i)" in of_two_cells.text(width=100)
    assert "a[i] *= 2" in of_two_cells.text(width=100)
    assert "256" in next(t for t in of_two_cells.text(width=100).splitlines() if "a[i] *= 2" in t)


def test_advice_names_the_function_of_a_line_in_another_file():
    scope = {"cuda": gpukit.cuda}
    device = "@cuda.jit(device=True)\ndef spread(a, i):\n    a[8 * i] = 1\n"
    caller = "@cuda.jit\ndef spreading_kernel(a):\n    spread(a, cuda.grid(1))\n"
    for file, text in (("<cell 3>", device), ("<cell 4>", caller)):
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        exec(compile(text, file, "exec"), scope)
    profile = gpukit.profile(scope["spreading_kernel"])[1, 32](np.ones(256, np.float32))
    assert profile.advice()[0].startswith("Line 3 of `spread`: the store to `a[8 * i]` touches 32")


def test_a_profile_shows_the_lines_that_ran_when_their_file_was_edited_since(tmp_path):
    file = tmp_path / "edited.py"
    scope, text = {"cuda": gpukit.cuda}, DEVICE + CALLER
    file.write_text(text, encoding="utf-8")
    exec(compile(text, str(file), "exec"), scope)
    launch = gpukit.profile(scope["calling_kernel"])[1, 32]
    before = launch(np.ones(32, np.float32))
    file.write_text(f"# A new line\n{text}", encoding="utf-8")
    linecache.checkcache()
    after = launch(np.ones(32, np.float32))
    assert (after.source, after.called) == (before.source, before.called)


def test_a_location_without_a_line_is_its_file():
    assert errors.place("<stdin>", 0) == "<stdin>"
