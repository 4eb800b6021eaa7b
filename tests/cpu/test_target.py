"""Which target a process gets, and that wrong wishes are told plainly."""

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
    """Answers as the driver library does."""

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


def test_numpy_gets_back_what_numba_cuda_asks_for(fresh_python):
    """As with NumPy 2.5, which has no row_stack any more."""
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
    ("driver", "words"),
    [
        (Driver(status=100), "cuInit returned 100"),
        (Driver(count=0), "reports no GPU"),
        (object(), "cannot be used"),
    ],
)
def test_a_driver_without_a_usable_gpu_means_the_cpu(monkeypatch, driver, words):
    with_gpu(monkeypatch, driver)
    assert target.active().name == "cpu"
    assert words in target.active().reason


def test_a_gpu_without_a_package_means_the_cpu_and_says_so(monkeypatch):
    with_gpu(monkeypatch, Driver(), ())
    assert "neither numba-cuda nor numba-cuda-mlir" in target.active().reason


def test_the_simulator_switch_of_numba_means_the_cpu(monkeypatch):
    with_gpu(monkeypatch, Driver())
    monkeypatch.setenv("NUMBA_ENABLE_CUDASIM", "1")
    assert target.active().name == "cpu"


def test_asking_for_the_cpu_gives_it_also_where_a_gpu_is(monkeypatch):
    with_gpu(monkeypatch, Driver())
    monkeypatch.setenv(target.VARIABLE, "cpu")
    assert target.active() == ("cpu", "GPUKIT_TARGET=cpu")


def test_checked_says_that_every_launch_is_looked_at(monkeypatch):
    monkeypatch.setenv(target.VARIABLE, "checked")
    assert target.active().name == "checked"
    assert "every launch" in target.active().reason


def test_asking_for_cuda_without_a_gpu_says_why_and_what_to_do(monkeypatch):
    with_gpu(monkeypatch, None)
    monkeypatch.setenv(target.VARIABLE, "cuda")
    with pytest.raises(errors.TargetError, match=r"no NVIDIA driver.*GPUKIT_TARGET=cpu"):
        target.active()


def test_asking_for_cuda_without_a_package_says_what_to_install(monkeypatch):
    with_gpu(monkeypatch, Driver(), ())
    monkeypatch.setenv(target.VARIABLE, "cuda")
    with pytest.raises(errors.TargetError, match="pip install"):
        target.active()


def test_an_unknown_wish_names_what_was_written_and_the_choices(monkeypatch):
    monkeypatch.setenv(target.VARIABLE, "gpu")
    with pytest.raises(errors.TargetError, match="auto, cuda, cpu, checked, got 'gpu'"):
        target.active()


def test_a_wish_may_be_written_in_capitals(monkeypatch):
    monkeypatch.setenv(target.VARIABLE, " CPU ")
    assert target.active().name == "cpu"


def test_finding_out_about_gpus_imports_no_cuda_package(fresh_python):
    code = (
        "import sys; from gpukit import target; target.usable_gpu(); "
        "assert not {'numba', 'numpy', 'numba_cuda'} & set(sys.modules)"
    )
    assert fresh_python("-c", code).stderr == ""


def test_launches_of_the_checked_target_alone_have_an_observer(monkeypatch):
    with_gpu(monkeypatch, None)
    observers = {}
    for name in ("auto", "cpu", "checked"):
        monkeypatch.setenv(target.VARIABLE, name)
        target.active.cache_clear()
        observers[name] = getattr(target.observers(), "__name__", None)
    assert observers == {"auto": None, "cpu": None, "checked": "gpukit.checked.process"}
