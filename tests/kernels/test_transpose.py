"""Copies and transposes: results and memory accesses."""

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
# The vectorized copy needs rows of whole float4s: see test_vectorized_elements.py.
COPIES = [variant.name for variant in transpose.COPY_VARIANTS if not variant.instead]
TURNS = [variant.name for variant in transpose.TRANSPOSE_VARIANTS]
ALL = {variant.name: variant for variant in transpose.VARIANTS if not variant.instead}

turns = pytest.mark.parametrize("variant", TURNS)
every_variant = pytest.mark.parametrize("variant", ALL)
shapes = pytest.mark.parametrize(("rows", "cols"), SHAPES, ids=lambda size: str(size))


def function_of(variant):
    return transpose.copy if variant in COPIES else transpose.transpose


def expected(variant, x):
    return x if variant in COPIES else x.T


def grid_of(variant, rows, cols):
    return ALL[variant].grid("test", cols, rows)


@every_variant
@shapes
def test_kernel_moves_every_element_to_its_position(variant, rows, cols, signed, poisoned):
    x = signed(rows, cols)
    out = poisoned(*expected(variant, x).shape)
    ALL[variant].kernel[grid_of(variant, rows, cols), (TILE, ROWS)](x, out)
    np.testing.assert_array_equal(out, expected(variant, x))


@every_variant
@shapes
def test_host_function_moves_every_element_to_its_position(variant, rows, cols, signed):
    x = signed(rows, cols)
    np.testing.assert_array_equal(function_of(variant)(x, variant=variant), expected(variant, x))


@every_variant
@pytest.mark.costly
def test_kernel_moves_float64_unrounded(variant, signed, poisoned):
    x = signed(37, 41, dtype=np.float64)
    out = poisoned(*expected(variant, x).shape, dtype=np.float64)
    ALL[variant].kernel[grid_of(variant, 37, 41), (TILE, ROWS)](x, out)
    np.testing.assert_array_equal(out, expected(variant, x))


@every_variant
def test_host_function_returns_float64_for_float64(variant, signed):
    x = signed(37, 41, dtype=np.float64)
    actual = function_of(variant)(x, variant=variant)
    assert actual.dtype == np.float64
    np.testing.assert_array_equal(actual, expected(variant, x))


@every_variant
def test_kernel_keeps_the_bits_of_nan_infinity_and_minus_zero(variant):
    x = np.array([[np.nan, np.inf, -np.inf], [-0.0, 1e-45, 3]], np.float32)
    x.view(np.uint32)[0, 0] |= 5  # a NaN with a payload
    actual = np.ascontiguousarray(function_of(variant)(x, variant=variant))
    bits = np.ascontiguousarray(expected(variant, x)).view(np.uint32)
    np.testing.assert_array_equal(actual.view(np.uint32), bits)


@turns
def test_transposing_twice_restores_the_matrix(variant, signed):
    x = signed(35, 67)
    back = transpose.transpose(transpose.transpose(x, variant=variant), variant=variant)
    np.testing.assert_array_equal(back, x)


def test_transpose_reference_matches_its_definition(signed):
    x = signed(5, 7)
    actual = transpose.transpose_reference(x)
    assert all(actual[col, row] == x[row, col] for row in range(5) for col in range(7))


@every_variant
def test_result_is_a_copy(variant):
    x = np.ones((3, 4), np.float32)
    assert not np.shares_memory(function_of(variant)(x, variant=variant), x)


@every_variant
def test_result_is_in_c_order(variant):
    assert function_of(variant)(np.ones((3, 4), np.float32), variant=variant).flags.c_contiguous


@every_variant
@pytest.mark.parametrize(
    "view",
    [lambda a: a.T, lambda a: a[::2, 1:-1], lambda a: a[::-1, ::-3], np.asfortranarray],
    ids=["transposed", "slice", "reversed", "fortran"],
)
def test_non_contiguous_array_is_moved_correctly(variant, view, signed):
    x = view(signed(40, 37))
    np.testing.assert_array_equal(function_of(variant)(x, variant=variant), expected(variant, x))


@every_variant
@pytest.mark.costly
def test_non_contiguous_device_array_is_moved_correctly(variant, signed):
    x = signed(40, 37)
    actual = function_of(variant)(cuda.to_device(x)[3:, ::2], variant=variant)
    np.testing.assert_array_equal(actual.copy_to_host(), expected(variant, x[3:, ::2]))


@every_variant
@pytest.mark.costly
def test_read_only_array_is_accepted(variant):
    x = np.ones((2, 3), np.float32)
    x.flags.writeable = False
    assert function_of(variant)(x, variant=variant).sum() == 6


@every_variant
def test_out_that_aliases_a_device_array_is_rejected(variant):
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
def test_more_blocks_than_the_grid_limit_along_y_are_rejected(variant, shape):
    x = np.broadcast_to(np.float32(1), shape)
    with pytest.raises(ValueError, match=r"expected a grid of at most .* got \(1, 65536\)\. Split"):
        function_of(variant)(x, variant=variant)


# ---- checker findings and profile counters --------------------------------------------------


@pytest.mark.watched
@every_variant
@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
@pytest.mark.parametrize("shape", [(TILE + 1, TILE + 5), (3, 2 * TILE - 1)], ids=str)
def test_checker_reports_no_findings(variant, shape, dtype, signed):
    x = signed(*shape, dtype=dtype)
    out = cuda.device_array(expected(variant, x).shape, dtype)
    report = gpukit.check(ALL[variant].kernel)[grid_of(variant, *shape), (TILE, ROWS)](x, out)
    assert [f for f in report.findings if f.severity in ("error", "warning")] == []


@functools.cache
def counters(variant, rows=2 * TILE, cols=3 * TILE, dtype=np.float32):
    """Return the counters of a launch; both sizes are whole tiles by default."""
    x = np.ones((rows, cols), dtype)
    out = np.empty(expected(variant, x).shape, dtype)
    kernel = gpukit.profile(ALL[variant].kernel)
    return kernel[grid_of(variant, rows, cols), (TILE, ROWS)](x, out).total


# Sectors per load and per store of a full warp, as documented.
SECTORS = {
    "coalesced": (4, 4),
    "strided": (32, 32),
    "naive": (4, 32),
    "tiled": (4, 4),
    "padded": (4, 4),
}


@pytest.mark.watched
@every_variant
def test_sectors_per_request_are_as_documented(variant):
    assert sectors_of(counters(variant)) == SECTORS[variant]


@pytest.mark.watched
def test_strided_copy_moves_eight_times_the_bytes_it_requests():
    found = counters("strided")
    assert found["global_bytes_moved"] == 8 * found["global_bytes_asked"]


@pytest.mark.watched
@pytest.mark.parametrize("variant", ["coalesced", "tiled", "padded"])
def test_coalesced_kernel_moves_only_the_bytes_it_requests(variant):
    found = counters(variant)
    assert found["global_bytes_moved"] == found["global_bytes_asked"]


@pytest.mark.watched
@pytest.mark.parametrize("shape", [(2 * TILE, 3 * TILE), (43, 71), (97, 29)], ids=str)
def test_tiled_kernels_move_fewer_bytes_than_the_naive_kernel(shape):
    naive, tiled = (
        counters(variant, *shape)["global_bytes_moved"] for variant in ("naive", "tiled")
    )
    assert tiled < naive / 2


@pytest.mark.watched
def test_tiled_kernel_reads_a_column_of_its_tile_in_32_wavefronts():
    found = counters("tiled")
    requests = found["shared_load_requests"]
    assert found["shared_load_wavefronts"] == 32 * requests
    assert found["shared_load_conflicts"] == 31 * requests


@pytest.mark.watched
def test_tiled_kernel_fills_its_tile_without_bank_conflicts():
    assert counters("tiled")["shared_store_conflicts"] == 0


@pytest.mark.watched
@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
@pytest.mark.parametrize("shape", [(2 * TILE, 3 * TILE), (43, 71), (97, 29)], ids=str)
def test_padded_kernel_has_no_bank_conflicts(shape, dtype):
    found = counters("padded", *shape, dtype)
    assert found["shared_load_conflicts"] + found["shared_store_conflicts"] == 0


@pytest.mark.watched
@pytest.mark.parametrize("variant", ["coalesced", "strided", "naive"])
def test_kernel_without_a_tile_uses_no_shared_memory(variant):
    assert (
        counters(variant)["shared_load_requests"] + counters(variant)["shared_store_requests"] == 0
    )


@pytest.mark.watched
@every_variant
@pytest.mark.parametrize("shape", [(1, 1), (TILE, TILE), (43, 71), (97, 29)], ids=str)
def test_cost_equals_the_profile_counters(variant, shape):
    assert ALL[variant].cost(*shape) == cost_of(counters(variant, *shape))


@pytest.mark.watched
@pytest.mark.parametrize("variant", ["tiled", "padded"])
def test_every_warp_reaches_one_barrier_per_tile(variant):
    assert counters(variant)["barriers"] == 6 * ROWS
