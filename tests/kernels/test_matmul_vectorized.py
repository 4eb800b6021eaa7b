"""Matrix product with float4 accesses and on TF32 tensor cores, and their fallbacks."""

import functools

import numpy as np
import pytest

import gpukit
from gpukit import cuda, launch
from gpukit.kernels import matmul
from gpukit.kernels.matmul import tensor_tf32, vectorized
from tests.kernels.counts import cost_of

SIDE, DEPTH = vectorized.SIDE, vectorized.DEPTH
# (M, N, K): the smallest; around a tile and a block, all different; a row; a column.
SHAPES = [
    (1, 4, 4),
    (3, 8, 4),
    (DEPTH - 1, DEPTH + 4, DEPTH),
    (31, 68, 36),
    (1, 36, 52),
    (41, 4, 20),
    (SIDE, SIDE, DEPTH),
    (SIDE - 1, SIDE + 4, DEPTH - 4),
    (SIDE + 1, SIDE - 4, DEPTH + 4),
    (2 * SIDE + 3, 8, 28),
    (5, 2 * SIDE + 12, 32),
]
VECTORIZED = {variant.name: variant for variant in vectorized.VARIANTS}
ALL = VECTORIZED | {variant.name: variant for variant in tensor_tf32.VARIANTS}

variants = pytest.mark.parametrize("variant", ALL)
vectorized_variants = pytest.mark.parametrize("variant", VECTORIZED)
shapes = pytest.mark.parametrize(("m", "n", "k"), SHAPES, ids=str)


def aligned(array):
    """Return a copy aligned to 16 bytes."""
    whole = np.empty(array.size + 4, np.float32)
    first = -whole.ctypes.data % 16 // 4
    copy = whole[first : first + array.size].reshape(array.shape)
    copy[...] = array
    return copy


def run(variant, a, b, out):
    chosen = ALL[variant]
    grid = chosen.grid("test", *out.shape[::-1])
    chosen.kernel[grid, chosen.block](aligned(a), aligned(b), out)


@variants
@shapes
def test_kernels_match_the_reference(variant, m, n, k, signed, poisoned, assert_close):
    a, b, out = signed(m, k), signed(k, n), aligned(poisoned(m, n))
    run(variant, a, b, out)
    size = matmul.matmul_reference(np.abs(a), np.abs(b))
    assert_close(out, ALL[variant].reference(a, b), magnitude=size, length=k)


@vectorized_variants
def test_variants_are_bit_identical_to_naive(variant, signed):
    a, b = signed(SIDE + 6, 52), signed(52, SIDE + 20)
    np.testing.assert_array_equal(
        matmul.matmul(a, b, variant=variant), matmul.matmul(a, b, variant="naive")
    )


@pytest.mark.parametrize(
    "variant", [variant.name for variant in matmul.VARIANTS if variant.instead]
)
def test_float64_is_rejected_naming_a_variant_that_accepts_it(variant):
    expected = (
        rf"matmul: expected float32 arrays for variant '{variant}', got float64\. "
        r"Pass variant='register_tile_2d'\."
    )
    with pytest.raises(TypeError, match=expected):
        matmul.matmul(np.ones((4, 8)), np.ones((8, 4)), variant=variant)


# ---- fallbacks to another variant --------------------------------------------------------------


def launched(monkeypatch, *operands, **others):
    """Return the variants whose kernels a product launches."""
    names = []
    genuine = launch.pick
    monkeypatch.setattr(launch, "pick", lambda *args: names.append(args[2]) or genuine(*args))
    result = matmul.matmul(*operands, **others)
    tolerance = 2**-9 * (np.abs(operands[0]) @ np.abs(operands[1]))  # TF32: 10-bit mantissa
    assert (np.abs(result - operands[0] @ operands[1]) <= tolerance).all()
    return names


@variants
def test_float4_aligned_rows_use_the_vectorized_kernel(variant, monkeypatch, signed):
    operands = aligned(signed(5, 8)), aligned(signed(8, 12))
    out = aligned(np.empty((5, 12), np.float32))
    assert launched(monkeypatch, *operands, variant=variant, out=out)[-1] == variant


@variants
@pytest.mark.parametrize(("m", "n", "k"), [(5, 12, 7), (5, 11, 8), (1, 1, 1)])
def test_rows_that_are_not_whole_float4s_use_the_register_tile(
    variant, m, n, k, monkeypatch, signed
):
    assert (
        launched(monkeypatch, signed(m, k), signed(k, n), variant=variant)[-1] == "register_tile_2d"
    )


@variants
def test_a_misaligned_matrix_uses_the_register_tile(variant, monkeypatch, signed):
    a = aligned(np.zeros(45, np.float32))[1:41].reshape(5, 8)
    a[...] = signed(5, 8)
    out = aligned(np.empty((5, 12), np.float32))
    names = launched(monkeypatch, a, aligned(signed(8, 12)), variant=variant, out=out)
    assert names[-1] == "register_tile_2d"


@variants
def test_a_non_contiguous_out_uses_the_register_tile(variant, monkeypatch, signed):
    out = np.empty((10, 24), np.float32)[::2, ::2]
    names = launched(
        monkeypatch, aligned(signed(5, 8)), aligned(signed(8, 12)), variant=variant, out=out
    )
    assert names[-1] == "register_tile_2d"


# ---- checker findings and profile counters -----------------------------------------------------


@pytest.mark.watched
@variants
@pytest.mark.parametrize(("m", "n", "k"), [(DEPTH + 3, DEPTH + 4, DEPTH + 8), (SIDE + 1, 8, 4)])
def test_checker_reports_no_findings(variant, m, n, k, signed):
    a, b, out = aligned(signed(m, k)), aligned(signed(k, n)), cuda.device_array((m, n), np.float32)
    report = gpukit.check(ALL[variant].kernel)[ALL[variant].grid("test", n, m), ALL[variant].block](
        a, b, out
    )
    assert report.findings == []


@functools.cache
def counters(variant, m=SIDE, n=SIDE, k=2 * DEPTH):
    """Return the counters of a launch; one block by default."""
    matrices = (np.ones(shape, np.float32) for shape in ((m, k), (k, n), (m, n)))
    grid = ALL[variant].grid("test", n, m)
    return gpukit.profile(ALL[variant].kernel)[grid, ALL[variant].block](
        *map(aligned, matrices)
    ).total


@pytest.mark.watched
@variants
@pytest.mark.parametrize("shape", [(1, 4, 4), (SIDE + 1, 68, 8), (41, 136, 20)], ids=str)
def test_cost_equals_the_profile_counters(variant, shape):
    assert ALL[variant].cost(*shape) == cost_of(counters(variant, *shape))


@pytest.mark.watched
@variants
def test_kernels_do_no_float64_arithmetic(variant):
    assert counters(variant)["flops_float64"] == 0


@pytest.mark.watched
@variants
def test_global_memory_is_accessed_in_16_byte_requests(variant):
    found = counters(variant)
    stores = found["global_store_requests"] * (16 if variant in VECTORIZED else 4)
    assert found["global_bytes_asked"] == 32 * (16 * found["global_load_requests"] + stores)


@pytest.mark.watched
@pytest.mark.parametrize(
    ("variant", "reads", "products"),
    # A warp loads 4 fragments of a (4 registers) and 4 of b (2) for 16 mma of 16 x 8 x 8.
    [("vectorized", 4, 64), ("double_buffered", 4, 64), ("tensor_tf32", 24, 16 * 16 * 8 * 8 / 32)],
)
def test_shared_loads_per_product_are_as_documented(variant, reads, products):
    all_products = SIDE * SIDE * 2 * DEPTH / 32  # per warp, like requests
    assert counters(variant)["shared_load_requests"] == reads * all_products / products


@pytest.mark.watched
@variants
def test_only_stores_that_cannot_be_padded_have_bank_conflicts(variant):
    found = counters(variant)
    # Of the 10 stores that fill both tiles, 8 are single elements of the tile of a; for tensor
    # cores half of the stores are float4s of a, whose groups of 8 threads take two wavefronts.
    conflicts = {"vectorized": 8 / 10, "double_buffered": 0, "tensor_tf32": 4 / 2}[variant]
    assert found["shared_load_conflicts"] == 0
    assert found["shared_store_conflicts"] == found["shared_store_requests"] * conflicts


@pytest.mark.watched
@variants
def test_barriers_per_warp_are_as_documented(variant):
    # 32 steps along k; double buffering needs one barrier per tile and one before the first.
    barriers = {"vectorized": 2 * 2, "double_buffered": 1 + 4, "tensor_tf32": 1 + 2}
    assert counters(variant)["barriers"] == barriers[variant] * 8
