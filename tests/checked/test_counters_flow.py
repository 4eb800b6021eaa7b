"""Branches, steps, barriers and arithmetic of a profile against manual counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gpukit
from gpukit import cuda
from gpukit.checked.counters import Counts


def profiled(kernel: Any, launch: Any, *arguments: Any) -> Any:
    return gpukit.profile(kernel)[launch](*arguments)


def at(profile: Any, text: str) -> Counts:
    """Return the counters of the one line that contains this text."""
    (line,) = (number for number, source in profile.source if text in source)
    found = profile.lines.get((profile.file, line), Counts())
    assert isinstance(found, Counts)
    return found


def array(count: int = 256, dtype: Any = np.float32) -> np.ndarray:
    return np.zeros(count, dtype)


# ---- branches -------------------------------------------------------------------------------


@cuda.jit
def guard_kernel(out, n):
    i = cuda.grid(1)
    if i < n:
        out[i] = 1


@pytest.mark.parametrize(
    ("n", "divergent"), [(0, 0), (1, 1), (32, 0), (70, 1), (96, 0), (99, 1), (100, 0)]
)
def test_guard_diverges_only_in_the_warp_at_its_boundary(n: int, divergent: int) -> None:
    total = profiled(guard_kernel, (1, 100), array(), n).total
    assert (total["branches"], total["divergent_branches"]) == (4, divergent)
    assert total.ratio("branch_efficiency") == 100 * (4 - divergent) / 4


@pytest.mark.parametrize(("n", "warps"), [(1, 1), (32, 1), (33, 2), (70, 3), (100, 4)])
def test_guarded_statement_is_a_step_of_warps_with_active_lanes(n: int, warps: int) -> None:
    store = at(profiled(guard_kernel, (1, 100), array(), n), "out[i]")
    assert (store["warp_steps"], store["thread_steps"]) == (warps, n)
    assert store.ratio("lanes_per_step") == n / warps


@cuda.jit
def odd_and_even_kernel(out):
    t = cuda.threadIdx.x
    if t % 2 == 0:
        out[t] = 1  # even
    else:
        out[t] = 2  # odd


def test_odd_and_even_branches_run_half_warps() -> None:
    found = profiled(odd_and_even_kernel, (3, 64), array())
    for text in ("# even", "# odd"):
        assert at(found, text)["warp_steps"] == 6
        assert at(found, text).ratio("lanes_per_step") == 16
    assert found.total["branches"] == found.total["divergent_branches"] == 6
    assert found.total.ratio("branch_efficiency") == 0


def test_if_else_condition_is_one_step_per_warp() -> None:
    condition = at(profiled(odd_and_even_kernel, (3, 64), array()), "if t % 2")
    assert (condition["warp_steps"], condition["thread_steps"]) == (6, 192)


@cuda.jit
def nested_kernel(x, out):
    t = cuda.threadIdx.x
    if t < 40:
        if x[t] * x[t] < 400:
            out[t] = 1  # 20
        elif t < 25:
            out[t] = 2  # 5
        out[t] = 3  # 40


def nested() -> Any:
    return profiled(nested_kernel, (1, 96), np.arange(96, dtype=np.float32), array())


def test_nested_condition_is_a_branch_of_warps_that_reach_it() -> None:
    found = nested()
    wanted = {"if t < 40": (3, 1), "if x[t]": (2, 1), "elif t": (2, 1)}
    for text, counts in wanted.items():
        line = at(found, text)
        assert (line["branches"], line["divergent_branches"]) == counts, text


def test_nested_condition_is_a_step_of_threads_that_reach_it() -> None:
    found = nested()
    for text, counts in {"if x[t]": (2, 40), "elif t": (2, 20)}.items():
        assert (at(found, text)["warp_steps"], at(found, text)["thread_steps"]) == counts, text


def test_arithmetic_of_a_nested_condition_counts_for_threads_that_reach_it() -> None:
    assert at(nested(), "if x[t]")["flops_float32"] == 40


@pytest.mark.parametrize(("text", "warps", "threads"), [("20", 1, 20), ("5", 1, 5), ("40", 2, 40)])
def test_statements_below_nested_conditions(text: str, warps: int, threads: int) -> None:
    line = at(nested(), f"# {text}")
    assert (line["warp_steps"], line["thread_steps"]) == (warps, threads)


@cuda.jit
def uniform_kernel(out, n):
    t = cuda.threadIdx.x
    if n > 3:
        out[t] = 1


@pytest.mark.parametrize("n", [5, 3])
def test_uniform_condition_is_a_branch_without_divergence(n: int) -> None:
    total = profiled(uniform_kernel, (2, 48), array(), n).total
    assert (total["branches"], total["divergent_branches"]) == (4, 0)
    assert total.ratio("branch_efficiency") == 100


# ---- loops ----------------------------------------------------------------------------------


@cuda.jit
def trips_kernel(trips, out):
    t = cuda.threadIdx.x
    n = trips[t]
    while n > 0:
        out[t] = n
        n -= 1


def by_hand(trips: Any) -> dict[str, int]:
    """Return the expected counters of the loop, which lanes with fewer trips leave early."""
    found = dict.fromkeys(("branches", "divergent_branches", "requests", "threads"), 0)
    for first in range(0, len(trips), 32):
        warp = np.array(trips[first : first + 32])
        for evaluation in range(warp.max() + 1):
            inside, stay = int((warp >= evaluation).sum()), int((warp > evaluation).sum())
            found["branches"] += 1
            found["divergent_branches"] += 0 < stay < inside
            found["requests"] += stay > 0
            found["threads"] += stay
    return found


TRIPS = {
    "none": [0] * 48,
    "the same": [3] * 48,
    "modulo five": [t % 5 for t in range(48)],
    "odd lanes only": [3 * (t % 2) for t in range(64)],
    "one lane only": [7 if t == 40 else 0 for t in range(64)],
    "one warp only": [5 if t < 32 else 0 for t in range(64)],
    "a staircase": list(range(33)),
    "the later the fewer": [32 - t for t in range(33)],
}


@pytest.mark.parametrize("name", TRIPS)
@pytest.mark.costly
def test_lanes_that_left_a_loop_do_not_evaluate_its_condition(name: str) -> None:
    trips = TRIPS[name]
    total = profiled(trips_kernel, (1, len(trips)), np.array(trips), array()).total
    wanted = by_hand(trips)
    assert total["branches"] == wanted["branches"]
    assert total["divergent_branches"] == wanted["divergent_branches"]


@pytest.mark.parametrize("name", TRIPS)
def test_each_iteration_is_a_request_of_the_lanes_still_in_the_loop(name: str) -> None:
    trips = TRIPS[name]
    found = profiled(trips_kernel, (1, len(trips)), np.array(trips), array())
    wanted, body = by_hand(trips), at(found, "out[t] = n")
    assert body["global_store_requests"] == body["warp_steps"] == wanted["requests"]
    assert body["thread_steps"] == wanted["threads"]


@pytest.mark.parametrize("name", TRIPS)
def test_loop_condition_is_a_step_of_threads_still_in_the_loop(name: str) -> None:
    trips = TRIPS[name]
    found = profiled(trips_kernel, (1, len(trips)), np.array(trips), array())
    head = at(found, "while n")
    assert head["warp_steps"] == by_hand(trips)["branches"]
    assert head["thread_steps"] == len(trips) + sum(trips)


@cuda.jit
def turns_kernel(out, width, rounds):
    t = cuda.threadIdx.x
    for k in range(rounds):
        if t // width == k:
            out[t] = k


@pytest.mark.parametrize("width", [1, 4, 8, 16, 32])
def test_diverged_lanes_issue_separate_requests(width: int) -> None:
    rounds = 64 // width
    total = profiled(turns_kernel, (1, 64), array(), width, rounds).total
    assert total["global_store_requests"] == rounds
    assert total["global_store_sectors"] == rounds * max(width // 8, 1)


@cuda.jit
def one_a_block_kernel(out):
    t = cuda.threadIdx.x
    if t == cuda.blockIdx.x:
        out[t] = 1


def test_two_blocks_never_share_a_request() -> None:
    found = profiled(one_a_block_kernel, (8, 32), array())
    assert found.total["global_store_requests"] == found.total["global_store_sectors"] == 8
    assert at(found, "out[t]")["warp_steps"] == 8


@cuda.jit
def leaving_kernel(out):
    t = cuda.threadIdx.x
    n = 0
    while n < 10:
        n += 1
        if n > t % 3:
            break
        out[t] = n


def test_lanes_that_break_out_of_a_loop_take_no_further_steps() -> None:
    found = profiled(leaving_kernel, (1, 32), array())
    loop, inner = at(found, "while n"), at(found, "if n >")
    assert (loop["branches"], loop["divergent_branches"]) == (3, 0)
    assert (inner["branches"], inner["divergent_branches"]) == (3, 2)


@cuda.jit
def returning_kernel(out, n):
    i = cuda.grid(1)
    if i >= n:
        return
    if i % 2 == 0:
        out[i] = 1


def test_threads_that_have_returned_take_no_part_in_later_branches() -> None:
    found = profiled(returning_kernel, (2, 48), array(), 50)  # the second warp has 2 active lanes
    assert at(found, "if i % 2")["branches"] == 3
    assert at(found, "if i % 2")["divergent_branches"] == 3
    assert at(found, "out[i]")["thread_steps"] == 25


# ---- barriers -------------------------------------------------------------------------------


@cuda.jit
def barriers_kernel(out, rounds):
    t = cuda.threadIdx.x
    for k in range(rounds):
        out[t] = k
        cuda.syncthreads()


@pytest.mark.parametrize(("threads", "warps"), [(1, 1), (31, 1), (32, 1), (33, 2), (100, 4)])
@pytest.mark.costly
def test_every_warp_of_every_block_reaches_a_barrier(threads: int, warps: int) -> None:
    found = profiled(barriers_kernel, (3, threads), array(), 5)
    assert found.total["barriers"] == at(found, "syncthreads")["barriers"] == 3 * 5 * warps
