"""Which target a process uses, and the errors of targets that are unavailable or unknown."""

import ctypes
from pathlib import Path

import pytest

from gpukit import errors, target


@pytest.fixture(autouse=True)
def _fresh(monkeypatch):
    target.active.cache_clear()
    monkeypatch.delenv(target.VARIABLE, raising=False)
    monkeypatch.delenv("NUMBA_ENABLE_CUDASIM", raising=False)
    yield
    target.active.cache_clear()


class Driver:
    """A fake of the CUDA driver library."""

    def __init__(self, status=0, count=1):
        self.status, self.count = status, count

    def cuInit(self, flags):
        return self.status

    def cuDeviceGetCount(self, pointer):
        ctypes.cast(pointer, ctypes.POINTER(ctypes.c_int))[0] = self.count
        return 0


def with_gpu(monkeypatch, driver, packages=("numba_cuda",)):
    monkeypatch.setattr(target, "_load_driver", lambda: driver)
    monkeypatch.setattr(target, "_installed", lambda name: name in packages)


def test_without_a_driver_the_target_is_the_cpu(monkeypatch):
    with_gpu(monkeypatch, None)
    assert target.active() == ("cpu", "no NVIDIA driver was found, so kernels run on the CPU")


def test_with_a_gpu_and_numba_cuda_the_target_is_cuda(monkeypatch):
    with_gpu(monkeypatch, Driver())
    assert target.active().name == "cuda"
    assert target.usable_gpu().modules == ("numba.cuda",)


def test_row_stack_is_restored_in_numpy_for_numba_cuda(fresh_python):
    """NumPy 2.5 has removed it."""
    code = (
        "import numpy as np\n"
        "del np.row_stack\n"
        "from gpukit import cuda\n"
        "import sys, importlib.util\n"
        "spec = importlib.util.spec_from_file_location('front', sys.argv[1])\n"
        "front = importlib.util.module_from_spec(spec)\n"
        "spec.loader.exec_module(front)\n"
        "assert front._import_gpu(('json',)).dumps\n"
        "print(np.row_stack is np.vstack)\n"
    )
    file = str(Path(target.__file__).with_name("cuda.py"))
    done = fresh_python("-c", code, file, GPUKIT_TARGET="cpu")
    assert (done.stdout.strip(), done.stderr) == ("True", "")


def test_with_both_packages_numba_cuda_is_tried_first(monkeypatch):
    with_gpu(monkeypatch, Driver(), ("numba_cuda_mlir", "numba_cuda"))
    assert target.usable_gpu().modules == ("numba.cuda", "numba_cuda_mlir.cuda")


@pytest.mark.parametrize(
    ("driver", "reason"),
    [
        (Driver(status=100), "cuInit returned 100"),
        (Driver(count=0), "reports no GPU"),
        (object(), "cannot be used"),
    ],
)
def test_with_a_driver_but_no_usable_gpu_the_target_is_the_cpu(monkeypatch, driver, reason):
    with_gpu(monkeypatch, driver)
    assert target.active().name == "cpu"
    assert reason in target.active().reason


def test_with_a_gpu_but_no_cuda_package_the_target_is_the_cpu_with_the_reason(monkeypatch):
    with_gpu(monkeypatch, Driver(), ())
    assert "neither numba-cuda nor numba-cuda-mlir" in target.active().reason


def test_with_numbas_simulator_enabled_the_target_is_the_cpu(monkeypatch):
    with_gpu(monkeypatch, Driver())
    monkeypatch.setenv("NUMBA_ENABLE_CUDASIM", "1")
    assert target.active().name == "cpu"


def test_the_cpu_target_may_be_selected_on_a_machine_with_a_gpu(monkeypatch):
    with_gpu(monkeypatch, Driver())
    monkeypatch.setenv(target.VARIABLE, "cpu")
    assert target.active() == ("cpu", "GPUKIT_TARGET=cpu")


def test_the_reason_of_the_checked_target_names_every_launch(monkeypatch):
    monkeypatch.setenv(target.VARIABLE, "checked")
    assert target.active().name == "checked"
    assert "every launch" in target.active().reason


def test_selecting_cuda_without_a_gpu_says_why_and_what_to_do(monkeypatch):
    with_gpu(monkeypatch, None)
    monkeypatch.setenv(target.VARIABLE, "cuda")
    with pytest.raises(errors.TargetError, match=r"no NVIDIA driver.*GPUKIT_TARGET=cpu"):
        target.active()


def test_selecting_cuda_without_a_package_says_what_to_install(monkeypatch):
    with_gpu(monkeypatch, Driver(), ())
    monkeypatch.setenv(target.VARIABLE, "cuda")
    with pytest.raises(errors.TargetError, match="pip install"):
        target.active()


def test_an_unknown_target_is_refused_with_the_choices(monkeypatch):
    monkeypatch.setenv(target.VARIABLE, "gpu")
    with pytest.raises(errors.TargetError, match="auto, cuda, cpu, checked, got 'gpu'"):
        target.active()


def test_the_name_of_a_target_is_case_insensitive(monkeypatch):
    monkeypatch.setenv(target.VARIABLE, " CPU ")
    assert target.active().name == "cpu"


def test_detecting_gpus_imports_no_cuda_package(fresh_python):
    code = (
        "import sys; from gpukit import target; target.usable_gpu(); "
        "assert not {'numba', 'numpy', 'numba_cuda'} & set(sys.modules)"
    )
    assert fresh_python("-c", code).stderr == ""


def test_only_launches_of_the_checked_target_have_an_observer(monkeypatch):
    with_gpu(monkeypatch, None)
    observers = {}
    for name in ("auto", "cpu", "checked"):
        monkeypatch.setenv(target.VARIABLE, name)
        target.active.cache_clear()
        observers[name] = getattr(target.observers(), "__name__", None)
    assert observers == {"auto": None, "cpu": None, "checked": "gpukit.checked.process"}
