"""NCCL: what goes into its stream, with a library in its place; its API where it is installed."""

import inspect
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from gpukit import cuda, launch
from gpukit.parallel import mpi, nccl
from tests.parallel.exchanges import filled, same


class Communicator:
    """Stands for NCCL's communicator of one rank, whose operations are copies."""

    called = ()

    @classmethod
    def init(cls, nranks, rank, unique_id):
        made = cls()
        made.called = [("init", nranks, rank, unique_id)]
        return made

    def allreduce(self, sendbuf, recvbuf, op, *, stream=None):
        self.called.append(("allreduce", op, stream))

    def broadcast(self, sendbuf, recvbuf, root, *, stream=None):
        self.called.append(("broadcast", root, stream))

    def allgather(self, sendbuf, recvbuf, *, stream=None):
        recvbuf.reshape(recvbuf.size).copy_to_device(sendbuf)
        self.called.append(("allgather", stream))

    def reduce_scatter(self, sendbuf, recvbuf, op, *, stream=None):
        recvbuf.copy_to_device(launch.to_host(sendbuf).reshape(recvbuf.shape))
        self.called.append(("reduce_scatter", op, stream))


@pytest.fixture
def transport(monkeypatch):
    pytest.importorskip("mpi4py")
    core = SimpleNamespace(
        get_unique_id=lambda: "id",
        Communicator=Communicator,
        NcclRedOp=SimpleNamespace(SUM="sum", MAX="max", MIN="min"),
    )
    monkeypatch.setitem(sys.modules, "nccl", SimpleNamespace(core=core))
    return nccl.NCCLTransport(mpi.MPITransport.start())


def test_communicator_is_made_from_the_id_of_rank_0(transport):
    assert transport.comm.called == [("init", 1, 0, "id")]


COLLECTIVES = {
    "allreduce": lambda t: t.all_reduce(filled(None, 1), "max"),
    "broadcast": lambda t: t.broadcast(filled(None, 1), 0),
    "allgather": lambda t: t.all_gather(filled(None, 1), cuda.device_array((1, 5), np.float32)),
    "reduce_scatter": lambda t: t.reduce_scatter(
        cuda.to_device(np.ones((1, 5), np.float32)), cuda.device_array(5, np.float32), "max"
    ),
}


@pytest.mark.parametrize("name", COLLECTIVES)
def test_device_arrays_are_exchanged_in_the_stream_of_nccl(name, transport):
    pending = COLLECTIVES[name](transport)
    assert pending.done()
    called = transport.comm.called[-1]
    assert (called[0], called[-1]) == (name, int(transport.stream))


def test_host_arrays_go_by_mpi(transport):
    assert transport.all_reduce(np.ones(3), "sum").done()
    assert len(transport.comm.called) == 1


def test_messages_go_by_mpi(transport):
    got = filled(None, np.nan)
    sending, receiving = transport.send(filled(None, 4), 0, 2), transport.recv(got, 0, 2)
    while not (sending.done() and receiving.done()):
        pass
    same(got, [4] * 5)
    assert len(transport.comm.called) == 1


@pytest.mark.gpu
def test_a_world_of_one_gpu_reduces(monkeypatch):
    pytest.importorskip("nccl.core")
    one = nccl.start(mpi.MPITransport.start())
    array = filled(None, 3)
    pending = one.all_reduce(array, "sum")
    while not pending.done():
        pass
    same(array, [3] * 5)


@pytest.mark.parametrize("name", ["allreduce", "broadcast", "allgather", "reduce_scatter"])
def test_nccl4py_takes_the_arguments_that_we_pass(name):
    core = pytest.importorskip("nccl.core")
    real = inspect.signature(getattr(core.Communicator, name)).parameters
    ours = inspect.signature(getattr(Communicator, name)).parameters
    assert list(real)[: len(ours)] == list(ours)
