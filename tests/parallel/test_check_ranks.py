"""The checker of parallel programs finds every mistake of the corpus and accuses no right one."""

import functools
import importlib
import json
from collections import Counter

import numpy as np
import pytest

import gpukit
from gpukit import cuda, nn, parallel
from gpukit.parallel.checker.findings import KINDS
from tests.parallel import parallel_programs
from tests.parallel.mistakes.corpus import MISTAKES
from tests.parallel.parallel_programs import IMAGES, LABELS

for name in ("gradients", "messages", "models"):
    importlib.import_module(f"tests.parallel.mistakes.{name}")


def parameters_of_network():
    return ["0.weight", "0.bias", "2.weight", "2.bias"]


def in_words(report):
    return [f"{f.kind} at {f.line} (and {f.other_line}): {f.message}" for f in report.findings]


@functools.cache
def report_of(name):
    """Return the report of a mistake, which is checked once."""
    wrong = MISTAKES[name]
    return parallel.check(wrong.program, wrong.size, alone=wrong.alone)


@pytest.mark.parametrize("ranks", [2, 3, 4])
@pytest.mark.parametrize("program", parallel_programs.ALL, ids=lambda each: each.__name__)
def test_right_program_has_no_finding(program, ranks):
    report = parallel.check(program, ranks)
    assert (in_words(report), report.notes) == ([], [])


@pytest.mark.parametrize("name", MISTAKES)
def test_mistake_is_found_with_its_kind_parameters_ranks_and_line(name):
    wrong = MISTAKES[name]
    report = report_of(name)
    found = [f for f in report.findings if f.kind == wrong.kind]
    assert found, in_words(report)
    assert {*wrong.parameters} <= {name for f in found for name in f.parameters}
    assert {rank for f in found for rank in f.ranks} == {*wrong.ranks}
    if wrong.lines:
        assert all({f.line, f.other_line} & wrong.lines for f in found), in_words(report)


@pytest.mark.parametrize("name", MISTAKES)
def test_mistake_gives_findings_of_its_own_kind_only(name):
    wrong = MISTAKES[name]
    report = report_of(name)
    assert {f.kind for f in report.findings} == {wrong.kind}, in_words(report)


def test_corpus_has_a_mistake_of_every_kind():
    assert {*Counter(wrong.kind for wrong in MISTAKES.values())} == {*KINDS} - {"local-statistics"}


def test_every_mistake_says_in_one_line_what_it_does():
    wrong = [name for name, each in MISTAKES.items() if not each.sentence.endswith(".")]
    assert wrong == []


# --- What is compared ----------------------------------------------------------------------------


def test_running_averages_of_batch_norm_are_a_note_and_nothing_is_compared_with_one_process():
    def train(world):
        model = nn.Sequential(nn.Linear(6, 5, first=True), nn.BatchNorm(5), nn.Linear(5, 3))
        parameters = nn.Parameters(model, seed=0)
        replica = parallel.DataParallel(model, parameters, world)
        loader = nn.Loader(IMAGES, LABELS, batch=13, rank=world.rank, ranks=world.size)
        optimizer = nn.SGD(parameters, lr=0.1)
        nn.fit(replica, optimizer, loader, epochs=1, report=False, world=world)

    report = parallel.check(train)
    assert [(f.kind, f.severity, f.parameters) for f in report.findings] == [
        ("local-statistics", "info", ("1.mean", "1.var"))
    ]
    assert report.exit_code == 0
    assert "with the statistics of the whole batch" in report.notes[0]


def test_ranks_that_train_on_more_examples_are_compared_with_each_other_only():
    def train(world):
        model = parallel_programs.network()
        parameters = nn.Parameters(model, seed=0)
        replica = parallel.DataParallel(model, parameters, world)
        batch = 13 * world.size
        loader = nn.Loader(IMAGES, LABELS, batch=batch, rank=world.rank, ranks=world.size)
        optimizer = nn.SGD(parameters, lr=0.1 * world.size)
        nn.fit(replica, optimizer, loader, epochs=1, report=False, world=world)

    report = parallel.check(train)
    assert report.findings == []
    assert "makes 2 updates, each rank 1" in report.notes[0]


def test_program_that_needs_several_ranks_is_compared_between_ranks_only():
    def train(world):
        world.send(np.ones(1), 1) if world.rank == 0 else world.recv(np.ones(1), 0)

    report = parallel.check(train)
    assert report.findings == []
    assert "where the program raises ValueError" in report.notes[0]
    assert parallel.check(train, alone=False).notes == []


@pytest.mark.parametrize("every", [1, 2])
def test_averages_of_parameters_by_an_optimizer_have_no_finding(every):
    def train(world):
        model = parallel_programs.network()
        parameters = nn.Parameters(model, seed=0)
        optimizer = parallel.Averaged(nn.SGD(parameters, lr=0.1), world, every=every)
        loader = nn.Loader(IMAGES, LABELS, batch=13, rank=world.rank, ranks=world.size)
        nn.fit(model, optimizer, loader, epochs=2, report=False, world=world)

    assert in_words(parallel.check(train, 3)) == []


def test_asynchronous_updates_are_not_compared():
    def train(world):
        model = parallel_programs.network()
        parameters = nn.Parameters(model, seed=0)
        optimizer = parallel.Asynchronous(nn.SGD(parameters, lr=0.1), world, every=1)
        loader = nn.Loader(IMAGES, LABELS, batch=13, rank=world.rank, ranks=world.size)
        nn.fit(model, optimizer, loader, epochs=2, report=False, world=world)
        optimizer.finish()

    report = parallel.check(train)
    assert in_words(report) == []
    assert "through a window" in report.notes[0]


def test_heads_of_several_tasks_are_compared_by_the_names_that_are_returned():
    def train(world):
        trunk, head = nn.Linear(6, 5, first=True), nn.Linear(5, 3)
        model = parallel.SharedTrunk(trunk, head, world)
        parameters = model.parameters(seed=world.rank)
        out, saved = model.forward(cuda.to_device(IMAGES))
        loss, grad = nn.cross_entropy(out, cuda.to_device(LABELS))
        model.backward(saved, grad)
        nn.SGD(parameters, lr=0.1).step()
        own = f"head {world.rank} weight"
        return {"trunk weight": trunk.weight, "trunk bias": trunk.bias, own: head.weight}

    assert in_words(parallel.check(train, 3, alone=False)) == []


def test_updates_by_a_function_of_the_book_are_seen():
    def train(world):
        model = parallel_programs.network()
        parameters = nn.Parameters(model, seed=0)
        for _ in range(2):
            mine = np.arange(24)[world.rank :: world.size]
            out, saved = model.forward(cuda.to_device(IMAGES[mine]))
            loss, grad = nn.cross_entropy(out, cuda.to_device(LABELS[mine]))
            model.backward(saved, grad)
            gpukit.sgd_step(parameters.value, parameters.grad, lr=0.1)

    report = parallel.check(train)
    assert report.steps == 2
    assert [f.kind for f in report.findings] == ["missing-exchange"]


def test_updates_that_the_checker_cannot_see_are_found_at_the_end():
    def train(world):
        model = parallel_programs.network()
        parameters = nn.Parameters(model, seed=0)
        mine = np.arange(24)[world.rank :: world.size]
        out, saved = model.forward(cuda.to_device(IMAGES[mine]))
        loss, grad = nn.cross_entropy(out, cuda.to_device(LABELS[mine]))
        model.backward(saved, grad)
        new = parameters.value.copy_to_host() - 0.1 * parameters.grad.copy_to_host()
        parameters.value.copy_to_device(new.astype(np.float32))
        return parameters

    (found,) = parallel.check(train).findings
    assert (found.kind, found.parameters) == ("missing-exchange", tuple(parameters_of_network()))
    assert "make the update with different gradients" in found.message


def test_gradient_that_is_zero_but_for_rounding_is_not_accused():
    def train(world):
        model = parallel_programs.network()
        parameters = nn.Parameters(model, seed=0)
        mine = np.arange(24)[world.rank :: world.size]
        out, saved = model.forward(cuda.to_device(IMAGES[mine]))
        loss, grad = nn.cross_entropy(out, cuda.to_device(LABELS[mine]))
        model.backward(saved, grad)
        noise = np.random.default_rng(world.size).normal(0, 1e-9, 3)
        model.layers[2].bias.grad.copy_to_device(noise.astype(np.float32))
        world.all_reduce(parameters.grad)
        parallel.data.scale(parameters.grad, 1 / world.size)
        nn.SGD(parameters, lr=0.1).step()

    assert in_words(parallel.check(train)) == []


# --- The report ----------------------------------------------------------------------------------


def test_report_fits_the_width():
    for name in MISTAKES:
        lines = report_of(name).text(width=80).splitlines()
        assert max(map(len, lines)) <= 80


def test_report_is_the_same_each_time():
    wrong = MISTAKES["receive_first-deadlock"]
    assert parallel.check(wrong.program, 3).text() == parallel.check(wrong.program, 3).text()


def test_report_as_json_has_the_fields_of_each_finding():
    data = json.loads(report_of("not_divided-summed").to_json())
    assert (data["schema"], data["ranks"], data["ok"]) == ("gpukit-check-ranks", 3, False)
    (finding,) = data["findings"]
    assert finding["kind"] == "summed"
    assert finding["parameters"] == parameters_of_network()
    assert finding["source"].strip().startswith("works.append(world.iall_reduce")


def test_report_as_a_page_shows_title_line_and_parameter():
    page = report_of("not_divided-summed")._repr_html_()
    assert "sum where a mean is meant" in page
    assert "<code" in page
    assert "0.weight" in page


def test_deadlock_names_the_ranks_in_the_order_in_which_they_wait():
    (found,) = report_of("receive_first-deadlock").findings
    assert found.details["cycle"] == [0, 2, 1]
    assert "rank 2 waits for rank 1 in recv of an array (20,) float32" in found.message


def test_factor_of_the_gradient_is_named():
    (found,) = report_of("divided_by_the_own_part-scaled").findings
    assert "is 4 times that of one process on ranks 0 and 1" in found.message


def test_difference_since_the_first_update_is_named():
    (found,) = report_of("other_learning_rate-drift").findings
    assert found.message.startswith("`0.weight` has drifted apart since update 1: rank 1 from")


@pytest.mark.parametrize("ranks", [1, 9])
def test_number_of_ranks_is_refused(ranks):
    with pytest.raises(ValueError, match=f"expected 2 to 8 ranks, got {ranks}"):
        parallel.check(print, ranks)


def test_sum_of_unequal_parts_is_not_called_a_mean():
    wrong = MISTAKES["sum_of_unequal_parts-unequal-parts"]
    (finding,) = parallel.check(wrong.program, ranks=3).findings
    assert "is the sum over the ranks, which nothing divides, but their parts" in finding.message
