"""Checkpoints: who goes on from one trains bit for bit as if nothing had happened."""

import numpy as np
import pytest

import gpukit
from gpukit import launch, nn

RNG = np.random.default_rng(5)
EXAMPLES, LABELS = RNG.standard_normal((40, 1, 6, 6), np.float32), RNG.integers(0, 3, 40)


def training():
    model = nn.Sequential(
        nn.Conv2d(1, 4, 3), nn.BatchNorm(4), nn.ReLU(), nn.Flatten(), nn.Dropout(0.3, seed=2),
        nn.Linear(64, 3),
    )  # fmt: skip
    parameters = nn.Parameters(model, seed=0)
    return model, parameters, nn.AdamW(parameters, lr=nn.cosine(1e-2, steps=20, warmup=3))


def run(model, optimizer, epochs):
    loader = nn.Loader(EXAMPLES, LABELS, batch=16, seed=1)
    for epoch in epochs:
        for x, label in loader.epoch(epoch):
            logits, saved = model.forward(x)
            _, grad = gpukit.cross_entropy_with_grad(logits, label)
            model.backward(saved, grad)
            optimizer.step()


def test_a_training_goes_on_bit_for_bit(tmp_path):
    model, parameters, optimizer = training()
    run(model, optimizer, range(2))
    nn.save(tmp_path / "half", parameters, optimizer, epoch=2)
    run(model, optimizer, range(2, 4))

    other, others, other_optimizer = training()
    numbers = nn.load(tmp_path / "half", others, other_optimizer)
    run(other, other_optimizer, range(numbers["epoch"], 4))
    for name, array in parameters.state().items():
        np.testing.assert_array_equal(others.state()[name], array, err_msg=name)


def test_a_checkpoint_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    _, parameters, optimizer = training()
    nn.save(tmp_path / "saved", parameters, optimizer, epoch=1)

    def full(*_args, **_arrays):
        raise OSError("no space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(OSError, match="no space"):
        nn.save(tmp_path / "saved", parameters, optimizer, epoch=2)
    assert nn.load(tmp_path / "saved", parameters, optimizer) == {"epoch": 1}


def test_a_checkpoint_of_another_model_is_refused_and_changes_nothing(tmp_path):
    _, parameters, optimizer = training()
    nn.save(tmp_path / "saved", parameters, optimizer)
    other = nn.Parameters(nn.Sequential(nn.Linear(4, 3)), seed=9)
    before = launch.to_host(other.value).copy()
    with pytest.raises(ValueError, match=r"load: expected .*0\.weight"):
        nn.load(tmp_path / "saved", other, nn.AdamW(other))
    np.testing.assert_array_equal(launch.to_host(other.value), before)
