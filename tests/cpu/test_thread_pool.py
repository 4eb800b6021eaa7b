"""The thread pool: which thread runs which blocks, and the estimated time of a launch."""

import threading
import time

import pytest

from gpukit.compiler import context as layout
from gpukit.cpu.launch import pool


@pytest.fixture(autouse=True)
def two_workers(monkeypatch):
    monkeypatch.setenv("GPUKIT_THREADS", "2")


class Recorder:
    """A kernel that records which thread runs which blocks."""

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
        return {thread for thread, _, _ in self.ran}


def thread_time(ns_per_thread):
    times = pool.ThreadTime()
    times.ns_per_thread[0] = ns_per_thread
    return times


def run(call, blocks, threads, **options):
    settings = {"serial": False, "thread_time": thread_time(1000.0), **options}
    return pool.run(call, blocks, threads, 0, **settings)


@pytest.mark.parametrize("blocks", [2, 3, 63, 64, 1001])
def test_every_block_runs_once(blocks):
    call = Recorder()
    run(call, blocks, 256)
    assert call.blocks() == list(range(blocks))


def test_a_long_launch_runs_on_all_workers():
    call = Recorder(pause=0.01)
    run(call, 64, 256)
    assert len(call.threads()) == 2


@pytest.mark.parametrize("options", [{"thread_time": thread_time(0.1)}, {"serial": True}])
def test_a_short_or_serial_launch_runs_on_the_calling_thread(options):
    call = Recorder()
    run(call, 64, 256, **options)
    assert call.ran == [(threading.get_ident(), 0, 64)]


def test_a_launch_of_few_threads_that_took_long_is_remembered():
    times = pool.ThreadTime()
    assert times.is_short(512)
    times.note(512, 10 * pool.SHORT_NS)
    assert not times.is_short(512)


def test_a_short_launch_of_few_threads_is_not_recorded():
    times = pool.ThreadTime()
    times.note(512, pool.SHORT_NS // 2)
    assert times.ns_per_thread == {}


def test_times_of_large_and_small_arrays_are_recorded_separately():
    times = pool.ThreadTime()
    for reach, ns in ((4 << 20, 10 * pool.SHORT_NS), (4 << 10, pool.SHORT_NS // 100)) * 2:
        times.note(2048, ns, reach)
    assert not times.is_short(2048, 4 << 20)
    assert times.is_short(2048, 4 << 10)


def test_a_launch_of_few_threads_on_much_memory_is_not_estimated_as_short():
    assert not pool.ThreadTime().is_short(2048, 8 << 20)
    assert pool.ThreadTime().is_short(2048, 8 << 10)


@pytest.mark.parametrize(("blocks", "chunks"), [(8, [4, 4]), (6, [3, 3]), (64, [16] * 4)])
def test_blocks_that_run_faster_in_groups_are_grouped_unless_cores_would_idle(blocks, chunks):
    call = Recorder(pause=0.01)
    run(call, blocks, 256, together=16)
    assert [last - first for _, first, last in call.ran] == chunks
    assert len(call.threads()) == 2


def test_short_blocks_are_scheduled_in_large_chunks():
    call = Recorder()
    run(call, 100_000, 32, thread_time=thread_time(0.5))
    chunks = [last - first for _, first, last in call.ran]
    assert max(chunks) * 32 * 0.5 >= 50_000


def test_time_asleep_is_not_counted_as_work():
    if not pool._fine:
        pytest.skip("this system's clock of CPU time per thread is too coarse")
    found = thread_time(1000.0)
    run(Recorder(pause=0.02), 8, 1024, thread_time=found)
    assert found.ns_per_thread[0] * 8 * 1024 < 20e6


def test_a_failure_keeps_its_context_and_ends_the_launch():
    call = Recorder(status=1)

    def failing(first, last, context, scratch):
        pool._bench.context[layout.CODE] = 77
        return call(first, last, context, scratch)

    outcome = run(failing, 10_000, 256)
    assert (outcome.status, outcome.context[layout.CODE]) == (1, 77)
    assert len(call.ran) <= 2
