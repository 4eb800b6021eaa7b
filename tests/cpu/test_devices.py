"""The device of the CPU target: this machine's properties and a GPU's limits."""

import pytest

from gpukit import cuda
from gpukit.cpu import devices, machine


def test_the_device_has_the_name_of_this_processor():
    assert devices.get_current_device().name == machine.cpu_name() != ""


def test_a_device_created_by_its_number_is_the_only_device():
    created = cuda.cudadrv.driver.Device(0)
    device = devices.get_current_device()
    assert (created.name, created.id, created.compute_capability) == (
        device.name,
        device.id,
        device.compute_capability,
    )


@pytest.mark.parametrize("select", [cuda.cudadrv.driver.Device, devices.select_device])
def test_another_device_is_an_index_error(select):
    with pytest.raises(IndexError, match="expected device 0, got 1"):
        select(1)


def test_multiprocessors_are_the_cores_that_this_process_may_use():
    assert devices.get_current_device().MULTIPROCESSOR_COUNT == machine.cores() >= 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MAX_THREADS_PER_BLOCK", 1024),
        ("MAX_BLOCK_DIM_Z", 64),
        ("MAX_GRID_DIM_X", 2**31 - 1),
        ("MAX_GRID_DIM_Y", 65535),
        ("MAX_SHARED_MEMORY_PER_BLOCK", 49152),
        ("WARP_SIZE", 32),
    ],
)
def test_launch_limits_are_those_of_a_gpu(name, value):
    assert getattr(devices.get_current_device(), name) == value


@pytest.mark.parametrize(
    ("name", "similar"),
    [
        ("CLOCKRATE", "CLOCK_RATE"),
        ("MULTI_PROCESSOR_COUNT", "MULTIPROCESSOR_COUNT"),
        ("MAX_SHARED_MEM_PER_BLOCK", "MAX_SHARED_MEMORY_PER_BLOCK"),
    ],
)
def test_an_unknown_attribute_is_refused_with_a_similar_name(name, similar):
    with pytest.raises(AttributeError, match=rf"{name}: .* Did you mean .*\b{similar}\b"):
        getattr(devices.get_current_device(), name)


def test_an_attribute_without_a_similar_name_is_refused_without_a_suggestion():
    with pytest.raises(AttributeError, match=r"no device attribute with this name\.$"):
        devices.get_current_device().FAVOURITE_COLOUR


# The names of CUdevice_attribute in CUDA 13's cuda.h, without CU_DEVICE_ATTRIBUTE_.
NAMES = """
MAX_THREADS_PER_BLOCK MAX_BLOCK_DIM_X MAX_BLOCK_DIM_Y MAX_BLOCK_DIM_Z MAX_GRID_DIM_X MAX_GRID_DIM_Y
MAX_GRID_DIM_Z MAX_SHARED_MEMORY_PER_BLOCK TOTAL_CONSTANT_MEMORY WARP_SIZE MAX_PITCH
MAX_REGISTERS_PER_BLOCK CLOCK_RATE TEXTURE_ALIGNMENT GPU_OVERLAP MULTIPROCESSOR_COUNT
KERNEL_EXEC_TIMEOUT INTEGRATED CAN_MAP_HOST_MEMORY COMPUTE_MODE MAXIMUM_TEXTURE1D_WIDTH
MAXIMUM_TEXTURE2D_WIDTH MAXIMUM_TEXTURE2D_HEIGHT MAXIMUM_TEXTURE3D_WIDTH MAXIMUM_TEXTURE3D_HEIGHT
MAXIMUM_TEXTURE3D_DEPTH MAXIMUM_TEXTURE2D_LAYERED_WIDTH MAXIMUM_TEXTURE2D_LAYERED_HEIGHT
MAXIMUM_TEXTURE2D_LAYERED_LAYERS SURFACE_ALIGNMENT CONCURRENT_KERNELS ECC_ENABLED PCI_BUS_ID
PCI_DEVICE_ID TCC_DRIVER MEMORY_CLOCK_RATE GLOBAL_MEMORY_BUS_WIDTH L2_CACHE_SIZE
MAX_THREADS_PER_MULTIPROCESSOR MAX_THREADS_PER_MULTI_PROCESSOR ASYNC_ENGINE_COUNT
UNIFIED_ADDRESSING MAXIMUM_TEXTURE1D_LAYERED_WIDTH MAXIMUM_TEXTURE1D_LAYERED_LAYERS
MAXIMUM_TEXTURE2D_GATHER_WIDTH MAXIMUM_TEXTURE2D_GATHER_HEIGHT MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE
MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE PCI_DOMAIN_ID
TEXTURE_PITCH_ALIGNMENT MAXIMUM_TEXTURECUBEMAP_WIDTH MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH
MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS MAXIMUM_SURFACE1D_WIDTH MAXIMUM_SURFACE2D_WIDTH
MAXIMUM_SURFACE2D_HEIGHT MAXIMUM_SURFACE3D_WIDTH MAXIMUM_SURFACE3D_HEIGHT MAXIMUM_SURFACE3D_DEPTH
MAXIMUM_SURFACE1D_LAYERED_WIDTH MAXIMUM_SURFACE1D_LAYERED_LAYERS MAXIMUM_SURFACE2D_LAYERED_WIDTH
MAXIMUM_SURFACE2D_LAYERED_HEIGHT MAXIMUM_SURFACE2D_LAYERED_LAYERS MAXIMUM_SURFACECUBEMAP_WIDTH
MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS
MAXIMUM_TEXTURE1D_LINEAR_WIDTH MAXIMUM_TEXTURE2D_LINEAR_WIDTH MAXIMUM_TEXTURE2D_LINEAR_HEIGHT
MAXIMUM_TEXTURE2D_LINEAR_PITCH MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT
COMPUTE_CAPABILITY_MAJOR COMPUTE_CAPABILITY_MINOR MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH
STREAM_PRIORITIES_SUPPORTED GLOBAL_L1_CACHE_SUPPORTED LOCAL_L1_CACHE_SUPPORTED
MAX_SHARED_MEMORY_PER_MULTIPROCESSOR MAX_REGISTERS_PER_MULTIPROCESSOR MANAGED_MEMORY MULTI_GPU_BOARD
MULTI_GPU_BOARD_GROUP_ID HOST_NATIVE_ATOMIC_SUPPORTED SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO
PAGEABLE_MEMORY_ACCESS CONCURRENT_MANAGED_ACCESS COMPUTE_PREEMPTION_SUPPORTED
CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM COOPERATIVE_LAUNCH COOPERATIVE_MULTI_DEVICE_LAUNCH
MAX_SHARED_MEMORY_PER_BLOCK_OPTIN CAN_FLUSH_REMOTE_WRITES HOST_REGISTER_SUPPORTED
PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES DIRECT_MANAGED_MEM_ACCESS_FROM_HOST
VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED
HANDLE_TYPE_WIN32_HANDLE_SUPPORTED HANDLE_TYPE_WIN32_KMT_HANDLE_SUPPORTED
MAX_BLOCKS_PER_MULTIPROCESSOR GENERIC_COMPRESSION_SUPPORTED MAX_PERSISTING_L2_CACHE_SIZE
MAX_ACCESS_POLICY_WINDOW_SIZE GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED
RESERVED_SHARED_MEMORY_PER_BLOCK SPARSE_CUDA_ARRAY_SUPPORTED READ_ONLY_HOST_REGISTER_SUPPORTED
TIMELINE_SEMAPHORE_INTEROP_SUPPORTED MEMORY_POOLS_SUPPORTED GPU_DIRECT_RDMA_SUPPORTED
GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS GPU_DIRECT_RDMA_WRITES_ORDERING MEMPOOL_SUPPORTED_HANDLE_TYPES
CLUSTER_LAUNCH DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED CAN_USE_64_BIT_STREAM_MEM_OPS
CAN_USE_STREAM_WAIT_VALUE_NOR DMA_BUF_SUPPORTED IPC_EVENT_SUPPORTED MEM_SYNC_DOMAIN_COUNT
TENSOR_MAP_ACCESS_SUPPORTED HANDLE_TYPE_FABRIC_SUPPORTED UNIFIED_FUNCTION_POINTERS NUMA_CONFIG
NUMA_ID MULTICAST_SUPPORTED MPS_ENABLED HOST_NUMA_ID
""".split()


def test_every_attribute_that_cuda_names_is_an_integer():
    device = devices.get_current_device()
    assert [n for n in NAMES if not isinstance(getattr(device, n, None), int)] == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CLOCK_RATE", 1_590_000),
        ("MEMORY_CLOCK_RATE", 5_001_000),
        ("GLOBAL_MEMORY_BUS_WIDTH", 256),
        ("L2_CACHE_SIZE", 4 * 2**20),
        ("MAXIMUM_TEXTURE2D_LAYERED_LAYERS", 2048),
        ("MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE", 32768),
        ("MAXIMUM_SURFACE3D_DEPTH", 16384),
    ],
)
def test_rates_and_sizes_are_those_of_the_modelled_gpu(name, value):
    assert getattr(devices.get_current_device(), name) == value


def test_occupancy_uses_the_maximum_of_threads_per_multiprocessor_under_both_names():
    device, context = devices.get_current_device(), devices.get_context()
    threads = device.MAX_THREADS_PER_MULTIPROCESSOR
    assert threads == device.MAX_THREADS_PER_MULTI_PROCESSOR
    assert context.get_active_blocks_per_multiprocessor(None, threads, 0) == 1


def test_memory_info_comes_from_the_system():
    info = devices.current_context().get_memory_info()
    assert 0 <= info.free <= info.total
    assert info.total > 64 * 2**20
    assert tuple(info) == (info.free, info.total)


def test_the_only_device_is_number_0():
    assert len(devices.gpus) == 1
    assert devices.select_device(0) is devices.get_current_device()
    with devices.gpus[0]:
        assert devices.gpus.current.id == 0


def test_detect_prints_the_device_and_that_it_is_no_gpu(capsys):
    assert devices.detect()
    text = capsys.readouterr().out
    assert "Found 1 CUDA devices" in text
    assert machine.cpu_name() in text
    assert "no GPU" in text


def test_cuda_is_available_and_without_error():
    assert devices.is_available()
    assert devices.cuda_error() is None


def test_profiling_and_deferred_cleanup_nest():
    with devices.profiling(), devices.defer_cleanup(), devices.defer_cleanup():
        pass


def test_arrays_are_freed_at_once_even_if_cleanup_is_deferred():
    pending = cuda.current_context().deallocations
    with cuda.defer_cleanup():
        assert pending.is_disabled
        cuda.device_array(3)
        assert len(pending) == 0
    assert not pending.is_disabled


def test_other_resources_are_freed_when_cleanup_is_no_longer_deferred():
    pending, freed = cuda.current_context().deallocations, []
    pending.add_item(freed.append, "at once")
    with cuda.defer_cleanup(), cuda.defer_cleanup():
        pending.add_item(freed.append, "later", 16)
        pending.clear()
        assert (freed, len(pending)) == (["at once"], 1)
    pending.clear()
    assert (freed, len(pending)) == (["at once", "later"], 0)


def test_memory_limits_of_a_control_group_are_used(tmp_path, monkeypatch):
    (tmp_path / "memory.max").write_text("1048576\n")
    (tmp_path / "memory.current").write_text("1000000\n")
    monkeypatch.setattr(machine, "CGROUP", tmp_path)
    assert machine._linux() == (48576, 1048576)


@pytest.mark.parametrize(
    ("threads", "shared", "blocks"), [(1024, 0, 1), (256, 0, 4), (33, 0, 16), (32, 32768, 2)]
)
def test_blocks_per_multiprocessor_follow_threads_and_shared_memory(threads, shared, blocks):
    context = devices.current_context()
    assert context.get_active_blocks_per_multiprocessor(None, threads, shared) == blocks
