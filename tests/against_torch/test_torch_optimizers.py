"""The optimizers against PyTorch's over a hundred steps, with options drawn at random."""

import inspect

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import gpukit
from tests.against_torch.torch_agreement import dtypes, many, numbers, seeds

STEPS = 100
rates = st.floats(1e-4, 0.1)
parts = st.floats(0, 0.99)
# Averages of squares that remember: without, a step is g / |g|, and at g = 0 rounding decides.
kept = st.floats(0.5, 0.999)
betas = st.tuples(st.floats(0, 0.95), st.floats(0.95, 0.999))
above_0 = st.floats(0.01, 0.99)  # without momentum PyTorch forgets the dampening too
decays = st.sampled_from([0.0, 0.01, 0.3])
# Our function, PyTorch's class, the options that both take by these names, how many states there
# are, and whether ours wants the number of the step.
OPTIMIZERS = {
    "sgd": (gpukit.sgd_step, torch.optim.SGD, {}, 0, False),
    "momentum": (
        gpukit.momentum_step,
        torch.optim.SGD,
        {"momentum": above_0, "dampening": parts},
        1,
        True,
    ),
    "nesterov": (gpukit.nesterov_step, torch.optim.SGD, {"momentum": above_0}, 1, False),
    "adagrad": (gpukit.adagrad_step, torch.optim.Adagrad, {"lr_decay": parts}, 1, True),
    "rmsprop": (gpukit.rmsprop_step, torch.optim.RMSprop, {"alpha": kept}, 1, False),
    "adadelta": (gpukit.adadelta_step, torch.optim.Adadelta, {"rho": kept}, 2, False),
    "adam": (gpukit.adam_step, torch.optim.Adam, {"betas": betas}, 2, True),
    "adamw": (gpukit.adamw_step, torch.optim.AdamW, {"betas": betas}, 2, True),
}


def error_after_steps(name, n, seed, dtype, options):
    """Do all steps with both; return how far apart they end, in parts of the way they went."""
    ours, theirs, _, count, counted = OPTIMIZERS[name]
    start = numbers(seed, n, dtype=dtype)
    param, states = start.copy(), [np.zeros(n, dtype) for _ in range(count)]
    exact = torch.from_numpy(start.astype(np.float64)).requires_grad_()
    nesterov = {"momentum": 0.9, "nesterov": True} if name == "nesterov" else {}
    momentum = {"momentum": 0.9} if name == "momentum" else {}
    optimizer = theirs([exact], **(momentum | nesterov | options), foreach=False)
    path = np.linalg.norm(start)
    for step in range(1, STEPS + 1):
        grad = numbers(seed + step, n, dtype=dtype)
        exact.grad = torch.from_numpy(grad.astype(np.float64))
        before = exact.detach().clone()
        optimizer.step()
        path += float((exact.detach() - before).norm())
        ours(param, grad, *states, **options, **({"step": step} if counted else {}))
    return np.linalg.norm(param - exact.detach().numpy()) / path


@pytest.mark.parametrize("name", OPTIMIZERS)
@many
@given(data=st.data(), n=st.integers(1, 40), seed=seeds, dtype=dtypes, lr=rates, decay=decays)
def test_hundred_steps_agree(name, data, n, seed, dtype, lr, decay):
    drawn = {k: data.draw(values) for k, values in OPTIMIZERS[name][2].items()}
    options = {"lr": lr, "weight_decay": decay} | drawn
    # Each step rounds the weight to half an eps, all in one direction at worst.
    assert error_after_steps(name, n, seed, dtype, options) < STEPS * np.finfo(dtype).eps / 2


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 1e-6), (np.float64, 1e-14)])
def test_hundred_steps_of_a_thousand_weights_agree_to_six_digits(name, dtype, tolerance):
    assert error_after_steps(name, 1000, 7, dtype, {"weight_decay": 0.01}) < tolerance


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_defaults_are_theirs(name):
    ours, theirs, *_ = OPTIMIZERS[name]
    defaults = {k: v.default for k, v in inspect.signature(ours).parameters.items()}
    names = [k for k, v in defaults.items() if v is not inspect.Parameter.empty]
    known = {k: defaults[k] for k in names if k not in ("step", "stream")}
    given = theirs([torch.zeros(1, requires_grad=True)]).defaults
    if name in ("momentum", "nesterov"):
        known.pop("momentum")  # PyTorch's 0 would be no momentum at all
    assert known == {k: given[k] for k in known}


@many
@given(
    sizes=st.lists(st.integers(1, 300), min_size=1, max_size=4),
    seed=seeds,
    dtype=dtypes,
    most=st.floats(1e-3, 100),
)
def test_clipping_agrees(sizes, seed, dtype, most):
    grads = [numbers(seed + k, n, dtype=dtype) for k, n in enumerate(sizes)]
    leaves = [torch.zeros(n, dtype=torch.float64, requires_grad=True) for n in sizes]
    for leaf, grad in zip(leaves, grads, strict=True):
        leaf.grad = torch.from_numpy(grad.astype(np.float64))
    norm = torch.nn.utils.clip_grad_norm_(leaves, most)
    tolerance = 64 * np.finfo(dtype).eps
    np.testing.assert_allclose(gpukit.clip_grad_norm(grads, most), [float(norm)], rtol=tolerance)
    for grad, leaf in zip(grads, leaves, strict=True):
        np.testing.assert_allclose(grad, leaf.grad.numpy(), rtol=tolerance)
