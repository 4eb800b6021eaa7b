"""Philox, rand and dropout."""

import numpy as np
import pytest

import gpukit
from gpukit import cuda
from gpukit.kernels import dropout, philox
from gpukit.launch import Cost, ceil_div

BLOCK, TILE = philox.BLOCK, philox.TILE
SIZES = [1, 3, 4, 5, BLOCK + 1, TILE - 1, TILE, TILE + 1, 4099]
SEED, OFFSET = 0x243F6A8885A308D3, 0x13198A2E03707344

sizes = pytest.mark.parametrize("n", SIZES)
dtypes = pytest.mark.parametrize("dtype", [np.float32, np.float64])

# Key, counter and output words, lowest first: "philox4x32 10" in Random123's kat_vectors.
KNOWN = [
    ((0, 0), (0, 0, 0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((2**32 - 1,) * 2, (2**32 - 1,) * 4, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0xA4093822, 0x299F31D0),
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]


def together(low, high):
    return np.uint64(low | high << 32)


@cuda.jit
def counter_kernel(key, low, high, out):
    out[0], out[1], out[2], out[3] = philox.philox(key, low, high)


@cuda.jit
def uniform_kernel(words, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = philox.uniform(words[i])


# ---- the words ------------------------------------------------------------------------------


@pytest.mark.parametrize(("key", "counter", "words"), KNOWN)
def test_words_match_the_random123_test_vectors(key, counter, words):
    out = np.zeros(4, np.uint32)
    low, high = together(*counter[:2]), together(*counter[2:])
    counter_kernel[1, 1](together(*key), low, high, out)
    assert tuple(out) == words


@sizes
def test_reference_words_match_single_counters(n):
    out, words = np.zeros(4, np.uint32), philox.words_reference(n, SEED, OFFSET)
    last = (n - 1) // 4
    counter_kernel[1, 1](np.uint64(SEED), np.uint64(last), np.uint64(OFFSET), out)
    np.testing.assert_array_equal(words[4 * last :], out[: n - 4 * last])


@pytest.mark.parametrize(
    ("word", "number"), [(0, 0), (255, 0), (256, 2.0**-24), (2**31, 0.5), (2**32 - 1, 1 - 2.0**-24)]
)
def test_uniform_number_comes_from_the_upper_24_bits_of_a_word(word, number):
    out = np.full(1, np.nan, np.float32)
    uniform_kernel[1, 1](np.array([word], np.uint32), out)
    assert out[0] == number


# ---- rand -----------------------------------------------------------------------------------


@sizes
def test_rand_matches_the_reference(n):
    actual = philox.rand(n, seed=SEED, offset=OFFSET)
    assert actual.dtype == np.float32
    np.testing.assert_array_equal(actual, philox.rand_reference(n, SEED, OFFSET))


def test_longer_rand_begins_with_the_shorter_one():
    np.testing.assert_array_equal(philox.rand(5000, seed=1)[:1234], philox.rand(1234, seed=1))


@pytest.mark.parametrize("other", [{"seed": 2**32}, {"seed": 1}, {"seed": 0, "offset": 1}])
def test_rand_depends_on_seed_and_offset(other):
    assert (philox.rand(1000, seed=0) != philox.rand(1000, **other)).all()


def test_rand_is_uniform():
    n, bins = 1_000_000, 100
    counts = np.histogram(philox.rand(n, seed=20261125), bins, (0, 1))[0]
    chi_squared = ((counts - n / bins) ** 2 / (n / bins)).sum()
    assert abs(chi_squared - (bins - 1)) < 5 * (2 * (bins - 1)) ** 0.5


def test_rand_of_an_empty_shape_is_empty():
    assert philox.rand(3, 0, seed=1).shape == (3, 0)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"seed": -1}, "expected seed >= 0, got -1"),
        ({"seed": 2**64}, r"expected seed < 2\*\*64, got 18446744073709551616"),
        ({"seed": 0, "offset": -1}, "expected offset >= 0, got -1"),
    ],
)
def test_rand_rejects_seeds_and_offsets_beyond_64_bits(options, words):
    with pytest.raises(ValueError, match=f"^rand: {words}"):
        philox.rand(3, **options)


# ---- dropout --------------------------------------------------------------------------------


@sizes
@dtypes
def test_kernel_matches_the_reference(n, dtype, signed, poisoned):
    x, out = signed(n, dtype=dtype), poisoned(n, dtype=dtype)
    chance = np.float32(0.25), dtype(1 / 0.75), np.uint64(SEED), np.uint64(OFFSET)
    dropout.dropout_kernel[ceil_div(n, TILE), BLOCK](x, *chance, out)
    expected = dropout.dropout_reference(x, 0.25, SEED, OFFSET)
    np.testing.assert_allclose(out, expected, rtol=2 * np.finfo(dtype).eps)


@pytest.mark.parametrize("p", [0.0, 0.1, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("shape", [(), (7,), (3, 0, 2), (2, 3, 4, 5), (3, 1367)], ids=str)
@dtypes
def test_dropout_matches_the_reference_in_any_shape(p, shape, dtype, signed):
    x = np.asarray(signed(*shape, dtype=dtype))
    actual = dropout.dropout(x, p, seed=SEED)
    assert actual.dtype == dtype
    expected = dropout.dropout_reference(x, p, SEED)
    np.testing.assert_allclose(actual, expected, rtol=4 * np.finfo(dtype).eps)


@pytest.mark.parametrize(("p", "training"), [(0, True), (0.9, False)])
def test_dropout_with_p_0_or_in_inference_is_the_identity(p, training, signed):
    x = signed(1009)
    np.testing.assert_array_equal(dropout.dropout(x, p, training=training, seed=1), x)


def test_dropout_with_p_1_returns_zeros(signed):
    assert (dropout.dropout(signed(1009), 1, seed=1) == 0).all()


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_dropout_drops_with_probability_p(p):
    n = 1_000_000
    dropped = (dropout.dropout(np.ones(n, np.float32), p, seed=7) == 0).sum()
    assert abs(dropped - n * p) < 5 * (n * p * (1 - p)) ** 0.5


def test_dropout_mask_is_the_same_in_both_dtypes():
    masks = [dropout.dropout(np.ones(4099, t), 0.1, seed=7) == 0 for t in (np.float32, np.float64)]
    np.testing.assert_array_equal(*masks)


def test_dropout_drops_nan_and_infinity(signed):
    actual = dropout.dropout(np.array([np.nan, np.inf, -np.inf], np.float32), 1, seed=7)
    assert actual.tolist() == [0, 0, 0]


def test_dropout_mask_does_not_depend_on_the_launch_shape(signed, poisoned):
    x, out = signed(4099), poisoned(4099)
    chance = np.float32(0.5), np.float32(2), np.uint64(7), np.uint64(0)
    dropout.dropout_kernel[29, BLOCK](x, *chance, out)
    np.testing.assert_array_equal(out, dropout.dropout(x, seed=7))


@pytest.mark.parametrize("p", [0.0, 0.3, 1.0])
def test_backward_regenerates_the_mask(p):
    ones = np.ones((3, 1367), np.float64)
    slopes = dropout.dropout(ones, p, seed=SEED, offset=5)  # its derivatives: dropout is linear
    actual = dropout.dropout_backward(3 * ones, p, seed=SEED, offset=5)
    np.testing.assert_allclose(actual, 3 * slopes, rtol=1e-15)


@pytest.mark.parametrize("p", [-0.1, 1.1, np.nan])
def test_dropout_rejects_p_outside_0_to_1(p):
    with pytest.raises(ValueError, match=r"^dropout: expected 0 <= p <= 1, got .*\. Pass a prob"):
        dropout.dropout(np.ones(3, np.float32), p, seed=1)


# ---- checker --------------------------------------------------------------------------------


def arguments(dtype=np.float32, n=TILE + 5):
    chance = np.float32(0.5), dtype(2), np.uint64(1), np.uint64(0)
    return np.ones(n, dtype), *chance, np.empty(n, dtype)


@pytest.mark.watched
@dtypes
def test_checker_reports_no_findings_in_dropout(dtype):
    found = gpukit.check(dropout.dropout_kernel)[2, BLOCK](*arguments(dtype)).findings
    assert [finding for finding in found if finding.severity in ("error", "warning")] == []


@pytest.mark.watched
def test_checker_reports_no_findings_in_rand():
    out = np.empty(TILE + 5, np.float32)
    found = gpukit.check(philox.rand_kernel)[2, BLOCK](np.uint64(1), np.uint64(0), out).findings
    assert [finding for finding in found if finding.severity in ("error", "warning")] == []


def counters(kernel, *inputs):
    """Return the bytes requested and the operations of two blocks."""
    counts = gpukit.profile(kernel)[2, BLOCK](*inputs).total
    return Cost(counts["global_bytes_asked"], counts["flops_float32"] + counts["flops_float64"])


@pytest.mark.watched
@dtypes
def test_dropout_cost_equals_the_profile_counters(dtype):
    expected = dropout.dropout_cost(TILE + 5, np.dtype(dtype).itemsize)
    assert counters(dropout.dropout_kernel, *arguments(dtype)) == expected


@pytest.mark.watched
def test_rand_cost_equals_the_profile_counters():
    out = np.empty(TILE + 5, np.float32)
    actual = counters(philox.rand_kernel, np.uint64(1), np.uint64(0), out)
    assert actual == philox.rand_cost(TILE + 5)
