"""Attention: both variants forward and backward against the formula written out in float64."""

import numpy as np
import pytest

from gpukit import cuda, launch
from gpukit.kernels import attention
from gpukit.kernels.attention import naive, tiled

BM, BN, HEAD = tiled.BM, tiled.BN, tiled.HEAD
FORWARD, BACKWARD = (
    attention.scaled_dot_product_attention,
    attention.scaled_dot_product_attention_backward,
)
# (B, H, L, S, D, Dv): all ones; around the tile sizes; distinct primes; wider than a tile.
SHAPES = [
    (1, 1, 1, 1, 1, 1),
    (2, 1, BM, BN, HEAD, HEAD),
    (1, 2, BM - 1, BN + 1, HEAD - 1, 3),
    (1, 1, BM + 1, 2 * BN - 1, 5, HEAD),
    (2, 3, 37, 53, 13, 7),
    (1, 2, 53, 19, 8, 16),
    (3, 1, 5, 7, HEAD + 1, 2),
]

shapes = pytest.mark.parametrize("sizes", SHAPES, ids=str)
dtypes = pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
variants = pytest.mark.parametrize("variant", ["naive", "tiled"])
masks = pytest.mark.parametrize("causal", [False, True], ids=["all", "causal"])


@pytest.fixture
def make_inputs(rng):
    """Return a function that makes query, key, value and the gradient of the output."""

    def make(b, h, rows, keys, d, dv, dtype=np.float64):
        lengths = (rows, d), (keys, d), (keys, dv), (rows, dv)
        return [rng.standard_normal((b, h, *length)).astype(dtype) for length in lengths]

    return make


def query_by_query(query, key, value, causal, scale=None):
    """Return output and logsumexp, computed one query at a time."""
    b, h, rows, d = query.shape
    scale = d**-0.5 if scale is None else scale
    out, kept = np.zeros((b, h, rows, value.shape[3])), np.zeros((b, h, rows))
    for i, j, row in np.ndindex(kept.shape):
        seen = slice(row + 1 if causal else None)
        scores = [scale * float(np.dot(query[i, j, row], k)) for k in key[i, j, seen]]
        kept[i, j, row] = np.logaddexp.reduce(scores)
        out[i, j, row] = np.exp(scores - kept[i, j, row]) @ value[i, j, seen]
    return out, kept


def assert_equal(result, expected, terms):
    """Compare numbers of about 1 that result from `terms` roundings."""
    assert result.shape == expected.shape
    tolerance = (terms + 16) * np.finfo(result.dtype).eps * max(1, np.abs(expected).max(initial=0))
    assert (np.abs(result - expected) <= tolerance).all()


def both(arrays, causal, variant, **options):
    """Return the output, the saved logsumexp and the three gradients."""
    query, key, value, grad = arrays
    kept = np.full(query.shape[:3], np.nan, query.dtype)
    out = FORWARD(query, key, value, causal, variant=variant, logsumexp=kept, **options)
    grads = BACKWARD(grad, query, key, value, out, kept, causal, variant=variant, **options)
    return out, kept, *grads


@shapes
@dtypes
@masks
@variants
@pytest.mark.costly
def test_output_and_logsumexp_match_the_query_by_query_formula(
    sizes, dtype, causal, variant, make_inputs
):
    query, key, value, _ = make_inputs(*sizes, dtype=dtype)
    out, kept = (
        np.full(shape, np.nan, dtype) for shape in ((*query.shape[:3], sizes[5]), query.shape[:3])
    )
    assert FORWARD(query, key, value, causal, variant=variant, out=out, logsumexp=kept) is out
    expected = query_by_query(*(x.astype(float) for x in (query, key, value)), causal)
    assert_equal(out, expected[0], sizes[4] + sizes[3])
    assert_equal(kept, expected[1], sizes[4] + sizes[3])


@shapes
@dtypes
@masks
@variants
@pytest.mark.slow
def test_gradients_match_the_reference(sizes, dtype, causal, variant, make_inputs):
    arrays = make_inputs(*sizes, dtype=dtype)
    query, key, value, grad = arrays
    *_, grad_query, grad_key, grad_value = both(arrays, causal, variant)
    expected = attention.attention_backward_reference(grad, query, key, value, causal)
    for result, reference in zip((grad_query, grad_key, grad_value), expected, strict=True):
        assert_equal(result, reference, 4 * max(sizes))


@masks
@variants
@pytest.mark.parametrize("place", range(3), ids=["query", "key", "value"])
@pytest.mark.slow
def test_gradients_agree_with_finite_differences(causal, variant, place, make_inputs):
    arrays = make_inputs(1, 2, 3, 4, 5, 2)
    gradient = both(arrays, causal, variant)[2 + place]
    step = np.cbrt(np.finfo(np.float64).eps)
    for where in np.ndindex(gradient.shape):
        errors = []
        for sign in (1, -1):
            moved = [x.copy() for x in arrays[:3]]
            moved[place][where] += sign * step
            errors.append((FORWARD(*moved, causal, variant=variant) * arrays[3]).sum())
        slope = (errors[0] - errors[1]) / (2 * step)
        assert abs(slope - gradient[where]) <= 1e-8 * max(1, abs(slope))


def test_reference_matches_the_query_by_query_formula(make_inputs):
    query, key, value, _ = make_inputs(2, 1, 5, 7, 3, 4)
    for causal in (False, True):
        expected, _ = query_by_query(query, key, value, causal, scale=0.3)
        result = attention.attention_reference(query, key, value, causal, 0.3)
        np.testing.assert_allclose(result, expected)


@variants
def test_scale_replaces_one_over_the_root_of_d(variant, make_inputs):
    query, key, value, grad = make_inputs(1, 2, 9, 21, 6, 5)
    expected, kept = query_by_query(query, key, value, False, scale=-0.7)
    out = FORWARD(query, key, value, scale=-0.7, variant=variant)
    np.testing.assert_allclose(out, expected, atol=1e-14)
    result = BACKWARD(grad, query, key, value, out, kept, scale=-0.7, variant=variant)
    reference = attention.attention_backward_reference(grad, query, key, value, scale=-0.7)
    for mine, other in zip(result, reference, strict=True):
        np.testing.assert_allclose(mine, other, atol=1e-13)


MASKS = [(37, 53), (1, 53), (37, 1), (3, 1, 53), (2, 1, 37, 53), (2, 3, 37, 53)]


@variants
@masks
@dtypes
@pytest.mark.parametrize("kind", ["keeps", "adds"])
@pytest.mark.parametrize("shape", MASKS, ids=str)
@pytest.mark.costly
def test_a_mask_broadcasts_along_its_axes_of_length_one(
    shape, kind, dtype, causal, variant, make_inputs, rng
):
    arrays = make_inputs(2, 3, 37, 53, 13, 7, dtype=dtype)
    mask = rng.standard_normal(shape).astype(dtype)
    if kind == "keeps":
        mask = mask > -1
        mask[..., 0] = True  # every query attends to some key
    query, key, value, grad = arrays
    out, _, *grads = both(arrays, causal, variant, attn_mask=mask)
    expected = attention.attention_reference(query, key, value, causal, attn_mask=mask)
    assert_equal(out, expected, 13 + 53)
    reference = attention.attention_backward_reference(
        grad, query, key, value, causal, attn_mask=mask
    )
    for result, other in zip(grads, reference, strict=True):
        assert_equal(result, other, 4 * 53)


@pytest.mark.parametrize("shape", [(4, 4), (2, 1, 1), (1, 1, 1, 1, 1)], ids=str)
def test_a_mask_that_does_not_broadcast_is_rejected(shape, make_inputs):
    query, key, value, _ = make_inputs(1, 3, 4, 5, 6, 7)
    with pytest.raises(
        ValueError, match=r"expected attn_mask\.shape to be \(1, 3, 4, 5\) or 1 along"
    ):
        FORWARD(query, key, value, attn_mask=np.ones(shape))


@variants
def test_a_device_mask_gives_the_same_result_as_a_numpy_mask(variant, make_inputs):
    arrays, mask = make_inputs(1, 2, 5, 7, 4, 3), np.arange(7) < 5
    moved = [cuda.to_device(x) for x in arrays[:3]]
    out = FORWARD(*moved, attn_mask=cuda.to_device(mask), variant=variant)
    expected = FORWARD(*arrays[:3], attn_mask=mask, variant=variant)
    np.testing.assert_array_equal(launch.to_host(out), expected)


@variants
def test_causal_query_0_attends_to_key_0_only(variant, make_inputs):
    query, key, value, _ = make_inputs(1, 1, 3, 40, 4, 5)
    out = FORWARD(query, key, value, is_causal=True, variant=variant)
    np.testing.assert_array_equal(out[0, 0, 0], value[0, 0, 0])


@variants
@pytest.mark.slow
def test_large_scores_do_not_overflow(variant, make_inputs):
    query, key, value, _ = make_inputs(1, 1, 35, 35, 8, 3, dtype=np.float32)
    out, kept = (x[0, 0] for x in both([1000 * query, key, value, value], False, variant)[:2])
    best = (query @ np.swapaxes(key, 2, 3))[0, 0].argmax(1)
    assert np.isfinite(out).all()
    assert np.isfinite(kept).all()
    assert np.abs(out - value[0, 0, best]).max(1).min() < 1e-6


@variants
def test_a_nan_stays_in_the_row_of_its_query(variant, make_inputs):
    query, key, value, _ = make_inputs(2, 2, 40, 20, 8, 3)
    query[1, 0, 33, 2] = np.nan
    found = np.isnan(FORWARD(query, key, value, variant=variant))
    assert found[1, 0, 33].all()
    assert found.sum() == 3


@variants
@masks
@pytest.mark.slow
def test_views_with_swapped_axes_give_bit_identical_results(variant, causal, make_inputs):
    arrays = make_inputs(2, 3, 37, 45, 12, 12)
    views = [np.ascontiguousarray(x.swapaxes(1, 2)).swapaxes(1, 2) for x in arrays]
    for result, expected in zip(
        both(views, causal, variant), both(arrays, causal, variant), strict=True
    ):
        np.testing.assert_array_equal(result, expected)


@variants
@pytest.mark.slow
def test_results_are_written_into_views(variant, make_inputs):
    query, key, value, grad = make_inputs(2, 3, 37, 37, 12, 12)
    out, kept, *grads = both((query, key, value, grad), False, variant)
    packed = np.full((2, 37, 3, 3, 12), np.nan)  # B, T, gradient of query, key or value, H, D
    outs = tuple(packed[:, :, k].swapaxes(1, 2) for k in range(3))
    results = BACKWARD(grad, query, key, value, out, kept, variant=variant, out=outs)
    for view, returned, expected in zip(outs, results, grads, strict=True):
        assert returned is view
        np.testing.assert_array_equal(view, expected)


@pytest.mark.cpu
def test_a_view_is_not_copied(make_inputs):
    view = make_inputs(2, 3, 4, 5, 6, 7)[0].swapaxes(1, 2)
    assert launch.to_device(view, strided=True) is view


@variants
def test_device_arrays_stay_on_the_device(variant, make_inputs):
    arrays = make_inputs(1, 2, 5, 7, 4, 3)
    moved = [cuda.to_device(x) for x in arrays]
    kept = cuda.device_array((1, 2, 5), np.float64)
    out = FORWARD(*moved[:3], variant=variant, logsumexp=kept)
    found = out, kept, *BACKWARD(moved[3], *moved[:3], out, kept, variant=variant)
    for result, expected in zip(found, both(arrays, False, variant), strict=True):
        assert launch.is_device_array(result)
        np.testing.assert_array_equal(launch.to_host(result), expected)


@masks
@pytest.mark.slow
def test_results_are_bit_identical_from_run_to_run(causal, make_inputs):
    arrays = make_inputs(4, 4, 67, 67, 32, 32, dtype=np.float32)
    first = both(arrays, causal, "tiled")
    for again in (both(arrays, causal, "tiled") for _ in range(3)):
        for result, expected in zip(again, first, strict=True):
            np.testing.assert_array_equal(result, expected)


def test_rows_wider_than_a_tile_fall_back_to_naive(make_inputs):
    arrays = make_inputs(1, 2, 9, 11, HEAD + 1, 3, dtype=np.float32)
    for result, expected in zip(
        both(arrays, True, "tiled"), both(arrays, True, "naive"), strict=True
    ):
        np.testing.assert_array_equal(result, expected)


@variants
@pytest.mark.parametrize(
    "sizes",
    [
        (0, 2, 3, 4, 5, 6),
        (2, 0, 3, 4, 5, 6),
        (1, 2, 0, 4, 5, 6),
        (1, 2, 3, 0, 5, 6),
        (1, 2, 3, 4, 5, 0),
        (0, 0, 0, 0, 0, 0),
    ],
    ids=str,
)
def test_an_empty_axis_gives_zeros(variant, sizes, make_inputs):
    out, _, *grads = both(make_inputs(*sizes), False, variant)
    for found in (out, *grads):
        np.testing.assert_array_equal(found, np.zeros(found.shape))


@variants
def test_queries_of_length_zero_attend_to_all_keys_equally(variant, make_inputs):
    query, key, value, _ = make_inputs(1, 2, 3, 4, 0, 5)
    expected = np.broadcast_to(value.mean(2, keepdims=True), (1, 2, 3, 5))
    np.testing.assert_allclose(FORWARD(query, key, value, variant=variant), expected)


def test_tiled_requests_a_fiftieth_of_the_bytes_that_naive_requests():
    sizes = 8, 1024, 1024, 64
    parts = (
        naive.attention_scores_cost(*sizes),
        naive.attention_softmax_cost(8 * 1024, 1024),
        naive.attention_values_cost(*sizes),
    )
    whole = tiled.attention_tiled_cost(*sizes, 64)
    assert 50 * whole.bytes < sum(part.bytes for part in parts)


def test_a_causal_mask_saves_nearly_half_of_the_operations():
    whole, half = (tiled.attention_tiled_cost(1, 4096, 4096, 64, 64, causal) for causal in (0, 1))
    assert 0.5 < half.flops / whole.flops < 0.51


def test_a_key_with_another_head_dimension_than_the_query_is_rejected(make_inputs):
    query, key, value, _ = make_inputs(1, 2, 3, 4, 5, 6)
    with pytest.raises(ValueError, match=r"attention: expected key\.shape == \(1, 2, 4, 5\), got"):
        FORWARD(query, key[..., :4], value)


def test_values_of_another_number_of_keys_are_rejected(make_inputs):
    query, key, value, _ = make_inputs(1, 2, 3, 4, 5, 6)
    with pytest.raises(ValueError, match=r"attention: expected key\.shape == \(1, 2, 3, 5\), got"):
        FORWARD(query, key, value[:, :, :3])


def test_a_logsumexp_of_another_shape_is_rejected(make_inputs):
    query, key, value, _ = make_inputs(1, 2, 3, 4, 5, 6)
    with pytest.raises(ValueError, match=r"\(logsumexp\): expected out\.shape == \(1, 2, 3\)"):
        FORWARD(query, key, value, logsumexp=np.zeros((1, 2, 4)))
