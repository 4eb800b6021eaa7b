"""Kernels whose source is missing or has changed: which work, and the errors of the others."""

import ast
import contextlib
import importlib.util
import linecache
import os
import re
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
    """Return a function that writes a kernel to a file and imports it, and the file's path."""
    path = tmp_path / "lesson.py"

    def load(text=TEXT):
        path.write_text(text, encoding="utf-8")
        spec = importlib.util.spec_from_file_location("lesson", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.set_kernel

    return load, path


KERNEL = "@cuda.jit\ndef set_kernel(a):\n    a[0] = {}\n"


def result_of(kernel):
    """Return the value that a kernel writes."""
    a = np.full(4, np.nan)
    kernel[1, 1](a)
    return a[0]


def assert_refused(kernel, *parts):
    """Assert that a launch is refused with a SourceError that has these parts in its message."""
    assert_fails(lambda: kernel[1, 1](np.zeros(4)), errors.SourceError, *parts, here=False)


def test_a_kernel_from_exec_of_a_constant_works():
    scope = {"cuda": cuda}
    exec("@cuda.jit\ndef set_kernel(a):\n    a[0] = 1\n", scope)
    assert result_of(scope["set_kernel"]) == 1


def test_a_kernel_from_exec_of_a_variable_works():
    scopes = []
    for value in (1, 2):
        text = KERNEL.format(value)
        scopes.append({"cuda": cuda})
        exec(text, scopes[-1])
    assert [result_of(scope["set_kernel"]) for scope in scopes] == [1, 2]


def test_a_kernel_from_exec_of_joined_lines_works():
    lines, scope = KERNEL.format(3).splitlines(), {"cuda": cuda}
    exec(compile("\n".join(lines), "generated.py", "exec"), scope)
    assert result_of(scope["set_kernel"]) == 3


def test_a_function_from_exec_works_when_it_is_decorated_later():
    text, scope = "def set_kernel(a):\n    a[0] = 4\n", {}
    exec(text, scope)
    assert result_of(cuda.jit(scope["set_kernel"])) == 4


def test_an_error_in_a_kernel_from_exec_shows_its_line():
    text, scope = KERNEL.format("a[7]"), {"cuda": cuda}
    exec(text, scope)
    assert_fails(
        lambda: scope["set_kernel"][1, 1](np.zeros(4)),
        errors.OutOfBounds,
        "a[0] = a[7]",
        "<string>:3",
        here=False,
    )


def test_a_kernel_from_exec_of_a_temporary_text_is_refused():
    scope = {"cuda": cuda}
    exec(KERNEL.format(5), scope)
    assert_refused(scope["set_kernel"], "'set_kernel'", "file or a notebook cell", "variable")


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
def test_a_kernel_of_python_c_works(fresh_python):
    result = fresh_python("-c", PROGRAM)
    assert result.stdout == "it is 6.0\n", result.stderr


def run_from_stdin(**options):
    """Run a program that Python reads from its standard input."""
    return subprocess.run(
        [sys.executable, "-"],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        **options,
    )


@pytest.mark.slow
def test_a_kernel_of_redirected_input_works(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM, encoding="utf-8")
    with path.open() as file:
        result = run_from_stdin(stdin=file)
    assert result.stdout == "it is 6.0\n", result.stderr


def test_a_kernel_of_piped_input_is_refused_with_advice():
    assert "save the program in a file" in run_from_stdin(input=PROGRAM).stderr


@pytest.mark.skipif(sys.platform == "win32", reason="needs a terminal")
def test_a_kernel_typed_at_the_prompt_works(tmp_path):
    assert "it is 6.0" in typed_at_the_prompt(PROGRAM, tmp_path)


TYPED = """
import numpy as np, gpukit
from gpukit import cuda
@cuda.jit(device=True)
def twice(a, i):
    return 2 * a[i]

@cuda.jit
def double_kernel(a):
    i = cuda.grid(1)
    a[i] = twice(a, i)

a = np.ones(32)
profile = gpukit.profile(double_kernel)[1, 32](a)
player = gpukit.play(double_kernel)[1, 32](a)
print("source", profile.source)
print("called", profile.called[0].lines)
print("files", [profile.file, profile.called[0].file])
print("player", [(line["line"], line["text"]) for line in player.recording["source"]])
print("refused", gpukit.check(double_kernel)[1, 4096](a).findings[0].line)
"""


@pytest.fixture(scope="module")
def typed(tmp_path_factory):
    """Return what a program printed that was typed at the prompt, by the first word."""
    if sys.platform == "win32":
        pytest.skip("needs a terminal")
    shown = typed_at_the_prompt(TYPED, tmp_path_factory.mktemp("home"))
    printed = re.findall(
        r"(?:^|>>> )(source|called|files|player|refused) ([\[\d].*?)\r?$", shown, re.MULTILINE
    )
    return {word: ast.literal_eval(value) for word, value in printed}


@pytest.mark.slow
def test_a_profile_has_the_lines_typed_at_the_prompt(typed):
    assert [text for _, text in typed["source"]] == TYPED.splitlines()[7:11]
    assert [text for _, text in typed["called"]] == TYPED.splitlines()[3:6]


@pytest.mark.slow
def test_a_player_has_the_lines_typed_at_the_prompt(typed):
    assert typed["player"] == typed["source"]


@pytest.mark.slow
def test_functions_typed_at_the_prompt_have_no_location_in_common(typed):
    kernel, device = typed["files"]
    assert kernel != device or not dict(typed["source"]).keys() & dict(typed["called"]).keys()


@pytest.mark.slow
def test_a_refused_launch_names_the_line_typed_at_the_prompt(typed):
    assert typed["refused"] == typed["source"][1][0]


def typed_at_the_prompt(program, home):
    """Return the output of Python's prompt when a program is typed in a terminal."""
    import pty

    master, slave = pty.openpty()
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "HOME": str(home),
        "TERM": "dumb",
        "PYTHON_BASIC_REPL": "1",
    }
    with subprocess.Popen(
        [sys.executable, "-q"],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env=environment,
        start_new_session=True,
    ) as python:
        os.close(slave)
        shown = ""
        for line in [*program.strip().splitlines(), "exit()"]:
            os.write(master, f"{line}\n".encode())
        with contextlib.suppress(OSError):  # raised when the other end is closed
            while part := os.read(master, 4096):
                shown += part.decode(errors="replace")
        python.wait(timeout=300)
        os.close(master)
    return shown


def test_a_kernel_from_exec_works_when_its_text_is_in_linecache():
    text, name = "@cuda.jit\ndef set_kernel(a):\n    a[0] = 1\n", "<known cell>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    scope = {"cuda": cuda}
    exec(compile(text, name, "exec"), scope)
    assert result_of(scope["set_kernel"]) == 1


def test_a_kernel_whose_file_was_deleted_is_refused_with_the_path(written):
    load, path = written
    kernel = load()
    path.unlink()
    linecache.cache.pop(str(path), None)
    assert_refused(kernel, "'set_kernel'", str(path))


def test_a_kernel_that_was_launched_still_runs_after_its_file_is_deleted(written):
    load, path = written
    kernel = load()
    result_of(kernel)
    path.unlink()
    linecache.cache.pop(str(path), None)
    assert result_of(kernel) == 1


def test_a_kernel_still_runs_when_another_is_inserted_above_it(written):
    load, path = written
    kernel = load()
    above = "# one\n# two\n\n\n\n\n\n\n\n@cuda.jit\ndef first_kernel(a):\n    a[0] = 2\n"
    path.write_text(TEXT.replace("\n\n\n", "\n" + above, 1), encoding="utf-8")
    assert result_of(kernel) == 1


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
def test_a_kernel_edited_in_its_file_after_import_is_refused(written, old, new):
    load, path = written
    kernel = load()
    path.write_text(TEXT.replace(old, new), encoding="utf-8")
    assert_refused(kernel, "'set_kernel'", "edited", "Restart the kernel or import it again")


def test_source_cached_before_an_edit_of_the_file_is_used(written):
    load, path = written
    kernel = load()
    linecache.getlines(str(path))
    path.write_text(TEXT.replace("a[0] = 1", "a[0] = 2"), encoding="utf-8")
    assert result_of(kernel) == 1


def apply_to_3(function):
    """Return the result of a device function for 3."""

    @cuda.jit
    def apply_kernel(out):
        out[0] = function(out[0])

    out = np.full(1, 3.0)
    apply_kernel[1, 1](out)
    return out[0]


def test_lambdas_on_one_line_are_distinguished():
    a, b, c = (cuda.jit(device=True)(f) for f in (lambda x: x + 1, lambda x: x + 1.5, lambda x: -x))
    assert [apply_to_3(a), apply_to_3(b), apply_to_3(c)] == [4.0, 4.5, -3.0]


def test_the_source_of_a_kernel_with_a_rewritten_assert_is_found():
    @cuda.jit
    def checked_kernel(a):
        assert a[0] == 3, "not three"
        a[0] = 1

    a = np.full(1, 3.0)
    checked_kernel[1, 1](a)
    assert a[0] == 1


@pytest.mark.parametrize("thing", [3, np.zeros(3)], ids=["int", "array"])
def test_jit_of_a_non_function_says_that_it_needs_one(thing):
    with pytest.raises(TypeError, match="needs a Python function"):
        cuda.jit(thing)


def test_an_unknown_option_of_jit_is_named():
    with pytest.raises(TypeError, match="'fastmat'"):
        cuda.jit(fastmat=True)
