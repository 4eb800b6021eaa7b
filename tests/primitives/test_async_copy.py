"""Asynchronous copies to shared memory: what they copy, counters, findings and errors."""

import numpy as np
import pytest

import gpukit
from gpukit import cuda, errors, gpu_code
from gpukit.gpu_code import sass
from gpukit.primitives.async_copy import commit, copy16, wait
from tests import oracle

WARP_BYTES = 512  # bytes that a warp copies


@cuda.jit
def through_a_tile_kernel(x, out, inside):
    """Copy 16 bytes per thread to shared memory; threads from `inside` on fill with zeros."""
    tile = cuda.shared.array(128, np.float32, 16)
    t = cuda.threadIdx.x
    copy16(tile, t, x, t, t < inside)
    commit()
    wait(0)
    cuda.syncthreads()
    for part in range(4):
        out[32 * part + t] = tile[32 * part + t]


@cuda.jit
def halves_kernel(x, out):
    tile = cuda.shared.array(256, np.uint16, 16)
    t = cuda.threadIdx.x
    copy16(tile, 31 - t, x, t, True)
    commit()
    wait(0)
    cuda.syncthreads()
    for part in range(8):
        out[32 * part + t] = tile[32 * part + t]


@cuda.jit
def without_a_barrier_kernel(x, out):
    tile = cuda.shared.array(256, np.float32, 16)
    t = cuda.threadIdx.x
    copy16(tile, t, x, t, True)
    commit()
    wait(0)
    out[t] = tile[255 - t]


@cuda.jit
def two_dtypes_kernel(x, out):
    tile = cuda.shared.array(128, np.uint32, 16)
    copy16(tile, 0, x, 0, True)
    out[0] = tile[0]


def kinds(report):
    return {finding.kind for finding in report.findings}


def vector(n=128):
    return np.arange(n, dtype=np.float32) + np.float32(0.5)


@pytest.mark.parametrize("inside", [0, 1, 31, 32])
@pytest.mark.costly
def test_copies_outside_the_source_are_filled_with_zeros(inside):
    x, out = vector(), np.full(128, np.nan, np.float32)
    through_a_tile_kernel[1, 32](x, out, inside)
    np.testing.assert_array_equal(out, np.where(np.arange(128) < 4 * inside, x, 0))


def test_sixteen_bytes_are_eight_16_bit_elements():
    x, out = np.arange(256, dtype=np.uint16), np.zeros(256, np.uint16)
    halves_kernel[1, 32](x, out)
    np.testing.assert_array_equal(out.reshape(32, 8), x.reshape(32, 8)[::-1])


def test_a_copy_outside_the_source_reads_nothing():
    out = np.full(128, np.nan, np.float32)
    through_a_tile_kernel[1, 32](vector(8), out, 2)
    np.testing.assert_array_equal(out[:8], vector(8))


@pytest.mark.cpu
def test_an_unguarded_copy_from_outside_the_source_is_an_error():
    with pytest.raises(errors.OutOfBounds, match="index 2 is outside"):
        through_a_tile_kernel[1, 32](vector(8), np.zeros(128, np.float32), 32)


def test_a_warp_loads_512_bytes_in_one_request():
    x, out = vector(), np.empty(128, np.float32)
    total = gpukit.profile(through_a_tile_kernel)[1, 32](x, out, 32).total
    assert (total["global_load_requests"], total["global_load_sectors"]) == (1, 16)
    assert total["global_bytes_asked"] == 2 * WARP_BYTES


def test_the_checker_finds_nothing_in_correct_use():
    out = cuda.device_array(128, np.float32)
    assert kinds(gpukit.check(through_a_tile_kernel)[1, 32](vector(), out, 20)) == set()


def test_reading_other_threads_copies_without_a_barrier_is_a_race():
    arguments = vector(256), np.zeros(64, np.float32)
    assert "shared-race" in kinds(gpukit.check(without_a_barrier_kernel)[1, 64](*arguments))


def test_a_misaligned_copy_is_a_finding():
    report = gpukit.check(through_a_tile_kernel)[1, 32](vector(129)[1:], np.empty(128, "f4"), 32)
    assert kinds(report) == {"misaligned"}


def test_the_oracle_agrees_on_copies():
    out, expected = np.empty(128, np.float32), np.empty(128, np.float32)
    through_a_tile_kernel[1, 32](vector(), out, 20)
    oracle.launch(through_a_tile_kernel, 1, 32, vector(), expected, 20)
    np.testing.assert_array_equal(out, expected)


@pytest.mark.cpu
@pytest.mark.parametrize("x", [vector().reshape(4, 32), vector(256)[::2]], ids=["matrix", "gaps"])
def test_only_contiguous_vectors_are_copied(x):
    with pytest.raises(errors.CompileError, match="between contiguous vectors"):
        through_a_tile_kernel[1, 32](x, np.empty(128, np.float32), 32)


@pytest.mark.cpu
def test_a_copy_between_dtypes_is_refused():
    with pytest.raises(errors.CompileError, match="of one dtype"):
        two_dtypes_kernel[1, 32](vector(), np.zeros(1, np.float32))


@pytest.mark.compilers
def test_a_copy_compiles_to_one_ldgsts_instruction():
    arguments = (vector(), np.empty(128, np.float32), 32)
    (codes,) = gpu_code.build_many([(through_a_tile_kernel, arguments)], [(8, 0), (9, 0)])
    for code in codes.values():
        opcodes = [one.opcode for one in sass.parse(code.sass)]
        assert sum(opcode.startswith("LDGSTS") and ".128" in opcode for opcode in opcodes) == 1
        assert not any(opcode.startswith("STS") for opcode in opcodes)
