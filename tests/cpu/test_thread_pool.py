"""Which thread runs which blocks, and what a launch is found to cost."""

import threading
import time

import pytest

from gpukit.compiler import context as layout
from gpukit.cpu.launch import pool


@pytest.fixture(autouse=True)
def two_workers(monkeypatch):
    monkeypatch.setenv("GPUKIT_THREADS", "2")


class Recorder:
    """A kernel that notes which thread was asked for which blocks."""

    def __init__(self, status=0, pause=0.0):
        self.ran = []
        self.status = status
        self.pause = pause

    def __call__(self, first, last, context, scratch):
        self.ran.append((threading.get_ident(), first, last))
        time.sleep(self.pause)
        return self.status

    def blocks(self):
        return sorted(b for _, first, last in self.ran for b in range(first, last))

    def threads(self):
        return {who for who, _, _ in self.ran}


def thread_time(ns_per_thread):
    made = pool.ThreadTime()
    made.ns_per_thread[0] = ns_per_thread
    return made


def run(call, blocks, threads, **options):
    chosen = {"serial": False, "thread_time": thread_time(1000.0), **options}
    return pool.run(call, blocks, threads, 0, **chosen)


@pytest.mark.parametrize("blocks", [2, 3, 63, 64, 1001])
def test_every_block_runs_once(blocks):
    call = Recorder()
    run(call, blocks, 256)
    assert call.blocks() == list(range(blocks))


def test_long_launch_is_shared():
    call = Recorder(pause=0.01)
    run(call, 64, 256)
    assert len(call.threads()) == 2


@pytest.mark.parametrize("options", [{"thread_time": thread_time(0.1)}, {"serial": True}])
def test_short_or_serial_launch_stays_with_its_caller(options):
    call = Recorder()
    run(call, 64, 256, **options)
    assert call.ran == [(threading.get_ident(), 0, 64)]


def test_a_long_launch_of_few_threads_is_remembered():
    made = pool.ThreadTime()
    assert made.is_short(512)
    made.note(512, 10 * pool.SHORT_NS)
    assert not made.is_short(512)


def test_a_short_launch_of_few_threads_tells_nothing():
    made = pool.ThreadTime()
    made.note(512, pool.SHORT_NS // 2)
    assert made.ns_per_thread == {}


def test_times_of_large_and_small_arrays_are_apart():
    made = pool.ThreadTime()
    for reach, ns in ((4 << 20, 10 * pool.SHORT_NS), (4 << 10, pool.SHORT_NS // 100)) * 2:
        made.note(2048, ns, reach)
    assert not made.is_short(2048, 4 << 20)
    assert made.is_short(2048, 4 << 10)


def test_a_launch_of_few_threads_on_much_memory_is_not_taken_for_short():
    assert not pool.ThreadTime().is_short(2048, 8 << 20)
    assert pool.ThreadTime().is_short(2048, 8 << 10)


@pytest.mark.parametrize(("blocks", "chunks"), [(8, [4, 4]), (6, [3, 3]), (64, [16] * 4)])
def test_blocks_that_are_faster_together_stay_together_as_long_as_all_cores_work(blocks, chunks):
    call = Recorder(pause=0.01)
    run(call, blocks, 256, together=16)
    assert [last - first for _, first, last in call.ran] == chunks
    assert len(call.threads()) == 2


def test_quick_blocks_are_handed_out_in_large_chunks():
    call = Recorder()
    run(call, 100_000, 32, thread_time=thread_time(0.5))
    chunks = [last - first for _, first, last in call.ran]
    assert max(chunks) * 32 * 0.5 >= 50_000


def test_waiting_is_not_taken_for_work():
    if not pool._fine:
        pytest.skip("this system's clock of a thread's work is too coarse")
    found = thread_time(1000.0)
    run(Recorder(pause=0.02), 8, 1024, thread_time=found)
    assert found.ns_per_thread[0] * 8 * 1024 < 20e6


def test_failure_keeps_its_context_and_ends_the_launch():
    call = Recorder(status=1)

    def failing(first, last, context, scratch):
        pool._bench.context[layout.CODE] = 77
        return call(first, last, context, scratch)

    outcome = run(failing, 10_000, 256)
    assert (outcome.status, outcome.context[layout.CODE]) == (1, 77)
    assert len(call.ran) <= 2
