"""Names of streams and arrays in findings, and the lines that findings report."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

import gpukit
from gpukit import cuda, target

pytestmark = pytest.mark.skipif(target.wanted() == "cuda", reason="only CPU launches are checked")

N = 64


@cuda.jit
def fill_kernel(out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = i


def only(program):
    (found,) = gpukit.check(program)().findings
    return found


def streams_of(found):
    return found.details["other_stream"], found.details["stream"]


def test_streams_are_named_by_their_variables():
    def program():
        x, early, late = cuda.device_array(N), cuda.stream(), cuda.stream()
        fill_kernel[1, N, early](x)
        fill_kernel[1, N, late](x)

    found = only(program)
    assert (found.array, *streams_of(found)) == ("x", "early", "late")


def test_streams_in_a_list_are_named_by_their_index():
    def program():
        x, streams = cuda.device_array(N), [cuda.stream() for _ in range(2)]
        for s in streams:
            fill_kernel[1, N, s](x)

    found = only(program)
    assert streams_of(found) == ("streams[0]", "streams[1]")
    assert "stream `streams[0]`" in found.message


def test_streams_and_arrays_of_an_object_are_named_by_their_attributes():
    def program():
        self = SimpleNamespace(x=cuda.device_array(N), one=cuda.stream(), two=cuda.stream())
        fill_kernel[1, N, self.one](self.x)
        fill_kernel[1, N, self.two](self.x)

    found = only(program)
    assert (found.array, *streams_of(found)) == ("self.x", "self.one", "self.two")


def test_streams_in_a_dictionary_are_named_by_their_keys():
    def program():
        x, by_name = cuda.device_array(N), {"load": cuda.stream(), "work": cuda.stream()}
        for s in by_name.values():
            fill_kernel[1, N, s](x)

    assert streams_of(only(program)) == ("by_name['load']", "by_name['work']")


def test_stream_without_a_variable_is_named_by_its_number():
    def program():
        x = cuda.device_array(N)
        fill_kernel[1, N, cuda.stream()](x)
        fill_kernel[1, N, cuda.stream()](x)

    found = only(program)
    first, second = found.details["other_stream_number"], found.details["stream_number"]
    assert second == first + 1
    assert f"on stream {first} writes x" in found.message


def test_slice_is_named_by_its_base_array():
    def program():
        matrix = cuda.device_array((4, N))
        fill_kernel[1, N, cuda.stream()](matrix[1])
        fill_kernel[1, N, cuda.stream()](matrix[1])

    assert only(program).array == "matrix"


def test_array_without_a_variable_is_named_by_the_kernel_parameter():
    def launch(arrays):
        fill_kernel[1, N, cuda.stream()](next(arrays))

    def program():
        x = cuda.device_array(N)
        arrays = iter([x, x])
        launch(arrays)
        launch(arrays)

    assert only(program).array == "out"


def test_line_is_that_of_the_caller_and_not_of_gpukit_itself():
    h = []

    def program():
        h.append(cuda.pinned_array(N, np.float32))
        d, s = cuda.to_device(np.zeros(N, np.float32)), cuda.stream()
        d.copy_to_host(h[0], stream=s)
        np.testing.assert_array_equal(h[0], np.zeros(N))
        s.synchronize()

    found = only(program)
    start = program.__code__.co_firstlineno
    assert (found.file, found.kernel) == (__file__, "program")
    assert (found.other_line - start, found.line - start) == (3, 4)


def test_operation_in_another_file_is_reported_with_that_file(tmp_path, monkeypatch):
    (tmp_path / "uploads.py").write_text(
        "def upload(d, h, stream):\n    d.copy_to_device(h, stream=stream)\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(tmp_path)
    import uploads  # type: ignore[import-not-found]

    def program():
        h, s = cuda.pinned_array(N), cuda.stream()
        h[:] = 0
        uploads.upload(cuda.device_array(N), h, s)
        h[0] = 1
        s.synchronize()

    found = only(program)
    sys.modules.pop("uploads")
    assert (found.file, found.other_line) == (__file__, 2)
    assert "line 2 of uploads.py" in found.message
    assert "copy_to_device" not in str(gpukit.checked.report.Report([found]))
