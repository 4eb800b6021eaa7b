"""Kernels whose source is gone or has changed: the error says so and what to do."""

import contextlib
import importlib.util
import linecache
import os
import subprocess
import sys

import numpy as np
import pytest

from gpukit import cuda, errors
from tests.conftest import ROOT
from tests.safety.attempt import assert_fails, on_cpu

pytestmark = on_cpu
TEXT = "from gpukit import cuda\n\n\n@cuda.jit\ndef set_kernel(a):\n    a[0] = 1\n"


@pytest.fixture
def written(tmp_path):
    """Return a function that imports a kernel from a new file, and the path of the file."""
    path = tmp_path / "lesson.py"

    def load(text=TEXT):
        path.write_text(text, encoding="utf-8")
        spec = importlib.util.spec_from_file_location("lesson", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.set_kernel

    return load, path


KERNEL = "@cuda.jit\ndef set_kernel(a):\n    a[0] = {}\n"


def written_by(kernel):
    """Return what a kernel writes."""
    a = np.full(4, np.nan)
    kernel[1, 1](a)
    return a[0]


def refuses(kernel, *says):
    """Assert that a launch is refused for its source, in these words."""
    assert_fails(lambda: kernel[1, 1](np.zeros(4)), errors.SourceError, *says, here=False)


def test_text_run_by_exec_works_when_it_is_a_constant():
    scope = {"cuda": cuda}
    exec("@cuda.jit\ndef set_kernel(a):\n    a[0] = 1\n", scope)
    assert written_by(scope["set_kernel"]) == 1


def test_text_run_by_exec_works_when_it_is_in_a_variable():
    scopes = []
    for value in (1, 2):
        text = KERNEL.format(value)
        scopes.append({"cuda": cuda})
        exec(text, scopes[-1])
    assert [written_by(scope["set_kernel"]) for scope in scopes] == [1, 2]


def test_text_run_by_exec_works_when_its_parts_are_in_a_list():
    lines, scope = KERNEL.format(3).splitlines(), {"cuda": cuda}
    exec(compile("\n".join(lines), "generated.py", "exec"), scope)
    assert written_by(scope["set_kernel"]) == 3


def test_function_run_by_exec_works_when_it_is_decorated_later():
    text, scope = "def set_kernel(a):\n    a[0] = 4\n", {}
    exec(text, scope)
    assert written_by(cuda.jit(scope["set_kernel"])) == 4


def test_error_in_text_run_by_exec_shows_its_line():
    text, scope = KERNEL.format("a[7]"), {"cuda": cuda}
    exec(text, scope)
    assert_fails(
        lambda: scope["set_kernel"][1, 1](np.zeros(4)),
        errors.OutOfBounds,
        "a[0] = a[7]",
        "<string>:3",
        here=False,
    )


def test_text_run_by_exec_that_nobody_keeps_is_refused():
    scope = {"cuda": cuda}
    exec(KERNEL.format(5), scope)
    refuses(scope["set_kernel"], "'set_kernel'", "file or a notebook cell", "variable")


PROGRAM = """
import numpy as np
from gpukit import cuda
@cuda.jit
def set_kernel(a):
    a[0] = 6

a = np.zeros(4)
set_kernel[1, 1](a)
print("it is", a[0])
"""


@pytest.mark.slow
def test_kernel_of_a_command_line_works(fresh_python):
    result = fresh_python("-c", PROGRAM)
    assert result.stdout == "it is 6.0\n", result.stderr


def read_from(**given):
    """Run the Python program that a new process reads from its standard input."""
    return subprocess.run(
        [sys.executable, "-"],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        **given,
    )


@pytest.mark.slow
def test_kernel_of_redirected_input_works(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM, encoding="utf-8")
    with path.open() as file:
        result = read_from(stdin=file)
    assert result.stdout == "it is 6.0\n", result.stderr


def test_kernel_that_came_through_a_pipe_is_refused_with_what_to_do():
    assert "save the program in a file" in read_from(input=PROGRAM).stderr


@pytest.mark.skipif(sys.platform == "win32", reason="needs a terminal")
def test_kernel_typed_at_the_prompt_works(tmp_path):
    assert "it is 6.0" in typed_at_the_prompt(PROGRAM, tmp_path)


def typed_at_the_prompt(program, home):
    """Return what Python's own prompt shows when a program is typed in a terminal."""
    import pty

    ours, theirs = pty.openpty()
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "HOME": str(home),
        "TERM": "dumb",
        "PYTHON_BASIC_REPL": "1",
    }
    with subprocess.Popen(
        [sys.executable, "-q"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment,
        start_new_session=True,
    ) as python:
        os.close(theirs)
        shown = ""
        for line in [*program.strip().splitlines(), "exit()"]:
            os.write(ours, f"{line}\n".encode())
        with contextlib.suppress(OSError):  # which says that the other side has closed
            while part := os.read(ours, 4096):
                shown += part.decode(errors="replace")
        python.wait(timeout=300)
        os.close(ours)
    return shown


def test_text_run_by_exec_works_when_linecache_knows_it():
    text, name = "@cuda.jit\ndef set_kernel(a):\n    a[0] = 1\n", "<known cell>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    scope = {"cuda": cuda}
    exec(compile(text, name, "exec"), scope)
    assert written_by(scope["set_kernel"]) == 1


def test_file_deleted_after_import_is_named(written):
    load, path = written
    kernel = load()
    path.unlink()
    linecache.cache.pop(str(path), None)
    refuses(kernel, "'set_kernel'", str(path))


def test_kernel_that_ran_still_runs_after_its_file_is_deleted(written):
    load, path = written
    kernel = load()
    written_by(kernel)
    path.unlink()
    linecache.cache.pop(str(path), None)
    assert written_by(kernel) == 1


def test_kernel_still_runs_when_another_was_put_above_it_after_import(written):
    load, path = written
    kernel = load()
    above = "# one\n# two\n\n\n\n\n\n\n\n@cuda.jit\ndef first_kernel(a):\n    a[0] = 2\n"
    path.write_text(TEXT.replace("\n\n\n", "\n" + above, 1), encoding="utf-8")
    assert written_by(kernel) == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a[0] = 1", "a[0] = 2"),
        ("a[0] = 1", "a[0] = 1.0"),
        ("a[0] = 1", "a[1] = 1"),
        ("a[0] = 1", "b = a\n    b[0] = 1"),
        ("set_kernel", "other_kernel"),
    ],
)
def test_kernel_edited_in_its_file_after_import_is_refused(written, old, new):
    load, path = written
    kernel = load()
    path.write_text(TEXT.replace(old, new), encoding="utf-8")
    refuses(kernel, "'set_kernel'", "edited", "Restart the kernel or import it again")


def test_text_known_from_the_import_is_used_when_the_file_was_edited_after_it(written):
    load, path = written
    kernel = load()
    linecache.getlines(str(path))
    path.write_text(TEXT.replace("a[0] = 1", "a[0] = 2"), encoding="utf-8")
    assert written_by(kernel) == 1


def of(function):
    """Return what a device function makes of 3."""

    @cuda.jit
    def apply_kernel(out):
        out[0] = function(out[0])

    out = np.full(1, 3.0)
    apply_kernel[1, 1](out)
    return out[0]


def test_lambdas_on_one_line_are_told_apart():
    a, b, c = (cuda.jit(device=True)(f) for f in (lambda x: x + 1, lambda x: x + 1.5, lambda x: -x))
    assert [of(a), of(b), of(c)] == [4.0, 4.5, -3.0]


def test_kernel_with_an_assert_that_pytest_rewrote_is_found():
    @cuda.jit
    def checked_kernel(a):
        assert a[0] == 3, "not three"
        a[0] = 1

    a = np.full(1, 3.0)
    checked_kernel[1, 1](a)
    assert a[0] == 1


@pytest.mark.parametrize("thing", [3, np.zeros(3)], ids=["int", "array"])
def test_jit_of_something_else_says_what_it_needs(thing):
    with pytest.raises(TypeError, match="needs a Python function"):
        cuda.jit(thing)


def test_unknown_option_of_jit_is_named():
    with pytest.raises(TypeError, match="'fastmat'"):
        cuda.jit(fastmat=True)
