"""Tasks that share a trunk: gradients of the trunk from all, each head for itself."""

import numpy as np

from gpukit import cuda, nn, parallel
from gpukit.parallel import virtual

RNG = np.random.default_rng(3)
X = RNG.standard_normal((9, 6)).astype(np.float32)
LABELS = [RNG.integers(0, 4, 9).astype(np.int32), RNG.integers(0, 2, 9).astype(np.int32)]
CLASSES = 4, 2


def gradients(world):
    """Return the gradients of trunk and head, by name, after one step of each task."""
    trunk = nn.Sequential(nn.Linear(6, 5, first=True), nn.Tanh())
    model = parallel.SharedTrunk(trunk, nn.Linear(5, CLASSES[world.rank]), world)
    parameters = model.parameters(seed=7)
    out, saved = model.forward(cuda.to_device(X))
    model.backward(saved, nn.cross_entropy(out, cuda.to_device(LABELS[world.rank]))[1])
    inner = model.layers[0]
    named = dict(nn.parameters.parts_of(inner, nn.Parameter))
    state = parameters.state()
    return {name: p.grad.copy_to_host() for name, p in named.items()}, state


def expected():
    """Return the gradients of both tasks in one process, each head in turn on one trunk."""
    results = []
    for task in range(2):
        trunk = nn.Sequential(nn.Linear(6, 5, first=True), nn.Tanh())
        model = nn.Sequential(trunk, nn.Linear(5, CLASSES[task]))
        nn.Parameters(model, seed=7)
        out, saved = model.forward(cuda.to_device(X))
        model.backward(saved, nn.cross_entropy(out, cuda.to_device(LABELS[task]))[1])
        named = nn.parameters.parts_of(model, nn.Parameter)
        results.append({name: p.grad.copy_to_host() for name, p in named})
    return results


def test_trunk_gets_the_mean_gradient_of_the_tasks():
    alone = expected()
    for found, _ in virtual.run(gradients, 2):
        for name in ("0.0.weight", "0.0.bias"):
            mean = (alone[0][name] + alone[1][name]) / 2
            np.testing.assert_allclose(found[name], mean, rtol=0, atol=1e-6)


def test_each_head_gets_its_own_gradient():
    alone = expected()
    for task, (found, _) in enumerate(virtual.run(gradients, 2)):
        np.testing.assert_allclose(found["1.weight"], alone[task]["1.weight"] / 2, atol=1e-6)


def test_trunk_starts_equal_on_all_ranks():
    (_, first), (_, second) = virtual.run(gradients, 2)
    np.testing.assert_array_equal(first["0.0.weight"], second["0.0.weight"])
