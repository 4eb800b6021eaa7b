"""Grid shapes, argument checks and the cost record."""

import numpy as np
import pytest

from gpukit import cuda, errors, launch
from tests.foreign import Foreign, OnGpu

CEIL_DIV = [(0, 256, 0), (1, 256, 1), (255, 256, 1), (256, 256, 1), (257, 256, 2), (7, 1, 7)]


@pytest.mark.parametrize(("a", "b", "expected"), CEIL_DIV)
def test_ceil_div_counts_the_blocks_that_cover_all_elements(a, b, expected):
    assert launch.ceil_div(a, b) == expected


def test_ceil_div_is_exact_for_numbers_a_float_cannot_hold():
    assert launch.ceil_div(2**60 + 1, 2) == 2**59 + 1


def test_ceil_div_rejects_a_block_of_zero_threads():
    with pytest.raises(ValueError, match=r"ceil_div: expected b > 0, got 0\. Pass"):
        launch.ceil_div(4, 0)


def test_grid_1d_has_one_axis():
    assert launch.grid_1d("f", 1000, 256) == (4,)


def test_grid_2d_puts_columns_on_x():
    assert launch.grid_2d("f", cols=640, rows=427, block=(32, 8)) == (20, 54)


def test_grid_2d_accepts_the_last_row_that_fits_y():
    assert launch.grid_2d("f", 1, 65535 * 8, (32, 8)) == (1, 65535)


def test_grid_2d_rejects_one_row_more_than_y_holds():
    with pytest.raises(errors.LaunchError, match=r"f: expected .* 65535.*got \(1, 65536\)\. Split"):
        launch.grid_2d("f", 1, 65535 * 8 + 1, (32, 8))


def test_grid_2d_lets_x_grow_beyond_the_limit_of_y():
    assert launch.grid_2d("f", 32 * 70000, 1, (32, 8)) == (70000, 1)


def test_check_grid_rejects_z_above_its_limit():
    with pytest.raises(ValueError, match="got"):
        launch.check_grid("f", (1, 1, 65536))


def test_check_array_names_the_type_of_a_non_array():
    expected = r"f: expected a to be a float32 array, got list\. Convert it with np\.asarray"
    with pytest.raises(TypeError, match=expected):
        launch.check_array("f", "a", [1.0], ndim=1, dtypes=(np.float32,))


def test_check_array_names_the_dtype_and_the_conversion():
    expected = r"f: expected a to be a float32 array, got float64\. Convert it with a\.astype"
    with pytest.raises(TypeError, match=expected):
        launch.check_array("f", "a", np.ones(3), ndim=1, dtypes=(np.float32,))


def test_check_array_rejects_a_foreign_byte_order():
    swapped = np.ones(3, np.dtype(np.float32).newbyteorder())
    with pytest.raises(TypeError, match="expected a to be a float32 array"):
        launch.check_array("f", "a", swapped, ndim=1, dtypes=(np.float32,))


def test_check_array_names_the_shape_when_axes_are_missing():
    with pytest.raises(ValueError, match=r"f: expected a\.ndim == 2, got shape \(3,\)\. Reshape"):
        launch.check_array("f", "a", np.ones(3, np.float32), ndim=2, dtypes=(np.float32,))


def test_check_array_accepts_any_number_of_axes_if_ndim_is_none():
    for axes in range(4):
        launch.check_array(
            "f", "a", np.ones([2] * axes, np.float32), ndim=None, dtypes=(np.float32,)
        )


def test_check_same_dtype_lists_names_and_dtypes():
    with pytest.raises(
        TypeError, match=r"f: expected a, b to have one dtype, got float32, float64"
    ):
        launch.check_same_dtype("f", a=np.ones(1, np.float32), b=np.ones(1))


def test_check_shape_gives_both_shapes_and_the_advice():
    with pytest.raises(ValueError, match=r"f: expected a\.shape == \(2,\), got \(3,\)\. Cut it\."):
        launch.check_shape("f", "a", np.ones(3), (2,), "Cut it.")


def test_check_int_accepts_numpy_integers():
    assert launch.check_int("f", "n", np.int32(4), least=0) == 4


def test_check_int_rejects_a_float():
    with pytest.raises(TypeError, match=r"f: expected n to be an int, got float\. Pass"):
        launch.check_int("f", "n", 4.0, least=0)


def test_check_int_rejects_a_value_below_the_minimum():
    with pytest.raises(ValueError, match=r"f: expected n >= 1, got 0\. Pass 1 or more\."):
        launch.check_int("f", "n", 0, least=1)


def test_pick_lists_the_variants_when_the_name_is_unknown():
    variants = tuple(
        launch.Variant(name, None, launch.Cost, sum, 256) for name in ("naive", "tiled")
    )
    with pytest.raises(
        ValueError, match=r"f: expected variant to be one of 'naive', 'tiled', got 'x'"
    ):
        launch.pick("f", variants, "x")


def test_cost_intensity_is_flops_per_byte():
    assert launch.Cost(bytes=12, flops=3).intensity == 0.25


def test_cost_intensity_is_zero_if_no_bytes_are_moved():
    assert launch.Cost(bytes=0, flops=0).intensity == 0.0


def test_to_device_copies_a_transposed_array_to_c_order():
    array = np.arange(6, dtype=np.float32).reshape(2, 3).T
    moved = launch.to_device(array)
    assert (moved.shape, launch.to_host(moved).tolist()) == ((3, 2), array.tolist())


@pytest.mark.parametrize("shape", [(), (1,), (7,), (2, 3), (2, 1, 3), (0, 4)])
@pytest.mark.parametrize("convert", [np.asarray, cuda.to_device], ids=["numpy", "device"])
def test_flatten_returns_a_one_dimensional_view(convert, shape):
    array = convert(np.ones(shape, np.float32))
    flat = launch.flatten("f", "a", array)
    assert flat.shape == (array.size,)
    flat[:] = 5
    assert (launch.to_host(array) == 5).all()


def test_flatten_copies_a_numpy_array_that_is_not_contiguous():
    array = np.arange(6, dtype=np.float32).reshape(2, 3).T
    assert launch.flatten("f", "a", array).tolist() == [0, 3, 1, 4, 2, 5]


def test_flatten_refuses_a_device_array_in_another_order():
    device = cuda.to_device(np.arange(6, dtype=np.float32).reshape(2, 3))[:, 1:]
    expected = (
        r"f: expected a in C order, got shape \(2, 2\) with strides \(12, 4\)\. "
        r"Copy it: cuda\.to_device\(np\.ascontiguousarray\(a\.copy_to_host\(\)\)\)\."
    )
    with pytest.raises(ValueError, match=expected):
        launch.flatten("f", "a", device)


def test_an_array_copied_as_flatten_advises_is_accepted():
    device = cuda.to_device(np.arange(6, dtype=np.float32).reshape(2, 3))[:, 1:]
    copied = cuda.to_device(np.ascontiguousarray(device.copy_to_host()))
    flat = launch.flatten("f", "a", copied)
    assert flat.copy_to_host().tolist() == [1, 2, 4, 5]


def test_empty_has_the_requested_shape_and_dtype():
    out = launch.empty((2, 3), np.float32)
    assert (tuple(out.shape), out.dtype) == ((2, 3), np.float32)


def test_as_array_reads_the_memory_of_another_library_in_place():
    array = np.arange(5, dtype=np.float32)
    result = launch.as_array(Foreign(array))
    assert isinstance(result, np.ndarray)
    assert np.shares_memory(result, array)


def test_as_array_converts_an_array_on_a_gpu_to_a_device_array():
    device = cuda.to_device(np.arange(5, dtype=np.float32))
    array = launch.as_array(OnGpu(device))
    assert (array.dtype, array.copy_to_host().tolist()) == (np.float32, [0, 1, 2, 3, 4])


def test_as_array_returns_a_list_unchanged():
    assert launch.as_array([1, 2]) == [1, 2]


def variant(block, **fields):
    return launch.Variant("naive", None, launch.Cost, sum, block, **fields)


@pytest.mark.parametrize(
    ("chosen", "sizes", "grid"),
    [
        (variant(256), (1000,), (4,)),
        (variant(256, tile=512), (1025,), (3,)),
        (variant(256, most_blocks=1024), (10**9,), (1024,)),
        (variant((32, 8)), (640, 427), (20, 54)),
        (variant((32, 8), x_is_row=True), (640, 427), (14, 80)),
        (variant((32, 8), tile=(32, 32)), (640, 427), (20, 14)),
        (variant((32, 8), tile=8), (17,), (3,)),
        (variant((16, 16, 1), most_blocks=100), (17, 33, 500), (2, 3, 100)),
    ],
)
def test_a_variant_covers_all_elements_with_its_tiles(chosen, sizes, grid):
    assert chosen.grid("f", *sizes) == grid


@pytest.mark.parametrize(
    ("limits", "block", "shared", "blocks"),
    [
        ((40, 1024), 256, 0, 160),  # T4
        ((132, 2048), 256, 0, 1056),  # H100
        ((132, 2048), 1024, 0, 264),
        ((108, 2048), 768, 0, 216),  # one block per SM: the remaining threads are too few
        ((40, 1024), 256, 32768, 80),  # two blocks share the memory of an SM
        ((40, 1024), 256, 65537, 40),  # the launch, not the grid, is refused
        ((1, 256), 512, 0, 1),
    ],
)
def test_resident_blocks_follow_the_threads_and_shared_memory_of_an_sm(
    limits, block, shared, blocks, use_device
):
    use_device(*limits)
    assert launch.resident_blocks(block, shared) == blocks


@pytest.mark.parametrize(
    ("n", "tile", "blocks"),
    [(1, None, 1), (256, None, 1), (257, None, 2), (2**30, None, 160), (1025, 1024, 2)],
)
def test_a_grid_stride_grid_has_one_block_per_tile_up_to_the_resident_blocks(
    n, tile, blocks, use_device
):
    use_device(40, 1024)
    assert launch.stride_blocks(n, 256, tile=tile) == blocks


def test_a_grid_stride_variant_has_at_most_the_resident_blocks(use_device):
    use_device(40, 1024)
    strided = variant((32, 8), grid_stride=True)
    assert (strided.grid("f", 64, 24), strided.grid("f", 64, 10**6)) == ((2, 3), (2, 160))


def test_a_grid_follows_the_device_when_another_one_is_used(use_device):
    use_device(40, 1024)
    before = launch.resident_blocks(256)
    use_device(132, 2048)
    assert (before, launch.resident_blocks(256)) == (160, 1056)


def test_a_grid_above_a_gpus_limits_is_refused_with_the_name_of_the_function():
    with pytest.raises(errors.LaunchError, match=r"^f: expected a grid of at most"):
        variant((16, 16)).grid("f", 1, 16 * 65536)


@pytest.mark.parametrize("old", ["sum_wide", "sum_vectorised"])
def test_the_old_name_of_a_variant_works_and_warns(old):
    variant = launch.Variant("sum_vectorized", None, None, None, 32)
    with pytest.warns(DeprecationWarning, match=f"{old}. is now called .sum_vectorized."):
        assert launch.pick("sum", (variant,), old) is variant
