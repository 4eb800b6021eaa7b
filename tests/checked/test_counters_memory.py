"""Lines, footprints and blocks of a profile against hand counts and a record in plain Python."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gpukit
from gpukit import cuda, errors
from gpukit.checked.counters import Counts
from gpukit.kernels import scan

FOOTPRINTS = ("global_load_footprint", "global_store_footprint", "global_block_footprint")


def floats(count: int) -> np.ndarray:
    return np.ones(count, np.float32)


def total(kernel: Any, launch: Any, *arguments: Any) -> Counts:
    return gpukit.profile(kernel)[launch](*arguments).total


def footprints(counts: Counts) -> tuple[int, ...]:
    return tuple(counts[name] for name in FOOTPRINTS)


@cuda.jit
def strided_kernel(x, out, step, shift):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = x[i * step + shift]


@pytest.mark.parametrize(
    ("step", "shift", "lines"),
    [(1, 0, 1), (1, 1, 2), (2, 0, 2), (8, 0, 8), (32, 0, 32), (33, 0, 32), (64, 5, 32), (0, 9, 1)],
)
def test_lines_of_a_strided_load_are_those_of_its_addresses(
    step: int, shift: int, lines: int
) -> None:
    counts = total(strided_kernel, (1, 32), floats(64 * 32 + 9), floats(32), step, shift)
    assert (counts["global_load_lines"], counts["global_store_lines"]) == (lines, 1)


def test_lines_are_summed_over_the_warps_that_have_lanes() -> None:
    counts = total(strided_kernel, (2, 70), floats(200), floats(83), 1, 0)
    # Warps of 32, 32 and 6 lanes from element 0 on, then of 13 lanes from element 70 on.
    assert counts["global_load_lines"] == 1 + 1 + 1 + 1
    assert counts["global_load_requests"] == 4


@cuda.jit
def wide_kernel(x, out):
    i = cuda.grid(1)
    out[i] = x[i]


def test_a_load_of_16_bytes_per_lane_touches_4_lines() -> None:
    x = np.ones(32, np.complex128)
    assert total(wide_kernel, (1, 32), x, x.copy())["global_load_lines"] == 4


@cuda.jit
def matrix_kernel(x, out):
    col, row = cuda.grid(2)
    out[row, col] = x[col, row]


def test_lines_of_a_two_dimensional_block_follow_its_warps() -> None:
    x = np.ones((8, 16), np.float32)
    counts = total(matrix_kernel, (1, (8, 8)), np.ones((16, 16), np.float32), x)
    # Each warp has 4 rows of 8 lanes: 4 segments of 64-byte rows stored, 8 rows loaded.
    assert counts["global_store_lines"] == 2 * 2
    assert counts["global_load_lines"] == 2 * 4


@cuda.jit
def counting_kernel(bins, keys):
    i = cuda.grid(1)
    if i < keys.shape[0]:
        cuda.atomic.add(bins, keys[i], 1)


def test_atomics_have_lines_and_belong_to_the_stored_footprint() -> None:
    keys = np.arange(64, dtype=np.int32) % 3 * 32
    counts = total(counting_kernel, (2, 32), np.zeros(100, np.int32), keys)
    assert counts["global_atomic_lines"] == 3 + 3
    assert footprints(counts) == (8, 3, 8 + 3 + 3)


@cuda.jit
def again_kernel(x, out):
    i = cuda.grid(1)
    for _ in range(5):
        out[0] = x[i % 32] + x[0]


def test_a_sector_counts_once_however_often_it_is_loaded() -> None:
    x = floats(40)
    assert footprints(total(again_kernel, (3, 32), x, floats(1))) == (4, 1, 3 * 5)


@cuda.jit
def in_place_kernel(x):
    i = cuda.grid(1)
    if i < x.shape[0]:
        x[i] += 1


def test_a_sector_that_a_block_loads_and_stores_counts_once_for_the_block() -> None:
    assert footprints(total(in_place_kernel, (2, 32), floats(50))) == (7, 7, 7)


def test_a_sector_at_the_border_of_two_blocks_counts_for_both() -> None:
    assert footprints(total(in_place_kernel, (4, 10), floats(40))) == (5, 5, 2 + 2 + 2 + 2)


def test_footprint_of_an_array_is_counted_beside_its_name() -> None:
    found = gpukit.profile(strided_kernel)[2, 32](floats(200), floats(60), 2, 0)
    assert found.arrays["x"]["global_load_footprint"] == 15
    assert found.arrays["out"]["global_store_footprint"] == 8


def test_text_of_a_profile_gives_the_footprint_in_bytes() -> None:
    text = gpukit.profile(in_place_kernel)[4, 10](floats(40)).text(width=100)
    row = next(line for line in text.splitlines() if line.startswith("Footprint"))
    assert "160 bytes loaded, 160 stored" in row
    assert "256 bytes summed over blocks" in row


def test_footprint_does_not_count_shared_local_or_constant_memory() -> None:
    assert footprints(total(own_memory_kernel, (2, 32), floats(64))) == (0, 8, 8)


TABLE = np.arange(32, dtype=np.float32)


@cuda.jit
def own_memory_kernel(out):
    tile = cuda.shared.array(32, np.float32)
    own = cuda.local.array(2, np.float32)
    table = cuda.const.array_like(TABLE)
    t = cuda.threadIdx.x
    own[t % 2] = table[t]
    tile[t] = own[t % 2]
    cuda.syncthreads()
    out[cuda.grid(1)] = tile[31 - t]


def test_footprint_of_a_second_launch_begins_anew() -> None:
    x = floats(50)
    first, second = (footprints(total(in_place_kernel, (2, 32), x)) for _ in range(2))
    assert first == second


@cuda.jit
def whole_grid_kernel(x, out):
    grid = cuda.cg.this_grid()
    i = cuda.grid(1)
    out[i] = x[i % 8]
    grid.sync()
    out[i] = x[i]


def test_footprint_of_each_block_of_a_cooperative_grid_is_its_own() -> None:
    counts = total(whole_grid_kernel, (3, 16), floats(48), floats(48))
    assert footprints(counts) == (6, 6, (2 + 2) + (1 + 2 + 2) * 2)


# ---- any index arrays, against a record in plain Python ------------------------------------------


@cuda.jit
def gather_kernel(x, source, out, target):
    i = cuda.grid(1)
    if i < source.shape[0]:
        out[target[i]] = x[source[i]]


def sectors(itemsize: int, *elements: int) -> set[int]:
    return {
        at for e in elements for at in range(e * itemsize // 32, ((e + 1) * itemsize - 1) // 32 + 1)
    }


def recorded(source: np.ndarray, target: np.ndarray, block: int, itemsize: int) -> dict[str, int]:
    """Return what the launch of gather_kernel must count for `x` and `out`."""
    loaded: set[int] = set()
    stored: set[int] = set()
    apart = {"x": 0, "out": 0}
    lines = {"x": 0, "out": 0}
    for first in range(0, len(source), block):
        own = range(first, min(first + block, len(source)))
        read, written = ([int(e) for e in a[own.start : own.stop]] for a in (source, target))
        loaded |= sectors(itemsize, *read)
        stored |= sectors(itemsize, *written)
        apart["x"] += len(sectors(itemsize, *read))
        apart["out"] += len(sectors(itemsize, *written))
        for k in range(0, len(own), 32):
            for name, elements in (("x", read), ("out", written)):
                lines[name] += len({at // 4 for at in sectors(itemsize, *elements[k : k + 32])})
    return {
        "loaded": len(loaded),
        "stored": len(stored),
        "x of blocks": apart["x"],
        "out of blocks": apart["out"],
        "x lines": lines["x"],
        "out lines": lines["out"],
    }


SIZE = 300
DTYPES = (np.int8, np.float32, np.complex128)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_footprints_and_lines_of_random_indices_match_a_record(data: Any) -> None:
    dtype = np.dtype(data.draw(st.sampled_from(DTYPES)))
    block = data.draw(st.sampled_from([1, 7, 32, 45, 64]))
    indices = st.lists(st.integers(0, SIZE - 1), min_size=1, max_size=150)
    source = np.array(data.draw(indices), np.int64)
    target = np.random.default_rng(data.draw(st.integers(0, 99))).permutation(SIZE)[: len(source)]
    blocks = -(-len(source) // block)
    found = gpukit.profile(gather_kernel)[blocks, block](
        np.ones(SIZE, dtype), source, np.ones(SIZE, dtype), target
    )
    x, out = found.arrays["x"], found.arrays["out"]
    assert recorded(source, target, block, dtype.itemsize) == {
        "loaded": x["global_load_footprint"],
        "stored": out["global_store_footprint"],
        "x of blocks": x["global_block_footprint"],
        "out of blocks": out["global_block_footprint"],
        "x lines": x["global_load_lines"],
        "out lines": out["global_store_lines"],
    }


@settings(max_examples=30, deadline=None)
@given(count=st.integers(1, 200), seed=st.integers(0, 99))
def test_footprints_grow_with_the_accesses_and_are_at_most_the_sectors_moved(
    count: int, seed: int
) -> None:
    source = np.random.default_rng(seed).integers(0, SIZE, count + 1)
    target = np.random.default_rng(seed).permutation(SIZE)[: count + 1]
    fewer, more = (
        total(gather_kernel, (8, 32), floats(SIZE), source[:n], floats(SIZE), target[:n])
        for n in (count, count + 1)
    )
    assert all(a <= b for a, b in zip(footprints(fewer), footprints(more), strict=True))
    assert more["global_load_footprint"] <= more["global_load_sectors"]
    assert more["global_load_lines"] <= more["global_load_sectors"]


# ---- some blocks of a launch -----------------------------------------------------------------


@functools.cache
def whole() -> Counts:
    return total(in_place_kernel, (100, 32), floats(3200))


def test_some_blocks_spread_over_the_grid_count_their_part_of_it() -> None:
    x = floats(3200)
    found = gpukit.profile(in_place_kernel, blocks=4)[100, 32](x)
    assert (found.blocks_run, found.blocks) == (4, 100)
    assert sorted(set(np.flatnonzero(x == 2) // 32)) == [0, 33, 66, 99]
    assert {n: 25 * v for n, v in found.total.values.items()} == whole().values


def test_named_blocks_run_once_each_in_order() -> None:
    x = floats(3200)
    found = gpukit.profile(in_place_kernel, blocks=[7, 3, 4, 7])[100, 32](x)
    assert found.blocks_run == 3
    assert sorted(set(np.flatnonzero(x == 2) // 32)) == [3, 4, 7]
    assert footprints(found.total) == (12, 12, 12)


def test_a_number_of_blocks_above_the_grid_runs_all() -> None:
    found = gpukit.profile(in_place_kernel, blocks=1000)[100, 32](floats(3200))
    assert found.total.values == whole().values
    assert found.blocks_run == found.blocks == 100
    assert not found.notes


def test_profile_of_some_blocks_says_so_in_text_and_json() -> None:
    found = gpukit.profile(in_place_kernel, blocks=2)[100, 32](floats(3200))
    assert "Note: The counters are those of 2 of the grid's 100 blocks." in str(found)
    assert (found.as_dict()["blocks_run"], found.as_dict()["blocks"]) == (2, 100)


@pytest.mark.parametrize("blocks", [0, -1, True, 1.5, "all", [], [100], [-1], ["0"]])
def test_blocks_that_the_grid_does_not_have_are_refused(blocks: Any) -> None:
    x = floats(3200)
    with pytest.raises(errors.ArgumentError, match="profile: expected"):
        gpukit.profile(in_place_kernel, blocks=blocks)[100, 32](x)
    assert (x == 1).all()


def test_some_blocks_of_a_cooperative_grid_are_refused() -> None:
    with pytest.raises(errors.ArgumentError, match="synchronizes the grid"):
        gpukit.profile(whole_grid_kernel, blocks=2)[3, 16](floats(48), floats(48))


def test_some_blocks_of_a_kernel_whose_blocks_wait_for_others_are_refused() -> None:
    def scanned(x: np.ndarray) -> Any:
        return scan.inclusive_scan(x, variant="one_pass")

    with pytest.raises(errors.ArgumentError, match="waits for other blocks"):
        gpukit.profile(scanned, blocks=2)(floats(20_000))
