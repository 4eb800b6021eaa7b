"""Complete training steps in checked mode have no findings."""

import numpy as np
import pytest

import gpukit
from gpukit import cuda, nn

MODELS = {
    "images": (
        lambda: nn.Sequential(
            nn.Augment(1, flip=True),
            nn.Normalise(0.5, 0.5),
            nn.Conv2d(1, 3, 3, padding=1, first=True),
            nn.BatchNorm(3),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Flatten(),
            nn.Dropout(0.2),
            nn.Linear(27, 5),
        ),
        (4, 1, 6, 6),
    ),
    "places": (
        lambda: nn.Sequential(
            nn.Positions(5, 8),
            nn.Residual(nn.LayerNorm(8), nn.MultiHeadAttention(8, 2)),
            nn.Residual(nn.Linear(8, 8), nn.GELU()),
            nn.Linear(8, 5),
        ),
        (2, 5, 8),
    ),
    "sequences": (lambda: nn.Sequential(nn.LSTM(4, 6), nn.GRU(6, 6), nn.RNN(6, 5)), (3, 2, 4)),
}


@pytest.mark.watched
@pytest.mark.parametrize("name", MODELS)
def test_a_training_step_has_no_findings(name):
    make, shape = MODELS[name]
    model = make()
    parameters = nn.Parameters(model, seed=0)
    optimizer, workspace = nn.AdamW(parameters), nn.Workspace()
    x = cuda.to_device(np.random.default_rng(1).standard_normal(shape, np.float32))

    def step():
        with workspace:
            logits, saved = model.forward(x)
            rows = logits.reshape(logits.size // 5, 5)
            label = cuda.to_device(np.arange(len(rows), dtype=np.int32) % 5)
            _, grad = gpukit.cross_entropy_with_grad(rows, label)
            model.backward(saved, grad.reshape(logits.shape))
            gpukit.clip_grad_norm(parameters.grad, 1.0)
            optimizer.step()

    found = gpukit.check(step)().findings
    assert [finding for finding in found if finding.severity in ("error", "warning")] == []


@pytest.mark.watched
def test_a_step_of_encoder_and_decoder_has_no_findings():
    model = nn.Transformer(5, 4, 8, 2, 1)
    parameters = nn.Parameters(model, seed=0)
    rng, optimizer = np.random.default_rng(1), nn.AdamW(parameters)
    source, target = (cuda.to_device(rng.integers(0, 5, (2, n)).astype(np.int32)) for n in (4, 3))

    def step():
        logits, saved = model.forward((source, target))
        _, grad = nn.cross_entropy(logits, target)
        model.backward(saved, grad)
        optimizer.step()

    found = gpukit.check(step)().findings
    assert [finding for finding in found if finding.severity in ("error", "warning")] == []
