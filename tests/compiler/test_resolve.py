"""Functions are looked up and parsed once per launch."""

import numpy as np
import pytest

import gpukit
from gpukit import cuda
from gpukit.compiler.frontend import resolve


@pytest.fixture
def resolved(monkeypatch):
    """Names of this file's functions in the order in which launches resolve them, uncached.

    The first launch of a process also resolves the functions that implement shuffles.
    """
    monkeypatch.setenv("GPUKIT_CACHE", "0")
    names, run = [], resolve._run

    def recording(function):
        if function.__module__ == __name__:
            names.append(function.__name__)
        return run(function)

    monkeypatch.setattr(resolve, "_run", recording)
    return names


def kernel_with_functions():
    @cuda.jit(device=True)
    def doubled(v):
        return v + v

    @cuda.jit(device=True)
    def shuffled(v):
        return cuda.shfl_down_sync(0xFFFFFFFF, doubled(v), 1)

    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        out[i] = shuffled(out[i]) + doubled(out[i])

    return kernel


def test_a_first_launch_resolves_each_function_once(resolved):
    kernel_with_functions()[2, 32](np.ones(64, np.float32))
    assert sorted(resolved) == ["doubled", "kernel", "shuffled"]


def test_a_first_check_resolves_each_function_once(resolved):
    gpukit.check(kernel_with_functions())[2, 32](np.ones(64, np.float32))
    assert sorted(resolved) == ["doubled", "kernel", "shuffled"]


def test_a_launch_of_compiled_code_resolves_nothing(resolved):
    kernel = kernel_with_functions()
    kernel[2, 32](np.ones(64, np.float32))
    resolved.clear()
    kernel[4, 32](np.ones(128, np.float32))
    assert resolved == []


def test_a_launch_with_new_types_uses_the_current_values_of_globals(monkeypatch):
    @cuda.jit
    def kernel(out):
        out[cuda.grid(1)] = FACTOR

    monkeypatch.setitem(globals(), "FACTOR", 3)
    floats, integers = np.zeros(4, np.float32), np.zeros(4, np.int64)
    kernel[1, 4](floats)
    monkeypatch.setitem(globals(), "FACTOR", 5)
    kernel[1, 4](integers)
    assert (floats[0], integers[0]) == (3, 5)


FACTOR = 0


def test_each_pass_gets_its_own_copy_of_a_resolved_function():
    def function(v):
        return v

    with resolve.once():
        one = resolve.run(function, device=True)
        one.tree.body.clear()
        one.globals["added"] = 1
        other = resolve.run(function, device=True)
    assert (len(other.tree.body), other.globals) == (1, {})
