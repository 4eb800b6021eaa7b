"""Behind `if i < n`, with the array's own length for n, nothing is left to check in `a[i]`."""

import ast

import numpy as np
import pytest

from gpukit import cuda
from gpukit.compiler import pyfunc
from tests.safety.attempt import on_cpu

pytestmark = on_cpu


def below(a):
    i = cuda.grid(1)
    if i < a.shape[0]:
        a[i] = 1


def above(a):
    i = cuda.grid(1)
    if a.shape[0] > i:
        a[i] = 1


def by_name(a):
    i = cuda.grid(1)
    n = a.shape[0]
    if i < n:
        a[i] = 1


def unguarded(a):
    a[cuda.grid(1)] = 1


def checks(kernel, monkeypatch):
    """Tell whether the loops that are made of a kernel hold a checked access."""
    texts, build = [], pyfunc.build

    def noted(name, parameters, body, *rest):
        texts.extend(map(ast.unparse, body))
        return build(name, parameters, body, *rest)

    monkeypatch.setattr(pyfunc, "build", noted)
    monkeypatch.setenv("GPUKIT_CACHE", "0")
    cuda.jit(kernel)[4, 8](np.zeros(32))
    return "_checked(" in "\n".join(texts)


@pytest.mark.parametrize("kernel", [below, above, by_name])
def test_a_guard_by_the_arrays_length_spares_the_check(kernel, monkeypatch):
    assert not checks(kernel, monkeypatch)


def test_an_access_without_a_guard_is_checked(monkeypatch):
    assert checks(unguarded, monkeypatch)
