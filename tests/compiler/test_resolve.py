"""How often functions are looked up and parsed: once a launch, whoever asks."""

import numpy as np
import pytest

import gpukit
from gpukit import cuda
from gpukit.compiler.frontend import resolve


@pytest.fixture
def resolved(monkeypatch):
    """The names of functions of this file that launches resolve, in order, finding no code.

    What a shuffle is made of is resolved as well, by the first launch of a process.
    """
    monkeypatch.setenv("GPUKIT_CACHE", "0")
    names, run = [], resolve._run

    def noting(function):
        if function.__module__ == __name__:
            names.append(function.__name__)
        return run(function)

    monkeypatch.setattr(resolve, "_run", noting)
    return names


def kernel_with_functions():
    @cuda.jit(device=True)
    def doubled(v):
        return v + v

    @cuda.jit(device=True)
    def passed_on(v):
        return cuda.shfl_down_sync(0xFFFFFFFF, doubled(v), 1)

    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        out[i] = passed_on(out[i]) + doubled(out[i])

    return kernel


def test_a_first_launch_resolves_each_function_once(resolved):
    kernel_with_functions()[2, 32](np.ones(64, np.float32))
    assert sorted(resolved) == ["doubled", "kernel", "passed_on"]


def test_a_first_check_resolves_each_function_once(resolved):
    gpukit.check(kernel_with_functions())[2, 32](np.ones(64, np.float32))
    assert sorted(resolved) == ["doubled", "kernel", "passed_on"]


def test_a_launch_with_known_code_resolves_nothing(resolved):
    kernel = kernel_with_functions()
    kernel[2, 32](np.ones(64, np.float32))
    resolved.clear()
    kernel[4, 32](np.ones(128, np.float32))
    assert resolved == []


def test_a_launch_with_other_types_sees_what_its_globals_are_then(monkeypatch):
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


def test_what_one_pass_changes_in_a_unit_no_other_sees():
    def function(v):
        return v

    with resolve.once():
        one = resolve.run(function, device=True)
        one.tree.body.clear()
        one.globals["made"] = 1
        other = resolve.run(function, device=True)
    assert (len(other.tree.body), other.globals) == (1, {})
