"""Messages quote the user's source, never code that compiler passes generated."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gpukit
from gpukit import collectives, cuda, errors
from gpukit.checked import process
from gpukit.cpu import random
from tests import often
from tests.bugs.corpus import BUGS, CORRECT, Bug, Correct, report_of
from tests.checked.quoted import foreign
from tests.programs.collected import PROGRAMS, run

N = 32


def numbers(*shape: int) -> Any:
    return np.ones(shape, np.float32)


@cuda.jit(device=True)
def mean_of(points, count):
    mean = cuda.local.array(2, np.float32)
    mean[0] = 0
    for k in range(count):
        mean[0] += points[k]
    mean[0] /= count
    return mean[0]


@cuda.jit
def means_kernel(x, out):
    i = cuda.grid(1)
    number = 0
    for k in range(x.shape[1]):
        if x[i, k] > 0:
            number += 1
    out[i] = mean_of(x[i], number)


@cuda.jit
def zero_kernel(x, out):
    i = cuda.grid(1)
    out[i] = x[i] + 2 * i * 0e0


@cuda.jit
def reserved_kernel(_x, out):
    _tile = cuda.shared.array(N, np.float32)
    i = cuda.threadIdx.x
    _tile[i] = _x[i]
    out[i] = _tile[N - 1 - i]


@cuda.jit
def outside_kernel(_x, out):
    i = cuda.threadIdx.x
    place = lambda k: k + 1
    out[i] = _x[place(i)]


@cuda.jit
def spread_kernel(x, out):
    i = cuda.threadIdx.x
    out[i] = x[
        i  # from here
        + 1
    ]


@cuda.jit
def drawing_kernel(states, out):
    i = cuda.grid(1)
    v = random.xoroshiro128p_uniform_float64(states, i // 2)
    out[i] = v


@cuda.jit
def drawing_outside_kernel(states, out):
    i = cuda.grid(1)
    v = random.xoroshiro128p_uniform_float32(states, i + 1)
    out[i] = v


@cuda.jit
def summing_kernel(x, out):
    totals = cuda.shared.array(1, np.float32)
    i = cuda.threadIdx.x
    if i < N // 2:
        out[0] = collectives.block_sum(x[i], totals, i, 1)


@cuda.vectorize(["float32(float32)"])
def doubled(x):
    return 2 * x


def states() -> Any:
    return random.create_xoroshiro128p_states(N, seed=1)


# Kernels with findings or errors, and their arguments.
SAID = {
    "an inlined variable": (means_kernel, lambda: (numbers(N, 8), numbers(N))),
    "a literal": (zero_kernel, lambda: (numbers(N), numbers(N))),
    "reserved names": (reserved_kernel, lambda: (numbers(N), numbers(N))),
    "a lambda": (outside_kernel, lambda: (numbers(N), numbers(N))),
    "two lines": (spread_kernel, lambda: (numbers(N), numbers(N))),
    "random numbers": (drawing_kernel, lambda: (states(), numbers(N))),
    "states outside": (drawing_outside_kernel, lambda: (states(), numbers(N))),
    "a collective": (summing_kernel, lambda: (numbers(N), numbers(1))),
}
STOPPED = ("a lambda", "two lines", "states outside", "a collective")


@pytest.mark.parametrize("case", SAID)
@pytest.mark.costly
def test_findings_quote_only_the_source_of_the_kernel(case: str) -> None:
    kernel, arguments = SAID[case]
    report = gpukit.check(kernel)[1, N](*arguments())
    assert report.findings
    assert foreign(report) == []


@pytest.mark.parametrize("case", [case for case in SAID if case not in STOPPED])
@pytest.mark.costly
def test_a_profile_quotes_only_the_source_of_the_kernel(case: str) -> None:
    kernel, arguments = SAID[case]
    assert foreign(gpukit.profile(kernel)[1, N](*arguments())) == []


@pytest.mark.parametrize("case", STOPPED)
@pytest.mark.costly
def test_an_error_quotes_only_the_source_of_the_kernel(case: str) -> None:
    kernel, arguments = SAID[case]
    with pytest.raises(errors.KernelError) as stopped:
        kernel[1, N](*arguments())
    assert foreign(stopped.value) == []


def test_float64_in_an_update_is_quoted_and_fixed_as_written() -> None:
    report = gpukit.check(means_kernel)[1, N](numbers(N, 8), numbers(N))
    (found,) = [f for f in report.findings if f.kind == "float64"]
    assert (found.kernel, found.source) == ("mean_of", "mean[0] /= count")
    assert found.fix == "write `mean[0] /= np.float32(count)`"


def test_literal_is_quoted_as_written() -> None:
    (found,) = gpukit.check(zero_kernel)[1, N](numbers(N), numbers(N)).findings
    assert "`0e0`" in found.message
    assert "`np.float32(0e0)`" in found.fix


def test_float32_random_numbers_are_not_reported_as_float64() -> None:
    report = gpukit.check(drawing_outside_kernel)[1, N - 1](states(), numbers(N - 1))
    assert [f.kind for f in report.findings] == []


def test_race_inside_a_gpukit_function_is_located_at_its_call() -> None:
    report = gpukit.check(drawing_kernel)[1, N](states(), numbers(N))
    (found,) = report.errors
    assert (found.kind, found.array) == ("global-race", "states")
    assert found.source == "v = random.xoroshiro128p_uniform_float64(states, i // 2)"


def test_a_profile_of_an_array_function_shows_the_function_itself() -> None:
    profile = gpukit.profile(doubled)(numbers(N))
    assert [text.strip() for _, text in profile.source][-1] == "return 2 * x"
    assert {profile.source[1][1]} == {dict(profile.source)[a.line] for a in profile.accesses}


@pytest.mark.corpus
@pytest.mark.parametrize("name", BUGS)
def test_findings_of_a_bug_quote_only_its_own_source(name: str) -> None:
    assert foreign(report_of(name)) == []


@pytest.mark.corpus
@pytest.mark.parametrize("whole", CORRECT.values(), ids=[c.name for c in CORRECT.values()])
def test_the_profile_of_a_correct_kernel_quotes_only_its_own_source(whole: Correct) -> None:
    launch = whole.launch
    shape = launch.grid, launch.block, 0, launch.shared
    assert foreign(gpukit.profile(whole.kernel)[shape](*whole.arguments())) == []


@pytest.mark.corpus
@pytest.mark.parametrize("kind", ["out-of-bounds", "barrier-divergence", "raised"])
def test_errors_of_bugs_quote_only_their_own_source(kind: str) -> None:
    bugs = [bug for bug in BUGS.values() if bug.kind == kind]
    assert {bug.name: found for bug in bugs if (found := foreign(_error(bug)))} == {}


def _error(bug: Bug) -> Any:
    launch = bug.launch
    try:
        with np.errstate(all="ignore"):
            bug.kernel[launch.grid, launch.block, 0, launch.shared](*bug.arguments())
    except errors.KernelError as error:
        return error
    return errors.KernelError("")


@pytest.mark.programs
@pytest.mark.parametrize("name", often.each(PROGRAMS, 4))
def test_findings_and_profiles_of_a_program_quote_only_its_own_source(name: str) -> None:
    with process.checking() as reports:
        run(PROGRAMS[name])
    with process.profiling() as profiles:
        run(PROGRAMS[name])
    assert [text for found in (*reports, *profiles) for text in foreign(found)] == []
