"""Workspaces: steps reuse arrays, without aliasing within a step."""

import numpy as np
import pytest

import gpukit
from gpukit import cuda, launch, nn
from gpukit.cpu.memory import allocations, ndarray


def ones(*shape):
    return cuda.to_device(np.ones(shape, np.float32))


def address(array):
    return array.__cuda_array_interface__["data"][0]


def test_repeated_steps_reuse_the_same_memory():
    x, workspace = ones(9), nn.Workspace()
    with workspace:
        first = address(gpukit.relu(x))
    with workspace:
        assert address(gpukit.relu(x)) == first


def test_two_results_of_one_step_do_not_overlap():
    x, workspace = ones(9), nn.Workspace()
    with workspace:
        assert address(gpukit.relu(x)) != address(gpukit.relu(x))


def test_results_outside_of_a_step_are_new():
    x, workspace = ones(9), nn.Workspace()
    with workspace:
        inside = address(gpukit.relu(x))
    kept = gpukit.relu(x)
    assert address(kept) != inside


def test_numpy_arrays_are_allocated_from_the_workspace():
    x, workspace = np.ones(9, np.float32), nn.Workspace()
    with workspace:
        first = gpukit.relu(x)
    with workspace:
        assert gpukit.relu(x) is first


def test_another_batch_size_does_not_evict_arrays():
    workspace = nn.Workspace()
    for n in (9, 4, 9, 4, 9):
        with workspace:
            gpukit.relu(ones(n))
    assert workspace.made == 2


def test_a_nested_workspace_does_not_affect_the_outer_one():
    x, outer, inner = ones(9), nn.Workspace(), nn.Workspace()
    with outer:
        first = gpukit.relu(x)
        with inner:
            gpukit.relu(x)
        second = gpukit.relu(x)
    assert (outer.made, inner.made) == (2, 1)
    assert address(first) != address(second)


MODELS = {
    "images": (
        lambda: nn.Sequential(
            nn.Conv2d(1, 4, 3, first=True),
            nn.BatchNorm(4),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(4, 4, 3, padding=1),
            nn.AvgPool2d(1),
            nn.Flatten(),
            nn.Residual(nn.Linear(36, 36), nn.LayerNorm(36), nn.GELU()),
            nn.Dropout(0.2),
            nn.Linear(36, 10),
        ),
        np.ones((5, 1, 8, 8), np.float32),
        np.arange(5, dtype=np.int32),
    ),
    "sequences": (
        lambda: nn.Sequential(nn.RNN(4, 6), nn.LSTM(6, 6), nn.GRU(6, 6), nn.Linear(6, 10)),
        np.ones((3, 5, 4), np.float32),
        np.ones((3, 5), np.int32),
    ),
    "gpt": (lambda: nn.gpt(10, 6, 8, 2, 1), np.ones((3, 6), np.int32), np.ones((3, 6), np.int32)),
    "transformer": (
        lambda: nn.Transformer(10, 6, 8, 2, 1),
        (np.ones((3, 6), np.int32),) * 2,
        np.ones((3, 6), np.int32),
    ),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.costly
def test_steps_after_the_first_allocate_nothing_and_copy_nothing_to_the_host(name, monkeypatch):
    counted = []

    def count(owner, called):
        plain = getattr(owner, called)

        def counting(*arguments, **named):
            counted.append(called)
            return plain(*arguments, **named)

        monkeypatch.setattr(owner, called, counting)

    make, x, label = MODELS[name]
    model = make()
    parameters, workspace = nn.Parameters(model, seed=0), nn.Workspace()
    optimizer = nn.AdamW(parameters)
    x = tuple(map(cuda.to_device, x)) if isinstance(x, tuple) else cuda.to_device(x)
    label = cuda.to_device(label)
    for step in range(3):
        if step == 1:
            count(allocations, "empty")
            count(ndarray.DeviceMemory, "copy_to_host")
        with workspace:
            logits, saved = model.forward(x)
            loss, grad = nn.cross_entropy(logits, label)
            model.backward(saved, grad)
            gpukit.clip_grad_norm(parameters.grad, 1.0)
            optimizer.step()
    assert not counted
    launch.to_host(loss)
    assert counted == ["copy_to_host"]  # the counter works
