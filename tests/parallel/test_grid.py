"""Tensor, pipeline and data parallelism together: one GPT equals that of one process."""

import functools
import json

import numpy as np
import pytest

from benchmarks import parallel as benchmark
from gpukit import cuda, nn, parallel
from gpukit.errors import CheckpointError
from gpukit.parallel import launcher, virtual
from gpukit.parallel.tensor import Slice
from tests.parallel import hybrid
from tests.parallel.hybrid import MODES, divided, train

STEPS = 20  # the benchmark takes 60
HYBRID = MODES["hybrid, 8 ranks"]
alone = functools.cache(hybrid.alone)


def on_virtual_ranks(mode, steps):
    return virtual.run(lambda world: hybrid.together(world, mode, steps), mode.ranks)


@pytest.mark.parametrize("name", MODES)
def test_ranks_train_as_one_process_does(name):
    results = on_virtual_ranks(MODES[name], steps=3)
    assert hybrid.deviation(results[0], alone(3)) < 2e-6
    assert all((losses == results[0][0]).all() for losses, _ in results)


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_processes_train_as_one_process_does(ranks, tmp_path):
    program = ["-m", "tests.parallel.hybrid", str(tmp_path), str(STEPS)]
    assert launcher.run(ranks, program, deadline=60).code == 0
    for name in [name for name, mode in MODES.items() if mode.ranks == ranks]:
        assert hybrid.deviation(hybrid.read(tmp_path, name), alone(STEPS)) < 1e-5, name


@pytest.mark.parametrize("name", ["hybrid, 8 ranks", "1F1B with recomputation, 4 ranks"])
def test_two_runs_give_the_same_bits(name):
    first, second = (on_virtual_ranks(MODES[name], steps=3)[0] for _ in range(2))
    assert hybrid.same_bits(first, second)


# --- The grid --------------------------------------------------------------------------------


def test_tensor_ranks_are_neighbours_and_stages_are_the_farthest_apart():
    def body(world):
        grid = parallel.Grid(world, data=2, pipeline=2, tensor=2)
        return grid.data.ranks, grid.pipeline.ranks, grid.tensor.ranks

    assert virtual.run(body, 8)[5] == ((5, 7), (1, 5), (4, 5))


def test_a_grid_of_another_number_of_ranks_is_an_error():
    message = "expected data x pipeline x tensor to be 4, the number of ranks, got 3 x 1 x 2"
    with pytest.raises(ValueError, match=message):
        virtual.run(lambda world: parallel.Grid(world, data=3, tensor=2), 4)


def test_replicated_parameters_stay_equal_bit_for_bit():
    def body(world):
        model = divided(world, HYBRID)
        train(model, nn.AdamW(model.parameters, lr=0.1), 5)
        names = (
            name
            for name, part in nn.parameters.parts_of(model.stage, nn.Parameter)
            if not isinstance(part, Slice)
        )
        return {name: model.parameters.state()[name] for name in names}

    states = virtual.run(body, 8)
    for stage in (states[:4], states[4:]):
        for name in stage[0]:
            assert len({state[name].tobytes() for state in stage}) == 1, name


# --- Gradient clipping -----------------------------------------------------------------------


@pytest.mark.parametrize("name", ["tensor, 4 ranks", "1F1B, 2 ranks", "hybrid, 8 ranks"])
def test_the_norm_of_gradients_counts_each_parameter_once(name):
    def body(world):
        model = divided(world, MODES[name])
        optimizer = nn.SGD(model.parameters, lr=0)
        train(model, optimizer, 1)
        return model.shards.clip_grad_norm(1e-3), model.shards.clip_grad_norm(1e-3)

    model = hybrid.gpt()
    parameters = nn.Parameters(model, seed=hybrid.SEED)
    out, saved = model.forward(cuda.to_device(hybrid.batch()[0]))
    _, grad = nn.cross_entropy(out, cuda.to_device(hybrid.batch()[1]))
    model.backward(saved, grad)
    norm = np.sqrt(sum(np.sum(g.astype(np.float64) ** 2) for g in [parameters.grad.copy_to_host()]))
    for before, after in virtual.run(body, MODES[name].ranks):
        assert before == pytest.approx(min(norm, hybrid.CLIP), rel=1e-5)
        assert after == pytest.approx(1e-3, rel=1e-3)


def test_a_nan_on_one_rank_makes_the_gradients_of_all_nan():
    def body(world):
        model = divided(world, MODES["1F1B, 2 ranks"])
        model.parameters.grad.copy_to_device(
            np.full(model.parameters.grad.shape, np.nan if model.last else 1, np.float32)
        )
        model.shards.clip_grad_norm(1.0)
        return np.isnan(model.parameters.grad.copy_to_host()).all()

    assert virtual.run(body, 2) == [True, True]


# --- Checkpoints -----------------------------------------------------------------------------


def trained(world, mode, steps, path, *, resume=False):
    """Train for some steps, or resume from a checkpoint and train; save at the end."""
    model = divided(world, mode, seed=hybrid.SEED if not resume else 99)
    optimizer = nn.AdamW(model.parameters, **hybrid.RATES)
    if resume:
        assert parallel.load(path, model, optimizer) == {"step": 2}
    losses = train(model, optimizer, steps)
    parallel.save(path, model, optimizer, step=2)
    return losses, nn.checkpoint.read(path) if world.rank == 0 else None


@pytest.mark.parametrize("name", ["tensor, 2 ranks", "1F1B, 4 ranks", "hybrid, 8 ranks"])
def test_a_training_resumes_from_its_checkpoint_bit_identically(name, tmp_path):
    mode, path, other = MODES[name], tmp_path / "a.npz", tmp_path / "b.npz"
    virtual.run(lambda world: trained(world, mode, 2, path), mode.ranks)
    resumed, after = virtual.run(
        lambda world: trained(world, mode, 2, path, resume=True), mode.ranks
    )[0]
    losses, uninterrupted = virtual.run(lambda world: trained(world, mode, 4, other), mode.ranks)[0]
    assert (losses[2:] == resumed).all()
    for part in ("parameters", "optimizer"):
        for name, array in uninterrupted[part].items():
            assert array.tobytes() == after[part][name].tobytes(), name


def test_one_process_loads_the_checkpoint_of_a_grid_and_a_grid_that_of_one_process(tmp_path):
    virtual.run(lambda world: trained(world, HYBRID, 2, tmp_path / "grid.npz"), 8)
    model = hybrid.gpt()
    parameters = nn.Parameters(model, seed=99)
    optimizer = nn.AdamW(parameters, **hybrid.RATES)
    assert nn.load(tmp_path / "grid.npz", parameters, optimizer) == {"step": 2}
    losses, state = hybrid.alone(2)
    assert hybrid.deviation((losses, state), (losses, parameters.state())) < 1e-5
    nn.save(tmp_path / "one.npz", parameters, optimizer, step=2)
    results = virtual.run(
        lambda world: trained(world, MODES["1F1B, 4 ranks"], 2, tmp_path / "one.npz", resume=True),
        4,
    )
    assert results[0][0] == pytest.approx(hybrid.alone(4)[0][2:], abs=1e-5)


def test_a_checkpoint_of_another_model_is_an_error_and_changes_nothing(tmp_path):
    parameters = nn.Parameters(nn.gpt(40, 8, 16, 4, 2), seed=0)
    nn.save(tmp_path / "other.npz", parameters, nn.AdamW(parameters))

    def body(world):
        model = divided(world, MODES["tensor, 2 ranks"])
        before = model.parameters.state()
        message = r"expected 0\.0\.weight of shape \(32, 16\), got \(40, 16\)"
        with pytest.raises(CheckpointError, match=message):
            parallel.load(tmp_path / "other.npz", model, nn.AdamW(model.parameters))
        return all(
            (before[name] == array).all() for name, array in model.parameters.state().items()
        )

    assert all(virtual.run(body, 2))


# --- nn.fit ----------------------------------------------------------------------------------


def fitted(world, mode, epochs, path=None):
    model = divided(world, mode)
    optimizer = nn.AdamW(model.parameters, **hybrid.RATES)
    x, label = hybrid.batch(13)
    data = model.grid.data
    loader = nn.Loader(x, label, batch=7, rank=data.rank, ranks=data.size)
    history = nn.fit(
        model,
        optimizer,
        loader,
        epochs=epochs,
        clip=hybrid.CLIP,
        validate=(x, label),
        checkpoint=path,
        report=False,
        world=world,
    )
    return history.losses, history.accuracies


def test_fit_trains_a_grid_as_it_trains_one_process():
    model = hybrid.gpt()
    optimizer = nn.AdamW(nn.Parameters(model, seed=hybrid.SEED), **hybrid.RATES)
    x, label = hybrid.batch(13)
    expected = nn.fit(
        model,
        optimizer,
        nn.Loader(x, label, batch=7),
        epochs=3,
        clip=hybrid.CLIP,
        validate=(x, label),
        report=False,
    )
    for losses, accuracies in virtual.run(lambda world: fitted(world, HYBRID, 3), 8):
        assert losses == pytest.approx(expected.losses, abs=1e-5)
        assert accuracies == pytest.approx(expected.accuracies, abs=0.02)


def test_fit_resumes_a_grid_bit_identically(tmp_path):
    path = tmp_path / "fit.npz"
    mode = MODES["data and pipeline, 4 ranks"]
    virtual.run(lambda world: fitted(world, mode, 1, path), 4)
    resumed = virtual.run(lambda world: fitted(world, mode, 3, path), 4)
    assert [list(losses) for losses, _ in resumed] == [
        list(losses) for losses, _ in virtual.run(lambda world: fitted(world, mode, 3), 4)
    ]


@pytest.mark.slow
def test_the_benchmark_reports_deviations_and_equal_runs(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(benchmark, "RANKS", (2,))
    found = tmp_path / "found.json"
    arguments = ["--steps", "2", "--runs", "2", "--repeated", "1", "--json", str(found)]
    assert benchmark.main(arguments) == 0
    rows = json.loads(found.read_text())["modes"]
    assert [row["mode"] for row in rows] == [name for name in MODES if name.endswith("2 ranks")]
    assert f"| {rows[0]['mode']} | {rows[0]['losses']:.1e} |" in capsys.readouterr().out
