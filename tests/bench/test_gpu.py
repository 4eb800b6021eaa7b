"""GPU timing on a fake clock, and the same computations in other libraries."""

from types import SimpleNamespace

import numpy as np
import pytest

from gpukit.bench import cases, gpu, rivals
from tests.gpu.libraries import cupy


class Gpu:
    """A fake GPU whose clock advances only during work."""

    def __init__(self, **seconds):
        self.now, self.order = 0.0, []
        self.works = {name: self.work(name, list(found)) for name, found in seconds.items()}

    def work(self, name, seconds):
        def run():
            self.order.append(name)
            self.now += seconds.pop(0) if len(seconds) > 1 else seconds[0]

        return run

    def elapsed(self, work):
        before = self.now
        work()
        return self.now - before

    def clock(self):
        return self.now


def timings(machine, **rest):
    return gpu.in_turns(machine.works, machine.elapsed, clock=machine.clock, **rest)


def test_medians_and_spreads_of_all_implementations_are_returned():
    machine = Gpu(ours=[100, *[1, 2, 3, 4, 5, 6, 7] * 9], cupy=[100, 5])
    found = timings(machine, seconds=0)
    assert found["ours"] == gpu.Spread(median=4, low=2, high=6, samples=7)
    assert found["cupy"].median == 5


def test_the_first_call_of_each_implementation_is_not_timed():
    assert timings(Gpu(ours=[100, 1]))["ours"].high == 1


def test_the_order_of_implementations_alternates_between_samples():
    machine = Gpu(a=[1], b=[1], c=[1])
    timings(machine, seconds=0)
    assert "".join(machine.order[3:15]) == "abcbcacababc"


@pytest.mark.slow
def test_timing_ends_when_all_medians_have_converged():
    steady = timings(Gpu(ours=[0.1]), seconds=60)["ours"]
    noisy = timings(Gpu(ours=[1e-3, 2e-3] * 9999), seconds=60)["ours"]
    assert (steady.samples, noisy.samples) == (gpu.LEAST_SAMPLES, gpu.MOST_SAMPLES)


def test_the_gpu_is_warmed_up_before_the_first_sample():
    machine = Gpu(ours=[0.01])
    found = timings(machine, seconds=60)["ours"]
    assert 0.01 * (len(machine.order) - found.samples) >= 0.3


def test_short_work_is_sampled_for_a_quarter_of_a_second():
    assert timings(Gpu(ours=[1e-3]), seconds=60)["ours"].samples >= 250


def test_the_cache_is_flushed_by_reading(monkeypatch):
    monkeypatch.setattr(gpu, "FLUSHED", 3000)
    events = gpu.Events()
    rest = next(a for a in events.flush.arguments if a.size == 3000)
    rest.copy_to_device(np.full(3000, 7, np.float32))
    events(lambda: None)
    assert set(rest.copy_to_host()) == {7}


class Broken:
    """A NumPy-compatible library with a function that fails when called."""

    asarray = staticmethod(np.asarray)

    def add(self, *arrays, out):
        raise MemoryError("out of memory")


def test_a_failing_library_is_skipped_and_its_error_is_recorded(monkeypatch):
    installed = {"cupy": Broken(), "torch": object()}  # one fails to compute, one to make arrays
    monkeypatch.setattr(rivals, "_installed", installed.get)
    works, failed = gpu.sides(cases.make("vector_add", quick=True))
    assert list(works) == ["gpukit"]
    assert failed["CuPy"] == "MemoryError: out of memory"
    assert failed["PyTorch"].startswith("AttributeError")


@pytest.mark.parametrize("name", ["gelu", "gelu_grad", "saxpy", "sigmoid", "box_blur"])
def test_libraries_without_the_where_argument_are_supported(name):
    comparison = cases.make(name, quick=True)
    expected = comparison.expected()
    tolerance = 1e-5 * np.abs(expected).max()
    assert np.abs(comparison.answer(cupy) - expected).max() <= tolerance


def test_pytorch_uses_tf32_only_for_kernels_that_do():
    torch = SimpleNamespace(
        as_tensor=lambda array, device: array,
        matmul=lambda a, b, out: None,
        nn=SimpleNamespace(functional=SimpleNamespace(conv2d=lambda *arrays, padding: None)),
        backends=SimpleNamespace(
            cuda=SimpleNamespace(matmul=SimpleNamespace(allow_tf32=None)),
            cudnn=SimpleNamespace(allow_tf32=True),
        ),
    )
    switches = torch.backends.cuda.matmul, torch.backends.cudnn
    for name, rounds in (("conv2d_direct", False), ("matmul_tensor_tf32", True)):
        rivals.by_torch(cases.make(name, quick=True), torch, "cuda")()
        assert [switch.allow_tf32 for switch in switches] == [rounds, rounds]


def test_timing_ends_when_the_time_budget_is_spent():
    found = timings(Gpu(ours=[0.9, 1.1] * 300), seconds=20)["ours"]
    assert 19 <= found.samples <= 22


@pytest.mark.parametrize("name", cases.CASES)
def test_pytorch_counterpart_computes_the_same_result(name):
    torch = pytest.importorskip("torch")
    comparison = cases.make(name, quick=True)
    if not rivals.named(comparison):
        pytest.skip("PyTorch has no one name for it")
    work, expected = rivals.by_torch(comparison, torch, "cpu"), comparison.expected()
    answer = np.asarray(work(), np.float64).reshape(expected.shape)
    tolerance = 8e-6 * max(1, comparison.terms**0.5) * np.abs(expected).max()
    if comparison.units == "tf32":
        tolerance += 2**-9 * np.abs(expected).max()
    assert np.abs(answer - expected).max() <= tolerance


def test_a_numpy_compatible_library_computes_the_numpy_counterpart():
    comparison = cases.make("saxpy", quick=True)
    np.testing.assert_allclose(comparison.answer(np), comparison.expected(), rtol=1e-6, atol=1e-6)
