"""Launch configurations that a GPU refuses: the error names the size, the limit and the fix."""

import numpy as np
import pytest

from gpukit import cuda, errors
from tests.safety.attempt import assert_fails, assert_good_launch, guarded, on_cpu

pytestmark = on_cpu
LAUNCH, ARGUMENT = errors.LaunchError, errors.ArgumentError
KB48 = 48 * 1024


@cuda.jit
def touch_kernel(a):
    a[0] = 1


@cuda.jit
def large_tile_kernel(a):
    tile = cuda.shared.array((128, 128), np.float32)
    tile[cuda.threadIdx.x, 0] = 1
    cuda.syncthreads()
    a[0] = tile[0, 0]


@cuda.jit
def two_tiles_kernel(a):
    left = cuda.shared.array((64, 64), np.float64)
    right = cuda.shared.array((64, 64), np.float64)
    left[0, 0] = right[0, 0] = 1
    cuda.syncthreads()
    a[0] = left[0, 0]


# name, launch configuration, error, parts of the message
TABLE = [
    ("no blocks", (0, 32), LAUNCH, "the grid's x size is 0", "at least 1"),
    ("no threads", (1, 0), LAUNCH, "the block's x size is 0", "at least 1"),
    ("no threads on y", (1, (32, 0)), LAUNCH, "the block's y size is 0", "at least 1"),
    ("negative blocks", (-1, 32), LAUNCH, "the grid's x size is -1", "at least 1"),
    ("negative threads", (1, -32), LAUNCH, "the block's x size is -32", "at least 1"),
    ("blocks by /", (8 / 2, 32), ARGUMENT, "griddim", "[4.0]", "Use // instead of /"),
    ("threads by /", (1, 64 / 2), ARGUMENT, "blockdim", "[32.0]", "Use // instead of /"),
    ("float in a tuple", ((2, 4.0), 32), ARGUMENT, "griddim", "[2, 4.0]", "Use //"),
    ("text", ("4", 32), ARGUMENT, "griddim", "['4']", "Write one integer"),
    ("nothing", (None, 32), ARGUMENT, "griddim", "[None]", "Write one integer"),
    ("array of floats", (np.ones(2), 32), ARGUMENT, "griddim", "Use //"),
    ("four axes", ((1, 1, 1, 1), 32), LAUNCH, "griddim", "[1, 1, 1, 1]", "x, y and z"),
    ("four axes of threads", (1, (1, 1, 1, 1)), LAUNCH, "blockdim", "x, y and z"),
    ("no axes", ((), 32), LAUNCH, "griddim", "[]", "x, y and z"),
    ("2048 threads", (1, 2048), LAUNCH, "the block's x size is 2048", "1024", "smaller blocks"),
    ("1056 threads", (1, (32, 33)), LAUNCH, "(32, 33, 1) has 1056", "1024", "smaller blocks"),
    ("block of z 65", (1, (1, 1, 65)), LAUNCH, "the block's z size is 65", "64", "smaller"),
    ("grid of y 65536", ((1, 65536), 1), LAUNCH, "the grid's y size is 65536", "65535", "on x"),
    ("grid of z 65536", ((1, 1, 65536), 1), LAUNCH, "the grid's z size is 65536", "65535"),
    ("grid of x 2**31", (2**31, 1), LAUNCH, "the grid's x size is 2147483648", "2147483647"),
    ("one item", 32, LAUNCH, "kernel[blocks_in_grid, threads_in_block]"),
    ("one item in a tuple", (32,), LAUNCH, "kernel[blocks_in_grid, threads_in_block]"),
    ("six items", (1, 32, 0, 0, 0, 0), LAUNCH, "kernel[blocks_in_grid, threads_in_block]"),
    ("dynamic shared memory", (1, 32, 0, KB48 + 1), LAUNCH, "49153", "49152", "itemsize"),
    ("negative shared memory", (1, 32, 0, -1), LAUNCH, "-1 bytes of dynamic shared memory"),
    ("shared memory by /", (1, 32, 0, 64 / 2), ARGUMENT, "32.0", "dynamic shared memory"),
    ("shared memory as text", (1, 32, 0, "64"), ARGUMENT, "'64'", "dynamic shared memory"),
]


@pytest.mark.parametrize(
    ("items", "kind", "parts"),
    [(row[1], row[2], row[3:]) for row in TABLE],
    ids=[row[0] for row in TABLE],
)
def test_an_impossible_launch_configuration_is_refused(items, kind, parts):
    with guarded(5) as a:
        assert_fails(lambda: touch_kernel[items](a), kind, *parts, here=False)
        assert not a.any()


def test_a_float_size_is_refused_even_after_a_launch_with_the_equal_integer():
    with guarded(5) as a:
        touch_kernel[2, 4](a)
        a[0] = 0
        assert_fails(lambda: touch_kernel[4 / 2, 4](a), ARGUMENT, "[2.0]", "Use //", here=False)
        assert not a.any()


def test_a_launch_without_a_configuration_says_how_to_write_one():
    with guarded(5) as a:
        assert_fails(
            lambda: touch_kernel(a),
            LAUNCH,
            "touch_kernel[blocks_in_grid, threads_in_block]",
            here=False,
        )


@pytest.mark.parametrize(
    ("kernel", "kind", "part"),
    [
        (large_tile_kernel, errors.GpukitError, "smaller"),
        (two_tiles_kernel, LAUNCH, "two_tiles_kernel"),
    ],
    ids=["one array", "two arrays together"],
)
def test_static_shared_memory_above_48_kb_is_refused(kernel, kind, part):
    with guarded(5) as a:
        assert_fails(lambda: kernel[1, 32](a), kind, "65536", "49152", part, here=False)


@cuda.jit
def both_kinds_kernel(a):
    tile = cuda.shared.array(4096, np.float64)
    rest = cuda.shared.array(0, np.float64)
    tile[0] = rest[0] = 1
    cuda.syncthreads()
    a[0] = tile[0]


def test_the_limit_of_shared_memory_is_for_static_and_dynamic_together():
    with guarded(5) as a:
        both_kinds_kernel[1, 32, 0, 16384](a)
        assert a[0] == 1
        assert_fails(
            lambda: both_kinds_kernel[1, 32, 0, 16392](a),
            LAUNCH,
            "32768 bytes of static",
            "16392",
            here=False,
        )


def test_the_largest_allowed_blocks_run():
    with guarded(5) as a:
        touch_kernel[1, (4, 4, 64)](a)
        touch_kernel[(1, 1, 2), 1024](a)
        touch_kernel[np.int64(1), np.uint8(32)](a)
        assert a[0] == 1
    assert_good_launch()


def test_forall_refuses_a_negative_count():
    with guarded(5) as a:
        assert_fails(lambda: touch_kernel.forall(-3)(a), LAUNCH, "-3", here=False)
