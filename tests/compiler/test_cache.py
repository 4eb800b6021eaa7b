"""Which kernels have the same key in the disk cache, and which have not."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from gpukit import cuda
from gpukit.compiler import describe, pipeline
from tests.safety.attempt import on_cpu

pytestmark = on_cpu


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Use an empty folder as the disk cache."""
    monkeypatch.setenv("GPUKIT_CACHE_DIR", str(tmp_path))
    return tmp_path


class Pair(NamedTuple):
    first: float
    second: float


class Swapped(NamedTuple):
    second: float
    first: float


Swapped.__qualname__ = Swapped.__name__ = "Pair"


def read_of(function, dtype=np.float64):
    """Return the value that a kernel reads from a device function without arguments."""

    @cuda.jit
    def read_kernel(out):
        out[0] = function()

    out = np.full(1, np.nan, dtype)
    read_kernel[1, 1](out)
    return out[0]


def of_array(table):
    return cuda.jit(device=True)(lambda: table[1])


def of_array_declared(table):
    return cuda.jit("float64()", device=True)(lambda: table[1])


def of_constant_array(table):
    @cuda.jit(device=True)
    def read():
        known = cuda.const.array_like(table)
        return known[1]

    return read


def of_array_through_a_function(table):
    inner = of_array(table)
    return cuda.jit(device=True)(lambda: inner())


def of_array_after_a_barrier(table):
    @cuda.jit(device=True)
    def read():
        cuda.syncthreads()
        return table[1]

    return read


def of_default(table):
    inner = cuda.jit(device=True)(lambda x=float(table[1]): x)
    return cuda.jit(device=True)(lambda: inner())


def of_field(table):
    pair = Pair(1.0, 2.0) if table[1] == 1 else Swapped(1.0, 2.0)
    return cuda.jit(device=True)(lambda: pair.first)


@pytest.mark.parametrize(
    "make",
    [
        of_array,
        of_array_declared,
        of_constant_array,
        of_array_through_a_function,
        of_array_after_a_barrier,
        of_default,
        of_field,
    ],
    ids=lambda make: make.__name__,
)
@pytest.mark.costly
def test_device_functions_with_different_captured_values_are_cached_separately(make):
    tables = np.array([0.0, 1.0]), np.array([0.0, 2.0])
    assert [read_of(make(t)) for t in tables] == [1.0, 2.0]


def test_device_functions_with_different_result_types_are_cached_separately():
    functions = [cuda.jit(f"{kind}()", device=True)(lambda: 2.75) for kind in ("int32", "float64")]
    assert [read_of(f) for f in functions] == [2.0, 2.75]


def test_a_captured_array_is_read_when_the_kernel_is_compiled():
    table = np.array([0.0, 1.0])
    read = of_array(table)
    seen = [read_of(read)]
    table[1] = 2
    seen.append(read_of(read))
    seen.append(read_of(of_array(np.array([0.0, 1.0]))))
    assert seen == [1.0, 2.0, 1.0]


def test_declared_kernels_with_different_captured_values_are_cached_separately():
    def read(get):
        @cuda.jit("(float64[:],)")
        def read_kernel(out):
            out[0] = get()

        out = np.full(1, np.nan)
        read_kernel[1, 1](out)
        return out[0]

    assert [read(of_array(np.array([0.0, v]))) for v in (1.0, 2.0)] == [1.0, 2.0]


@pytest.mark.parametrize("make", [of_array, of_constant_array, of_array_through_a_function])
@pytest.mark.costly
def test_a_redefined_kernel_with_an_equal_captured_array_is_a_cache_hit(make, folder):
    for _ in range(2):
        assert read_of(make(np.array([0.0, 3.0]))) == 3.0
    assert len(list(folder.iterdir())) == 1


def test_a_kernel_runs_and_leaves_no_file_when_the_disk_is_full(folder, monkeypatch):
    def full(handle, *_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "replace", full)
    assert read_of(of_array(np.array([0.0, 4.0]))) == 4.0
    assert list(folder.iterdir()) == []


def declared(text):
    @cuda.jit(text)
    def twice_kernel(a):
        a[0] += a[0]

    return twice_kernel


def test_an_interrupt_while_a_kernel_is_saved_reaches_the_caller(folder, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        read_of(of_array(np.array([0.0, 5.0])))
    assert list(folder.iterdir()) == []


def test_an_array_of_objects_has_no_cache_key():
    with pytest.raises(describe.Unkeepable):
        describe.value(np.array([None]))


def test_types_of_a_cached_declared_kernel_are_not_inferred_again(monkeypatch):
    declared("void(float32[:])")
    inferred = []
    monkeypatch.setattr(pipeline, "check_types", lambda *arguments: inferred.append(arguments))
    declared("void(float32[:])")
    assert inferred == []
    declared("void(float64[:])")
    assert len(inferred) == 1


@pytest.mark.parametrize("args", ["'too small', 3", "", "2.5"])
@pytest.mark.costly
def test_a_cached_kernel_raises_its_own_exception(args, folder):
    text = f"@cuda.jit\ndef raise_kernel(a):\n    if a[1] < 0:\n        raise ValueError({args})\n"
    seen = []
    for _ in range(2):
        scope = {"cuda": cuda}
        exec(text, scope)
        with pytest.raises(ValueError, match="tid=") as caught:
            scope["raise_kernel"][1, 1](np.full(3, -1.0))
        seen.append(str(caught.value))
    assert seen[0] == seen[1]
    assert len(list(folder.iterdir())) == 1
