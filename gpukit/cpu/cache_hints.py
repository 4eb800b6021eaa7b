"""Loads and stores with cache hints: `cuda.ldcg(a, i)`, `cuda.stcs(a, i, value)`.

A CPU has no such hints, so these are plain loads and stores.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from gpukit.cpu.dispatcher import jit


@jit(device=True)
def ldca(array, i):
    """Load, cached at all levels."""
    return array[i]


@jit(device=True)
def ldcg(array, i):
    """Load, cached at the global level."""
    return array[i]


@jit(device=True)
def ldcs(array, i):
    """Load, likely used once."""
    return array[i]


@jit(device=True)
def ldlu(array, i):
    """Load, used for the last time."""
    return array[i]


@jit(device=True)
def ldcv(array, i):
    """Load, not from a cache."""
    return array[i]


@jit(device=True)
def stcg(array, i, value):
    """Store, cached at the global level."""
    array[i] = value


@jit(device=True)
def stcs(array, i, value):
    """Store, likely used once."""
    array[i] = value


@jit(device=True)
def stwb(array, i, value):
    """Store, written back at all levels."""
    array[i] = value


@jit(device=True)
def stwt(array, i, value):
    """Store, written through."""
    array[i] = value
