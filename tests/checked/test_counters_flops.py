"""Floating-point operations and ratios of a profile against manual counts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import gpukit
from gpukit import cuda
from gpukit.checked.counters import COUNTERS, RATIOS, Counts

THREADS = 33
TYPES = ("float16", "float32", "float64")
HALF = 0.5


def flops(kernel: Any, *arguments: Any) -> dict[str, int]:
    total = gpukit.profile(kernel)[1, THREADS](*arguments).total
    return {name: total[f"flops_{name}"] for name in TYPES if total[f"flops_{name}"]}


def two(dtype: Any) -> tuple[np.ndarray, np.ndarray]:
    return np.ones(THREADS, dtype), np.ones(THREADS, dtype)


@cuda.jit
def four_kernel(x, out):
    t = cuda.threadIdx.x
    a = x[t]
    b = a * a + a
    out[t] = b / a - b


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.costly
def test_additions_multiplications_and_divisions_count_once_by_type(name: str) -> None:
    assert flops(four_kernel, *two(name)) == {name: 4 * THREADS}


@pytest.mark.parametrize("name", ["int8", "int32", "uint64"])
@pytest.mark.costly
def test_integer_arithmetic_counts_only_after_true_division(name: str) -> None:
    assert flops(four_kernel, *two(name)) == {"float64": 2 * THREADS}  # quotient, difference


@cuda.jit
def of_its_array_kernel(x, out):
    t = cuda.threadIdx.x
    out[t] = (x.dtype.type(1) + x[t]) * x.dtype.type(HALF)


@pytest.mark.parametrize("name", ["float32", "float64"])
def test_conversion_to_the_dtype_of_an_array_gives_that_dtype(name: str) -> None:
    assert flops(of_its_array_kernel, *two(name)) == {name: 2 * THREADS}


@cuda.jit
def half_of_kernel(x, out):
    t = cuda.threadIdx.x
    out[t] = x[t] * HALF


def test_python_float_argument_makes_the_product_float64() -> None:
    assert flops(half_of_kernel, *two("float32")) == {"float64": THREADS}


@cuda.jit
def functions_kernel(x, out):
    t = cuda.threadIdx.x
    out[t] = math.sqrt(x[t]) + math.exp(x[t])


@pytest.mark.parametrize("name", ["float32", "float64"])
def test_math_function_counts_one(name: str) -> None:
    assert flops(functions_kernel, *two(name)) == {name: 3 * THREADS}


@cuda.jit
def parts_kernel(x, out):
    t = cuda.threadIdx.x
    pair = (x[t], x[t])
    rows = cuda.local.array((2, 2), np.float32)
    rows[1][0] = pair[0] * pair[1]
    out[t] = rows[1][0] + pair[t % 2]


def test_tuple_and_row_elements_count_by_type() -> None:
    assert flops(parts_kernel, *two("float32")) == {"float32": 2 * THREADS}


@cuda.jit
def mixed_kernel(x, out):
    t = cuda.threadIdx.x
    out[t] = x[t] * x[t] + 1.0


def test_float_literal_makes_the_sum_float64() -> None:
    assert flops(mixed_kernel, *two("float32")) == {"float32": THREADS, "float64": THREADS}


@cuda.jit
def in_place_kernel(x, out):
    t = cuda.threadIdx.x
    out[t] += x[t]
    out[t] *= x[t]


def test_augmented_assignment_counts_one() -> None:
    assert flops(in_place_kernel, *two("float32")) == {"float32": 2 * THREADS}


@cuda.jit
def nothing_kernel(x, out):
    t = cuda.threadIdx.x
    i = 2 * t - t
    out[i] = -abs(x[t]) if x[t] > np.float32(2) else np.float32(np.float64(x[t]))


def test_indices_comparisons_signs_and_conversions_count_nothing() -> None:
    assert flops(nothing_kernel, *two("float32")) == {}


@cuda.jit
def choice_kernel(x, out):
    t = cuda.threadIdx.x
    out[t] = x[t] * x[t] if t < 20 else x[t]


@cuda.jit
def folded_kernel(x, out):
    t = cuda.threadIdx.x
    out[t] = x[t] * np.float32(1 / 9) + np.float32(-HALF * (2 + 1.5))


def test_constant_folding_counts_nothing() -> None:
    assert flops(folded_kernel, *two("float32")) == {"float32": 2 * THREADS}
    report = gpukit.check(folded_kernel)[1, THREADS](*two("float32"))
    assert [f for f in report.findings if f.kind == "float64"] == []


def test_only_threads_that_take_a_branch_count_its_arithmetic() -> None:
    assert flops(choice_kernel, *two("float32")) == {"float32": 20}


@cuda.jit
def short_circuit_kernel(x, out):
    t = cuda.threadIdx.x
    if t < 20 and x[t] * x[t] > 0:
        out[t] = 1


@pytest.mark.xfail(
    strict=True, reason="known limit, docs/checking.md: a condition counts as a whole"
)
def test_short_circuited_condition_counts_nothing() -> None:
    assert flops(short_circuit_kernel, *two("float32")) == {"float32": 20}


@cuda.jit
def dot_kernel(x, y, out, n):
    t = cuda.threadIdx.x
    total = np.float32(0)
    for k in range(n):
        total += x[k] * y[k]
    out[t] = total


@pytest.mark.parametrize("n", [0, 1, 7])
def test_loop_counts_its_arithmetic_in_every_iteration(n: int) -> None:
    x, y = two("float32")
    assert sum(flops(dot_kernel, x, y, x.copy(), n).values()) == 2 * n * THREADS


@cuda.jit
def triangle_kernel(x, out):
    t = cuda.threadIdx.x
    total = np.float32(0)
    for k in range(t):
        total += x[k]
    out[t] = total


def test_trip_counts_may_differ_between_threads() -> None:
    assert flops(triangle_kernel, *two("float32")) == {"float32": sum(range(THREADS))}


@cuda.jit(device=True)
def square(a):
    return a * a


@cuda.jit
def calling_kernel(x, out):
    t = cuda.threadIdx.x
    out[t] = square(x[t]) + square(out[t])


def test_device_functions_count_at_every_call() -> None:
    assert flops(calling_kernel, *two("float32")) == {"float32": 3 * THREADS}


# ---- ratios ---------------------------------------------------------------------------------


def test_intensity_is_operations_per_byte_moved() -> None:
    total = gpukit.profile(four_kernel)[1, 64](*(np.ones(64, np.float32) for _ in range(2))).total
    assert total["global_bytes_moved"] == 2 * 64 * 4
    assert total.ratio("intensity") == 4 * 64 / 512


@cuda.jit
def strided_kernel(x, out, stride):
    t = cuda.threadIdx.x
    out[t] = x[stride * t]


@pytest.mark.parametrize(("stride", "moved"), [(0, 32), (1, 128), (2, 256), (8, 1024), (64, 1024)])
def test_bytes_used_is_the_fraction_of_moved_bytes_that_was_requested(
    stride: int, moved: int
) -> None:
    x, out = np.ones(64 * 32, np.float32), np.ones(32, np.float32)
    found = gpukit.profile(strided_kernel)[1, 32](x, out, stride)
    load = found.arrays["x"]
    assert (load["global_bytes_asked"], load["global_bytes_moved"]) == (128, moved)
    assert load.ratio("bytes_used") == 100 * 128 / moved
    assert load.ratio("sectors_per_request") == moved / 32


def test_ratios_are_none_without_counts() -> None:
    assert {Counts().ratio(name) for name in RATIOS} == {None}


@pytest.mark.parametrize("name", COUNTERS)
def test_every_counter_names_the_metric_that_it_models(name: str) -> None:
    assert COUNTERS[name].metric
    assert COUNTERS[name].what


def test_unknown_counter_is_rejected_with_a_list_of_counters() -> None:
    with pytest.raises(KeyError, match="global_load_sectors"):
        Counts()["sectors"]
    with pytest.raises(KeyError, match="sectors_per_request"):
        Counts().ratio("sectors")
