"""Ranks and what they exchange, on virtual ranks, alone, and between processes by MPI."""

import io
import itertools
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from gpukit import errors, parallel
from gpukit.parallel import launcher, virtual
from gpukit.parallel import world as world_module
from tests.parallel import exchanges

SCRIPT = str(Path(exchanges.__file__))


def raised(function, ranks, kind=errors.Deadlock):
    with pytest.raises(kind) as caught:
        virtual.run(function, ranks)
    return caught.value


@pytest.mark.parametrize("ranks", [1, 2, 3, 5])
@pytest.mark.parametrize("name", exchanges.ALL)
def test_virtual_ranks_exchange(name, ranks):
    virtual.run(exchanges.ALL[name], ranks)


@pytest.mark.parametrize("name", exchanges.ALL)
def test_one_process_alone_exchanges_with_itself(name):
    world = parallel.World()
    assert (world.name, world.size) == ("single", 1)
    exchanges.ALL[name](world)


@pytest.fixture(scope="module", params=[2, 3])
def by_mpi(request):
    said = io.StringIO()
    outcome = launcher.run(request.param, [SCRIPT], deadline=60, output=said, errors=said)
    assert outcome.code == 0, said.getvalue() + outcome.sentence
    return said.getvalue().split()


@pytest.mark.slow
def test_processes_exchange_by_mpi(by_mpi):
    assert by_mpi == list(exchanges.ALL)


# --- Virtual ranks -------------------------------------------------------------------------------


def test_virtual_ranks_return_what_the_function_returns():
    assert virtual.run(lambda world: world.rank * 10, 3) == [0, 10, 20]


def test_world_is_that_of_the_virtual_rank():
    assert virtual.run(lambda world: parallel.World() is world, 2) == [True, True]


def test_virtual_ranks_take_turns_in_the_same_order_each_time():
    def order():
        seen = []

        def function(world):
            for step in range(3):
                seen.append((step, world.rank))
                world.barrier()

        virtual.run(function, 3)
        return seen

    assert order() == order()


def test_error_of_a_rank_is_raised_and_ends_the_others():
    def function(world):
        if world.rank == 1:
            raise KeyError("mine")
        world.barrier()

    assert raised(function, 3, KeyError).args == ("mine",)


def test_sends_that_nobody_receives_are_a_deadlock():
    def function(world):
        array = np.zeros(4, np.float32)
        world.send(array, 1 - world.rank, name="halo")
        world.recv(array, 1 - world.rank)

    error = raised(function, 2)
    assert "rank 0 is waiting in step 0, in send of halo (4,) float32 to rank 1" in str(error)
    assert "rank 1 is waiting in step 0, in send of halo (4,) float32 to rank 0" in str(error)


def test_deadlock_names_the_line_of_the_program():
    def function(world):
        world.recv(np.zeros(1), world.rank)

    line = function.__code__.co_firstlineno + 1
    assert f"(test_world.py:{line})" in str(raised(function, 1))


def test_deadlock_says_which_rank_has_left():
    def function(world):
        world.step = 4
        if world.rank != 1:
            world.all_reduce(np.zeros(1), name="gradients")

    error = str(raised(function, 3))
    assert "rank 1 has left in step 4" in error
    assert "rank 2 is waiting in step 4, in all_reduce of gradients (1,) float64" in error


# --- Bad input -----------------------------------------------------------------------------------

REFUSED = {
    "dest from 0 to 0": lambda w: w.send(np.zeros(1), 1),
    "source from 0 to 0": lambda w: w.recv(np.zeros(1), -1),
    "root from 0 to 0": lambda w: w.broadcast(np.zeros(1), 3),
    "op to be one of sum, max, min, got 'mean'": lambda w: w.all_reduce(np.zeros(1), "mean"),
    "float32, float64, int32, int64, got float16": lambda w: w.all_reduce(np.zeros(1, "f2")),
    "an array in C order, got x of shape (2, 3)": lambda w: w.all_reduce(
        np.zeros((3, 2)).T, name="x"
    ),
    "out of shape (1, 2) and dtype float64": lambda w: w.all_gather(
        np.zeros(2), out=np.zeros((2, 2))
    ),
    "an array of shape (1, 2)": lambda w: w.reduce_scatter(np.zeros(2), np.zeros(2)),
    "rank 0 among them, got [1]": lambda w: w.split([1]),
}


@pytest.mark.parametrize("words", REFUSED)
def test_refuses(words):
    with pytest.raises((ValueError, TypeError)) as caught:
        REFUSED[words](parallel.World())
    assert words in str(caught.value)


def test_message_of_another_shape_is_refused():
    def function(world):
        work = world.isend(np.zeros(3), world.rank)
        world.recv(np.zeros(4), world.rank)
        work.wait()

    assert (
        "rank 0 has sent (3,) float64 with tag 0, but rank 0 receives it into (4,) float64"
        in str(raised(function, 1, ValueError))
    )


def test_virtual_ranks_wait_however_long_after_another_has_left(monkeypatch):
    seconds = itertools.count(0, 1000)
    monkeypatch.setattr(world_module, "time", SimpleNamespace(monotonic=lambda: next(seconds)))

    def body(world):
        array = np.full(1, world.rank + 1.0)
        if world.rank == 0:
            world.iall_reduce(array)  # and leaves
        elif world.rank == 1:
            world.recv(np.empty(1), 2)  # rank 2 sends after its turn
            world.all_reduce(array)
        else:
            work = world.iall_reduce(array)
            world.send(np.empty(1), 1)
            work.wait()
        return array[0]

    assert virtual.run(body, 3)[1:] == [6, 6]
