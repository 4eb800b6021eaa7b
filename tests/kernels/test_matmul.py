"""Matrix product, from one thread per element to register tiles: results and memory accesses."""

import functools
import types

import numpy as np
import pytest

import gpukit
from gpukit import cuda, launch
from gpukit.kernels import matmul
from gpukit.kernels.matmul import naive, registers, tiled
from tests.kernels.counts import cost_of, sectors_of

TILE, SIDE = naive.TILE, registers.SIDE
# (M, N, K): all ones; around a shared-memory tile and a register-tiled block; primes; all
# different; a row or a column; very different sizes.
SHAPES = [
    (1, 1, 1),
    (TILE - 1, TILE + 1, TILE),
    (TILE, TILE, TILE),
    (TILE + 1, TILE - 1, 2 * TILE + 1),
    (31, 65, 33),
    (1, 37, 53),
    (41, 1, 19),
    (17, 3, 1),
    (SIDE, SIDE, TILE),
    (SIDE - 1, SIDE + 1, TILE - 1),
    (SIDE + 1, SIDE - 1, TILE + 1),
    (2 * SIDE + 3, 7, 29),
    (5, 2 * SIDE + 9, 31),
]
ALL = {variant.name: variant for variant in matmul.VARIANTS[:6]}
PLAIN = ["uncoalesced", "naive"]
TILES = ["tiled", "padded", "register_tile_1d", "register_tile_2d"]

# Several blocks and tiles of each variant, in float64, no size a multiple of anything.
IN_FLOAT64 = dict.fromkeys(ALL, (TILE + 3, TILE + 5, TILE + 7)) | {
    "register_tile_1d": (SIDE + 3, TILE + 5, TILE + 7),
    "register_tile_2d": (SIDE + 3, SIDE + 5, TILE + 7),
}

variants = pytest.mark.parametrize("variant", ALL)
shapes = pytest.mark.parametrize(("m", "n", "k"), SHAPES, ids=lambda size: str(size))


@variants
@shapes
def test_matmul_kernels_match_the_reference(variant, m, n, k, signed, poisoned, assert_close):
    a, b, out = signed(m, k), signed(k, n), poisoned(m, n)
    ALL[variant].kernel[ALL[variant].grid("test", n, m), ALL[variant].block](a, b, out)
    size = matmul.matmul_reference(np.abs(a), np.abs(b))
    assert_close(out, matmul.matmul_reference(a, b), magnitude=size, length=k)


@variants
@pytest.mark.parametrize(
    "run",
    [
        pytest.param(lambda kernel: kernel, id="cpu"),
        pytest.param(gpukit.check, id="checked", marks=pytest.mark.watched),
    ],
)
@pytest.mark.costly
def test_matmul_kernels_are_accurate_to_float64(variant, run, signed, poisoned, assert_close):
    m, n, k = IN_FLOAT64[variant]
    a, b = signed(m, k, dtype=np.float64), signed(k, n, dtype=np.float64)
    out = poisoned(m, n, dtype=np.float64)
    run(ALL[variant].kernel)[ALL[variant].grid("test", n, m), ALL[variant].block](a, b, out)
    size = matmul.matmul_reference(np.abs(a), np.abs(b))
    assert_close(out, matmul.matmul_reference(a, b), magnitude=size, length=k)


@variants
def test_matmul_kernels_match_explicit_sums(variant, signed, assert_close):
    a, b = signed(5, 7), signed(7, 3)
    terms = a.astype(np.float64)[:, :, None] * b.astype(np.float64)[None, :, :]
    out = matmul.matmul(a, b, variant=variant)
    assert_close(out, terms.sum(axis=1), magnitude=np.abs(terms).sum(axis=1), length=7)


@variants
def test_matmul_accumulates_in_float32(variant):
    # 2^24 + 1 is not a float32: a float64 accumulator would keep the ones and give 2^24 + 2.
    a = np.array([[2**24, 1, 1]], np.float32)
    assert matmul.matmul(a, np.ones((3, 1), np.float32), variant=variant)[0, 0] == 2**24


@variants
def test_matmul_accumulates_float64_in_float64(variant):
    # 2^24 + 1 is not a float32: no intermediate result may be float32.
    a = np.array([[2**24 + 1, 1, 1]], np.float64)
    out = matmul.matmul(a, np.ones((3, 1)), variant=variant)
    assert (out.dtype, out[0, 0]) == (np.float64, 2**24 + 3)


@variants
def test_matmul_accumulates_in_the_order_of_k(variant, signed):
    # So all variants are bit-identical: they differ in data movement, not in arithmetic.
    a, b = signed(35, 50), signed(50, 41)
    np.testing.assert_array_equal(
        matmul.matmul(a, b, variant=variant), matmul.matmul(a, b, variant="naive")
    )


@variants
def test_matmul_accepts_a_transposed_operand(variant, signed, assert_close):
    a, b = signed(9, 20), signed(9, 17)
    size = matmul.matmul_reference(np.abs(a).T, np.abs(b))
    out = matmul.matmul(a.T, b, variant=variant)
    assert_close(out, matmul.matmul_reference(a.T, b), magnitude=size, length=9)


@variants
def test_matmul_accepts_strided_operands(variant, signed, assert_close):
    a, b = signed(18, 40)[::2, ::2], signed(40, 34)[::2, ::2]
    size = matmul.matmul_reference(np.abs(a), np.abs(b))
    out = matmul.matmul(a, b, variant=variant)
    assert_close(out, matmul.matmul_reference(a, b), magnitude=size, length=20)


def test_matmul_uses_the_tiled_variant_by_default(monkeypatch):
    launched = []
    genuine = launch.pick
    monkeypatch.setattr(launch, "pick", lambda *args: launched.append(args[2]) or genuine(*args))
    matmul.matmul(np.ones((2, 2), np.float32), np.ones((2, 2), np.float32))
    assert launched == ["tiled"]


# ---- errors ---------------------------------------------------------------------------------


def test_matmul_suggests_the_transpose_when_it_would_fit():
    expected = (
        r"matmul: expected a\.shape\[1\] == b\.shape\[0\], got \(4, 3\) and \(5, 3\)\. "
        r"Did you mean transpose_b=True\?"
    )
    with pytest.raises(ValueError, match=expected):
        matmul.matmul(np.ones((4, 3), np.float32), np.ones((5, 3), np.float32))


def test_matmul_does_not_suggest_a_transpose_that_would_not_fit():
    with pytest.raises(ValueError, match=r"got \(4, 3\) and \(5, 6\)\. The inner sizes must agree"):
        matmul.matmul(np.ones((4, 3), np.float32), np.ones((5, 6), np.float32))


@pytest.mark.parametrize(
    ("variant", "rows"),
    [
        ("naive", TILE),
        ("tiled", TILE),
        ("padded", TILE),
        ("register_tile_1d", SIDE),
        ("register_tile_2d", SIDE),
    ],
)
def test_matmul_rejects_more_rows_than_the_grid_limit(variant, rows):
    tall = np.broadcast_to(np.float32(1), (65535 * rows + 1, 1))
    expected = r"matmul: expected a grid of at most .* got \(1, 65536\)\. Split"
    with pytest.raises(ValueError, match=expected):
        matmul.matmul(tall, np.ones((1, 1), np.float32), variant=variant)


def test_uncoalesced_matmul_rejects_more_columns_than_the_grid_limit():
    wide = np.broadcast_to(np.float32(1), (1, 65535 * TILE + 1))
    expected = r"matmul: expected a grid of at most .* got \(1, 65536\)\. Split"
    with pytest.raises(ValueError, match=expected):
        matmul.matmul(np.ones((1, 1), np.float32), wide, variant="uncoalesced")


# ---- cost -----------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", PLAIN)
def test_cost_of_two_by_three_by_four_without_tiles(variant):
    # 6 elements, each 4 + 4 loads and 1 store of 4 bytes, 4 multiplications and 4 additions.
    assert ALL[variant].cost(2, 3, 4) == launch.Cost(bytes=6 * 9 * 4, flops=6 * 8)


@pytest.mark.parametrize("variant", ["tiled", "padded"])
def test_tiled_cost_loads_a_factor_tile_less_when_sizes_are_multiples(variant):
    # 2 x 3 blocks, 4 tiles deep, each loading two tiles of 256; 32 x 48 stores.
    expected = launch.Cost(bytes=4 * (2 * 3 * 4 * 2 * 256 + 32 * 48), flops=2 * 32 * 48 * 64)
    assert ALL[variant].cost(32, 48, 64) == expected


@pytest.mark.parametrize("variant", ["tiled", "padded"])
def test_tiled_cost_counts_only_in_bounds_loads_but_all_products_of_the_padding(variant):
    # One block, one tile: 2 loads, 1 store; 256 threads multiply and add 16 times.
    assert ALL[variant].cost(1, 1, 1) == launch.Cost(bytes=12, flops=2 * 256 * 16)


def test_register_tile_1d_cost_loads_b_once_for_128_rows():
    # 2 x 3 blocks, 4 tiles deep, each loading 128 x 16 of a and 16 x 16 of b.
    expected = launch.Cost(bytes=4 * (6 * 4 * (2048 + 256) + 256 * 48), flops=2 * 256 * 48 * 64)
    assert ALL["register_tile_1d"].cost(256, 48, 64) == expected


def test_register_tile_2d_cost_loads_both_once_for_128():
    # 2 x 3 blocks, 4 tiles deep, each loading 128 x 16 of a and 16 x 128 of b.
    expected = launch.Cost(bytes=4 * (6 * 4 * 4096 + 256 * 384), flops=2 * 256 * 384 * 64)
    assert ALL["register_tile_2d"].cost(256, 384, 64) == expected


# ---- checker findings and profile counters --------------------------------------------------


@pytest.mark.watched
@variants
@pytest.mark.parametrize(
    ("m", "n", "k"), [(TILE + 3, TILE + 5, TILE + 7), (SIDE + 1, SIDE + 3, 3)], ids=str
)
def test_checker_reports_no_findings(variant, m, n, k, signed):
    a, b, out = signed(m, k), signed(k, n), cuda.device_array((m, n), np.float32)
    report = gpukit.check(ALL[variant].kernel)[ALL[variant].grid("test", n, m), ALL[variant].block](
        a, b, out
    )
    assert report.findings == []


def profiled(kernel, variant, m, n, k, dtype=np.float32):
    a, b, out = np.ones((m, k), dtype), np.ones((k, n), dtype), np.empty((m, n), dtype)
    return gpukit.profile(kernel)[ALL[variant].grid("test", n, m), ALL[variant].block](
        a, b, out
    ).total


@functools.cache
def counters(variant, m=SIDE, n=SIDE, k=2 * TILE, dtype=np.float32):
    """Return the counters of a launch; one block of the largest variant by default."""
    return profiled(ALL[variant].kernel, variant, m, n, k, dtype)


@pytest.mark.watched
@variants
@pytest.mark.parametrize(
    "shape",
    [(1, 1, 1), (TILE + 1, TILE - 1, 2 * TILE + 1), (SIDE + 1, 67, 5), (41, 137, 19)],
    ids=str,
)
def test_cost_equals_the_profile_counters(variant, shape):
    assert ALL[variant].cost(*shape) == cost_of(counters(variant, *shape))


@pytest.mark.watched
@variants
def test_float64_cost_equals_the_profile_counters_without_float32_arithmetic(variant):
    found = counters(variant, *IN_FLOAT64[variant], np.float64)
    assert ALL[variant].cost(*IN_FLOAT64[variant], itemsize=8) == cost_of(found)
    assert found["flops_float64"] == found.flops


@pytest.mark.watched
@variants
def test_kernels_do_no_float64_arithmetic(variant):
    assert counters(variant)["flops_float64"] == 0


# Sectors per load, averaged over a and b, and per store of a full warp.
SECTORS = {
    "uncoalesced": ((16 + 1) / 2, 16),
    "naive": ((2 + 2) / 2, 4),
    **dict.fromkeys(TILES, (4, 4)),
}


@pytest.mark.watched
@variants
def test_sectors_per_request_are_as_documented(variant):
    assert sectors_of(counters(variant)) == SECTORS[variant]


@pytest.mark.watched
@pytest.mark.parametrize("variant", TILES)
def test_tiles_have_no_bank_conflicts(variant):
    found = counters(variant)
    assert found["shared_load_conflicts"] + found["shared_store_conflicts"] == 0


def padded_by(columns):
    """Return the padded kernel with `columns` columns of padding."""
    function = tiled.matmul_padded_kernel.py_func
    names = {**function.__globals__, "PADDED_TILE": TILE + columns}
    return cuda.jit(types.FunctionType(function.__code__, names, function.__name__))


@pytest.mark.watched
@pytest.mark.parametrize(("columns", "conflicts"), [(0, 7), (1, 1), (2, 0)])
def test_stores_into_the_transposed_tile_conflict_unless_padded_by_two(columns, conflicts):
    found = profiled(padded_by(columns), "padded", TILE, TILE, TILE)
    # Half of the stores fill the tile of b without conflicts.
    assert 2 * found["shared_store_conflicts"] == conflicts * found["shared_store_requests"]


@pytest.mark.watched
@pytest.mark.parametrize(
    ("variant", "reads"),
    [("tiled", 16), ("padded", 16), ("register_tile_1d", 9), ("register_tile_2d", 16 / 8)],
)
def test_shared_loads_per_eight_products_are_as_documented(variant, reads):
    products = SIDE * SIDE * 2 * TILE / 32  # per warp, like requests
    assert counters(variant)["shared_load_requests"] == reads * products / 8


@pytest.mark.watched
@pytest.mark.parametrize("variant", PLAIN)
def test_kernels_without_tiles_use_no_shared_memory(variant):
    assert (
        counters(variant)["shared_load_requests"] + counters(variant)["shared_store_requests"] == 0
    )


@pytest.mark.watched
@variants
def test_every_warp_reaches_two_barriers_per_tile(variant):
    blocks = np.prod(ALL[variant].grid("test", SIDE, SIDE))
    waits = 2 * 2 if variant in TILES else 0
    assert counters(variant)["barriers"] == waits * 8 * blocks
