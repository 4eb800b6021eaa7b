"""Formats of 16 and 8 bits against PyTorch's: the same bits."""

import numpy as np
import pytest
import torch

import gpukit

# float32 of every exponent and sign: their bits are a prime apart.
SPREAD = np.arange(0, 1 << 32, 65537, dtype=np.uint64).astype(np.uint32).view(np.float32)
NUMBERS = SPREAD[~np.isnan(SPREAD)]


def of_torch(x):
    """A copy as a tensor of PyTorch."""
    return torch.tensor(np.ascontiguousarray(x))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_rounded_numbers_have_the_bits_of_pytorch(dtype):
    right = of_torch(NUMBERS).to(getattr(torch, dtype)).view(torch.int16).numpy()
    np.testing.assert_array_equal(gpukit.convert(NUMBERS, dtype).view(np.int16), right)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_products_of_16_bits_are_those_of_pytorch_with_float32_sums(dtype):
    rng = np.random.default_rng(17)
    a, b = rng.standard_normal((37, 65), np.float32), rng.standard_normal((29, 65), np.float32)
    left, right = (of_torch(x).to(getattr(torch, dtype)).float() for x in (a, b))
    made = gpukit.mixed_matmul(*(gpukit.convert(x, dtype) for x in (a, b)), transpose_b=True)
    np.testing.assert_allclose(made, (left @ right.T).numpy(), rtol=0, atol=2e-5)


def test_quantized_rows_stand_for_the_numbers_of_pytorch_per_channel():
    x = np.random.default_rng(18).standard_normal((9, 64), np.float32)
    scale, zero = gpukit.channel_scales(x), torch.zeros(9, dtype=torch.int32)
    right = torch.fake_quantize_per_channel_affine(of_torch(x), of_torch(scale), zero, 0, -127, 127)
    made = gpukit.dequantize(gpukit.quantize(x, scale), scale)
    # PyTorch multiplies by 1 / scale: a number halfway between two steps may go to the other one.
    near = np.abs(x / scale[:, None] % 1 - 0.5) < 1e-4
    np.testing.assert_array_equal(made[~near], right.numpy()[~near])
    assert near.mean() < 0.01
