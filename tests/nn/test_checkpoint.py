"""Checkpoints: bit-identical resumption, failed saves, files that do not match."""

import io

import numpy as np
import pytest

import gpukit
from gpukit import errors, launch, nn

RNG = np.random.default_rng(5)
EXAMPLES, LABELS = RNG.standard_normal((40, 1, 6, 6), np.float32), RNG.integers(0, 3, 40)


def training():
    model = nn.Sequential(
        nn.Conv2d(1, 4, 3),
        nn.BatchNorm(4),
        nn.ReLU(),
        nn.Flatten(),
        nn.Dropout(0.3, seed=2),
        nn.Linear(64, 3),
    )
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


@pytest.mark.slow
def test_resumed_training_is_bit_identical(tmp_path):
    model, parameters, optimizer = training()
    run(model, optimizer, range(2))
    nn.save(tmp_path / "half", parameters, optimizer, epoch=2)
    run(model, optimizer, range(2, 4))

    other, others, other_optimizer = training()
    numbers = nn.load(tmp_path / "half", others, other_optimizer)
    run(other, other_optimizer, range(numbers["epoch"], 4))
    for name, array in parameters.state().items():
        np.testing.assert_array_equal(others.state()[name], array, err_msg=name)


def test_a_failed_save_keeps_the_old_checkpoint(tmp_path, monkeypatch):
    _, parameters, optimizer = training()
    nn.save(tmp_path / "saved", parameters, optimizer, epoch=1)

    def full(*_args, **_arrays):
        raise OSError("no space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(OSError, match="no space"):
        nn.save(tmp_path / "saved", parameters, optimizer, epoch=2)
    assert nn.load(tmp_path / "saved", parameters, optimizer) == {"epoch": 1}


def test_a_checkpoint_of_another_model_is_rejected_without_changes(tmp_path):
    _, parameters, optimizer = training()
    nn.save(tmp_path / "saved", parameters, optimizer)
    other = nn.Parameters(nn.Sequential(nn.Linear(4, 3)), seed=9)
    before = launch.to_host(other.value).copy()
    with pytest.raises(ValueError, match=r"load: expected .*0\.weight"):
        nn.load(tmp_path / "saved", other, nn.AdamW(other))
    np.testing.assert_array_equal(launch.to_host(other.value), before)


def damaged(whole):
    """Return invalid contents of a checkpoint file, by description."""
    flipped = bytearray(whole)
    flipped[200] ^= 255
    array, foreign, pickled = io.BytesIO(), io.BytesIO(), io.BytesIO()
    np.save(array, np.zeros(3))
    np.savez(foreign, weights=np.zeros(3))
    np.savez(pickled, **{"parameters/0.weight": np.array([{}], object)})
    return {
        "cut off": whole[: len(whole) // 2],
        "without its end": whole[:-1],
        "empty": b"",
        "text": b"hello",
        "with a bit that flipped": bytes(flipped),
        "one array": array.getvalue(),
        "other arrays": foreign.getvalue(),
        "pickled": pickled.getvalue(),
    }


@pytest.mark.parametrize("how", damaged(bytes(300)))
def test_a_file_that_is_no_checkpoint_is_rejected_and_kept(how, tmp_path):
    _, parameters, optimizer = training()
    saved = tmp_path / "saved"
    nn.save(saved, parameters, optimizer)
    saved.write_bytes(damaged(saved.read_bytes())[how])
    before, held = saved.read_bytes(), launch.to_host(parameters.value).copy()
    with pytest.raises(errors.CheckpointError, match=r"saved: expected a checkpoint .*rename it"):
        nn.load(saved, parameters, optimizer)
    assert saved.read_bytes() == before
    np.testing.assert_array_equal(launch.to_host(parameters.value), held)


def test_a_checkpoint_of_another_optimizer_is_rejected_without_changes(tmp_path):
    _, parameters, optimizer = training()
    nn.save(tmp_path / "saved", parameters, optimizer)
    _, others, _ = training()
    others.value.copy_to_device(np.ones(others.value.shape, np.float32))
    with pytest.raises(ValueError, match=r"expected the state of SGD, steps .*m of shape"):
        nn.load(tmp_path / "saved", others, nn.SGD(others, lr=0.1))
    assert (launch.to_host(others.value) == 1).all()


def test_fit_rejects_a_checkpoint_without_losses_and_changes_nothing(tmp_path):
    _, parameters, optimizer = training()
    nn.save(tmp_path / "saved", parameters, optimizer)
    model, others, other = training()
    others.value.copy_to_device(np.ones(others.value.shape, np.float32))
    loader = nn.Loader(EXAMPLES, LABELS, batch=16)
    with pytest.raises(errors.CheckpointError, match=r"saved: expected a checkpoint of nn\.fit"):
        nn.fit(model, other, loader, epochs=1, checkpoint=tmp_path / "saved", report=False)
    assert (launch.to_host(others.value) == 1).all()
