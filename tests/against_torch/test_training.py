"""Models trained beside PyTorch's, from the same weights on the same batches."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import gpukit
from benchmarks.networks import NETWORKS, copy, twin
from gpukit import cuda, launch, nn

STEPS = 50
OPTIMIZERS = {
    "momentum": (
        lambda p: nn.Momentum(p, lr=0.01), lambda p: torch.optim.SGD(p, lr=0.01, momentum=0.9)
    ),
    "adamw": (lambda p: nn.AdamW(p, lr=1e-3), lambda p: torch.optim.AdamW(p, lr=1e-3)),
}  # fmt: skip


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("name", NETWORKS)
def test_losses_are_those_of_pytorch_for_fifty_steps(name, optimizer):
    """With gradients clipped to a norm of 1, from the same weights, on the same batches."""
    network, rng = NETWORKS[name], np.random.default_rng(0)
    model = network.make()
    parameters, workspace, other = nn.Parameters(model, seed=0), nn.Workspace(), twin(model)
    copy(parameters, other)
    ours, theirs = OPTIMIZERS[optimizer]
    ours, theirs = ours(parameters), theirs(other.parameters())
    for _ in range(STEPS):
        if network.tokens:
            x = rng.integers(0, network.tokens, network.batch)
        else:
            x = rng.standard_normal(network.batch, np.float32)
        theirs.zero_grad()
        logits = other(torch.from_numpy(x)).flatten(0, -2)
        label = rng.integers(0, logits.shape[1], len(logits))
        expected = F.cross_entropy(logits, torch.from_numpy(label))
        expected.backward()
        torch.nn.utils.clip_grad_norm_(other.parameters(), 1.0)
        theirs.step()
        with workspace:
            logits, saved = model.forward(cuda.to_device(x))
            rows = logits.reshape(len(label), logits.shape[-1])
            loss, grad = gpukit.cross_entropy_with_grad(rows, cuda.to_device(label))
            model.backward(saved, grad.reshape(logits.shape))
            gpukit.clip_grad_norm(parameters.grad, 1.0)
            ours.step()
            assert float(launch.to_host(loss)) == pytest.approx(expected.item(), rel=1e-5)
