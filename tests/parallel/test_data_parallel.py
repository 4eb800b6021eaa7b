"""Data parallel training: equal to one process, whatever the batch is divided into."""

import numpy as np
import pytest

from gpukit import cuda, nn, parallel
from gpukit.parallel import virtual

RNG = np.random.default_rng(5)
IMAGES = RNG.standard_normal((75, 1, 12, 12)).astype(np.float32)
LABELS = RNG.integers(0, 5, 75)


def network():
    return nn.Sequential(
        nn.Conv2d(1, 4, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(100, 5)
    )


def trained(world, *, batch=20, epochs=2, bucket=256, clip=None):
    """Return losses and weights; 75 examples in batches of 20: the last one has 15."""
    model = network()
    parameters = nn.Parameters(model, seed=world.rank)  # those of rank 0 hold
    replica = parallel.DataParallel(model, parameters, world, bucket=bucket)
    loader = nn.Loader(IMAGES, LABELS, batch=batch, rank=world.rank, ranks=world.size)
    optimizer = nn.Momentum(parameters, lr=0.05)
    history = nn.fit(
        replica, optimizer, loader, epochs=epochs, clip=clip, report=False, world=world
    )
    return history.losses, parameters.value.copy_to_host()


@pytest.fixture(scope="module")
def alone():
    (result,) = virtual.run(trained, 1)
    return result


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_every_rank_has_the_losses_and_weights_of_one_process(ranks, alone):
    for losses, weights in virtual.run(trained, ranks):
        np.testing.assert_allclose(losses, alone[0], rtol=0, atol=1e-5)
        np.testing.assert_allclose(weights, alone[1], rtol=0, atol=1e-5)


@pytest.mark.parametrize("bucket", [1, 1 << 30])
def test_bucket_size_does_not_change_the_weights(bucket, alone):
    (_, weights), _ = virtual.run(lambda world: trained(world, bucket=bucket), 2)
    np.testing.assert_allclose(weights, alone[1], rtol=0, atol=1e-5)


def test_gradients_are_clipped_by_the_norm_of_the_whole_batch():
    def clipped(world):
        return trained(world, clip=0.1)

    (expected,) = virtual.run(clipped, 1)
    (_, weights), _ = virtual.run(clipped, 2)
    np.testing.assert_allclose(weights, expected[1], rtol=0, atol=1e-5)


def gradients(world, parts):
    """Return the gradients of the batch LABELS[:24], each rank's share computed in parts."""
    model = network()
    parameters = nn.Parameters(model, seed=0)
    replica = parallel.DataParallel(model, parameters, world, bucket=256)
    exchanged = []
    world.observer = lambda group, call, array: exchanged.append(call.name)
    mine = np.arange(24)[world.rank :: world.size]
    pieces = np.array_split(mine, parts)
    for piece in pieces:
        x = cuda.to_device(IMAGES[piece])
        label = cuda.to_device(LABELS[piece].astype(np.int32))

        def backward(x=x, label=label):
            out, saved = replica.forward(x)
            replica.backward(saved, nn.cross_entropy(out, label)[1])

        if piece is pieces[-1]:
            backward()
        else:
            with replica.no_sync():
                backward()
    return parameters.grad.copy_to_host(), exchanged


def test_accumulated_parts_of_unequal_size_give_the_gradients_of_the_batch():
    ((expected, _),) = virtual.run(lambda world: gradients(world, 1), 1)
    for found, _ in virtual.run(lambda world: gradients(world, 5), 2):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)


def test_accumulation_exchanges_every_gradient_once_per_step():
    _, once = virtual.run(lambda world: gradients(world, 1), 2)[0]
    _, accumulated = virtual.run(lambda world: gradients(world, 3), 2)[0]
    assert accumulated == once
    assert len(set(once)) == len(once)


def test_gradients_of_the_last_layer_are_sent_first():
    _, names = virtual.run(lambda world: gradients(world, 1), 2)[0]
    assert names == [
        "the number of examples",
        "gradients from layer 4 on",
        "gradients from layer 0 on",
    ]


def test_dropout_masks_differ_between_ranks():
    def mask(world):
        layer = nn.Dropout(0.5, seed=3)
        parallel.DataParallel(layer, nn.Parameters(layer, seed=0), world)
        return layer.forward(cuda.to_device(np.ones(64, np.float32)))[0].copy_to_host()

    first, second = virtual.run(mask, 2)
    assert (first != second).any()


def test_ctrl_c_on_one_rank_stops_all_after_the_same_step():
    def stopped(world):
        model = nn.Linear(3, 2, first=True)
        parameters = nn.Parameters(model, seed=0)
        replica = parallel.DataParallel(model, parameters, world)
        loader = nn.Loader(
            np.ones((40, 3), np.float32), np.zeros(40, int), batch=8, rank=world.rank, ranks=2
        )
        totals = world.totals
        world.totals = lambda *numbers: totals(*numbers[:2], world.rank == 1 and world.step == 3)
        with pytest.raises(KeyboardInterrupt) as caught:
            nn.fit(replica, nn.SGD(parameters, lr=0.1), loader, epochs=2, report=False, world=world)
        return len(caught.value.history.losses)

    assert virtual.run(stopped, 2) == [3, 3]


@pytest.mark.parametrize("ranks", [2, 3, 7])
def test_parts_of_a_batch_are_the_batch(ranks):
    examples = np.arange(30, dtype=np.float32).reshape(30, 1)
    labels = np.arange(30)

    def batches(rank, count):
        loader = nn.Loader(examples, labels, batch=11, seed=4, rank=rank, ranks=count)
        return [label.copy_to_host() for _, label in loader.epoch(1)]

    parts = zip(*(batches(rank, ranks) for rank in range(ranks)), strict=True)
    for part, whole in zip(parts, batches(0, 1), strict=True):
        np.testing.assert_array_equal(np.concatenate(part), whole)
        assert max(map(len, part)) - min(map(len, part)) <= 1


def test_batch_with_fewer_examples_than_ranks_is_refused():
    with pytest.raises(ValueError, match=r"each of 4 ranks, got a batch of 3.*drop_last=True"):
        nn.Loader(IMAGES[:11], LABELS[:11], batch=8, ranks=4)


def test_drop_last_leaves_out_the_incomplete_batch():
    loader = nn.Loader(IMAGES[:11], LABELS[:11], batch=8, ranks=4, drop_last=True)
    assert [len(label) for _, label in loader.epoch(0)] == [2]
