"""Tests for GPUs only: arrays that stay on the device, events, memory of other libraries.

`tests/gpu/test_walk.py` also runs these tests, on a fake driver.
"""

import itertools

import numpy as np
import pytest

import gpukit
from gpukit import cuda, launch, parallel
from gpukit.bench import cases, ceilings, gpu, timing
from gpukit.kernels import reduce, vector

pytestmark = pytest.mark.gpu


def numbers(n):
    return np.arange(n, dtype=np.float32)


def test_a_result_stays_on_the_gpu_where_its_inputs_are():
    x = cuda.to_device(numbers(1000))
    result = vector.vector_add(x, x)
    assert launch.is_device_array(result)
    np.testing.assert_array_equal(result.copy_to_host(), 2 * numbers(1000))


def test_work_in_a_stream_is_done_after_synchronizing_the_stream():
    stream = cuda.stream()
    x = cuda.to_device(numbers(1000), stream)
    result = vector.saxpy(2.0, x, x, stream=stream)
    host = result.copy_to_host(stream=stream)
    stream.synchronize()
    np.testing.assert_array_equal(host, 3 * numbers(1000))


def test_tasks_share_a_gpu_in_streams_with_priorities():
    x, streams = cuda.to_device(numbers(1000)), []
    out = cuda.device_array_like(x)

    def work(stream):
        streams.append(int(stream))
        vector.saxpy(2.0, x, x, out=out, stream=stream)

    timeline = parallel.run_tasks(
        parallel.Task("training", work, times=5),
        parallel.Task("requests", work, arrivals=[0, 0.001], priority=-1),
    )
    np.testing.assert_array_equal(out.copy_to_host(), 3 * numbers(1000))
    assert len(set(streams)) == 2
    assert [len(spans) for spans in timeline.rows.values()] == [5, 2]
    for spans in timeline.rows.values():
        assert all(a.end <= b.start and a.start <= a.end for a, b in itertools.pairwise(spans))


def test_16_byte_loads_are_used_only_for_aligned_arrays():
    x = cuda.to_device(numbers(1001))
    assert reduce.sum(x[1:], variant="vectorized") == numbers(1001).sum()


def test_checked_mode_runs_a_kernel_on_device_arrays():
    x, out = cuda.to_device(numbers(256)), cuda.to_device(np.full(256, np.nan, np.float32))
    report = gpukit.check(vector.vector_add_kernel)[1, 256](x, x, out)
    assert not report.findings
    np.testing.assert_array_equal(out.copy_to_host(), 2 * numbers(256))


def test_checked_mode_observes_the_launches_of_a_function_on_device_arrays():
    x = cuda.to_device(numbers(1000))
    results = []
    (profile,) = gpukit.profile(lambda: results.append(vector.vector_add(x, x)))()
    assert profile.total["global_bytes_asked"] == 12 * 1000
    np.testing.assert_array_equal(results[0].copy_to_host(), 2 * numbers(1000))


def test_one_array_passed_twice_is_one_array_in_checked_mode():
    x = cuda.to_device(numbers(256))
    gpukit.profile(vector.vector_add_kernel)[1, 256](x, x, x)
    np.testing.assert_array_equal(x.copy_to_host(), 2 * numbers(256))


def test_events_measure_a_launch(monkeypatch):
    monkeypatch.setattr(gpu, "FLUSHED", 1 << 16)
    works, failed = gpu.sides(cases.make("saxpy", quick=True))
    assert gpu.Events()(works[timing.OURS]) > 0
    assert failed == {}


def test_the_name_and_ceilings_of_a_gpu_are_measured(monkeypatch):
    monkeypatch.setattr(ceilings, "COPIED", 1 << 16)
    found = ceilings.measure()
    assert gpu.device_name()
    assert found.bytes > 0
    assert found.flops > 1e11


@pytest.mark.parametrize("library", ["cupy", "torch"])
def test_arrays_of_another_library_are_used_in_place(library):
    module = pytest.importorskip(library)
    x = module.arange(1000, dtype=module.float32)
    x = x.cuda() if library == "torch" else x
    vector.saxpy(2.0, x, x, out=x)
    np.testing.assert_array_equal(cuda.as_cuda_array(x).copy_to_host(), 3 * numbers(1000))


@pytest.mark.parametrize("name", ["vector_add", "gelu", "sum_shuffle", "matmul_tiled"])
def test_cupy_computes_the_same_results(name):
    cupy = pytest.importorskip("cupy")
    comparison = cases.make(name, quick=True)
    expected = comparison.expected()
    got = cupy.asnumpy(comparison.answer(cupy)).reshape(expected.shape)
    np.testing.assert_allclose(got, expected, atol=1e-4 * np.abs(expected).max())
