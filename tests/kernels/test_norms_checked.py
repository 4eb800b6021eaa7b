"""Layer norm and batch norm: checker findings and profile counters."""

import numpy as np
import pytest

import gpukit
from gpukit.kernels import batch_norm, batch_norm_grad, layer_norm, layer_norm_grad
from gpukit.launch import Cost

dtypes = pytest.mark.parametrize("dtype", [np.float32, np.float64])

ROWS, COLS = 11, 131
N, C, S = 3, 5, 37


def layer_launches(dtype):
    """Yield each variant of layer norm with its launch configuration, arguments and cost."""
    x, row, col = np.ones((ROWS, COLS), dtype), np.ones(ROWS, dtype), np.ones(COLS, dtype)
    for variant in layer_norm.VARIANTS:
        shape = (variant.grid("test", ROWS), variant.block, 0, x.itemsize * COLS)
        inputs = x, col, col.copy(), dtype(1e-5), row.copy(), row.copy(), x.copy()
        yield variant, shape, inputs, variant.cost(ROWS, COLS, x.itemsize)
    by_row, by_col = layer_norm_grad.VARIANTS
    inputs = x, x.copy(), row, row.copy(), col, x.copy()
    shape = (by_row.grid("test", ROWS), by_row.block, 0, 0)
    yield by_row, shape, inputs, by_row.cost(ROWS, COLS, x.itemsize)
    sums = np.ones((2, COLS), dtype), np.ones((2, COLS), dtype)
    shape = (by_col.grid("test", COLS, 2), by_col.block, 0, 0)
    yield by_col, shape, (*inputs[:4], *sums), by_col.cost(ROWS, COLS, 2, x.itemsize)


def batch_launches(dtype):
    """Yield each variant of batch norm with its launch configuration, arguments and cost."""
    x, one = np.ones((N, C, S), dtype), np.ones(C, dtype)
    small, ones = dtype(0.1), iter([one.copy() for _ in range(20)])
    stats, norm = batch_norm.VARIANTS
    sums, by_element = batch_norm_grad.VARIANTS
    grad, out = x.copy(), x.copy()
    inputs = {
        stats: (x, small, *(next(ones) for _ in range(4))),
        norm: (x, next(ones), next(ones), small, next(ones), next(ones), out),
        sums: (grad, x, next(ones), next(ones), small, next(ones), next(ones)),
        by_element: (
            grad,
            x,
            next(ones),
            next(ones),
            small,
            *(next(ones) for _ in range(3)),
            small,
            out,
        ),
    }
    for variant, arguments in inputs.items():
        sizes = (C,) if variant in (stats, sums) else (S, C, N)
        shape = (variant.grid("test", *sizes), variant.block, 0, 0)
        yield variant, shape, arguments, variant.cost(N, C, S, x.itemsize)


def launches(dtype):
    return [*layer_launches(dtype), *batch_launches(dtype)]


every_kernel = pytest.mark.parametrize("number", range(8))


def test_every_kernel_is_launched():
    groups = (
        layer_norm.VARIANTS,
        layer_norm_grad.VARIANTS,
        batch_norm.VARIANTS,
        batch_norm_grad.VARIANTS,
    )
    assert [variant for variant, *_ in launches(np.float32)] == [
        r for group in groups for r in group
    ]


@pytest.mark.watched
@every_kernel
@dtypes
def test_checker_reports_no_findings(number, dtype):
    variant, shape, inputs, _ = launches(dtype)[number]
    found = gpukit.check(variant.kernel)[shape](*inputs).findings
    assert [finding for finding in found if finding.severity in ("error", "warning")] == []


@pytest.mark.watched
@every_kernel
@dtypes
def test_cost_equals_the_profile_counters(number, dtype):
    variant, shape, inputs, cost = launches(dtype)[number]
    counts = gpukit.profile(variant.kernel)[shape](*inputs).total
    flops = counts["flops_float32"] + counts["flops_float64"]
    assert Cost(counts["global_bytes_asked"], flops) == cost


@pytest.mark.watched
def test_a_row_kept_in_shared_memory_is_read_once_instead_of_three_times():
    counted = {
        variant.name: gpukit.profile(variant.kernel)[shape](*inputs).total["global_load_sectors"]
        for variant, shape, inputs, _ in list(layer_launches(np.float32))[:2]
    }
    sectors = ROWS * COLS * 4 / 32
    assert counted["two_pass"] - counted["block"] > 1.9 * sectors
