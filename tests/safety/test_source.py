"""Kernels whose source is gone or has changed: the error says so and what to do."""

from __future__ import annotations

import importlib.util
import linecache

import numpy as np
import pytest

from gpukit import cuda, errors
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


def test_text_run_by_exec_has_no_source():
    scope = {"cuda": cuda}
    exec("@cuda.jit\ndef set_kernel(a):\n    a[0] = 1\n", scope)
    assert_fails(
        lambda: scope["set_kernel"][1, 1](np.zeros(4)), errors.SourceError,
        "'set_kernel'", "file or a notebook cell", here=False,
    )  # fmt: skip


def test_text_run_by_exec_works_when_linecache_knows_it():
    text, name = "@cuda.jit\ndef set_kernel(a):\n    a[0] = 1\n", "<known cell>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    scope = {"cuda": cuda}
    exec(compile(text, name, "exec"), scope)
    a = np.zeros(4)
    scope["set_kernel"][1, 1](a)
    assert a[0] == 1


def test_file_deleted_after_import_is_named(written):
    load, path = written
    kernel = load()
    path.unlink()
    linecache.cache.pop(str(path), None)
    assert_fails(
        lambda: kernel[1, 1](np.zeros(4)), errors.SourceError, "'set_kernel'", str(path), here=False
    )


def test_kernel_that_ran_still_runs_after_its_file_is_deleted(written):
    load, path = written
    kernel, a = load(), np.zeros(4)
    kernel[1, 1](a)
    path.unlink()
    linecache.cache.pop(str(path), None)
    a[0] = 0
    kernel[1, 1](a)
    assert a[0] == 1


def test_kernel_renamed_in_its_file_after_import_is_named(written):
    load, path = written
    kernel = load()
    path.write_text(TEXT.replace("set_kernel", "other_kernel"), encoding="utf-8")
    assert_fails(
        lambda: kernel[1, 1](np.zeros(4)), errors.SourceError, "'set_kernel'", "edited",
        "Restart the kernel or import it again", here=False,
    )  # fmt: skip


def test_kernel_still_runs_when_another_was_put_above_it_after_import(written):
    load, path = written
    kernel, a = load(), np.zeros(4)
    above = "# one\n# two\n\n\n\n\n\n\n\n@cuda.jit\ndef first_kernel(a):\n    a[0] = 2\n"
    path.write_text(TEXT.replace("\n\n\n", "\n" + above, 1), encoding="utf-8")
    kernel[1, 1](a)
    assert a[0] == 1


@pytest.mark.parametrize("new", ["a[0] = 2", "a[0] = 1.0", "a[1] = 1", "b = a\n    b[0] = 1"])
def test_kernel_edited_in_its_file_after_import_is_refused(written, new):
    load, path = written
    kernel = load()
    path.write_text(TEXT.replace("a[0] = 1", new), encoding="utf-8")
    assert_fails(
        lambda: kernel[1, 1](np.zeros(4)), errors.SourceError, "'set_kernel'", "edited",
        "import it again", here=False,
    )  # fmt: skip


def test_text_known_from_the_import_is_used_when_the_file_was_edited_after_it(written):
    load, path = written
    kernel, a = load(), np.zeros(4)
    linecache.getlines(str(path))
    path.write_text(TEXT.replace("a[0] = 1", "a[0] = 2"), encoding="utf-8")
    kernel[1, 1](a)
    assert a[0] == 1


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


@pytest.mark.parametrize("thing", [3, "text", [], np.zeros(3)], ids=["int", "str", "list", "array"])
def test_jit_of_something_else_says_what_it_needs(thing):
    if isinstance(thing, (str, list)):
        pytest.skip("these are signatures")
    with pytest.raises(TypeError, match="needs a Python function"):
        cuda.jit(thing)


def test_unknown_option_of_jit_is_named():
    with pytest.raises(TypeError, match="'fastmat'"):
        cuda.jit(fastmat=True)
