"""The CPU target tells the truth about this machine and keeps to a GPU's limits."""

import pytest

from gpukit import cuda
from gpukit.cpu import devices, machine


def test_the_device_has_the_name_of_this_processor():
    assert devices.get_current_device().name == machine.cpu_name() != ""


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


def test_an_unknown_attribute_says_that_there_is_no_gpu():
    with pytest.raises(AttributeError, match="describes GPU hardware"):
        devices.get_current_device().MAX_SURFACES


def test_memory_info_comes_from_the_system():
    info = devices.current_context().get_memory_info()
    assert 0 <= info.free <= info.total
    assert info.total > 64 * 2**20
    assert tuple(info) == (info.free, info.total)


def test_there_is_one_device_and_it_is_number_0():
    assert len(devices.gpus) == 1
    assert devices.select_device(0) is devices.get_current_device()
    with devices.gpus[0]:
        assert devices.gpus.current.id == 0


def test_another_device_is_an_index_error():
    with pytest.raises(IndexError, match="expected device 0, got 1"):
        devices.select_device(1)


def test_detect_prints_the_device_and_that_it_is_no_gpu(capsys):
    assert devices.detect()
    text = capsys.readouterr().out
    assert "Found 1 CUDA devices" in text
    assert machine.cpu_name() in text
    assert "no GPU" in text


def test_the_namespace_is_available_and_without_error():
    assert devices.is_available()
    assert devices.cuda_error() is None


def test_profiling_and_deferred_cleanup_nest():
    with devices.profiling(), devices.defer_cleanup(), devices.defer_cleanup():
        pass


def test_no_array_waits_to_be_freed():
    waiting = cuda.current_context().deallocations
    with cuda.defer_cleanup():
        assert waiting.is_disabled
        cuda.device_array(3)
        assert len(waiting) == 0
    assert not waiting.is_disabled


def test_other_things_are_freed_when_cleanup_is_no_longer_deferred():
    waiting, freed = cuda.current_context().deallocations, []
    waiting.add_item(freed.append, "at once")
    with cuda.defer_cleanup(), cuda.defer_cleanup():
        waiting.add_item(freed.append, "later", 16)
        waiting.clear()
        assert (freed, len(waiting)) == (["at once"], 1)
    waiting.clear()
    assert (freed, len(waiting)) == (["at once", "later"], 0)


def test_memory_limits_of_a_control_group_are_believed(tmp_path, monkeypatch):
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
