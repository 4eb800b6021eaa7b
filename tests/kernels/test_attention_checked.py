"""Attention kernels: checker findings and profile counters."""

import numpy as np
import pytest

import gpukit
from gpukit import cuda, launch
from gpukit.kernels import attention
from gpukit.kernels.attention import naive, naive_grad, tiled, tiled_grad

dtypes = pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
masks = pytest.mark.parametrize("causal", [False, True], ids=["all", "causal"])

SIZES = (1, 2, tiled.BM + 3, 2 * tiled.BN + 5, 7, 10)
PAIRS, ROWS, KEYS, D, DV = 2, *SIZES[2:]
every_variant = pytest.mark.parametrize(
    "variant", attention.VARIANTS, ids=lambda r: r.kernel.__name__
)


def launch_under(watch, variant, causal, dtype=np.float32, seed=1):
    """Launch a kernel of any variant under `watch` (check or profile); return the report."""
    draw = np.random.default_rng(seed)

    def new(*shape):
        return draw.standard_normal((1, 2, *shape)).astype(dtype)

    def out(*shape):
        return cuda.device_array((1, 2, *shape), dtype)

    query, key, value, grad = new(ROWS, D), new(KEYS, D), new(KEYS, DV), new(ROWS, DV)
    scores, kept, scale = new(ROWS, KEYS), new(ROWS), dtype(0.25)
    no_mask = np.empty((0, 0, 0, 0), dtype)
    squares = (KEYS, ROWS, PAIRS), (grad, value, scores, kept, kept, scale)
    backward = grad, query, key, value, kept, kept, scale, causal
    sizes, arguments = {
        naive.attention_scores_kernel: (
            (KEYS, ROWS, PAIRS),
            (query, key, no_mask, False, scale, causal, out(ROWS, KEYS)),
        ),
        naive.attention_softmax_kernel: (
            (ROWS,),
            (scores[0, 0], out(ROWS, KEYS)[0, 0], out(ROWS)[0, 0]),
        ),
        naive.attention_values_kernel: ((DV, ROWS, PAIRS), (scores, value, out(ROWS, DV))),
        tiled.attention_tiled_kernel: (
            (ROWS, PAIRS),
            (query, key, value, scale, causal, out(ROWS, DV), out(ROWS)),
        ),
        naive_grad.attention_delta_kernel: ((ROWS, PAIRS), (grad, grad, out(ROWS))),
        naive_grad.attention_grad_scores_kernel: (
            squares[0],
            (*squares[1], out(ROWS, KEYS), out(ROWS, KEYS)),
        ),
        naive_grad.attention_transposed_kernel: ((D, KEYS, PAIRS), (scores, query, out(KEYS, D))),
        tiled_grad.attention_tiled_grad_query_kernel: ((ROWS, PAIRS), (*backward, out(ROWS, D))),
        tiled_grad.attention_tiled_grad_key_value_kernel: (
            (KEYS, PAIRS),
            (*backward, out(KEYS, D), out(KEYS, DV)),
        ),
    }[variant.kernel]
    return watch(variant.kernel)[variant.grid("test", *sizes), variant.block](*arguments)


def cost_of(variant, causal):
    """Return the cost that a variant states for the launch of `launch_under`."""
    sizes = {
        "softmax": (ROWS, KEYS),
        "values": (PAIRS, ROWS, KEYS, DV),
        "delta": (PAIRS, ROWS, DV),
        "transposed": (PAIRS, ROWS, KEYS, D),
    }
    if variant.name in sizes:
        return variant.cost(*sizes[variant.name])
    if variant in naive.VARIANTS:
        return variant.cost(PAIRS, ROWS, KEYS, D, causal)
    if variant in naive_grad.VARIANTS:
        return variant.cost(PAIRS, ROWS, KEYS, DV)
    return variant.cost(PAIRS, ROWS, KEYS, D, DV, causal)


@pytest.mark.watched
@masks
@every_variant
def test_checker_reports_no_findings(variant, causal):
    assert launch_under(gpukit.check, variant, causal).findings == []


@pytest.mark.watched
@masks
@every_variant
def test_cost_equals_the_profile_counters(variant, causal):
    found = launch_under(gpukit.profile, variant, causal).total
    assert cost_of(variant, causal) == launch.Cost(found["global_bytes_asked"], found.flops)


@pytest.mark.watched
@dtypes
@every_variant
def test_kernel_arithmetic_uses_only_the_dtype_of_its_arrays(variant, dtype):
    found = launch_under(gpukit.profile, variant, True, dtype).total
    assert found[f"flops_{np.dtype(dtype).name}"] == found.flops


@pytest.mark.watched
@pytest.mark.parametrize("dtype", [np.bool_, np.float32], ids=["bool", "additive"])
def test_cost_of_scores_with_a_mask_equals_the_profile_counters(dtype, signed):
    query, key = signed(1, 2, ROWS, D), signed(1, 2, KEYS, D)
    mask, keeps = np.ones((1, 1, 1, KEYS), dtype), dtype == np.bool_
    variant = naive.VARIANTS[0]
    config = variant.grid("test", KEYS, ROWS, PAIRS), variant.block
    out = cuda.device_array((1, 2, ROWS, KEYS), np.float32)
    inputs = query, key, mask, keeps, np.float32(0.25), True, out
    found = gpukit.profile(variant.kernel)[config](*inputs).total
    expected = variant.cost(PAIRS, ROWS, KEYS, D, True, masksize=mask.itemsize)
    assert launch.Cost(found["global_bytes_asked"], found.flops) == expected
    assert found["flops_float64"] == 0
    assert gpukit.check(variant.kernel)[config](*inputs).findings == []
