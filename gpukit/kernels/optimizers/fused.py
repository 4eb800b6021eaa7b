"""Fused optimizer steps: one launch that reads and writes every array once, in place.

An optimizer is a rule for one weight, a device function of scalars. Its first kernel applies the
rule to one element per thread; its second one passes the rule to a function below, which applies it
to four elements with 16-byte accesses. NumPy goes through memory once per operation of the
formula; in a fused kernel the formula costs nothing next to the loads and stores.

The rates are one tuple of scalars of the dtype of the arrays: another learning rate needs no new
kernel, and no float64 enters the arithmetic.

Legend
    n         elements of the parameter, all axes together  1000
    rule      device function: weight, gradient, state and rates -> the new weight and state
    param, p  the weights, updated in place, and one of them
    grad, g   dE/d param, read only, and one of its elements
    first     the first state array of an optimizer, for example the velocity
    second    the second state array
    rates     learning rate, weight decay and so on, a tuple
    k         the group of four elements of this thread     [0, n / 4)
    i         the element of a thread with one; one of those after the last group of four
    WIDTH     elements per 16-byte access                   4
    BLOCK     threads per block                             256

All kernels of the optimizers
    Shapes     all arrays (n,); any n >= 1
    Dtypes     float32 or float64, the same for all arrays, the rates and the arithmetic; the
               vectorized kernels only float32, aligned to 16 bytes
    Launch     block BLOCK, grid ceil_div(n, BLOCK), x = element; the vectorized kernels
               ceil_div(n, 4 BLOCK), x = group of four elements
    Errors     the host function rejects unequal shapes or dtypes; the kernel assumes they match
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from gpukit import cuda, launch
from gpukit.launch import Variant
from gpukit.primitives import vectorized
from gpukit.primitives.vectorized import WIDTH, load4, store4

BLOCK = 256


@cuda.jit(device=True)
def update_four(rule, param, grad, rates, k):
    """Apply a rule without state to elements 4 k to 4 k + 3, and one of the remainder.

    The threads k = 0, 1 and 2 update the up to three elements after the last group of four.
    """
    fours = param.shape[0] // WIDTH
    if k < fours:
        p, g = load4(param, k), load4(grad, k)
        p0, p1 = rule(p[0], g[0], rates), rule(p[1], g[1], rates)
        p2, p3 = rule(p[2], g[2], rates), rule(p[3], g[3], rates)
        store4(param, k, p0, p1, p2, p3)
    i = fours * WIDTH + k
    if i < param.shape[0]:
        param[i] = rule(param[i], grad[i], rates)


@cuda.jit(device=True)
def update_four_with_one(rule, param, grad, first, rates, k):
    """Apply a rule with one state array to the same elements."""
    fours = param.shape[0] // WIDTH
    if k < fours:
        p, g, a = load4(param, k), load4(grad, k), load4(first, k)
        p0, a0 = rule(p[0], g[0], a[0], rates)
        p1, a1 = rule(p[1], g[1], a[1], rates)
        p2, a2 = rule(p[2], g[2], a[2], rates)
        p3, a3 = rule(p[3], g[3], a[3], rates)
        store4(param, k, p0, p1, p2, p3)
        store4(first, k, a0, a1, a2, a3)
    i = fours * WIDTH + k
    if i < param.shape[0]:
        param[i], first[i] = rule(param[i], grad[i], first[i], rates)


@cuda.jit(device=True)
def update_four_with_two(rule, param, grad, first, second, rates, k):
    """Apply a rule with two state arrays to the same elements."""
    fours = param.shape[0] // WIDTH
    if k < fours:
        p, g, a, b = load4(param, k), load4(grad, k), load4(first, k), load4(second, k)
        p0, a0, b0 = rule(p[0], g[0], a[0], b[0], rates)
        p1, a1, b1 = rule(p[1], g[1], a[1], b[1], rates)
        p2, a2, b2 = rule(p[2], g[2], a[2], b[2], rates)
        p3, a3, b3 = rule(p[3], g[3], a[3], b[3], rates)
        store4(param, k, p0, p1, p2, p3)
        store4(first, k, a0, a1, a2, a3)
        store4(second, k, b0, b1, b2, b3)
    i = fours * WIDTH + k
    if i < param.shape[0]:
        param[i], first[i], second[i] = rule(param[i], grad[i], first[i], second[i], rates)


# --- Host functions --------------------------------------------------------------------------


def step_in_place(
    function: str,
    variants: tuple[Variant, ...],
    rates: tuple[float, ...],
    stream: Any,
    *arrays: Any,
) -> None:
    """Launch an optimizer on arrays of one shape and one float dtype in C order, in place.

    `variants` are its kernels for one and for four elements per thread; the latter where it pays.
    """
    if n := arrays[0].size:
        vectors = [array.reshape(n) for array in arrays]
        variant = choose(variants, *vectors)
        numbers = tuple(map(vectors[0].dtype.type, rates))
        variant.kernel[variant.grid(function, n), variant.block, stream](*vectors, numbers)


def choose(variants: tuple[Variant, ...], *vectors: Any) -> Variant:
    """Return that of two variants, for one and for four elements per thread, that pays."""
    single, float4s = variants
    return float4s if vectorized.pays(*vectors) else single


# The variant with four elements per thread, for the variants of the other files.
takes_float4 = functools.partial(Variant, block=BLOCK, tile=WIDTH * BLOCK, dtypes=(np.float32,))


def variants(
    name: str, single: Any, float4s: Any, cost: Any, reference: Any
) -> tuple[Variant, Variant]:
    """Return an optimizer's variants with one and with four elements per thread."""
    return (
        Variant(name, single, cost, reference, BLOCK),
        takes_float4(f"{name}_vectorized", float4s, cost, reference),
    )


VARIANTS: tuple[Variant, ...] = ()
__all__ = launch.public_names(globals())
