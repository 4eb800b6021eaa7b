"""A kernel's machine code is freed with the last reference to the kernel."""

import gc
from pathlib import Path

import numpy as np
import pytest

from gpukit import cuda
from gpukit.compiler import native
from tests.safety.attempt import on_cpu

pytestmark = on_cpu
MAPS = Path("/proc/self/maps")


def launched(amount=1.0):
    """Return a new kernel that has added an amount to 37 elements."""

    @cuda.jit
    def add_kernel(a):
        i = cuda.grid(1)
        if i < a.size:
            a[i] += amount

    a = np.zeros(37)
    add_kernel[1, 64](a)
    assert (a == amount).all()
    return add_kernel


def loaded():
    gc.collect()
    return len(native._loaded)


@pytest.mark.skipif(not MAPS.exists(), reason="needs /proc")
@pytest.mark.slow
def test_redefining_a_kernel_repeatedly_leaks_no_memory_maps():
    launched()
    gc.collect()
    before = MAPS.read_bytes().count(b"\n")
    for _ in range(300):
        launched()
    assert MAPS.read_bytes().count(b"\n") < before + 100


def test_code_is_freed_when_its_kernel_is_deleted():
    before = loaded()
    kernel = launched(2.0)
    assert loaded() == before + 1
    del kernel
    assert loaded() == before


def test_kernels_with_identical_code_load_it_once():
    before = loaded()
    kernels = [launched(3.0) for _ in range(5)]
    assert loaded() == before + 1
    del kernels


def test_code_stays_while_another_kernel_uses_it():
    first, second = launched(4.0), launched(4.0)
    del first
    gc.collect()
    a = np.zeros(37)
    second[1, 64](a)
    assert (a == 4).all()


def test_code_of_a_kernel_that_was_not_cached_is_freed_too(tmp_path, monkeypatch):
    monkeypatch.setenv("GPUKIT_CACHE_DIR", str(tmp_path))
    before = loaded()
    kernel = launched(5.0)
    assert loaded() == before + 1
    del kernel
    assert loaded() == before
