"""Invert, grey and box blur, on synthetic images and on photographs."""

import numpy as np
import pytest

from gpukit import launch
from gpukit.kernels import image

BLOCK = (image.BLOCK_X, image.BLOCK_Y)
# (rows, cols): one pixel; a row; a column; around the block size; primes.
SHAPES = [(1, 1), (1, 37), (41, 1), (7, 31), (8, 32), (9, 33), (19, 67)]
PHOTOS = ["china.jpg", "flower.jpg"]

shapes = pytest.mark.parametrize(("rows", "cols"), SHAPES, ids=lambda size: str(size))
photos = pytest.mark.parametrize("name", PHOTOS)
radii = pytest.mark.parametrize("radius", [0, 1, 3, 100])


def grid(rows, cols):
    return launch.grid_2d("test", cols, rows, BLOCK)


def photo(name):
    datasets = pytest.importorskip("sklearn.datasets", reason="the photographs are scikit-learn's")
    return datasets.load_sample_image(name)


@shapes
def test_invert_kernel_matches_the_reference_on_floats(rows, cols, signed, poisoned):
    picture, out = signed(rows, cols), poisoned(rows, cols)
    image.invert_kernel[grid(rows, cols), BLOCK](picture, np.float32(1), out)
    np.testing.assert_array_equal(out, image.invert_reference(picture, 1).astype(np.float32))


@shapes
def test_invert_kernel_matches_the_reference_on_bytes(rows, cols, rng):
    picture = rng.integers(0, 256, (rows, cols), np.uint8)
    out = picture.copy()  # an element that is not written differs from its inverse
    image.invert_kernel[grid(rows, cols), BLOCK](picture, np.uint8(255), out)
    np.testing.assert_array_equal(out, image.invert_reference(picture))


@shapes
def test_grey_kernel_matches_the_reference(rows, cols, rng, poisoned, assert_close):
    picture, out = rng.integers(0, 256, (rows, cols, 3), np.uint8), poisoned(rows, cols)
    image.grey_kernel[grid(rows, cols), BLOCK](picture, out)
    expected = image.grey_reference(picture)
    assert_close(out, expected, magnitude=expected, length=3)


@shapes
@radii
def test_box_blur_kernel_matches_means_of_slices(
    rows, cols, radius, signed, poisoned, assert_close
):
    picture, out = signed(rows, cols), poisoned(rows, cols)
    image.box_blur_kernel[grid(rows, cols), BLOCK](picture, radius, out)
    window = np.empty((rows, cols)), np.empty((rows, cols))
    for row in range(rows):
        for col in range(cols):
            near = picture[max(row - radius, 0) : row + radius + 1]
            near = near[:, max(col - radius, 0) : col + radius + 1].astype(np.float64)
            window[0][row, col], window[1][row, col] = near.mean(), np.abs(near).mean()
    assert_close(
        out, window[0], magnitude=window[1], length=min((2 * radius + 1) ** 2, rows * cols)
    )


@photos
def test_inverting_a_photograph_twice_restores_it(name):
    picture = photo(name)
    np.testing.assert_array_equal(image.invert(image.invert(picture)), picture)


@photos
def test_photograph_inverted_matches_the_reference(name):
    picture = photo(name)
    np.testing.assert_array_equal(image.invert(picture), image.invert_reference(picture))


@photos
def test_photograph_in_grey_matches_the_reference(name, assert_close):
    picture = photo(name)
    expected = image.grey_reference(picture)
    assert_close(image.grey(picture), expected, magnitude=expected, length=3)


@photos
@pytest.mark.parametrize("radius", [1, 4])
def test_photograph_blurred_matches_the_reference(name, radius, assert_close):
    picture = image.grey(photo(name))
    expected = image.box_blur_reference(picture, radius)
    assert_close(
        image.box_blur(picture, radius), expected, magnitude=expected, length=(2 * radius + 1) ** 2
    )


def test_grey_accepts_floats_on_any_scale():
    picture = np.array([[[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]]], np.float32)
    np.testing.assert_allclose(image.grey(picture), [[0.299, 0.587, 0.114, 1]], rtol=1e-6)


def test_box_blur_of_two_pixels_is_their_mean():
    assert image.box_blur(np.array([[0, 3]], np.float32), 1).tolist() == [[1.5, 1.5]]


def test_box_blur_with_radius_0_is_the_identity(signed):
    picture = signed(5, 9)
    np.testing.assert_array_equal(image.box_blur(picture, 0), picture)


def test_box_blur_leaves_a_constant_image_constant_up_to_its_edges():
    out = image.box_blur(np.full((11, 34), 4, np.float32), 2)
    np.testing.assert_array_equal(out, np.full((11, 34), 4, np.float32))


def test_invert_keeps_the_axes_of_a_colour_image(rng):
    picture = rng.integers(0, 256, (5, 7, 3), np.uint8)
    np.testing.assert_array_equal(image.invert(picture), 255 - picture)


def test_invert_accepts_a_non_contiguous_view(rng):
    picture = rng.integers(0, 256, (6, 8, 3), np.uint8)
    np.testing.assert_array_equal(image.invert(picture[::2, ::-1]), 255 - picture[::2, ::-1])


def test_image_functions_accept_device_arrays(signed):
    from gpukit import cuda

    picture = signed(4, 6)
    out = image.invert(cuda.to_device(picture), white=1)
    np.testing.assert_array_equal(out, np.float32(1) - picture)


@pytest.mark.parametrize("shape", [(0, 4), (4, 0)])
def test_empty_images_give_empty_images(shape):
    nothing = np.empty(shape, np.float32)
    outs = [
        image.invert(nothing),
        image.box_blur(nothing, 1),
        image.grey(np.empty((*shape, 3), "f4")),
    ]
    assert [out.shape for out in outs] == [shape] * 3


def test_invert_rejects_integer_images_other_than_uint8():
    with pytest.raises(TypeError, match="invert: expected image to be a uint8 or float32 array"):
        image.invert(np.zeros((2, 2), np.int32))


def test_invert_rejects_a_vector():
    with pytest.raises(ValueError, match=r"invert: expected image\.ndim == 2, got shape \(4,\)"):
        image.invert(np.zeros(4, np.uint8))


def test_grey_rejects_four_channels():
    expected = r"grey: expected image\.shape == \(2, 2, 3\), got \(2, 2, 4\)\. The axes are im"
    with pytest.raises(ValueError, match=expected):
        image.grey(np.zeros((2, 2, 4), np.uint8))


def test_box_blur_rejects_a_negative_radius():
    with pytest.raises(ValueError, match=r"box_blur: expected radius >= 0, got -1\. Pass"):
        image.box_blur(np.zeros((2, 2), np.float32), -1)


def test_box_blur_rejects_a_fractional_radius():
    with pytest.raises(TypeError, match="box_blur: expected radius to be an int, got float"):
        image.box_blur(np.zeros((2, 2), np.float32), 1.5)


def test_box_blur_rejects_more_rows_than_the_grid_limit():
    tall = np.zeros((65535 * image.BLOCK_Y + 1, 1), np.float32)
    with pytest.raises(ValueError, match="box_blur: expected a grid of at most"):
        image.box_blur(tall, 1)


def test_invert_cost_counts_no_flops_for_uint8():
    assert image.invert_cost(2, 3, itemsize=1) == launch.Cost(bytes=12, flops=0)


def test_invert_cost_counts_one_subtraction_per_pixel_for_floats():
    assert image.invert_cost(2, 3) == launch.Cost(bytes=48, flops=6)


def test_grey_cost_of_six_pixels():
    # 3 bytes in, 4 bytes out, 3 multiplications and 2 additions per pixel.
    assert image.grey_cost(2, 3) == launch.Cost(bytes=42, flops=30)


def test_box_blur_cost_of_three_by_four_with_radius_one():
    # Windows 2 + 3 + 2 high, 2 + 3 + 3 + 2 wide: 70 loads and additions; 12 divisions, stores.
    assert image.box_blur_cost(3, 4, 1) == launch.Cost(bytes=4 * 82, flops=82)


def test_box_blur_cost_stops_growing_when_the_window_covers_the_image():
    # Each of 12 windows contains all 12 pixels.
    assert image.box_blur_cost(3, 4, 50) == launch.Cost(bytes=4 * 156, flops=156)
