"""One finding per mistake, with its severity: uninitialised reads, same-value races."""

import numpy as np

import gpukit
from gpukit import cuda

BLOCK = 64


@cuda.jit
def five_reads_kernel(out):
    acc = cuda.local.array(4, np.float32)
    i = cuda.grid(1)
    acc[0] += np.float32(1)
    acc[1] += acc[0]
    acc[2] += acc[1]
    acc[3] += acc[2]
    out[i] = acc[3] - acc[0]


@cuda.jit
def two_arrays_kernel(out):
    one = cuda.local.array(2, np.float32)
    two = cuda.local.array(2, np.float32)
    i = cuda.grid(1)
    out[i] = one[0]
    out[i] += two[1]


@cuda.jit
def unused_kernel(out):
    acc = cuda.local.array(2, np.float32)
    i = cuda.grid(1)
    first = acc[0]
    half = first / np.float32(2)  # noqa: F841  (never read)
    out[i] = np.float32(i)


@cuda.jit
def replaced_kernel(out):
    acc = cuda.local.array(2, np.float32)
    i = cuda.grid(1)
    value = acc[1]
    value = np.float32(i)
    out[i] = value


@cuda.jit
def used_later_kernel(out):
    acc = cuda.local.array(2, np.float32)
    i = cuda.grid(1)
    value = acc[1]
    half = value / np.float32(2)
    out[i] = half


@cuda.jit
def used_as_condition_kernel(out):
    acc = cuda.local.array(2, np.float32)
    i = cuda.grid(1)
    value = acc[1]
    if value > np.float32(0):
        out[i] = np.float32(1)
    else:
        out[i] = np.float32(0)


@cuda.jit
def constant_kernel(a, out):
    i = cuda.grid(1)
    a[0] = 7.0
    out[i] = a[0]


@cuda.jit
def constant_by_some_kernel(a, out):
    i = cuda.grid(1)
    if i % 2 == 0:
        a[0] = 7.0
    out[i] = a[0]


@cuda.jit
def different_kernel(a, out):
    i = cuda.grid(1)
    a[0] = i
    out[i] = a[0]


def findings(kernel, *arguments, blocks=1):
    return gpukit.check(kernel)[blocks, BLOCK](*arguments).findings


def output(blocks=1):
    return np.zeros(blocks * BLOCK, np.float32)


def severities(kernel):
    found = findings(kernel, output())
    return [f.severity for f in found if f.kind == "uninitialised-local"]


def test_reads_of_one_uninitialised_array_in_several_lines_are_one_finding():
    (found,) = findings(five_reads_kernel, output())
    first = found.line
    assert f"It is also read in lines {first + 1}, {first + 2} and {first + 3}." in found.message
    assert found.count == 4 * BLOCK


def test_each_uninitialised_array_is_one_finding():
    assert [f.array for f in findings(two_arrays_kernel, output())] == ["one", "two"]


def test_uninitialised_value_that_is_never_used_is_a_warning():
    assert severities(unused_kernel) == ["warning"]
    assert severities(replaced_kernel) == ["warning"]


def test_uninitialised_value_that_reaches_memory_or_a_condition_is_an_error():
    assert severities(used_later_kernel) == ["error"]
    assert severities(used_as_condition_kernel) == ["error"]


def test_same_value_race_is_a_warning_when_every_reader_also_writes():
    for blocks in (1, 2):
        (found,) = findings(constant_kernel, np.zeros(1), output(blocks), blocks=blocks)
        assert (found.kind, found.severity) == ("same-value-race", "warning")


def test_same_value_race_is_an_error_when_some_readers_do_not_write():
    kinds = {f.kind: f.severity for f in findings(constant_by_some_kernel, np.zeros(1), output())}
    assert "error" in kinds.values()


def test_writes_of_different_values_are_an_error_even_if_every_reader_writes():
    found = findings(different_kernel, np.zeros(1), output())
    assert {f.severity for f in found} == {"error"}
