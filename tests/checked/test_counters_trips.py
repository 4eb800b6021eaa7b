"""`dependent_trips` against hand counts, and against chains followed in plain Python."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import gpukit
from gpukit import cuda
from gpukit.checked.counters import Counts


def counted(kernel: Any, launch: Any, *arguments: Any) -> Counts:
    return gpukit.profile(kernel)[launch](*arguments).total


def trips(kernel: Any, launch: Any, *arguments: Any) -> int:
    return counted(kernel, launch, *arguments)["dependent_trips"]


def floats(*shape: int) -> np.ndarray:
    return np.ones(shape, np.float32)


def integers(count: int) -> np.ndarray:
    return np.arange(count, dtype=np.int32)


@cuda.jit
def two_loads_kernel(x, y, out):
    i = cuda.grid(1)
    if i < x.shape[0]:
        out[i] = x[i] + y[i]


def test_loads_whose_addresses_do_not_depend_on_loads_are_one_trip_of_each_warp() -> None:
    assert trips(two_loads_kernel, (2, 64), floats(97), floats(97), floats(97)) == 4
    assert trips(two_loads_kernel, (2, 64), floats(96), floats(96), floats(96)) == 3


@cuda.jit
def sum_kernel(x, out, n):
    acc = 0.0
    for i in range(n):
        acc += x[i]
    out[0] = acc


def test_loop_that_only_adds_up_loads_is_one_trip() -> None:
    assert trips(sum_kernel, (1, 32), floats(50), floats(1), 50) == 1


@cuda.jit
def list_kernel(following, start, out):
    t = cuda.grid(1)
    if t < start.shape[0]:
        node = start[t]
        steps = 0
        while node >= 0:
            node = following[node]
            steps += 1
        out[t] = steps


def test_linked_list_is_one_trip_per_node_and_one_for_its_first() -> None:
    following = integers(20) - 1  # node k has k nodes behind it
    start = np.array([3, 9, 0, 5], np.int32)
    assert trips(list_kernel, (1, 32), following, start, integers(4)) == 1 + 10


def test_warp_takes_as_many_trips_as_its_longest_lane() -> None:
    following = integers(20) - 1
    start = np.full(70, 2, np.int32)
    start[40], start[69] = 11, 6
    assert trips(list_kernel, (1, 96), following, start, integers(70)) == (1 + 3) + (1 + 12) + (
        1 + 7
    )


@cuda.jit
def nested_kernel(x, first, second, out):
    i = cuda.grid(1)
    out[i] = x[second[first[i]]] + x[first[i]]


def test_load_in_the_index_of_a_load_is_a_trip_of_its_own() -> None:
    i = integers(32)
    assert trips(nested_kernel, (1, 32), floats(32), i, i, floats(32)) == 3


@cuda.jit
def histogram_kernel(bins, keys):
    i = cuda.grid(1)
    cuda.atomic.add(bins, keys[i], 1)


@cuda.jit
def ticket_kernel(bins, keys, out):
    i = cuda.grid(1)
    place = cuda.atomic.add(bins, keys[i], 1)
    out[place] = keys[place]


def test_atomic_is_a_trip_only_if_its_result_is_used() -> None:
    keys = integers(32)
    assert trips(histogram_kernel, (1, 32), integers(32), keys) == 1
    assert trips(ticket_kernel, (1, 32), np.zeros(32, np.int32), keys, integers(32)) == 3


@cuda.jit
def conditional_kernel(x, y, out):
    i = cuda.grid(1)
    if x[i] > 0:
        out[i] = y[i]


@cuda.jit
def selected_kernel(x, y, out):
    i = cuda.grid(1)
    v = y[i]
    if x[i] > 0:
        v += 1
    out[i] = v


def test_condition_on_a_load_is_a_trip_only_if_it_decides_over_a_load() -> None:
    x = floats(32)
    assert trips(conditional_kernel, (1, 32), x, x, x.copy()) == 2
    assert trips(conditional_kernel, (1, 32), 0 * x, x, x.copy()) == 1
    assert trips(selected_kernel, (1, 32), x, x, x.copy()) == 1


@cuda.jit
def search_kernel(x, keys, out):
    t = cuda.grid(1)
    low = 0
    high = x.shape[0]
    while low < high:
        middle = (low + high) // 2
        if x[middle] < keys[t]:
            low = middle + 1
        else:
            high = middle
    out[t] = low


def test_binary_search_is_a_trip_per_step() -> None:
    assert trips(search_kernel, (1, 32), integers(64), integers(32), integers(32)) == 7


@cuda.jit
def rows_kernel(starts, columns, x, out):
    row = cuda.grid(1)
    if row < out.shape[0]:
        acc = 0.0
        for k in range(starts[row], starts[row + 1]):
            acc += x[columns[k]]
        out[row] = acc


def test_sparse_row_is_three_trips_however_long_it_is() -> None:
    starts = np.array([0, 5, 5, 14], np.int32)
    assert trips(rows_kernel, (1, 32), starts, integers(14), floats(14), floats(3)) == 3


def test_sparse_rows_without_elements_are_one_trip() -> None:
    starts = np.zeros(4, np.int32)
    assert trips(rows_kernel, (1, 32), starts, integers(14), floats(14), floats(3)) == 1


@cuda.jit
def found_kernel(x, out):
    i = cuda.threadIdx.x
    while i < x.shape[0]:
        if x[i] == 1:
            out[0] = i
            break
        i += 32


def test_break_after_a_load_makes_the_next_load_wait() -> None:
    x = np.zeros(32 * 6, np.float32)
    assert trips(found_kernel, (1, 32), x, integers(1)) == 6
    x[32 * 2 : 32 * 3] = 1
    assert trips(found_kernel, (1, 32), x, integers(1)) == 3


@cuda.jit
def largest_kernel(x, out):
    best = 0.0
    for i in range(x.shape[0]):
        if x[i] > best:
            best = x[i]
    out[0] = best


def test_value_that_its_condition_has_loaded_is_not_loaded_again() -> None:
    assert trips(largest_kernel, (1, 1), np.arange(9.0), floats(1)) == 1


@cuda.jit(device=True)
def next_of(following, node):
    return following[node]


@cuda.jit
def thrice_kernel(following, out):
    node = cuda.threadIdx.x
    for _ in range(3):
        node = next_of(following, node)
    out[cuda.threadIdx.x] = node


def test_chain_through_a_device_function_is_followed() -> None:
    assert trips(thrice_kernel, (1, 40), integers(40), integers(40)) == 2 * 3


@cuda.jit
def in_local_array_kernel(index, x, out):
    t = cuda.threadIdx.x
    own = cuda.local.array(4, np.int32)
    for k in range(4):
        own[k] = index[t + k]
    acc = 0.0
    for k in range(4):
        acc += x[own[k]]
    out[t] = acc


def test_values_kept_in_a_local_array_are_followed() -> None:
    assert trips(in_local_array_kernel, (1, 32), integers(40), floats(40), floats(32)) == 2


def test_lines_add_up_to_the_trips_of_the_launch() -> None:
    i = integers(32)
    found = gpukit.profile(nested_kernel)[2, 32](floats(64), integers(64) % 32, i, floats(64))
    assert sum(line["dependent_trips"] for line in found.lines.values()) == 6
    assert found.arrays["x"]["dependent_trips"] == 2


def test_text_of_a_profile_names_chains_of_more_than_one_load() -> None:
    x, i = floats(32), integers(32)
    deep = gpukit.profile(nested_kernel)[1, 32](x, i, i, x.copy()).text()
    assert "each warp waits 3 times in turn" in deep
    assert "Dependent" not in gpukit.profile(two_loads_kernel)[1, 32](x, x, x.copy()).text()


def test_depths_are_not_counted_as_statements_or_operations() -> None:
    x, i = floats(32), integers(32)
    plain = counted(two_loads_kernel, (1, 32), x, x, x.copy())
    deep = counted(nested_kernel, (1, 32), x, i, i, x.copy())
    assert deep["warp_steps"] == plain["warp_steps"] - plain["branches"]
    assert counted(thrice_kernel, (1, 32), i, i.copy())["operations_integer"] == 3 * 2 * 32


# ---- any chains, against a walk in plain Python --------------------------------------------------


@functools.cache
def walked(following: tuple[int, ...], node: int) -> int:
    return 0 if node < 0 else 1 + walked(following, following[node])


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_trips_of_random_lists_are_those_of_the_longest_of_each_warp(data: Any) -> None:
    size = data.draw(st.integers(1, 40))
    following = tuple(data.draw(st.integers(-1, k - 1)) for k in range(size))
    start = data.draw(st.lists(st.integers(-1, size - 1), min_size=1, max_size=80))
    block = data.draw(st.sampled_from([16, 32, 50]))
    expected = 0
    for first in range(0, len(start), block):
        own = start[first : first + block]
        for k in range(0, len(own), 32):
            expected += 1 + max(walked(following, node) for node in own[k : k + 32])
    blocks = -(-len(start) // block)
    found = trips(
        list_kernel,
        (blocks, block),
        np.array(following, np.int32),
        np.array(start, np.int32),
        integers(len(start)),
    )
    assert found == expected
