"""Tracebacks of errors in kernels end at the kernel's own line, not inside gpukit."""

import sys
import traceback
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import gpukit
from gpukit import cuda, errors
from tests.safety.attempt import on_cpu

pytestmark = on_cpu


@cuda.jit
def outside_kernel(a):
    i = cuda.grid(1)
    a[i] = 1  # line of the access


@cuda.jit
def untyped_kernel(a):
    a[0] = a.nonsense  # line of the attribute


def caught(kernel):
    with pytest.raises(errors.PlacedError) as found:
        kernel[1, 8](np.zeros(4))
    return found.value


@pytest.mark.parametrize("kernel", [outside_kernel, untyped_kernel])
def test_a_traceback_ends_at_the_line_of_the_kernel(kernel):
    error = caught(kernel)
    last = traceback.extract_tb(error.__traceback__)[-1]
    assert (last.filename, last.name) == (__file__, kernel.py_func.__name__)
    assert last.lineno == error.line
    assert "# line of" in (last.line or "")


def test_a_traceback_shows_no_frames_of_numba():
    text = "".join(traceback.format_exception(caught(untyped_kernel)))
    assert "a is an array and has no nonsense" in text
    assert "numba/core" not in text


@pytest.mark.parametrize("run", [lambda kernel: kernel, gpukit.check])
def test_a_type_error_shows_no_frame_of_gpukit_but_the_launch(run):
    with pytest.raises(errors.KernelTypeError) as found:
        run(untyped_kernel)[1, 8](np.zeros(4))
    text = "".join(traceback.format_exception(found.value))
    assert text.count(str(Path(gpukit.__file__).parent)) == 1
    assert "direct cause" not in text


def test_a_wrong_argument_shows_no_frame_of_gpukit_but_the_launch():
    with pytest.raises(errors.ArgumentError) as found:
        outside_kernel[1, 8]([1, 2])
    assert len(traceback.extract_tb(found.value.__traceback__)) == 2


def test_a_type_error_does_not_repeat_numbas_listing():
    assert "<source elided>" not in str(caught(untyped_kernel))


def test_a_line_in_a_notebook_is_named_as_in_ipython(monkeypatch):
    compiler = SimpleNamespace(format_code_name=lambda file: ("Cell", "In[3]"))
    shell = SimpleNamespace(get_ipython=lambda: SimpleNamespace(compile=compiler))
    error = caught(outside_kernel)
    monkeypatch.setitem(sys.modules, "IPython", shell)
    assert str(error).startswith(f"Cell In[3], line {error.line} in outside_kernel")


@cuda.jit(device=True)
def untyped(x):
    y = 1
    return x.nonsense + y  # line of the attribute


@cuda.jit
def calling_kernel(a):
    a[0] = untyped(a)


def test_a_type_error_in_a_device_function_names_its_line():
    error = caught(calling_kernel)
    assert error.kernel == "untyped"
    assert error.source == "return x.nonsense + y  # line of the attribute"
