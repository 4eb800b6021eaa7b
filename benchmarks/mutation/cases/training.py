"""Launches of optimizers, clipping, and backward passes."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks.mutation.cases.layers import signed
from benchmarks.mutation.cases.register import called, given, values
from gpukit import cuda, launch
from gpukit.bench.cases_training import RATES
from gpukit.kernels.backprop import bias_activation, sharing
from gpukit.kernels.optimizers import adam, adaptive, clip, fused, gradient

ODD = 1303  # two blocks of float4 accesses, three elements after the last four


def _launch(variant: launch.Variant, n: int, *arguments: Any) -> None:
    variant.kernel[variant.grid("mutants", n), variant.block](*arguments)


def _step(variant: launch.Variant) -> None:
    """Take a step with large hyperparameters, so that leaving one out shows."""
    name = variant.name.removesuffix("_vectorized")
    rates = tuple(np.linspace(0.9, 0.1, len(RATES[name][0]), dtype=np.float32))
    states = variant.kernel.py_func.__code__.co_argcount - 3
    kept = (given(ODD + k) for k in range(2, 2 + states))
    _launch(variant, ODD, given(ODD), signed(ODD + 1)[:ODD], *(x[:ODD] for x in kept), rates)


for _variant in (*gradient.VARIANTS, *adaptive.VARIANTS, *adam.VARIANTS):
    called([_variant.kernel], partial(_step, _variant))


def _square_sum(variant: launch.Variant) -> None:
    """Add in two blocks, several elements per thread, after two existing sums."""
    variant.kernel[2, variant.block](given(4 * ODD), 2, cuda.to_device(values(4)))


def _clip_scale(most: float) -> None:
    """Make the factor from more sums than a block has threads."""
    norm, scale = (cuda.device_array(1, np.float32) for _ in range(2))
    clip.CLIP_SCALE.kernel[1, fused.BLOCK](given(301), np.float32(most), norm, scale)


for _variant in clip.SQUARE_SUM_VARIANTS:
    called([_variant.kernel], partial(_square_sum, _variant), terms=64)
called([clip.CLIP_SCALE.kernel], partial(_clip_scale, 2.5), partial(_clip_scale, 1e3))
for _variant in clip.SCALE_VARIANTS:
    called([_variant.kernel], partial(_launch, _variant, ODD, given(1), given(ODD)))


# ---- bias and activation, and layers that share their gradients --------------------------------


def _forward(variant: launch.Variant) -> None:
    """Add the bias to more rows than the grid has, over all intervals of the activation."""
    x, out = 3 * signed(11, 70).copy_to_host(), cuda.device_array((11, 70), np.float32)
    x[0, :2], x[1, 2] = (-50, 50), 0
    variant.kernel[(2, 4), variant.block](cuda.to_device(x), given(70), out)


def _backward(variant: launch.Variant) -> None:
    """Add 39 rows in two chunks, the last one shorter."""
    x, biased = 3 * signed(39, 70).copy_to_host(), variant.name == "bias_gelu_grad"
    x[0, :2], x[1, 2] = (-50, 50), 0
    made = (cuda.device_array((rows, 70), np.float32) for rows in (39, 2))
    told = (given(70),) if biased else ()
    variant.kernel[(3, 2), variant.block](given(39, 70), cuda.to_device(x), *told, *made)


for _variant in bias_activation.VARIANTS:
    called([_variant.kernel], partial(_backward if "grad" in _variant.name else _forward, _variant))


def _mlp_backward(way: str) -> None:
    """Backpropagate through two layers, the first with more outputs than a block has threads."""
    weights, outputs = [given(270, 13), given(6, 270)], [given(5, 270), given(5, 6)]
    sharing.mlp_backward(signed(5, 6), given(5, 13), outputs, weights, variant=way)


for _variant, _way in zip(sharing.VARIANTS, sharing.WAYS, strict=True):
    called([_variant.kernel], partial(_mlp_backward, _way), terms=64)
