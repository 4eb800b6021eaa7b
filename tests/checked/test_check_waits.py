"""gpukit.check and loops that wait for another thread: they end, with a finding."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import gpukit
from gpukit import cuda
from gpukit.compiler.lowering import waiting
from tests import interrupts


@cuda.jit
def given_back_behind_the_loop_kernel(total, lock):
    while cuda.atomic.cas(lock, 0, 0, 1) != 0:
        pass
    total[0] += 1
    cuda.threadfence()
    cuda.atomic.exch(lock, 0, 0)


@cuda.jit
def later_block_kernel(total, flag):
    if cuda.blockIdx.x == 0:
        while cuda.atomic.add(flag, 0, 0) == 0:
            pass
    else:
        cuda.atomic.exch(flag, 0, 1)


@cuda.jit
def plain_flag_kernel(total, flag):
    if cuda.grid(1) == 0:
        while flag[0] == 0:
            pass
    if cuda.grid(1) == 40:
        flag[0] = 1


@cuda.jit
def with_barrier_kernel(total, flag):
    while cuda.atomic.add(flag, 0, 0) == 0:
        cuda.syncthreads()


@pytest.mark.parametrize(
    "kernel",
    [
        given_back_behind_the_loop_kernel,
        later_block_kernel,
        plain_flag_kernel,
        with_barrier_kernel,
    ],
)
def test_wait_for_what_never_happens_ends_with_a_finding_at_its_line(kernel):
    report = gpukit.check(kernel)[2, 64](np.zeros(1, np.int32), np.zeros(1, np.int32))
    (found,) = [f for f in report.findings if f.kind == "endless-wait"]
    assert found.source.startswith("while ")
    assert "1,000,000 rounds" in found.message


@cuda.jit
def one_round_each_kernel(total, lock):
    for _ in range(3):
        done = False
        while not done:
            if cuda.atomic.cas(lock, 0, 0, 1) == 0:
                total[0] += 1
                cuda.threadfence()
                cuda.atomic.exch(lock, 0, 0)
                done = True


def test_rounds_are_counted_for_each_wait_alone(monkeypatch):
    monkeypatch.setattr(waiting, "MOST_ROUNDS", 3)
    total = np.zeros(1, np.int32)
    assert gpukit.check(one_round_each_kernel)[2, 64](total, np.zeros(1, np.int32)).findings == []
    assert total[0] == 2 * 64 * 3


@cuda.jit
def endless_kernel(a, go):
    i = cuda.threadIdx.x
    a[0] = i
    while go == 1:
        a[i] += 1


@pytest.mark.skipif(sys.platform == "win32", reason="a process cannot send itself Ctrl-C here")
def test_ctrl_c_names_the_line_and_prints_what_was_found_so_far(capsys):
    gpukit.check(endless_kernel)[1, 64](np.zeros(64, np.int32), 0)
    with pytest.raises(KeyboardInterrupt), interrupts.coming():
        gpukit.check(endless_kernel)[1, 64](np.zeros(64, np.int32), 1)
    said = capsys.readouterr().err
    assert "endless_kernel was stopped by Ctrl-C after 0 of its 1 blocks, in line" in said
    assert "a[i] += 1" in said
    assert "a[0] = i" in said
