"""Memory that steps share: the same arrays each time, never one for two."""

import numpy as np

import gpukit
from gpukit import cuda, launch, nn


def ones(*shape):
    return cuda.to_device(np.ones(shape, np.float32))


def address(array):
    return array.__cuda_array_interface__["data"][0]


def test_the_same_work_gets_the_same_memory_each_time():
    x, workspace = ones(9), nn.Workspace()
    with workspace:
        first = address(gpukit.relu(x))
    with workspace:
        assert address(gpukit.relu(x)) == first


def test_two_results_of_one_step_lie_apart():
    x, workspace = ones(9), nn.Workspace()
    with workspace:
        assert address(gpukit.relu(x)) != address(gpukit.relu(x))


def test_results_outside_of_a_step_are_new():
    x, workspace = ones(9), nn.Workspace()
    with workspace:
        inside = address(gpukit.relu(x))
    kept = gpukit.relu(x)
    assert address(kept) != inside


def test_numpy_arrays_come_from_it_too():
    x, workspace = np.ones(9, np.float32), nn.Workspace()
    with workspace:
        first = gpukit.relu(x)
    with workspace:
        assert gpukit.relu(x) is first


def test_a_batch_of_another_size_leaves_the_arrays_of_the_others():
    workspace = nn.Workspace()
    for n in (9, 4, 9, 4, 9):
        with workspace:
            gpukit.relu(ones(n))
    assert workspace.made == 2


def test_a_workspace_inside_of_another_leaves_the_outer_one_its_arrays():
    x, outer, inner = ones(9), nn.Workspace(), nn.Workspace()
    with outer:
        first = gpukit.relu(x)
        with inner:
            gpukit.relu(x)
        second = gpukit.relu(x)
    assert (outer.made, inner.made) == (2, 1)
    assert address(first) != address(second)


def test_no_step_after_the_first_makes_an_array(monkeypatch):
    model = nn.Sequential(
        nn.Conv2d(1, 4, 3), nn.BatchNorm(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Residual(nn.Linear(36, 36), nn.LayerNorm(36), nn.GELU()), nn.Dropout(0.2),
        nn.Linear(36, 10),
    )  # fmt: skip
    parameters, workspace = nn.Parameters(model, seed=0), nn.Workspace()
    x, label = ones(5, 1, 8, 8), cuda.to_device(np.arange(5, dtype=np.int32))
    losses = []
    for _ in range(3):
        with workspace:
            logits, saved = model.forward(x)
            loss, grad = gpukit.cross_entropy_with_grad(logits, label)
            model.backward(saved, grad)
            gpukit.sgd_step(parameters.value, parameters.grad, lr=0.1)
            losses.append(float(launch.to_host(loss)))
        monkeypatch.setattr(cuda, "device_array", None)
        monkeypatch.setattr(cuda, "to_device", None)
    assert losses[2] < losses[0]
