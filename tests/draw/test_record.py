"""Recording kernels against NumPy."""

import numpy as np
import pytest

from gpukit.draw import launches, record

LAUNCHES = [
    # rows, cols, grid, block
    (1, 1, (1, 1), (1, 1)),
    (1, 20, (3, 1), (8, 1)),
    (10, 13, (2, 3), (8, 4)),
    (43, 64, (3, 4), (16, 16)),
    (7, 5, (1, 1), (2, 3)),
]


@pytest.mark.parametrize(("rows", "cols", "grid", "block"), LAUNCHES)
def test_ownership_is_block_and_thread_of_each_cell(rows, cols, grid, block):
    canvas = record.ownership(rows, cols, grid, block)
    row, col = np.indices(canvas.shape[1:])
    reached = (row < grid[1] * block[1]) & (col < grid[0] * block[0])
    expected = [col // block[0], row // block[1], col % block[0], row % block[1]]
    np.testing.assert_array_equal(canvas, np.where(reached, expected, record.NOBODY))


@pytest.mark.parametrize(("rows", "cols", "grid", "block"), LAUNCHES)
def test_counts_sum_to_the_number_of_threads(rows, cols, grid, block):
    found = launches.count(record.ownership(rows, cols, grid, block), rows, cols, block)
    threads = grid[0] * grid[1] * block[0] * block[1]
    assert (found.blocks, found.threads) == (grid[0] * grid[1], threads)
    assert found.working + found.missed == rows * cols


def test_count_finds_idle_threads_and_missed_elements_of_a_swapped_grid():
    found = launches.count(record.ownership(4, 8, (1, 2), (4, 4)), 4, 8, (4, 4))
    assert (found.idle, found.missed) == (16, 16)


@pytest.mark.parametrize(("n", "blocks", "block"), [(1, 1, 1), (20, 2, 4), (7, 3, 4), (65, 1, 32)])
def test_grid_stride_loop_takes_every_gridsize_th_element(n, blocks, block):
    thread, step = record.grid_stride(n, blocks, block)
    np.testing.assert_array_equal(thread, np.arange(n) % (blocks * block))
    np.testing.assert_array_equal(step, np.arange(n) // (blocks * block))


@pytest.mark.parametrize("block", [(1, 1, 1), (4, 3, 2), (8, 4, 2)])
@pytest.mark.costly
def test_threads_of_a_block_are_numbered_along_x_first(block):
    number = record.block_3d(block)
    assert number.shape == block[::-1]
    np.testing.assert_array_equal(number.ravel(), np.arange(number.size))
