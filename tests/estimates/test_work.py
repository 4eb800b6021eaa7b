"""From counters to work, against counts by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gpukit
from gpukit.estimates import MACHINES, gpus, spread, work
from gpukit.estimates.model import Work, resident_blocks
from tests.estimates import kernels

pytestmark = pytest.mark.cpu
N = 1000


def work_of(kernel, grid, block, *arguments):
    return gpukit.estimate(kernel, "RTX 3080")[grid, block](*arguments).work


def floats(n):
    return np.ones(n, np.float32)


def test_adding_vectors_asks_for_three_requests_per_warp():
    found = work_of(kernels.add, 8, 128, floats(N), floats(N), floats(N))
    assert (found.blocks, found.warps) == (8, 4)
    assert (found.global_loads, found.global_requests, found.lines) == (64, 96, 96)
    assert (found.footprint, found.block_footprint) == (12_000, 12_000)
    assert found.float32 == pytest.approx(N / 2 / 32)


@pytest.mark.parametrize(("step", "lines"), [(1, 1), (2, 2), (8, 8), (32, 32), (64, 32)])
def test_lines_are_those_that_a_request_touches(step, lines):
    found = work_of(kernels.every, 1, 32, step, floats(32 * step), floats(32))
    assert found.lines == lines + 1


def test_blocks_that_share_data_have_a_larger_footprint_together():
    a = np.ones((64, 64), np.float32)
    found = work_of(kernels.matmul, (4, 4), (16, 16), a, a.copy(), a.copy())
    assert found.footprint == 3 * a.nbytes
    assert found.block_footprint == 16 * (2 * 16 * 64 * 4 + 16 * 16 * 4)


def test_scattered_stores_are_counted_as_sectors():
    a = np.ones((64, 64), np.float32)
    found = work_of(kernels.transpose, (2, 2), (32, 32), a, a.copy())
    assert found.store_footprint == a.nbytes
    assert found.stored == 8 * a.nbytes


def test_accesses_of_a_loop_over_a_local_array_are_merged():
    found = work_of(kernels.tile_sum, 4, 256, floats(1024), floats(1024))
    warps = 4 * 8
    assert found.shared_loads == warps * 8 / 4
    assert found.registers == 32 + 8


@given(
    words=st.integers(0, 500), threads=st.integers(1, 1024), machine=st.sampled_from(list(MACHINES))
)
def test_a_block_with_the_registers_of_its_source_fits_in_an_sm(words, threads, machine):
    registers = work.registers(words, -(-threads // 32))
    asked = Work(blocks=1, threads=threads, registers=registers)
    assert resident_blocks(asked, gpus.find(machine)) >= 1


def test_a_division_by_a_variable_takes_twenty_instructions():
    x, out = np.ones(1, np.int32), np.ones(256, np.int32)
    found = work_of(kernels.remainders, 1, 256, x, out)
    assert found.integer >= 20 * 8


def test_updates_of_one_bin_are_contention():
    found = work_of(kernels.histogram, 8, 128, np.zeros(N, np.int32), np.zeros(4, np.int32))
    assert found.contention == N


def test_updates_of_an_address_per_block_do_not_grow_with_the_grid():
    x, out = np.ones(1000 * 32, np.int32), np.zeros(1000, np.int32)
    found = gpukit.estimate(kernels.sum_blocks)[1000, 32](x, out)
    assert found.blocks_run == 32
    assert found.work.contention == 32


SAMPLED = {
    "add": (kernels.add, 393, 128, lambda: [floats(50_211) for _ in range(3)]),
    "matmul": (
        kernels.matmul,
        (13, 19),
        (16, 16),
        lambda: [np.ones(s, np.float32) for s in ((300, 70), (70, 200), (300, 200))],
    ),
    "transpose": (
        kernels.transpose,
        (17, 11),
        (32, 32),
        lambda: [np.ones(s, np.float32) for s in ((350, 530), (530, 350))],
    ),
    "histogram": (
        kernels.histogram,
        200,
        256,
        lambda: [np.arange(50_000, dtype=np.int32) % 64, np.zeros(64, np.int32)],
    ),
}


@pytest.mark.parametrize("gpu", ["RTX 3080", "V100"])
@pytest.mark.parametrize("name", SAMPLED)
def test_some_blocks_give_the_same_times_as_all_within_five_percent(name, gpu):
    kernel, grid, block, arguments = SAMPLED[name]
    some = gpukit.estimate(kernel, gpu)[grid, block](*arguments())
    whole = gpukit.estimate(kernel, gpu, blocks=10**6)[grid, block](*arguments())
    assert some.blocks_run < whole.blocks_run == whole.blocks
    assert some.likely == pytest.approx(whole.likely, rel=0.05)
    assert some.bound == whole.bound


def test_sampled_blocks_lie_in_all_rows_and_columns_of_a_grid():
    chosen = spread(32, 64 * 64)
    assert len(chosen) == 32
    assert min(len({c % 64 for c in chosen}), len({c // 64 for c in chosen})) > 24
