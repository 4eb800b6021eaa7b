"""Tensor parallel layers: slices of the weights of one process, and its outputs and gradients."""

import re

import numpy as np
import pytest

from gpukit import cuda, launch, nn, parallel
from gpukit.nn.parameters import Parameter, Parameters, parts_of
from gpukit.parallel import virtual
from gpukit.parallel.tensor import Slice

RNG = np.random.default_rng(5)
# Name: the layer of one process, that of a rank, the shape of x.
LAYERS = {
    "columns, gathered": (
        lambda: nn.Linear(5, 12),
        lambda group: parallel.ColumnLinear(5, 12, group, gather=True),
        (3, 7, 5),
    ),
    "columns without bias": (
        lambda: nn.Linear(5, 12, bias=False),
        lambda group: parallel.ColumnLinear(5, 12, group, bias=False, gather=True),
        (3, 5),
    ),
    "columns, then rows": (
        lambda: nn.Sequential(nn.Linear(5, 12), nn.GELU(), nn.Linear(12, 3)),
        lambda group: nn.Sequential(
            parallel.ColumnLinear(5, 12, group), nn.GELU(), parallel.RowLinear(12, 3, group)
        ),
        (7, 5),
    ),
    "rows without bias": (
        lambda: nn.Sequential(nn.Linear(5, 4), nn.Linear(4, 3, bias=False)),
        lambda group: nn.Sequential(
            parallel.ColumnLinear(5, 4, group), parallel.RowLinear(4, 3, group, bias=False)
        ),
        (1, 5),
    ),
    "attention": (
        lambda: nn.MultiHeadAttention(12, 4, causal=True),
        lambda group: parallel.TensorAttention(12, 4, group, causal=True),
        (2, 5, 12),
    ),
    "block": (
        lambda: nn.block(12, 4),
        lambda group: parallel.tensor_block(12, 4, group),
        (2, 5, 12),
    ),
}


def passes(layer, x, grad):
    """Return output, gradient of x, and the gradient and the slice of each parameter."""
    Parameters(layer, seed=2)
    out, saved = layer.forward(cuda.to_device(x))
    grad_x = layer.backward(saved, cuda.to_device(grad(out.shape)))
    named = dict(parts_of(layer, Parameter))
    grads = {name: launch.to_host(part.grad).copy() for name, part in named.items()}
    return launch.to_host(out).copy(), launch.to_host(grad_x).copy(), grads, named


def output_gradient(shape):
    return np.random.default_rng(6).normal(size=shape).astype(np.float32)


@pytest.mark.parametrize("ranks", [1, 2, 4])
@pytest.mark.parametrize("name", LAYERS)
def test_output_and_gradients_are_those_of_one_process(name, ranks):
    one, divided, shape = LAYERS[name]
    x = RNG.normal(size=shape).astype(np.float32)
    out, grad_x, grads, _ = passes(one(), x, output_gradient)
    found = virtual.run(lambda world: passes(divided(world), x, output_gradient), ranks)
    for rank, (own_out, own_grad_x, own_grads, named) in enumerate(found):
        np.testing.assert_allclose(own_out, out, atol=1e-5)
        np.testing.assert_allclose(own_grad_x, grad_x, atol=1e-5)
        assert own_grads.keys() == grads.keys()
        for each, part in named.items():
            expected = part.of(grads[each], rank) if isinstance(part, Slice) else grads[each]
            np.testing.assert_allclose(own_grads[each], expected, atol=2e-5, err_msg=each)


def test_parameters_are_slices_of_what_one_process_draws():
    def body(world):
        model = parallel.tensor_gpt(8, 3, 4, 2, 1, world)
        parameters = Parameters(model, seed=7)
        return parameters.state(), dict(parts_of(model, Parameter))

    whole = Parameters(nn.gpt(8, 3, 4, 2, 1), seed=7).state()
    ranks = virtual.run(body, 2)
    for name, array in whole.items():
        slices, part = [state[name] for state, _ in ranks], ranks[0][1][name]
        joined = part.join(slices) if isinstance(part, Slice) else slices[1]
        assert (joined == array).all(), name


def test_a_rank_holds_its_heads_of_queries_keys_and_values():
    def body(world):
        project, _ = parallel.TensorAttention(4, 2, world).layers
        return project.weight.of(np.arange(12 * 4).reshape(12, 4), world.rank)[:, 0] // 4

    first, second = virtual.run(body, 2)
    assert first.tolist() == [0, 1, 4, 5, 8, 9]
    assert second.tolist() == [2, 3, 6, 7, 10, 11]


def test_a_block_takes_two_all_reduces_in_each_direction():
    def body(world):
        calls = []
        world.observer = lambda group, call, array: calls.append(call.operation)
        passes(parallel.tensor_block(4, 2, world), np.ones((1, 2, 4), np.float32), output_gradient)
        return calls

    assert virtual.run(body, 2) == [["all_reduce"] * 4] * 2


def test_a_first_layer_exchanges_no_gradient():
    def body(world):
        calls = []
        world.observer = lambda group, call, array: calls.append(call.operation)
        layer = nn.Sequential(parallel.ColumnLinear(5, 4, world, first=True))
        Parameters(layer, seed=0)
        out, saved = layer.forward(cuda.to_device(np.ones((3, 5), np.float32)))
        return layer.backward(saved, out), calls

    assert virtual.run(body, 2) == [(None, [])] * 2


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            lambda group: parallel.ColumnLinear(4, 6, group),
            "ColumnLinear: expected outputs to be a multiple of 4 for 4 ranks, got 6.",
        ),
        (
            lambda group: parallel.RowLinear(6, 4, group),
            "RowLinear: expected inputs to be a multiple of 4 for 4 ranks, got 6.",
        ),
        (
            lambda group: parallel.TensorAttention(12, 6, group),
            "TensorAttention: expected heads to be a multiple of 4 for 4 ranks, got 6.",
        ),
        (
            lambda group: parallel.tensor_gpt(65, 8, 16, 4, 1, group),
            "ColumnLinear: expected outputs to be a multiple of 4 for 4 ranks, got 65.",
        ),
    ],
)
def test_what_ranks_cannot_share_equally_is_an_error(build, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        virtual.run(build, 4)
