"""Profile counters against closed forms, and against a NumPy model of their definitions."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gpukit
from gpukit import cuda
from gpukit.checked.counters import COUNTERS, LARGEST, Counts
from gpukit.checked.profile import Profile
from tests.checked.access import access_kernels, definitions, in_global, in_shared
from tests.checked.access.pattern import PLAIN, in_line, numbers
from tests.checked.access.patterns import PATTERNS


@functools.cache
def profiled(name: str) -> Profile:
    pattern = PATTERNS[name]
    return gpukit.profile(pattern.kernel)[pattern.launch](*pattern.make())


def test_pattern_names_are_unique() -> None:
    groups = (*in_global.GROUPS, *in_shared.GROUPS)
    assert len(PATTERNS) == sum(1 for group in groups for _ in group())


@pytest.mark.parametrize("name", PATTERNS)
@pytest.mark.costly
def test_counters_of_a_pattern_match_its_closed_form(name: str) -> None:
    total = profiled(name).total
    figures = PATTERNS[name].figures
    assert {counter: total[counter] for counter in figures} == figures


@pytest.mark.parametrize("name", PATTERNS)
def test_each_sector_moves_32_bytes(name: str) -> None:
    total = profiled(name).total
    sectors = sum(total[f"global_{op}_sectors"] for op in ("load", "store", "atomic"))
    assert total["global_bytes_moved"] == 32 * sectors


def merged(parts: Any) -> dict[str, int]:
    total = Counts()
    for part in parts:
        total.merge(part)
    return total.values


@pytest.mark.parametrize("name", PATTERNS)
def test_line_counters_sum_to_the_total(name: str) -> None:
    found = profiled(name)
    assert merged(found.lines.values()) == found.total.values


@pytest.mark.parametrize("name", PATTERNS)
def test_array_counters_sum_to_those_of_all_accesses(name: str) -> None:
    found = profiled(name)
    of_memory = {k: v for k, v in found.total.values.items() if _is_of_memory(k)}
    assert merged(found.arrays.values()) == of_memory
    assert merged(a.counts for a in found.accesses) == of_memory


def _is_of_memory(counter: str) -> bool:
    return counter.startswith(("global_", "shared_", "local_", "atomic_", "dependent_"))


def test_total_contention_is_the_maximum_and_not_the_sum() -> None:
    assert merged([Counts({"atomic_contention": 3}), Counts({"atomic_contention": 2})]) == {
        "atomic_contention": 3
    }
    assert set(COUNTERS) >= LARGEST


@cuda.jit(device=True)
def first_of_row(matrix, row):
    cuda.syncwarp()  # a barrier: the function is inlined at each call, with renamed variables
    part = matrix[row]
    return part[0]


@cuda.jit
def rows_kernel(a, out):
    tile = cuda.shared.array((32, 2), np.float32)
    i = cuda.threadIdx.x
    tile[i, 0] = first_of_row(a, i)
    cuda.syncthreads()
    out[i] = first_of_row(tile, i)


def test_function_called_on_global_and_on_shared_memory_is_counted_in_both_spaces() -> None:
    total = gpukit.profile(rows_kernel)[1, 32](np.ones((32, 2), np.float32), np.zeros(32)).total
    assert total["global_load_requests"] == total["shared_load_requests"] == 1


# ---- any affine index, on both paths of the engine -----------------------------------------

factor = st.integers(-70, 70)
lead = st.integers(0, 40)
# Each block shape and dtype compiles another kernel, so there are few of them.
SHAPES = [(1, 1), (33, 1), (16, 5), (5, 13), (40, 9), (3, 3), (32, 8)]
launches = st.sampled_from(
    [(shape, np.float32) for shape in SHAPES]
    + list(zip(SHAPES[1:], (*in_global.TYPES, np.float64), strict=True))
)
deep = settings(max_examples=150)


def shifted(block: tuple[int, int], a: int, b: int, lead: int) -> tuple[np.ndarray, int]:
    """Return the index of each thread and its constant term; the smallest index is `lead`."""
    constant = lead - int(definitions.affine(block, a, b, 0).min())
    return definitions.affine(block, a, b, constant), constant


def counted(total: Counts, figures: dict[str, int]) -> dict[str, int]:
    return {name: total[name] for name in figures}


@deep
@given(launches, factor, factor, lead, st.integers(1, 3))
@pytest.mark.slow
def test_any_affine_load_matches_the_numpy_model(
    launch: Any, a: int, b: int, lead: int, grid: int
) -> None:
    block, dtype = launch
    index, c = shifted(block, a, b, lead)
    size, threads = np.dtype(dtype).itemsize, block[0] * block[1]
    source, out = numbers(int(index.max()) + 1, dtype), np.zeros(threads, dtype)
    run = gpukit.profile(access_kernels.affine_kernel)[grid, block]
    total = run(source, out, a, b, c, 1, block[0], 0).total
    figures = definitions.global_figures("load", size * index, size)
    figures |= definitions.global_figures("store", size * np.arange(threads), size)
    figures = {name: grid * count for name, count in figures.items()}
    assert counted(total, figures) == figures
    assert total["global_bytes_asked"] == 2 * grid * threads * size
    np.testing.assert_array_equal(out, source[index])


@deep
@given(launches, factor, factor, lead)
@pytest.mark.slow
def test_gather_with_affine_indices_matches_the_affine_load(
    launch: Any, a: int, b: int, lead: int
) -> None:
    block, dtype = launch
    index, _ = shifted(block, a, b, lead)
    size, out = np.dtype(dtype).itemsize, np.zeros(len(index), dtype)
    source = numbers(int(index.max()) + 1, dtype)
    found = gpukit.profile(access_kernels.gather_kernel)[1, block](source, index, out)
    figures = definitions.global_figures("load", size * index, size)
    assert counted(found.arrays["x"], figures) == figures


@deep
@given(launches, factor, factor, lead)
@pytest.mark.slow
def test_any_affine_index_in_shared_memory_matches_the_numpy_model(
    launch: Any, a: int, b: int, lead: int
) -> None:
    block, dtype = launch
    index, c = shifted(block, a, b, lead)
    size, out = np.dtype(dtype).itemsize, numbers(block[0] * block[1], dtype)
    bytes_ = size * (int(index.max()) + 1)
    total = gpukit.profile(access_kernels.shared_affine(dtype))[1, block, 0, bytes_](
        out, a, b, c
    ).total
    figures = definitions.shared_figures("load", size * index, size)
    figures |= definitions.shared_figures("store", size * index, size)
    assert counted(total, figures) == figures


@deep
@given(st.sampled_from([1, 31, 70]), st.randoms(), st.integers(1, 99), st.integers(0, 12))
@pytest.mark.slow
def test_any_atomics_match_the_numpy_model(
    threads: int, random: Any, bins: int, first: int
) -> None:
    index = [random.randrange(bins) for _ in range(threads)]
    at, out = np.array(index), cuda.to_device(np.zeros(112, np.int32))
    total = gpukit.profile(access_kernels.atomic_kernel)[1, len(at)](at, out[first:]).total
    figures = definitions.global_figures("atomic", 4 * (at + first), 4) | {
        "atomic_serial": definitions.most_alike(at),
        "atomic_contention": int(np.bincount(at).max()),
    }
    assert counted(total, figures) == figures


@settings(max_examples=12)
@given(st.tuples(st.integers(1, 40), st.integers(1, 9)), factor, factor)
@pytest.mark.slow
def test_any_block_shape_matches_the_numpy_model(block: tuple[int, int], a: int, b: int) -> None:
    index, c = shifted(block, a, b, 0)
    source, out = numbers(int(index.max()) + 1), numbers(len(index))
    run = gpukit.profile(access_kernels.affine_kernel)[1, block]
    total = run(source, out, a, b, c, 1, block[0], 0).total
    figures = definitions.global_figures("load", 4 * index, 4)
    assert counted(total, figures) == figures


# ---- alignment -----------------------------------------------------------------------------


def test_a_numpy_view_counts_as_a_fresh_copy() -> None:
    launch = gpukit.profile(access_kernels.affine_kernel)[1, 32]
    total = launch(numbers(64)[3:], numbers(64)[5:], *PLAIN, *PLAIN).total
    assert total["global_load_sectors"] == total["global_store_sectors"] == 4


@given(st.integers(0, 60), st.integers(1, 5))
def test_view_of_device_memory_keeps_its_alignment(first: int, step: int) -> None:
    memory = cuda.to_device(numbers(60 + 32 * 5))
    launch = gpukit.profile(access_kernels.affine_kernel)[1, 32]
    total = launch(memory[first::step], numbers(32), *PLAIN, *PLAIN).total
    assert total["global_load_sectors"] == in_line(32, 4 * step, 4, 4 * first)


def test_counters_begin_at_zero_in_every_launch() -> None:
    def launch() -> dict[str, int]:
        index, out = np.zeros(48, np.int64), np.zeros(1, np.int32)
        return gpukit.profile(access_kernels.atomic_kernel)[2, 24](index, out).total.values

    first = launch()
    assert first["atomic_contention"] == 48
    assert launch() == first


@cuda.jit
def bins_kernel(places, counts):  # type: ignore[no-untyped-def]
    i = cuda.grid(1)
    if i < places.size:
        counts[places[i]] += 1


@cuda.jit
def products_kernel(a, b, out):  # type: ignore[no-untyped-def]
    col, row = cuda.grid(2)
    for k in range(a.shape[1]):
        out[row, col] += a[row, k] * b[k, col]


def test_loaded_index_counts_once_for_a_read_modify_write() -> None:
    places, counts = np.arange(96, dtype=np.uint8), np.zeros(96, np.int32)
    arrays = gpukit.profile(bins_kernel)[3, 32](places, counts).arrays
    assert arrays["places"]["global_load_requests"] == 3
    assert arrays["places"]["global_bytes_asked"] == 96


def test_read_modify_write_in_a_loop_is_two_accesses() -> None:
    a, out = np.ones((16, 16), np.float32), np.zeros((16, 16), np.float32)
    accesses = gpukit.profile(products_kernel)[1, (16, 16)](a, a, out).accesses
    mine = {x.op: x.counts[f"global_{x.op}_requests"] for x in accesses if x.array == "out"}
    assert mine == {"load": 8 * 16, "store": 8 * 16}
