"""16-byte accesses: what load4 and store4 access, counters, findings and errors."""

import numpy as np
import pytest

import gpukit
from gpukit import cuda, errors, gpu_code
from gpukit.gpu_code import sass
from gpukit.primitives import vectorized
from gpukit.primitives.vectorized import load4, store4


@cuda.jit
def reverse_kernel(x, out):
    """Reverse each group of four elements; a remainder at the end is not written."""
    k = cuda.grid(1)
    if k < x.shape[0] // 4:
        a, b, c, d = load4(x, k)
        store4(out, k, d, c, b, a)


@cuda.jit
def unguarded_kernel(x, out):
    a, b, c, d = load4(x, cuda.grid(1))
    out[cuda.grid(1)] = a + b + c + d


@cuda.jit
def through_a_tile_kernel(x, out):
    tile = cuda.shared.array(128, np.float32, 16)
    t = cuda.threadIdx.x
    a, b, c, d = load4(x, t)
    store4(tile, t, a, b, c, d)
    cuda.syncthreads()
    a, b, c, d = load4(tile, 31 - t)
    store4(out, t, a, b, c, d)


@cuda.jit
def through_a_tile_without_a_barrier_kernel(x, out):
    tile = cuda.shared.array(256, np.float32, 16)
    t = cuda.threadIdx.x
    a, b, c, d = load4(x, t)
    store4(tile, t, a, b, c, d)
    out[t] = tile[255 - t]


def kinds(report):
    return {finding.kind for finding in report.findings}


def vector(n):
    return np.arange(n, dtype=np.float32) + np.float32(0.5)


@pytest.mark.parametrize("n", [4, 8, 127, 128, 130, 1009])
def test_groups_of_four_are_copied_and_a_remainder_is_not(n):
    x, out = vector(n), np.full(n, np.nan, np.float32)
    reverse_kernel[-(-n // 128), 32](x, out)
    whole = n // 4 * 4
    np.testing.assert_array_equal(out[:whole].reshape(-1, 4)[:, ::-1].ravel(), x[:whole])
    assert np.isnan(out[whole:]).all()


def test_every_bit_pattern_survives():
    bits = np.random.default_rng(1).integers(0, 2**32, 4096, np.uint32)
    bits[:4] = [0x7FC00001, 0xFF800001, 0x80000000, 0x00000001]  # NaNs, minus zero, subnormal
    out = np.empty(4096, np.float32)
    reverse_kernel[32, 32](bits.view(np.float32), out)
    np.testing.assert_array_equal(out.view(np.uint32).reshape(-1, 4)[:, ::-1].ravel(), bits)


def test_load4_and_store4_access_shared_memory_too():
    x, out = vector(128), np.empty(128, np.float32)
    through_a_tile_kernel[1, 32](x, out)
    np.testing.assert_array_equal(out.reshape(-1, 4), x.reshape(-1, 4)[::-1])


def test_a_warp_accesses_512_bytes_in_one_request():
    x = vector(128)
    total = gpukit.profile(reverse_kernel)[1, 32](x, np.empty_like(x)).total
    assert (total["global_load_requests"], total["global_load_sectors"]) == (1, 16)
    assert (total["global_store_requests"], total["global_store_sectors"]) == (1, 16)
    assert total["global_bytes_asked"] == 1024


@pytest.mark.cpu
def test_an_access_outside_the_array_is_an_error():
    x, out = vector(130), np.zeros(64, np.float32)
    with pytest.raises(errors.OutOfBounds, match="index 32 is outside"):
        unguarded_kernel[2, 32](x, out)


@pytest.mark.parametrize("kernel", [reverse_kernel, through_a_tile_kernel])
def test_the_checker_finds_nothing_in_correct_use(kernel):
    report = gpukit.check(kernel)[1, 32](vector(128), cuda.device_array(128, np.float32))
    assert kinds(report) == set()


def test_a_race_between_16_byte_accesses_is_found():
    arguments = vector(256), np.zeros(64, np.float32)
    report = gpukit.check(through_a_tile_without_a_barrier_kernel)[1, 64](*arguments)
    assert "shared-race" in kinds(report)


@pytest.mark.cpu
def test_a_misaligned_access_is_a_finding():
    x = vector(129)[1:]
    assert not vectorized.is_aligned(x)
    report = gpukit.check(reverse_kernel)[1, 32](x, np.empty(128, np.float32))
    assert kinds(report) == {"misaligned"}


def test_new_arrays_are_aligned():
    assert vectorized.is_aligned(np.empty(3, np.float32))
    assert vectorized.is_aligned(cuda.device_array(3, np.float32))


@pytest.mark.cpu
@pytest.mark.parametrize(
    "x",
    [vector(128).astype(np.float64), vector(128).reshape(4, 32), vector(256)[::2]],
    ids=["float64", "a matrix", "every second element"],
)
def test_arrays_other_than_contiguous_float32_vectors_are_refused(x):
    with pytest.raises(
        errors.KernelTypeError, match="needs a contiguous float32 vector, not array"
    ):
        reverse_kernel[1, 32](x, np.empty(128, np.float32))


@pytest.mark.cpu
def test_a_read_only_array_cannot_be_stored_to():
    out = vector(128)
    out.flags.writeable = False
    with pytest.raises(errors.GpukitError, match=r"read.?only|Cannot modify"):
        reverse_kernel[1, 32](vector(128), out)


@pytest.mark.compilers
@pytest.mark.parametrize(
    ("kernel", "accesses"),
    [
        (reverse_kernel, {"LDG": 1, "STG": 1}),
        (through_a_tile_kernel, {"LDG": 1, "STS": 1, "LDS": 1, "STG": 1}),
    ],
)
def test_each_access_compiles_to_one_wide_instruction(kernel, accesses):
    x = vector(128)
    code = gpu_code.build(kernel, (x, x), [(9, 0)])[9, 0]
    assert sass.wide_accesses(sass.parse(code.sass)) == accesses
