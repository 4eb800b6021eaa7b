"""Grid-stride kernels: grids sized by the device, the same results on any device."""

import numpy as np
import pytest

from gpukit import launch
from gpukit.bench.cases import CASES
from gpukit.kernels import dot, extremes, histogram, losses, optimizers, reduce, vector
from gpukit.kernels.losses import mse
from gpukit.kernels.optimizers import clip

# SMs and threads per SM: one block of 256, two cores of the CPU target, a T4, an H100.
DEVICES = [(1, 256), (2, 1024), (40, 1024), (132, 2048)]
N = 70_001  # more than 256 threads, fewer than the resident threads of an H100

devices = pytest.mark.parametrize("limits", DEVICES, ids=str)


def striding():
    return {name: entry.variant for name, entry in CASES.items() if entry.variant.grid_stride}


def test_grid_is_sized_by_the_device_if_and_only_if_the_kernel_has_a_grid_stride_loop():
    loops = {
        name
        for name, entry in CASES.items()
        if "gridsize" in entry.kernel.py_func.__code__.co_names
    }
    assert loops == set(striding()) != set()


@devices
@pytest.mark.parametrize("name", [name for name in striding() if "histogram" not in name])
def test_cost_counts_the_blocks_resident_on_the_device(name, limits, use_device):
    """The part of a cost that depends on the grid grows in proportion to the grid."""
    variant = striding()[name]
    use_device(1, 256)
    one = variant.cost(N)
    use_device(*limits)
    (blocks,) = variant.grid(name, N)
    use_device(1, 512)
    two = variant.cost(N)
    use_device(*limits)
    for field in ("bytes", "flops"):
        first, step = getattr(one, field), getattr(two, field) - getattr(one, field)
        assert getattr(variant.cost(N), field) == first + (blocks - 1) * step


@devices
@pytest.mark.parametrize("variant", ["grid_stride", "shuffle", "vectorized"])
def test_sum_is_right_on_every_device(variant, limits, use_device):
    use_device(*limits)
    assert reduce.sum(np.ones(N, np.float32), variant=variant) == N


@devices
def test_dot_is_right_on_every_device(limits, use_device):
    use_device(*limits)
    x = np.arange(N, dtype=np.float32) % 3
    assert dot.dot(x, x) == int((x.astype(int) ** 2).sum())


@devices
@pytest.mark.parametrize("name", ["max", "min", "argmax"])
def test_extremes_are_right_on_every_device(name, limits, use_device, rng):
    use_device(*limits)
    x = rng.permutation(N).astype(np.float32)
    assert getattr(extremes, name)(x) == getattr(np, name)(x)


@devices
def test_saxpy_is_right_on_every_device(limits, use_device, rng):
    use_device(*limits)
    x, y = rng.integers(0, 99, (2, N)).astype(np.float32)
    out = np.full(N, np.nan, np.float32)
    np.testing.assert_array_equal(vector.saxpy(2, x, y, out=out), 2 * x + y)


@devices
@pytest.mark.parametrize("bins", [7, histogram.MAX_PRIVATE_BINS])
def test_bincount_is_right_on_every_device(bins, limits, use_device, rng):
    use_device(*limits)
    x = rng.integers(0, bins, N).astype(np.int32)
    np.testing.assert_array_equal(histogram.bincount(x, bins), np.bincount(x, minlength=bins))


@devices
def test_mse_loss_is_right_on_every_device(limits, use_device):
    use_device(*limits)
    assert losses.mse_loss(np.full(N, 3, np.float32), np.ones(N, np.float32)) == 4


@devices
@pytest.mark.parametrize(("dtype", "rtol"), [(np.float32, 1e-5), (np.float64, 1e-12)])
def test_a_clipped_norm_is_right_on_every_device(dtype, rtol, limits, use_device):
    use_device(*limits)
    norm = optimizers.clip_grad_norm(np.full(4 * N, 2, dtype), 1)
    assert norm == pytest.approx(4 * np.sqrt(N), rel=rtol)


@pytest.mark.parametrize("kernel", [mse.mse_sum_kernel, clip.square_sum_kernel])
def test_stored_block_sums_are_bit_identical_from_run_to_run(kernel, rng):
    x = rng.normal(size=N).astype(np.float32)
    parts = np.full((2, launch.stride_blocks(N, 256)), np.nan, np.float32)
    for part in parts:
        inputs = (x, x[::-1].copy()) if kernel is mse.mse_sum_kernel else (x, 0)
        kernel[part.shape, 256](*inputs, part)
    assert not np.isnan(parts).any()
    assert parts[0].tobytes() == parts[1].tobytes()
