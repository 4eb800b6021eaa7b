"""Copies and transposes, and what their warps do to memory."""

import functools

import numpy as np
import pytest

import gpukit
from gpukit import cuda
from gpukit.kernels import transpose
from tests.kernels.counts import cost_of, sectors_of

TILE, ROWS = transpose.TILE, transpose.ROWS
# (rows, cols): one; around a tile and around ROWS; primes; a single row or column; all different.
SHAPES = [
    (1, 1),
    (TILE, TILE),
    (TILE - 1, TILE + 1),
    (TILE + 1, TILE - 1),
    (ROWS - 1, ROWS + 1),
    (2 * TILE, 3 * TILE),
    (1, 67),
    (67, 1),
    (43, 71),
    (97, 29),
]
# The vectorized copy takes rows of whole fours only: test_vectorized_elements.py.
COPIES = [variant.name for variant in transpose.COPY_VARIANTS if not variant.instead]
TURNS = [variant.name for variant in transpose.TRANSPOSE_VARIANTS]
ALL = {variant.name: variant for variant in transpose.VARIANTS if not variant.instead}

turns = pytest.mark.parametrize("variant", TURNS)
every_variant = pytest.mark.parametrize("variant", ALL)
shapes = pytest.mark.parametrize(("rows", "cols"), SHAPES, ids=lambda size: str(size))


def function_of(variant):
    return transpose.copy if variant in COPIES else transpose.transpose


def right(variant, x):
    return x if variant in COPIES else x.T


def grid_of(variant, rows, cols):
    return ALL[variant].grid("test", cols, rows)


@every_variant
@shapes
def test_kernel_moves_every_element_to_its_place(variant, rows, cols, signed, poisoned):
    x = signed(rows, cols)
    out = poisoned(*right(variant, x).shape)
    ALL[variant].kernel[grid_of(variant, rows, cols), (TILE, ROWS)](x, out)
    np.testing.assert_array_equal(out, right(variant, x))


@every_variant
@shapes
def test_host_function_moves_every_element_to_its_place(variant, rows, cols, signed):
    x = signed(rows, cols)
    np.testing.assert_array_equal(function_of(variant)(x, variant=variant), right(variant, x))


@every_variant
@pytest.mark.costly
def test_kernel_moves_float64_unrounded(variant, signed, poisoned):
    x = signed(37, 41, dtype=np.float64)
    out = poisoned(*right(variant, x).shape, dtype=np.float64)
    ALL[variant].kernel[grid_of(variant, 37, 41), (TILE, ROWS)](x, out)
    np.testing.assert_array_equal(out, right(variant, x))


@every_variant
def test_host_function_gives_float64_for_float64(variant, signed):
    x = signed(37, 41, dtype=np.float64)
    made = function_of(variant)(x, variant=variant)
    assert made.dtype == np.float64
    np.testing.assert_array_equal(made, right(variant, x))


@every_variant
def test_kernel_keeps_the_bits_of_nan_infinity_and_minus_zero(variant):
    x = np.array([[np.nan, np.inf, -np.inf], [-0.0, 1e-45, 3]], np.float32)
    x.view(np.uint32)[0, 0] |= 5  # a NaN that carries a number
    made = np.ascontiguousarray(function_of(variant)(x, variant=variant))
    bits = np.ascontiguousarray(right(variant, x)).view(np.uint32)
    np.testing.assert_array_equal(made.view(np.uint32), bits)


@turns
def test_transpose_twice_gives_the_matrix_back(variant, signed):
    x = signed(35, 67)
    back = transpose.transpose(transpose.transpose(x, variant=variant), variant=variant)
    np.testing.assert_array_equal(back, x)


def test_transpose_reference_is_the_sum_of_its_definition(signed):
    x = signed(5, 7)
    made = transpose.transpose_reference(x)
    assert all(made[col, row] == x[row, col] for row in range(5) for col in range(7))


@every_variant
def test_result_has_memory_of_its_own(variant):
    x = np.ones((3, 4), np.float32)
    assert not np.shares_memory(function_of(variant)(x, variant=variant), x)


@every_variant
def test_result_is_in_c_order(variant):
    assert function_of(variant)(np.ones((3, 4), np.float32), variant=variant).flags.c_contiguous


@every_variant
@pytest.mark.parametrize(
    "view",
    [lambda a: a.T, lambda a: a[::2, 1:-1], lambda a: a[::-1, ::-3], np.asfortranarray],
    ids=["transposed", "part", "backwards", "fortran"],
)
def test_array_that_is_not_contiguous_is_moved_rightly(variant, view, signed):
    x = view(signed(40, 37))
    np.testing.assert_array_equal(function_of(variant)(x, variant=variant), right(variant, x))


@every_variant
@pytest.mark.costly
def test_device_array_that_is_not_contiguous_is_moved_rightly(variant, signed):
    x = signed(40, 37)
    made = function_of(variant)(cuda.to_device(x)[3:, ::2], variant=variant)
    np.testing.assert_array_equal(made.copy_to_host(), right(variant, x[3:, ::2]))


@every_variant
@pytest.mark.costly
def test_array_that_may_not_be_written_can_be_read(variant):
    x = np.ones((2, 3), np.float32)
    x.flags.writeable = False
    assert function_of(variant)(x, variant=variant).sum() == 6


@every_variant
def test_out_on_the_memory_of_a_device_array_is_refused(variant):
    x = cuda.to_device(np.ones((4, 4), np.float32))
    with pytest.raises(ValueError, match="expected out to lie apart from x"):
        function_of(variant)(x, variant=variant, out=x)


@pytest.mark.parametrize(
    ("variant", "shape"),
    [
        ("coalesced", (65535 * ROWS + 1, 1)),
        ("strided", (1, 65535 * ROWS + 1)),
        ("naive", (65535 * ROWS + 1, 1)),
        ("tiled", (65535 * TILE + 1, 1)),
        ("padded", (65535 * TILE + 1, 1)),
    ],
)
def test_more_than_the_grid_holds_along_y_is_refused(variant, shape):
    x = np.broadcast_to(np.float32(1), shape)
    with pytest.raises(ValueError, match=r"expected a grid of at most .* got \(1, 65536\)\. Split"):
        function_of(variant)(x, variant=variant)


# ---- what the checker and the counters say --------------------------------------------------


@pytest.mark.watched
@every_variant
@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
@pytest.mark.parametrize("shape", [(TILE + 1, TILE + 5), (3, 2 * TILE - 1)], ids=str)
def test_checker_finds_nothing_wrong(variant, shape, dtype, signed):
    x = signed(*shape, dtype=dtype)
    out = cuda.device_array(right(variant, x).shape, dtype)
    report = gpukit.check(ALL[variant].kernel)[grid_of(variant, *shape), (TILE, ROWS)](x, out)
    assert [f for f in report.findings if f.severity in ("error", "warning")] == []


@functools.cache
def counted(variant, rows=2 * TILE, cols=3 * TILE, dtype=np.float32):
    """Return what a launch is counted to do; both sizes whole tiles unless said otherwise."""
    x = np.ones((rows, cols), dtype)
    out = np.empty(right(variant, x).shape, dtype)
    kernel = gpukit.profile(ALL[variant].kernel)
    return kernel[grid_of(variant, rows, cols), (TILE, ROWS)](x, out).total


# Sectors of a load and of a store of a full warp, as the docstrings have them.
SECTORS = {
    "coalesced": (4, 4),
    "strided": (32, 32),
    "naive": (4, 32),
    "tiled": (4, 4),
    "padded": (4, 4),
}


@pytest.mark.watched
@every_variant
def test_warps_touch_as_many_sectors_as_the_docstring_says(variant):
    assert sectors_of(counted(variant)) == SECTORS[variant]


@pytest.mark.watched
def test_strided_copy_moves_eight_times_what_it_asks_for():
    found = counted("strided")
    assert found["global_bytes_moved"] == 8 * found["global_bytes_asked"]


@pytest.mark.watched
@pytest.mark.parametrize("variant", ["coalesced", "tiled", "padded"])
def test_coalesced_kernel_moves_only_what_it_asks_for(variant):
    found = counted(variant)
    assert found["global_bytes_moved"] == found["global_bytes_asked"]


@pytest.mark.watched
@pytest.mark.parametrize("shape", [(2 * TILE, 3 * TILE), (43, 71), (97, 29)], ids=str)
def test_tiles_move_less_than_the_naive_kernel(shape):
    naive, tiled = (
        counted(variant, *shape)["global_bytes_moved"] for variant in ("naive", "tiled")
    )
    assert tiled < naive / 2


@pytest.mark.watched
def test_tiled_kernel_reads_a_column_of_its_tile_in_32_passes():
    found = counted("tiled")
    requests = found["shared_load_requests"]
    assert found["shared_load_wavefronts"] == 32 * requests
    assert found["shared_load_conflicts"] == 31 * requests


@pytest.mark.watched
def test_tiled_kernel_fills_its_tile_without_conflicts():
    assert counted("tiled")["shared_store_conflicts"] == 0


@pytest.mark.watched
@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
@pytest.mark.parametrize("shape", [(2 * TILE, 3 * TILE), (43, 71), (97, 29)], ids=str)
def test_padded_kernel_has_no_bank_conflicts(shape, dtype):
    found = counted("padded", *shape, dtype)
    assert found["shared_load_conflicts"] + found["shared_store_conflicts"] == 0


@pytest.mark.watched
@pytest.mark.parametrize("variant", ["coalesced", "strided", "naive"])
def test_kernel_without_a_tile_uses_no_shared_memory(variant):
    assert counted(variant)["shared_load_requests"] + counted(variant)["shared_store_requests"] == 0


@pytest.mark.watched
@every_variant
@pytest.mark.parametrize("shape", [(1, 1), (TILE, TILE), (43, 71), (97, 29)], ids=str)
def test_cost_is_what_is_counted(variant, shape):
    assert ALL[variant].cost(*shape) == cost_of(counted(variant, *shape))


@pytest.mark.watched
@pytest.mark.parametrize("variant", ["tiled", "padded"])
def test_every_warp_of_a_tile_waits_once(variant):
    assert counted(variant)["barriers"] == 6 * ROWS
