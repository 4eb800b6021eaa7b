"""Constant memory in a profile: one pass per distinct address in a warp."""

import numpy as np
import pytest

import gpukit
from gpukit import cuda

TABLE = np.arange(64, dtype=np.float32)
WIDE = np.arange(64, dtype=np.float64)
ON_DEVICE = cuda.to_device(TABLE)


@cuda.jit
def same_kernel(out):
    table = cuda.const.array_like(TABLE)
    i = cuda.grid(1)
    if i < out.size:
        out[i] = table[5]


@cuda.jit
def apart_kernel(places, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = TABLE[places[i]]


@cuda.jit
def wide_kernel(out):
    table = cuda.const.array_like(WIDE)
    i = cuda.grid(1)
    if i < out.size:
        out[i] = table[i % 2]


@cuda.jit(device=True)
def fifth():
    return TABLE[5]


@cuda.jit
def calling_kernel(out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = fifth()


@cuda.jit
def device_kernel(out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = ON_DEVICE[5]


def counted(kernel, *arguments):
    """Return the profile of 100 threads in blocks of 64, four warps."""
    return gpukit.profile(kernel)[2, 64](*arguments, np.full(100, np.nan, np.float32))


def constant(profile):
    return profile.total["constant_requests"], profile.total["constant_passes"]


@pytest.mark.parametrize("kernel", [same_kernel, calling_kernel])
def test_lanes_with_the_same_constant_address_take_one_pass(kernel):
    assert constant(counted(kernel)) == (4, 4)


@pytest.mark.parametrize(("different", "passes"), [(1, 4), (2, 8), (7, 25), (32, 100)])
def test_each_distinct_constant_address_takes_a_pass(different, passes):
    places = (np.arange(100) % 32 % different).astype(np.int32)
    assert constant(counted(apart_kernel, places)) == (4, passes)


def test_an_element_of_8_bytes_is_one_address():
    assert constant(counted(wide_kernel)) == (4, 8)


def test_constant_loads_are_not_global_loads():
    total = counted(same_kernel).total
    assert (total["global_load_requests"], total["global_bytes_asked"]) == (0, 400)


def test_a_captured_array_of_the_device_is_in_global_memory():
    profile = counted(device_kernel)
    assert constant(profile) == (0, 0)
    assert profile.arrays["ON_DEVICE"]["global_load_requests"] == 4


def test_captured_arrays_have_the_names_of_the_source():
    spaces = {access.array: access.space for access in counted(same_kernel).accesses}
    assert spaces == {"TABLE": "constant", "out": "global"}


def test_advice_on_divergent_constant_loads_names_the_array():
    words = str(counted(apart_kernel, np.arange(100, dtype=np.int32) % 64))
    assert "constant memory serves one address at a time" in " ".join(words.split())
    assert "Pass `TABLE` to the kernel as an argument" in " ".join(words.split())


def test_uniform_constant_loads_get_no_advice():
    assert "one address at a time" not in str(counted(same_kernel))


def test_the_player_shows_constant_arrays():
    arrays = gpukit.play(same_kernel)[2, 64](np.zeros(100, np.float32)).recording["arrays"]
    (table,) = [array for array in arrays if array["name"] == "TABLE"]
    assert (table["space"], table["before"][:3]) == ("constant", [0, 1, 2])
