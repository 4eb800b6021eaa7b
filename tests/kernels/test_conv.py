"""Convolution: every variant against the formula, with groups, dilation and named padding."""

import numpy as np
import pytest

import gpukit
from gpukit import cuda, launch
from gpukit.kernels import conv
from gpukit.kernels.conv import direct, tiled, windows
from tests.kernels.convolutions import CASES, absolute, conv_by_formula

cases = pytest.mark.parametrize(
    ("image", "weight", "stride", "padding", "dilation"), CASES, ids=str
)
variants = pytest.mark.parametrize("variant", [variant.name for variant in conv.VARIANTS])
FITTING = [  # each kernel with the cases that it accepts
    (variant, *case)
    for variant in conv.VARIANTS[:3]
    for case in CASES
    if variant.name != "tiled" or tiled.fits(case[1][2:], windows.Windows(*case[2:], (1, 1)))
]
kernels = pytest.mark.parametrize(
    "variant",
    [variant for variant in conv.VARIANTS if variant.name in ("direct", "tiled")],
    ids=lambda r: r.name,
)


def block_and_grid(shape):
    block = (direct.BLOCK_X, direct.BLOCK_Y, 1)
    return (*launch.grid_2d("test", shape[3], shape[2], block), shape[0] * shape[1]), block


@cases
@pytest.mark.costly
def test_conv2d_reference_is_the_formula(image, weight, stride, padding, dilation, signed):
    image, weight, bias = signed(*image), signed(*weight), signed(weight[0])
    expected = conv_by_formula(image, weight, bias, stride, padding, dilation)
    moves = {"stride": stride, "padding": padding, "dilation": dilation}
    actual = conv.conv2d_reference(image, weight, bias, **moves)
    np.testing.assert_allclose(actual, expected, rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize(
    ("variant", "image", "weight", "stride", "padding", "dilation"),
    [case for case in FITTING if case[0].name != "constant"],
    ids=lambda value: value.name if isinstance(value, launch.Variant) else str(value),
)
def test_kernel_matches_the_reference(
    variant, image, weight, stride, padding, dilation, signed, poisoned, assert_close
):
    moves = stride, padding, dilation
    named = dict(zip(("stride", "padding", "dilation"), moves, strict=True))
    image, weight, bias = signed(*image), signed(*weight), signed(weight[0])
    expected = conv.conv2d_reference(image, weight, bias, **named)
    out = poisoned(*expected.shape)
    grid, block = block_and_grid(out.shape)
    variant.kernel[grid, block](image, weight, bias, *moves, out)
    size = absolute(image, weight, bias, *moves)
    assert_close(out, expected, magnitude=size, length=weight[0].size + 1)


@kernels
@pytest.mark.parametrize("planes", [1, 4, 6])
def test_kernel_visits_every_plane_with_fewer_blocks(variant, planes, signed, poisoned):
    image, weight, bias = signed(2, 1, 4, 5), signed(3, 1, 1, 1), signed(3)
    out = poisoned(2, 3, 4, 5)
    grid, block = block_and_grid(out.shape)
    variant.kernel[(*grid[:2], planes), block](image, weight, bias, (1, 1), (0, 0), (1, 1), out)
    assert not np.isnan(out).any()


@variants
@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
@cases
@pytest.mark.costly
def test_conv2d_matches_the_reference(
    variant, dtype, image, weight, stride, padding, dilation, signed, assert_close
):
    moves = {"stride": stride, "padding": padding, "dilation": dilation}
    groups = image[1] // weight[1]
    arrays = [signed(*shape, dtype=dtype) for shape in (image, weight, weight[:1])]
    out = conv.conv2d(*arrays, **moves, groups=groups, variant=variant)
    expected = conv.conv2d_reference(*arrays, **moves)
    size = absolute(*arrays, *moves.values())
    assert out.dtype == dtype
    assert_close(out, expected, magnitude=size, length=4 * np.prod(weight[1:]))


@variants
def test_conv2d_without_a_bias_adds_none(variant, signed):
    image, weight = signed(2, 3, 6, 7), signed(4, 3, 3, 3)
    with_zeros = conv.conv2d(image, weight, np.zeros(4, np.float32), variant=variant)
    np.testing.assert_array_equal(conv.conv2d(image, weight, variant=variant), with_zeros)


@variants
@pytest.mark.costly
def test_conv2d_does_not_flip_the_weights(variant):
    image = np.array([[[[1, 2, 3]]]], np.float32)
    weight = np.array([[[[10, 1]]]], np.float32)
    assert conv.conv2d(image, weight, variant=variant).tolist() == [[[[12.0, 23.0]]]]


@variants
def test_conv2d_of_windows_in_the_padding_is_the_bias(variant):
    image, weight = np.full((1, 1, 1, 1), np.nan, np.float32), np.ones((1, 1, 1, 1), np.float32)
    out = conv.conv2d(image, weight, np.full(1, 5, np.float32), padding=1, variant=variant)
    expected = np.full((3, 3), 5, np.float32)
    expected[1, 1] = np.nan
    np.testing.assert_array_equal(out[0, 0], expected)


@variants
@pytest.mark.costly
def test_conv2d_matches_the_reference_on_the_example_layer(variant, rng, assert_close):
    arrays = [
        rng.standard_normal(shape).astype(np.float32)
        for shape in ((1, 3, 224, 224), (16, 3, 3, 3), (16,))
    ]
    out = conv.conv2d(*arrays, padding=1, variant=variant)
    assert out.shape == (1, 16, 224, 224)
    expected = conv.conv2d_reference(*arrays, padding=(1, 1))
    size = absolute(*arrays, (1, 1), (1, 1), (1, 1))
    assert_close(out, expected, magnitude=size, length=28)


@pytest.mark.slow
def test_conv2d_builds_columns_for_a_few_images_at_a_time(rng, assert_close):
    arrays = [
        rng.standard_normal(shape).astype(np.float32)
        for shape in ((3, 3, 224, 224), (32, 3, 3, 3), (32,))
    ]
    out = conv.conv2d(*arrays, padding=1)
    size = absolute(*arrays, (1, 1), (1, 1), (1, 1))
    expected = conv.conv2d_reference(*arrays, padding=(1, 1))
    assert_close(out, expected, magnitude=size, length=28)


@pytest.mark.parametrize("most", [1, 400, 10_000])
def test_number_of_images_per_column_matrix_does_not_change_the_result(most, monkeypatch, signed):
    arrays = signed(5, 2, 6, 7), signed(4, 2, 3, 3), signed(4)
    expected = conv.conv2d(*arrays)
    monkeypatch.setattr(conv.by_columns, "MOST_COLUMNS", most)
    np.testing.assert_array_equal(conv.conv2d(*arrays), expected)


@variants
@pytest.mark.costly
def test_padding_same_keeps_the_size_of_the_image(variant, signed, assert_close):
    image, weight = signed(2, 2, 9, 10), signed(3, 2, 3, 4)
    out = conv.conv2d(image, weight, padding="same", dilation=(2, 1), variant=variant)
    wider = np.pad(image, ((0, 0), (0, 0), (2, 2), (1, 2)))
    expected = conv.conv2d_reference(wider, weight, np.zeros(3), dilation=(2, 1))
    size = conv.conv2d_reference(np.abs(wider), np.abs(weight), np.zeros(3), dilation=(2, 1))
    assert_close(out, expected, magnitude=size, length=weight[0].size)


def test_padding_valid_is_zero_padding(signed):
    image, weight = signed(1, 1, 5, 6), signed(1, 1, 3, 3)
    expected = conv.conv2d(image, weight)
    np.testing.assert_array_equal(conv.conv2d(image, weight, padding="valid"), expected)


def test_an_integer_stands_for_an_equal_pair(signed):
    image, weight = signed(1, 1, 9, 9), signed(1, 1, 3, 3)
    expected = conv.conv2d(image, weight, stride=(2, 2), padding=(1, 1), dilation=(3, 3))
    np.testing.assert_array_equal(conv.conv2d(image, weight, None, 2, 1, 3), expected)


# ---- constant memory ------------------------------------------------------------------------


def test_weights_in_constant_memory_are_compiled_once():
    weight = np.arange(9, dtype=np.float32).reshape(1, 1, 3, 3)
    assert direct.with_filters(weight) is direct.with_filters(weight.copy())
    assert direct.with_filters(weight) is not direct.with_filters(weight + 1)
    assert direct.with_filters(weight) is not direct.with_filters(weight.reshape(1, 1, 1, 9))


def test_filters_are_applied_one_after_the_other(signed):
    image, first, second = signed(1, 1, 6, 6), signed(1, 1, 3, 3), signed(1, 1, 3, 3)
    for weight in (first, second, first):
        expected = conv.conv2d(image, weight, variant="direct")
        np.testing.assert_array_equal(conv.conv2d(image, weight, variant="constant"), expected)


def test_the_constant_memory_kernel_as_written_finds_edges(poisoned):
    image = np.zeros((1, 1, 3, 4), np.float32)
    image[..., 2:] = 1
    out = poisoned(1, 2, 1, 2)
    grid, block = block_and_grid(out.shape)
    kernel = direct.conv2d_constant_kernel[grid, block]
    kernel(image, np.zeros(2, np.float32), (1, 1), (0, 0), (1, 1), out)
    assert out.tolist() == [[[[4.0, 4.0]], [[0.0, 0.0]]]]


def test_weights_that_exceed_constant_memory_use_the_direct_variant(signed):
    image, weight = signed(1, 129, 1, 2), signed(128, 129, 1, 1)
    assert weight.nbytes > direct.MOST_CONSTANT
    before = direct._kernel_for.cache_info().misses
    expected = conv.conv2d(image, weight, variant="direct")
    np.testing.assert_array_equal(conv.conv2d(image, weight, variant="constant"), expected)
    assert direct._kernel_for.cache_info().misses == before


# ---- the tile -------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize(("more", "fits"), [(0, True), (1, False)])
def test_a_tile_accepts_windows_up_to_its_edge_and_no_larger(
    axis, more, fits, signed, assert_close
):
    block = (direct.BLOCK_Y, direct.BLOCK_X)[axis]
    n = (tiled.TILE_ROWS, tiled.TILE_COLS)[axis] - block + 1 + more
    window = (n, 1) if axis == 0 else (1, n)
    moves = windows.Windows((1, 1), (0, 0), (1, 1), (1, 1))
    assert tiled.fits(window, moves) is fits
    image, weight = signed(1, 1, 70, 70), signed(1, 1, *window)
    out = conv.conv2d(image, weight, variant="tiled")
    expected = conv.conv2d_reference(image, weight, [0])
    size = conv.conv2d_reference(np.abs(image), np.abs(weight), [0])
    assert_close(out, expected, magnitude=size, length=weight.size)


# ---- device arrays, slices, empty arrays ----------------------------------------------------


@variants
@pytest.mark.costly
def test_conv2d_of_device_arrays_equals_that_of_numpy_arrays(variant, signed):
    arrays = signed(2, 4, 5, 6), signed(6, 2, 2, 2), signed(6)
    expected = conv.conv2d(*arrays, groups=2, variant=variant)
    out = conv.conv2d(*map(cuda.to_device, arrays), groups=2, variant=variant)
    assert launch.is_device_array(out)
    np.testing.assert_array_equal(out.copy_to_host(), expected)


@variants
@pytest.mark.costly
def test_conv2d_writes_into_an_array_slice(variant, signed):
    arrays = signed(1, 2, 4, 6), signed(3, 2, 2, 2), signed(3)
    expected = conv.conv2d(*arrays, variant=variant)
    whole = np.full((1, 3, 5, 7), 7, np.float32)
    conv.conv2d(*arrays, variant=variant, out=whole[:, :, 1:4, 1:6])
    np.testing.assert_array_equal(whole[:, :, 1:4, 1:6], expected)
    assert (whole[:, :, 0] == 7).all()


@variants
def test_conv2d_of_no_images_is_empty(variant):
    image, weight = np.empty((0, 2, 5, 5), np.float32), np.ones((3, 2, 3, 3), np.float32)
    assert conv.conv2d(image, weight, variant=variant).shape == (0, 3, 3, 3)


# ---- costs ----------------------------------------------------------------------------------


def test_cost_without_padding_counts_every_tap():
    # 2 images, 3 in and 4 out channels, 2 x 3 weights, 3 x 3 pixels out: 1296 taps; 72 stores.
    cost = direct.conv2d_direct_cost((2, 3, 4, 5), (4, 3, 2, 3))
    assert cost == launch.Cost(bytes=4 * (2 * 1296 + 2 * 72), flops=2 * 1296)


def test_cost_excludes_taps_that_fall_on_padding():
    # 3 x 3 window on 3 x 3 pixels, padded by 1: along each axis 2 + 3 + 2 taps are inside.
    cost = direct.conv2d_direct_cost((1, 1, 3, 3), (1, 1, 3, 3), padding=(1, 1))
    assert cost == launch.Cost(bytes=4 * (2 * 49 + 2 * 9), flops=98)


def test_cost_with_stride_counts_only_windows_that_are_computed():
    # Along 7 pixels a window of 3 starts at 0, 2 and 4; float64.
    cost = direct.conv2d_direct_cost((1, 1, 1, 7), (1, 1, 1, 3), stride=(1, 2), itemsize=8)
    assert cost == launch.Cost(bytes=8 * (2 * 9 + 2 * 3), flops=18)


def test_constant_memory_is_not_counted():
    # A vertical and a horizontal filter on 3 x 4 pixels: 2 planes of 2 pixels, 9 taps each.
    cost = direct.conv2d_constant_cost((1, 1, 3, 4))
    assert cost == launch.Cost(bytes=4 * (36 + 2 * 4), flops=72)


WATCHED = [
    pytest.param(variant, case, id=f"{variant.name}-{case}")
    for variant, *case in FITTING
    if case[0][2] < 20
]


@pytest.mark.watched
@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
@pytest.mark.parametrize(("variant", "case"), WATCHED)
def test_cost_equals_the_profile_counters(variant, dtype, case, signed):
    image, weight, *moves = case
    arrays = [signed(*shape, dtype=dtype) for shape in (image, weight, weight[:1])]
    named = dict(zip(("stride", "padding", "dilation"), moves, strict=True))
    kernel = direct.with_filters(arrays.pop(1)) if variant.name == "constant" else variant.kernel
    shape = conv.conv2d_reference(*map(np.zeros, (image, weight, weight[0])), **named).shape
    out = np.empty(shape, dtype)
    grid, block = block_and_grid(out.shape)
    found = gpukit.profile(kernel)[grid, block](*arrays, *moves, out).total
    expected = launch.Cost(found["global_bytes_asked"], found.flops)
    assert variant.cost(image, weight, **named, itemsize=np.dtype(dtype).itemsize) == expected


@pytest.mark.watched
@pytest.mark.parametrize(("variant", "case"), WATCHED)
def test_checker_reports_no_findings(variant, case, signed):
    image, weight, *moves = case
    arrays = signed(*image), signed(*weight), signed(weight[0])
    groups = image[1] // weight[1]
    shape = conv.conv2d(*arrays, *moves, groups).shape
    kernel, inputs = variant.kernel, arrays
    if variant.name == "constant":
        kernel, inputs = direct.with_filters(arrays[1]), (arrays[0], arrays[2])
    grid, block = block_and_grid(shape)
    checked = gpukit.check(kernel)[grid, block]
    assert checked(*inputs, *moves, cuda.device_array(shape, np.float32)).findings == []
