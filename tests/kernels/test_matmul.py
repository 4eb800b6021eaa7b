"""Matrix product, naive and tiled."""

import numpy as np
import pytest

from gpukit import launch
from gpukit.kernels import matmul

TILE = matmul.TILE
# (M, N, K): one; around a tile; primes; all different; a matrix that is a row or a column.
SHAPES = [
    (1, 1, 1),
    (TILE - 1, TILE + 1, TILE),
    (TILE, TILE, TILE),
    (TILE + 1, TILE - 1, 2 * TILE + 1),
    (31, 65, 33),
    (1, 37, 53),
    (41, 1, 19),
    (17, 3, 1),
]
RUNGS = [(rung.name, rung.kernel) for rung in matmul.LADDER]

rungs = pytest.mark.parametrize(("name", "kernel"), RUNGS, ids=[name for name, _ in RUNGS])
shapes = pytest.mark.parametrize(("m", "n", "k"), SHAPES, ids=lambda size: str(size))


@rungs
@shapes
def test_matmul_kernels_match_the_reference(name, kernel, m, n, k, signed, poisoned, assert_close):
    a, b, out = signed(m, k), signed(k, n), poisoned(m, n)
    kernel[launch.grid_2d("test", n, m, (TILE, TILE)), (TILE, TILE)](a, b, out)
    size = matmul.matmul_reference(np.abs(a), np.abs(b))
    assert_close(out, matmul.matmul_reference(a, b), magnitude=size, length=k)


@rungs
def test_matmul_kernels_match_sums_written_out(name, kernel, signed, assert_close):
    a, b = signed(5, 7), signed(7, 3)
    terms = a.astype(np.float64)[:, :, None] * b.astype(np.float64)[None, :, :]
    out = matmul.matmul(a, b, rung=name)
    assert_close(out, terms.sum(axis=1), magnitude=np.abs(terms).sum(axis=1), length=7)


@rungs
def test_matmul_keeps_a_nan_in_its_row(name, kernel):
    a = np.ones((TILE + 2, TILE + 3), np.float32)
    a[4, TILE + 1] = np.nan
    out = matmul.matmul(a, np.ones((TILE + 3, 5), np.float32), rung=name)
    np.testing.assert_array_equal(np.isnan(out).all(axis=1), np.arange(TILE + 2) == 4)
    np.testing.assert_array_equal(np.isnan(out).any(axis=1), np.arange(TILE + 2) == 4)


@rungs
def test_matmul_adds_in_float32(name, kernel):
    # 2^24 + 1 is not a float32: a float64 accumulator would keep the ones and give 2^24 + 2.
    a = np.array([[2**24, 1, 1]], np.float32)
    assert matmul.matmul(a, np.ones((3, 1), np.float32), rung=name)[0, 0] == 2**24


@rungs
def test_matmul_takes_a_transposed_operand(name, kernel, signed, assert_close):
    a, b = signed(9, 20), signed(9, 17)
    size = matmul.matmul_reference(np.abs(a).T, np.abs(b))
    out = matmul.matmul(a.T, b, rung=name)
    assert_close(out, matmul.matmul_reference(a.T, b), magnitude=size, length=9)


@rungs
@pytest.mark.parametrize(("m", "n", "k"), [(0, 3, 4), (3, 0, 4), (3, 4, 0), (0, 0, 0)])
def test_matmul_with_an_empty_axis_is_zeros(name, kernel, m, n, k):
    out = matmul.matmul(np.ones((m, k), np.float32), np.ones((k, n), np.float32), rung=name)
    np.testing.assert_array_equal(out, np.zeros((m, n), np.float32))


def test_matmul_suggests_the_transpose_when_it_would_fit():
    expected = (
        r"matmul: expected a\.shape\[1\] == b\.shape\[0\], got \(4, 3\) and \(5, 3\)\. .*b\.T"
    )
    with pytest.raises(ValueError, match=expected):
        matmul.matmul(np.ones((4, 3), np.float32), np.ones((5, 3), np.float32))


def test_matmul_does_not_suggest_a_transpose_that_would_not_fit():
    with pytest.raises(ValueError, match=r"got \(4, 3\) and \(5, 6\)\. The inner sizes must agree"):
        matmul.matmul(np.ones((4, 3), np.float32), np.ones((5, 6), np.float32))


def test_matmul_rejects_a_vector():
    with pytest.raises(ValueError, match=r"matmul: expected b\.ndim == 2, got shape \(3,\)"):
        matmul.matmul(np.ones((4, 3), np.float32), np.ones(3, np.float32))


def test_matmul_rejects_float64():
    with pytest.raises(TypeError, match="matmul: expected a to be a float32 array, got float64"):
        matmul.matmul(np.ones((2, 2)), np.ones((2, 2), np.float32))


def test_matmul_rejects_more_rows_than_the_grid_holds():
    tall = np.broadcast_to(np.float32(1), (65535 * TILE + 1, 1))
    with pytest.raises(ValueError, match="matmul: expected a grid of at most"):
        matmul.matmul(tall, np.ones((1, 1), np.float32))


def test_matmul_rejects_an_unknown_rung():
    with pytest.raises(ValueError, match="matmul: expected rung to be one of 'naive', 'tiled'"):
        matmul.matmul(np.ones((2, 2), np.float32), np.ones((2, 2), np.float32), rung="fast")


def test_naive_cost_of_two_by_three_by_four():
    # 6 elements, each 4 + 4 loads and 1 store of 4 bytes, 4 multiplications and 4 additions.
    assert matmul.matmul_naive_cost(2, 3, 4) == launch.Cost(bytes=6 * 9 * 4, flops=6 * 8)


def test_tiled_cost_loads_tile_times_less_when_sizes_are_multiples():
    # 2 x 3 blocks, 4 tiles deep, each loading two tiles of 256; 32 x 48 stores.
    cost = matmul.matmul_tiled_cost(32, 48, 64)
    assert cost == launch.Cost(bytes=4 * (2 * 3 * 4 * 2 * 256 + 32 * 48), flops=2 * 32 * 48 * 64)


def test_tiled_cost_counts_only_guarded_loads_but_multiplies_the_padding():
    # One block, one tile: 2 loads, 1 store; 256 threads multiply and add 16 times.
    assert matmul.matmul_tiled_cost(1, 1, 1) == launch.Cost(bytes=12, flops=2 * 256 * 16)
