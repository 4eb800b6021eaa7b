"""Occupancy: hand-computed values, and 100,000 configurations against NVIDIA's own header.

`cuda_occupancy.h` is part of the package nvidia-cuda-runtime. The tests search for it and compile
it in a temporary folder; its licence forbids redistribution with gpukit.
"""

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gpukit.checked.gpus import GPUS, find
from gpukit.checked.occupancy import best_block, occupancy, spare_registers, table

CONFIGURATIONS = 100_000
NAMES = tuple(GPUS)
INVALID = 1

# The bits of cudaOccLimitingFactor.
FACTORS = {"warps": 1, "registers": 2, "shared memory": 4, "blocks": 8}

DRIVER = r"""
#include "cuda_occupancy.h"
#ifdef __cplusplus
extern "C" {
#endif
struct Setting {
    struct cudaOccDeviceProp device;
    struct cudaOccFuncAttributes kernel;
    struct cudaOccDeviceState state;
};

static void set(struct Setting *s, const int *gpu, const int *c)
{
    memset(s, 0, sizeof *s);
    s->device.computeMajor = gpu[0];
    s->device.computeMinor = gpu[1];
    s->device.maxThreadsPerBlock = gpu[2];
    s->device.maxThreadsPerMultiprocessor = gpu[3];
    s->device.regsPerBlock = gpu[4];
    s->device.regsPerMultiprocessor = gpu[5];
    s->device.warpSize = gpu[6];
    s->device.sharedMemPerBlock = gpu[7];
    s->device.sharedMemPerMultiprocessor = gpu[8];
    s->device.numSms = gpu[9];
    s->device.sharedMemPerBlockOptin = gpu[10];
    s->device.reservedSharedMemPerBlock = gpu[11];
    s->kernel.maxThreadsPerBlock = INT_MAX;
    s->kernel.numRegs = c[2];
    s->kernel.sharedSizeBytes = c[3];
    s->kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
    s->kernel.maxDynamicSharedSizeBytes = c[4];
    s->kernel.numBlockBarriers = 1;
    s->state.carveoutConfig = SHAREDMEM_CARVEOUT_DEFAULT;
}

void active(int n, const int *gpus, const int *configurations, int *out)
{
    for (int i = 0; i < n; i++) {
        const int *c = configurations + 5 * i;
        struct Setting s;
        struct cudaOccResult r;
        memset(&r, 0, sizeof r);
        set(&s, gpus + 12 * c[0], c);
        out[3 * i] = cudaOccMaxActiveBlocksPerMultiprocessor(
            &r, &s.device, &s.kernel, &s.state, c[1], c[4]);
        out[3 * i + 1] = r.activeBlocksPerMultiprocessor;
        out[3 * i + 2] = r.limitingFactors;
    }
}

void best(int n, const int *gpus, const int *configurations, int *out)
{
    for (int i = 0; i < n; i++) {
        const int *c = configurations + 5 * i;
        struct Setting s;
        set(&s, gpus + 12 * c[0], c);
        out[3 * i] = cudaOccMaxPotentialOccupancyBlockSize(
            out + 3 * i + 1, out + 3 * i + 2, &s.device, &s.kernel, &s.state, 0, c[4]);
    }
}
#ifdef __cplusplus
}
#endif
"""


def header() -> Path | None:
    """Return NVIDIA's header from an installed wheel, of the newest CUDA version."""
    found = [h for p in sys.path if p for h in Path(p).glob("nvidia/*/include/cuda_occupancy.h")]
    return max(found, key=lambda h: h.parent.parent.name, default=None)


def compiler() -> str | None:
    candidates = (os.environ.get("CXX", ""), "g++", "c++", "clang++", "cc")
    return next((c for c in candidates if c and shutil.which(c)), None)


@pytest.fixture(scope="module")
def vendor(tmp_path_factory):
    """Return NVIDIA's calculator: `vendor(which, configurations)` gives three integers for each."""
    found, cc = header(), compiler()
    if found is None:
        pytest.skip("needs cuda_occupancy.h: pip install nvidia-cuda-runtime (not for macOS)")
    if cc is None or sys.platform == "win32":
        pytest.skip("needs a C++ compiler called g++, c++, clang++ or cc: install g++")
    folder = tmp_path_factory.mktemp("occupancy")
    source, library = folder / "driver.c", folder / "driver.so"
    source.write_text(DRIVER, encoding="utf-8")
    language = "c" if cc == "cc" else "c++"
    command = [cc, "-x", language, "-O1", "-w", "-shared", "-fPIC", f"-I{found.parent}"]
    subprocess.run([*command, "-o", library, source], check=True)
    loaded = ctypes.CDLL(str(library))
    gpus = np.array([device_of(gpu) for gpu in GPUS.values()], np.int32)

    def run(which: str, configurations: np.ndarray) -> np.ndarray:
        out = np.zeros((len(configurations), 3), np.int32)
        wanted = np.ascontiguousarray(configurations, np.int32)
        pointers = (a.ctypes.data_as(ctypes.c_void_p) for a in (gpus, wanted, out))
        getattr(loaded, which)(len(wanted), *pointers)
        return out

    return run


def device_of(gpu):
    """Return what cudaGetDeviceProperties reports, in the order that DRIVER reads."""
    return (
        *gpu.capability,
        gpu.threads_per_block,
        gpu.warps_per_sm * gpu.warp,
        gpu.registers_per_block,
        gpu.registers_per_sm,
        gpu.warp,
        gpu.shared_without_asking,
        gpu.shared_per_sm,
        gpu.sms,
        gpu.shared_per_block,
        gpu.shared_reserved,
    )


def pick(rng, n, shares):
    """Return n values, each from one of the arrays in `shares`, chosen by the arrays' weights."""
    weights = np.array([weight for weight, _ in shares])
    which = rng.choice(len(shares), n, p=weights / weights.sum())
    drawn = np.stack([rng.choice(values, n) for _, values in shares])
    return drawn[which, np.arange(n)]


def shared_bytes(most):
    """Return the sizes at which the number of blocks changes, and their neighbours."""
    totals = [g.shared_per_sm // k - g.shared_reserved for g in GPUS.values() for k in range(1, 33)]
    totals += [g.shared_per_block for g in GPUS.values()]
    near = np.add.outer(totals, [-129, -128, -127, -1, 0, 1, 127, 128, 129]).ravel()
    return near[(near >= 0) & (near <= most)]


def draw(n, seed=20261120):
    """Return n configurations: GPU, threads, registers, static and dynamic bytes; some invalid."""
    rng = np.random.default_rng(seed)
    odd_threads = [-1, 0, 1, 31, 32, 33, 992, 993, 1023, 1024, 1025, 2048, 1 << 20]
    odd_registers = [-1, 0, 1, 8, 9, 254, 255, 256, 257, 1000]
    nothing = (2, np.zeros(1, int))
    return np.stack(
        [
            rng.integers(len(NAMES), size=n),
            pick(rng, n, [(6, np.arange(1, 1025)), (3, np.arange(32, 1025, 32)), (1, odd_threads)]),
            pick(rng, n, [(4, np.arange(257)), (4, np.arange(16, 80)), (1, odd_registers)]),
            pick(rng, n, [nothing, (2, np.arange(49153)), (1, shared_bytes(49152))]),
            pick(rng, n, [nothing, (1, np.arange(250_000)), (1, shared_bytes(250_000))]),
        ],
        axis=1,
    )


def ours(configuration):
    """Return gpukit's result as the triple that NVIDIA's calculator returns."""
    which, *rest = configuration
    try:
        result = occupancy(GPUS[NAMES[which]], *rest)
    except ValueError:
        return INVALID, 0, 0
    return 0, result.blocks, sum(FACTORS[name] for name in result.limited_by)


def our_best(configuration):
    which, _, registers, static, dynamic = configuration
    try:
        result = best_block(GPUS[NAMES[which]], registers, static, dynamic)
    except ValueError:
        return INVALID, 0, 0
    return (0, result.blocks_to_fill, result.threads) if result else (0, 0, 0)


def differences(ours_of, configurations, expected):
    pairs = zip(configurations.tolist(), expected.tolist(), strict=True)
    return [(c, ours_of(c), want) for c, want in pairs if ours_of(c) != tuple(want)]


def test_occupancy_matches_nvidia_on_100000_configurations(vendor):
    configurations = draw(CONFIGURATIONS)
    assert differences(ours, configurations, vendor("active", configurations))[:5] == []


@pytest.mark.parametrize("name", FACTORS)
def test_configurations_reach_every_limit_with_and_without_blocks(vendor, name):
    found = vendor("active", draw(CONFIGURATIONS))
    limited = (found[:, 2] & FACTORS[name]) != 0
    assert np.count_nonzero(limited & (found[:, 1] > 0)) > 1000
    assert name == "blocks" or np.count_nonzero(limited & (found[:, 1] == 0)) > 1000


def test_configurations_include_invalid_ones(vendor):
    found = vendor("active", draw(CONFIGURATIONS))
    assert np.count_nonzero(found[:, 0] == INVALID) > 1000


def test_best_block_matches_nvidia(vendor):
    configurations = draw(500, seed=7)
    assert differences(our_best, configurations, vendor("best", configurations))[:5] == []


# ---- by hand -------------------------------------------------------------------------------------


# Compute capability 9.0 has 64 warps, 65,536 registers and 233,472 bytes of shared memory per SM;
# each block reserves 1,024 bytes more than it requests.
@pytest.mark.parametrize(
    ("threads", "registers", "shared", "blocks", "percent"),
    [
        (256, 32, 2048, 8, 100.0),
        (1024, 65, 0, 0, 0.0),
        (128, 40, 100_000, 2, 12.5),
        (32, 16, 0, 32, 50.0),
        (1024, 64, 0, 1, 50.0),
        (33, 32, 0, 32, 100.0),
        (96, 32, 0, 21, 98.4375),
        (64, 32, 232_448, 1, 3.125),
        (64, 32, 232_449, 0, 0.0),
        (1025, 32, 0, 0, 0.0),
    ],
)
def test_occupancy_on_h100(threads, registers, shared, blocks, percent):
    result = occupancy(find("H100"), threads, registers, 0, shared)
    assert (result.blocks, result.percent) == (blocks, percent)


@pytest.mark.parametrize(
    ("name", "blocks"),
    [("T4", 4), ("L4", 6), ("A100", 8), ("RTX 4090", 6), ("H100", 8), ("H200", 8), ("B200", 8)],
)
def test_occupancy_of_256_threads_fills_every_gpu(name, blocks):
    result = occupancy(GPUS[name], 256, 32, 2048)
    assert (result.blocks, result.percent) == (blocks, 100.0)


@pytest.mark.parametrize(
    ("name", "most"),
    [("T4", 65_536), ("L4", 101_376), ("A100", 166_912), ("H100", 232_448), ("B200", 232_448)],
)
def test_shared_memory_limit_per_block_is_the_documented_size(name, most):
    sizes = (most, most + 1)
    assert [occupancy(GPUS[name], 32, 16, 0, size).blocks for size in sizes] == [1, 0]


def test_registers_per_thread_are_rounded_up_to_eight():
    counts = [occupancy(find("H100"), 256, registers).blocks for registers in (32, 33, 40, 41)]
    assert counts == [8, 6, 6, 5]


def test_static_and_dynamic_shared_memory_count_equally():
    first = occupancy(find("A100"), 64, 16, 5000, 3000)
    assert first.limits == occupancy(find("A100"), 64, 16, 0, 8000).limits


def test_zero_shared_memory_is_no_limit_without_reserved_memory():
    assert occupancy(find("T4"), 64, 16).limits["shared memory"] is None


def test_register_limit_is_explained_with_numbers():
    reason = occupancy(find("H100"), 1024, 65).reason
    assert reason.startswith("registers: 65 per thread x 1,024 threads need 73,728 of 65,536")


def test_shared_memory_limit_is_explained_with_numbers():
    assert occupancy(find("H100"), 128, 40, 0, 100_000).reason == (
        "shared memory: 100,000 bytes per block (allocated as 101,120) of an SM's 233,472 "
        "allow 2 blocks"
    )


def test_thread_limit_is_explained():
    reason = occupancy(find("T4"), 1025, 32).reason
    assert reason == "threads: 1,025 per block, and a block may have at most 1,024"


def test_block_limit_is_explained():
    reason = occupancy(find("T4"), 32, 16).reason
    assert reason == "blocks: an SM holds at most 16, here of 1 warp each"


def test_two_binding_limits_are_both_named():
    assert occupancy(find("A100"), 256, 32).limited_by == ("warps", "registers")


@pytest.mark.parametrize(
    "arguments", [(0, 32, 0, 0), (-1, 32, 0, 0), (32, -1, 0, 0), (32, 32, -1, 0), (32, 32, 0, -1)]
)
def test_impossible_input_is_rejected(arguments):
    with pytest.raises(ValueError, match=r"occupancy: expected \w+ >= \d, got"):
        occupancy(find("T4"), *arguments)


def test_fractional_number_of_threads_is_rejected():
    with pytest.raises(TypeError, match=r"whole number of threads, got 2\.5"):
        occupancy(find("T4"), 2.5, 32)


def test_sizes_beyond_32_bits_do_not_fit():
    assert occupancy(find("H100"), 32, 32, 0, 2**32).blocks == 0


def test_best_block_prefers_the_largest_of_equals():
    assert best_block(find("H100"), 32).threads == 1024
    assert best_block(find("L4"), 32).threads == 768


def test_best_block_queries_shared_memory_for_each_size():
    best = best_block(find("T4"), 32, shared_dynamic=lambda threads: 128 * threads)
    assert (best.threads, best.percent) == (512, 50.0)


def test_best_block_is_none_when_no_block_fits():
    assert best_block(find("T4"), 32, shared_dynamic=65_537) is None


def test_spare_registers_do_not_reduce_occupancy():
    gpu = find("H100")
    most = spare_registers(gpu, 256)
    around = [occupancy(gpu, 256, count).percent for count in (most, most + 1)]
    assert (most, around) == (32, [100.0, 75.0])


def test_table_has_a_row_for_every_gpu():
    assert [row["gpu"] for row in table(256, 32).rows] == list(NAMES)


def test_table_accepts_registers_by_compute_capability():
    counts = {(7, 5): 61, (8, 0): 32, (8, 9): 40, (9, 0): 33, (10, 0): 34}
    rows = table(256, counts, 2048).rows
    assert [row["registers"] for row in rows] == [61, 40, 32, 40, 33, 33, 34]


def test_table_rejects_a_gpu_without_registers():
    said = r"capability \(8, 9\) \(L4\), got registers for \[\(7, 5\)\]"
    with pytest.raises(ValueError, match=said):
        table(256, {(7, 5): 61})


def test_table_says_when_registers_are_not_known():
    shown = table(256)
    assert "Where the registers of the kernel are not known (?)" in str(shown)
    assert {row["registers"] for row in shown.rows} == {None}


def test_table_separates_gpus_with_and_without_known_registers():
    counts = {(7, 5): None, (8, 0): 32, (8, 9): 40, (9, 0): 32, (10, 0): 255}
    rows = table(256, counts).rows
    assert [row["registers"] for row in rows] == [None, 40, 32, 40, 32, 32, 255]
    assert [row["blocks"] for row in rows] == [4, 6, 8, 6, 8, 8, 1]


def test_table_says_that_large_shared_memory_requires_opt_in():
    assert "More than 48 KB" not in str(table(64, 32, 49_152))
    assert "More than 48 KB" in str(table(64, 32, 49_152, 1))


def test_table_prints_one_line_per_gpu_and_each_reason_once():
    text = str(table(1024, 65))
    assert [line.split("  ")[0] for line in text.splitlines()[2:10]] == ["GPU", *NAMES]
    assert text.count("registers: 65 per thread") == 1
    assert max(map(len, text.splitlines())) <= 100


def test_unknown_gpu_is_rejected_with_a_list_of_gpus():
    with pytest.raises(ValueError, match=r"expected one of T4, .*B200, got 'V100'"):
        find("V100")


@pytest.mark.parametrize("name", [name for name, gpu in GPUS.items() if gpu.clock is not None])
def test_float32_peak_follows_from_cores_and_clock(name):
    gpu = GPUS[name]
    cores = 64 if gpu.capability in ((7, 5), (8, 0)) else 128
    assert gpu.float32 == pytest.approx(2 * cores * gpu.sms * gpu.clock, rel=0.01)
