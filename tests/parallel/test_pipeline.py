"""Pipelines: stages that run a schedule, hold what it promises, and never wait in a circle."""

import re

import numpy as np
import pytest

from gpukit import cuda, launch, nn, parallel
from gpukit.errors import Deadlock
from gpukit.parallel import cost_model, virtual
from gpukit.parallel.links import Link
from gpukit.parallel.schedules import SCHEDULES, Schedule, gpipe, one_f_one_b
from gpukit.parallel.slow_motion import idle_fraction
from gpukit.parallel.stages import cut

RNG = np.random.default_rng(8)
X = RNG.normal(size=(11, 2, 3)).astype(np.float32)
LABEL = RNG.integers(0, 4, 11).astype(np.int32)


def mlp():
    return nn.Sequential(
        nn.Flatten(), nn.Linear(6, 9), nn.ReLU(), nn.Linear(9, 7), nn.Tanh(), nn.Linear(7, 4)
    )


def gradients_of_one_process(model, x=X, label=LABEL):
    parameters = nn.Parameters(model, seed=4)
    out, saved = model.forward(cuda.to_device(x))
    loss, grad = nn.cross_entropy(out, cuda.to_device(label))
    model.backward(saved, grad)
    return float(launch.to_host(loss)), launch.to_host(parameters.grad)


def gradients(world, model, schedule, *, batches=((X, LABEL),), **options):
    """Return the losses of some batches, and the gradients and what was held in the last one."""
    grid = parallel.Grid(world, pipeline=world.size)
    made = parallel.Pipeline(model, grid, seed=4, schedule=schedule, **options)
    losses = [made.gradients(*map(cuda.to_device, batch)) for batch in batches]
    return losses, launch.to_host(made.parameters.grad), made


@pytest.mark.parametrize("recompute", [False, True])
@pytest.mark.parametrize("kind", SCHEDULES)
@pytest.mark.parametrize(("stages", "micro_batches"), [(1, 4), (2, 1), (3, 3), (4, 2), (4, 11)])
def test_gradients_are_those_of_one_process_and_a_stage_holds_what_the_schedule_says(
    stages, micro_batches, kind, recompute
):
    schedule = SCHEDULES[kind](stages, micro_batches)
    expected, grad = gradients_of_one_process(mlp())
    ranks = virtual.run(
        lambda world: gradients(world, mlp(), schedule, recompute=recompute), stages
    )
    np.testing.assert_allclose(np.concatenate([g for _, g, _ in ranks]), grad, atol=1e-6)
    for rank, (losses, _, made) in enumerate(ranks):
        assert losses == [pytest.approx(expected, rel=1e-6)]
        assert made.held == schedule.held(rank, recompute=recompute)


def words(*stages):
    """Return a schedule from operations such as f0 and b0."""
    kinds = {"f": "forward", "b": "backward"}
    return Schedule.of([(kinds[word[0]], int(word[1:])) for word in s.split()] for s in stages)


def test_stages_may_run_micro_batches_in_another_order():
    _, grad = gradients_of_one_process(mlp())
    schedule = words("f1 f0 b0 b1", "f1 b1 f0 b0")
    ranks = virtual.run(lambda world: gradients(world, mlp(), schedule), 2)
    np.testing.assert_allclose(np.concatenate([g for _, g, _ in ranks]), grad, atol=1e-6)


def test_stages_that_wait_for_each_other_are_a_deadlock_that_names_the_micro_batches():
    schedule = words("f0 b0 f1 b1", "f1 b1 f0 b0")
    message = "rank 0 is waiting .* recv of gradient of micro-batch 0 .* from rank 1 .*"
    message += "; rank 1 is waiting .* recv of activations of micro-batch 1 .* from rank 0"
    with pytest.raises(Deadlock, match=message):
        virtual.run(lambda world: gradients(world, mlp(), schedule), 2)


@pytest.mark.parametrize("schedule", [gpipe(3, 6), one_f_one_b(3, 6)], ids=SCHEDULES)
def test_a_stage_needs_memory_for_as_many_micro_batches_as_it_holds(schedule):
    def body(world):
        made = gradients(world, mlp(), schedule, batches=[(X, LABEL)] * 3)[2]
        return len(made.forwards.free) + len(made.forwards.waiting)

    made = virtual.run(body, 3)
    assert made == [schedule.held(stage).activations for stage in range(3)]


def test_memory_is_reused_from_step_to_step():
    def body(world):
        made = gradients(world, mlp(), one_f_one_b(2, 3), batches=[(X, LABEL)])[2]
        pools = made.forwards, made.backwards, made.arrivals
        counts = []
        for _ in range(3):
            made.gradients(cuda.to_device(X), cuda.to_device(LABEL))
            spaces = [w for pool in pools for w in [*pool.free, *(w for w, _ in pool.waiting)]]
            counts.append(sum(workspace.made for workspace in spaces))
        return counts

    for counts in virtual.run(body, 2):
        assert counts[1] == counts[2]


def test_shapes_are_sent_once_for_each_shape_of_examples():
    def body(world):
        calls = []
        world.observer = lambda group, call, array: calls.append(call.name)
        model = nn.Sequential(nn.Tanh(), nn.LayerNorm(3), nn.Linear(3, 4))
        grid = parallel.Grid(world, pipeline=2)
        made = parallel.Pipeline(model, grid, seed=0, schedule=gpipe(2, 2), boundaries=[2])
        for length in (5, 2, 5):
            x, label = np.ones((3, length, 3), np.float32), np.zeros((3, length), np.int32)
            made.gradients(cuda.to_device(x), cuda.to_device(label))
        return calls.count("shape of activations"), sum("activations of" in name for name in calls)

    assert virtual.run(body, 2) == [(2, 6), (2, 6)]


def test_recomputation_draws_the_random_numbers_of_the_first_forward_pass():
    def body(world, recompute):
        model = nn.Sequential(
            nn.Flatten(), nn.Dropout(seed=1), nn.Linear(6, 5), nn.BatchNorm(5), nn.Linear(5, 4)
        )
        _, grad, made = gradients(
            world,
            model,
            one_f_one_b(2, 2),
            batches=[(X, LABEL)] * 2,
            recompute=recompute,
            boundaries=[4],
        )
        return grad, made.parameters.state()

    plain = virtual.run(lambda world: body(world, recompute=False), 2)
    repeated = virtual.run(lambda world: body(world, recompute=True), 2)
    for (grad, state), (other, others) in zip(plain, repeated, strict=True):
        assert (grad == other).all()
        assert all((state[name] == array).all() for name, array in others.items())


def test_every_rank_gets_the_outputs_of_the_whole_model():
    model = mlp()
    nn.Parameters(model, seed=4)
    expected = nn.predict(model, X)

    def body(world):
        made = parallel.Pipeline(mlp(), parallel.Grid(world, pipeline=3), seed=4)
        return nn.predict(made, X, batch=4)

    for found in virtual.run(body, 3):
        np.testing.assert_allclose(found, expected, atol=1e-6)


class _Taking:
    """A layer that takes a stated time in slow motion, twice as long backward."""

    def __init__(self, slow):
        self.slow = slow

    def forward(self, x):
        with self.slow.compute(1.0):
            return x, None

    def backward(self, _, grad):
        with self.slow.compute(2.0):
            return grad


@pytest.mark.parametrize("kind", SCHEDULES)
@pytest.mark.parametrize(("stages", "micro_batches"), [(2, 1), (3, 4), (4, 11)])
def test_stages_are_idle_as_long_as_the_cost_model_says(stages, micro_batches, kind):
    def body(world):
        slow = parallel.SlowMotion(world, link=Link())
        model = nn.Sequential(nn.Flatten(), nn.Linear(6, 4), *[_Taking(slow)] * stages)
        made = parallel.Pipeline(
            model,
            parallel.Grid(slow.group, pipeline=stages),
            seed=0,
            schedule=SCHEDULES[kind](stages, micro_batches),
            boundaries=range(3, 2 + stages),
        )
        made.gradients(cuda.to_device(X), cuda.to_device(LABEL))
        return idle_fraction(slow.timeline())

    expected = cost_model.bubble(stages, micro_batches)
    assert virtual.run(body, stages) == [pytest.approx(expected)] * stages


def test_a_stage_without_parameters_trains_and_is_saved(tmp_path):
    def body(world):
        grid = parallel.Grid(world, pipeline=2)
        made = parallel.Pipeline(nn.Sequential(nn.Linear(3, 4), nn.ReLU()), grid, seed=0)
        optimizer = nn.AdamW(made.parameters)
        made.gradients(cuda.to_device(X[:, 0].copy()), cuda.to_device(LABEL))
        made.shards.clip_grad_norm(1.0)
        optimizer.step()
        parallel.save(tmp_path / "a.npz", made, optimizer, epoch=7)
        return parallel.load(tmp_path / "a.npz", made, optimizer)

    assert virtual.run(body, 2) == [{"epoch": 7}] * 2


# --- Stages ----------------------------------------------------------------------------------


def sizes(*counts):
    """Return a model whose layers have so many parameters."""
    return nn.Sequential(
        *(nn.Linear(1, count, bias=False) if count else nn.ReLU() for count in counts)
    )


@pytest.mark.parametrize(
    ("counts", "stages", "most"),
    [
        ((5, 1, 1, 1, 5), 3, 5),
        ((1, 2, 3, 4), 2, 6),
        ((7,), 1, 7),
        ((0, 0, 9), 3, 9),
        ((3, 0, 3), 2, 3),
    ],
)
def test_the_largest_stage_is_as_small_as_it_can_be(counts, stages, most):
    ranges = cut(sizes(*counts), stages)
    assert [k for layers in ranges for k in layers] == list(range(len(counts)))
    assert max(sum(counts[k] for k in layers) for layers in ranges) == most
    assert all(ranges)


def test_boundaries_choose_the_first_layer_of_each_stage():
    assert cut(sizes(1, 1, 1, 1), 3, [1, 3]) == [range(1), range(1, 3), range(3, 4)]


@pytest.mark.parametrize(
    ("boundaries", "message"),
    [
        ([2], "expected 2 rising boundaries between 1 and 3, got [2]."),
        ([2, 2], "expected 2 rising boundaries between 1 and 3, got [2, 2]."),
        ([0, 2], "expected 2 rising boundaries between 1 and 3, got [0, 2]."),
        ([1, 4], "expected 2 rising boundaries between 1 and 3, got [1, 4]."),
    ],
)
def test_boundaries_that_leave_a_stage_empty_are_an_error(boundaries, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        cut(sizes(1, 1, 1, 1), 3, boundaries)


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        (sizes(1, 1), {}, "expected a layer for each of 3 stages, got 2 in all."),
        (nn.ReLU(), {}, "expected a Sequential, got ReLU."),
        (mlp(), {"schedule": gpipe(2, 4)}, "expected a schedule of 3 stages"),
        (mlp(), {"schedule": gpipe(3, 12)}, "for each of 12 micro-batches, got a batch of 11."),
        (
            nn.Sequential(nn.Flatten(), nn.Linear(6, 4, first=True), nn.Tanh()),
            {"boundaries": [1, 2]},
            "expected stage 1 to return the gradient of its input, got None.",
        ),
    ],
)
def test_what_a_pipeline_cannot_run_is_an_error(model, options, message):
    options = {"schedule": None, **options}
    with pytest.raises((TypeError, ValueError), match=re.escape(message)):
        virtual.run(lambda world: gradients(world, model, **options), 3)


class _Merge:
    """A layer whose output has another first axis."""

    def forward(self, x):
        return x.reshape(-1, x.shape[-1]), x.shape

    def backward(self, shape, grad):
        return grad.reshape(shape)


def test_a_stage_whose_first_axis_does_not_count_examples_is_an_error():
    model = nn.Sequential(_Merge(), nn.Linear(3, 4))
    message = "expected stage 0 to return a row for each of 11 examples, got shape (22, 3)"
    with pytest.raises(ValueError, match=re.escape(message)):
        virtual.run(lambda world: gradients(world, model, None), 2)
