"""Models trained beside PyTorch's, from the same weights on the same batches."""

import numpy as np
import pytest
import torch

import gpukit
from gpukit import cuda, launch, nn
from gpukit.workspace import Workspace

STEPS = 50


def mlp():
    return nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10)), torch.nn.Sequential(
        torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10)
    )


def lenet():
    T = torch.nn
    return (
        nn.Sequential(
            nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
            nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10),
        ),
        T.Sequential(
            T.Conv2d(1, 6, 5, padding=2), T.ReLU(), T.MaxPool2d(2),
            T.Conv2d(6, 16, 5), T.ReLU(), T.MaxPool2d(2), T.Flatten(),
            T.Linear(400, 120), T.ReLU(), T.Linear(120, 84), T.ReLU(), T.Linear(84, 10),
        ),
    )  # fmt: skip


MODELS = {
    "mlp, momentum": (
        mlp,
        (64,),
        lambda p: nn.Momentum(p, lr=0.01),
        lambda p: torch.optim.SGD(p, lr=0.01, momentum=0.9),
    ),
    "lenet, adamw": (
        lenet,
        (1, 28, 28),
        lambda p: nn.AdamW(p, lr=1e-3),
        lambda p: torch.optim.AdamW(p, lr=1e-3),
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_losses_are_those_of_pytorch_for_fifty_steps(name):
    make, shape, ours, theirs = MODELS[name]
    model, other = make()
    parameters, workspace, rng = nn.Parameters(model, seed=0), Workspace(), np.random.default_rng(0)
    other.load_state_dict({k: torch.from_numpy(v.copy()) for k, v in parameters.state().items()})
    optimizer, their_optimizer = ours(parameters), theirs(other.parameters())
    for _ in range(STEPS):
        x, label = rng.standard_normal((32, *shape), np.float32), rng.integers(0, 10, 32)
        their_optimizer.zero_grad()
        expected = torch.nn.functional.cross_entropy(
            other(torch.from_numpy(x)), torch.from_numpy(label)
        )
        expected.backward()
        their_optimizer.step()
        with workspace:
            logits, saved = model.forward(cuda.to_device(x))
            loss, grad = gpukit.cross_entropy_with_grad(
                logits, cuda.to_device(label.astype(np.int32))
            )
            model.backward(saved, grad)
            optimizer.step()
            assert float(launch.to_host(loss)) == pytest.approx(expected.item(), rel=1e-5)
