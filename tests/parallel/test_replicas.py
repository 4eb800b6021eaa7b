"""Replicas that exchange weights now and then, by averaging and one-sided."""

import numpy as np
import pytest

from gpukit import nn, parallel
from gpukit.parallel import virtual

RNG = np.random.default_rng(8)
X = RNG.standard_normal((48, 6)).astype(np.float32)
LABELS = (X.sum(axis=1) > 0).astype(int)


def trained(world, wrap, *, epochs=3, optimizer=nn.SGD):
    model = nn.Sequential(nn.Linear(6, 5, first=True), nn.Tanh(), nn.Linear(5, 2))
    parameters = nn.Parameters(model, seed=world.rank)
    wrapped = wrap(optimizer(parameters, lr=0.2), world)
    loader = nn.Loader(X, LABELS, batch=16, rank=world.rank, ranks=world.size)
    history = nn.fit(model, wrapped, loader, epochs=epochs, report=False, world=world)
    if isinstance(wrapped, parallel.Asynchronous):
        wrapped.finish()
    return history.losses, parameters.value.copy_to_host()


def averaged(every):
    return lambda optimizer, world: parallel.Averaged(optimizer, world, every=every)


def asynchronous(every):
    return lambda optimizer, world: parallel.Asynchronous(optimizer, world, every=every)


def plain(optimizer, world):
    return optimizer


@pytest.mark.parametrize("ranks", [2, 3])
def test_averaging_after_every_step_of_sgd_is_data_parallel(ranks):
    ((losses, weights),) = virtual.run(lambda world: trained(world, plain), 1)
    for found in virtual.run(lambda world: trained(world, averaged(1)), ranks):
        if ranks == 2:  # three parts of 16 examples are unequal, and a mean of means is another
            np.testing.assert_allclose(found[0], losses, rtol=0, atol=1e-5)
            np.testing.assert_allclose(found[1], weights, rtol=0, atol=1e-5)


@pytest.mark.parametrize("every", [1, 3])
def test_replicas_are_equal_after_an_average(every):
    (_, first), (_, second) = virtual.run(lambda world: trained(world, averaged(every)), 2)
    np.testing.assert_array_equal(first, second)


def test_replicas_drift_apart_between_averages():
    (_, first), (_, second) = virtual.run(lambda world: trained(world, averaged(100)), 2)
    assert np.abs(first - second).max() > 1e-3


def test_average_is_the_mean_of_the_weights():
    def one(world):
        model = nn.Linear(2, 1, bias=False)
        parameters = nn.Parameters(model, seed=0)
        optimizer = parallel.Averaged(nn.SGD(parameters, lr=1), world, every=1)
        parameters.value.copy_to_device(np.array([world.rank, 2, 0, 0], np.float32))
        optimizer.average()
        return parameters.value.copy_to_host()[:2].tolist()

    assert virtual.run(one, 3) == [[1, 2]] * 3


def test_asynchronous_ranks_end_with_the_same_weights_and_learn():
    results = virtual.run(lambda world: trained(world, asynchronous(2), epochs=20), 3)
    for losses, weights in results:
        np.testing.assert_array_equal(weights, results[0][1])
        assert losses[-3:].mean() < losses[:3].mean()


def test_asynchronous_exchange_adds_the_changes_of_all_ranks():
    def one(world):
        model = nn.Linear(2, 1, bias=False)
        parameters = nn.Parameters(model, seed=0)
        begun = parameters.value.copy_to_host()
        optimizer = parallel.Asynchronous(nn.SGD(parameters, lr=1), world, every=1)
        begun = world.broadcast(begun)
        parameters.value.copy_to_device(begun + np.float32(1 + world.rank))
        optimizer.exchange()
        optimizer.finish()
        return parameters.value.copy_to_host() - begun

    for change in virtual.run(one, 3):
        np.testing.assert_allclose(change, 2, rtol=1e-6)  # (1 + 2 + 3) / 3


def test_asynchronous_ranks_continue_from_loaded_weights():
    def one(world):
        parameters = nn.Parameters(nn.Linear(3, 2), seed=0)
        optimizer = parallel.Asynchronous(nn.SGD(parameters, lr=0.5), world, every=1)
        begun = np.arange(parameters.value.size, dtype=np.float32)
        parameters.value.copy_to_device(begun)
        optimizer.load(optimizer.state())
        for _ in range(world.rank + 1):  # ranks that make different numbers of steps
            parameters.grad.copy_to_device(np.ones_like(begun))
            optimizer.step()
        optimizer.finish()
        return parameters.value.copy_to_host() - begun

    for change in virtual.run(one, 3):
        np.testing.assert_allclose(change, -0.5 * (1 + 2 + 3) / 3, rtol=1e-5)


def test_all_ranks_end_with_the_loaded_weights_of_rank_0_though_none_makes_a_step():
    def one(world):
        parameters = nn.Parameters(nn.Linear(3, 2), seed=0)
        optimizer = parallel.Asynchronous(nn.SGD(parameters, lr=0.5), world, every=1)
        loaded = np.full(parameters.value.size, world.rank + 1, np.float32)
        parameters.value.copy_to_device(loaded)
        optimizer.load(optimizer.state())
        optimizer.finish()
        return set(parameters.value.copy_to_host().tolist())

    assert virtual.run(one, 3) == [{1}] * 3


def test_a_rank_whose_weights_become_nan_repeats_no_exchange():
    def one(world):
        model = nn.Linear(6, 2)
        parameters = nn.Parameters(model, seed=0)
        optimizer = parallel.Asynchronous(nn.SGD(parameters, lr=3e38), world, every=3)
        loader = nn.Loader(X, LABELS, batch=16, rank=world.rank, ranks=world.size)
        with pytest.raises(FloatingPointError, match="became NaN or infinite by step"):
            nn.fit(model, optimizer, loader, epochs=4, report=False)

    virtual.run(one, 2)


@pytest.mark.parametrize("kind", [parallel.Averaged, parallel.Asynchronous])
def test_every_must_be_positive(kind):
    parameters = nn.Parameters(nn.Linear(1, 1), seed=0)
    with pytest.raises(ValueError, match="every to be 1 or more, got 0"):
        kind(nn.SGD(parameters, lr=1), parallel.World(), every=0)


@pytest.mark.parametrize("kind", [parallel.Averaged, parallel.Asynchronous])
def test_state_is_that_of_the_optimizer(kind):
    parameters = nn.Parameters(nn.Linear(2, 2), seed=0)
    wrapped = kind(nn.Momentum(parameters, lr=1), parallel.World(), every=2)
    state = wrapped.state()
    assert set(state) == {"steps", "velocity"}
    state["steps"] = np.array(4)
    wrapped.check(state)
    wrapped.load(state)
    assert wrapped.optimizer.steps == 4
