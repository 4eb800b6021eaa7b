"""A guard `if i < a.shape[0]` eliminates the bounds check of `a[i]`."""

import numpy as np
import pytest

from gpukit import cuda
from tests.compiler.texts import generated
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
    """Return whether the loops generated from a kernel contain a checked access."""
    texts = generated(monkeypatch)
    cuda.jit(kernel)[4, 8](np.zeros(32))
    return "_checked(" in "\n".join(texts)


@pytest.mark.parametrize("kernel", [below, above, by_name])
def test_a_guard_by_the_length_of_the_array_eliminates_the_bounds_check(kernel, monkeypatch):
    assert not checks(kernel, monkeypatch)


def test_an_unguarded_access_is_checked(monkeypatch):
    assert checks(unguarded, monkeypatch)


def strided_within(a):
    tile = cuda.shared.array(512, np.float64)
    for k in range(0, 512, 2):
        tile[k] = a.shape[0]
        cuda.syncthreads()


def strided_beyond(a):
    tile = cuda.shared.array(512, np.float64)
    for k in range(0, 514, 2):
        if k < 2 * a.shape[0]:
            tile[k] = a.shape[0]
        cuda.syncthreads()


def test_the_range_of_a_strided_loop_bounds_its_index(monkeypatch):
    assert checks(strided_within, monkeypatch) < checks(strided_beyond, monkeypatch)
