"""`gpukit.cuda` on the CPU target: one namespace under two names, loaded lazily."""

import importlib
import json

import numpy as np
import pytest

from gpukit import cuda, errors
from gpukit.cpu import gpu_only

EXPECTED = """
jit declare_device vectorize guvectorize reduce Reduce grid gridsize threadIdx blockIdx blockDim
gridDim laneid warpsize syncthreads syncthreads_and syncthreads_count syncthreads_or syncwarp
shared local const atomic shfl_sync shfl_up_sync shfl_down_sync shfl_xor_sync all_sync any_sync
eq_sync ballot_sync match_any_sync match_all_sync activemask lanemask_lt threadfence
threadfence_block threadfence_system popc brev clz ffs fma cbrt selp nanosleep cg fp16 libdevice
random types config errors In Out InOut to_device device_array device_array_like pinned_array
pinned_array_like mapped_array mapped_array_like managed_array as_cuda_array is_cuda_array
from_cuda_array_interface pinned mapped open_ipc_array stream default_stream
legacy_default_stream per_thread_default_stream external_stream event event_elapsed_time
synchronize select_device get_current_device list_devices current_context gpus close detect
is_available is_supported_version defer_cleanup profiling profile_start profile_stop
require_context runtime cudadrv compile compile_ptx compile_for_current_device float32 float64
int32 uint8 boolean void complex64 float32x4 float4 uchar3 ldcg stcs cuda_error HAS_NUMBA
implementation is_float16_supported is_bfloat16_supported is_fp8_supported
""".split()


@pytest.mark.parametrize("name", EXPECTED)
def test_the_namespace_has_the_names_of_numba_cuda(name):
    assert hasattr(cuda, name)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        cuda.nonsense


@pytest.mark.parametrize("module", ["random", "libdevice", "cudadrv.devicearray", "args"])
def test_a_submodule_has_one_copy_under_both_names(module):
    front = importlib.import_module(f"gpukit.cuda.{module}")
    assert front is importlib.import_module(f"gpukit.cpu.{module}")
    assert front.__spec__.name == f"gpukit.cpu.{module}"


@pytest.mark.parametrize("name", sorted(gpu_only.WHY))
def test_functions_that_need_a_gpu_say_so_when_called(name):
    with pytest.raises(errors.TargetError, match=f"cuda.{name} is not available on the CPU"):
        getattr(cuda, name)()


def test_intrinsics_called_on_the_host_say_where_they_work():
    with pytest.raises(errors.TargetError, match=r"cuda\.syncthreads was called on the host"):
        cuda.syncthreads()


def test_importing_the_namespace_does_not_import_numba(fresh_python):
    code = (
        "import json, sys; from gpukit import cuda; "
        "print(json.dumps([m for m in ('numba', 'llvmlite', 'asyncio') if m in sys.modules]))"
    )
    done = fresh_python("-c", code, GPUKIT_TARGET="cpu")
    assert done.stderr == ""
    assert json.loads(done.stdout) == []


def test_a_wrong_target_fails_at_import_with_the_choices(fresh_python):
    done = fresh_python("-c", "from gpukit import cuda", GPUKIT_TARGET="gpu")
    assert "expected one of auto, cuda, cpu, checked, got 'gpu'" in done.stderr


def test_argument_hints_have_their_value_and_directions_of_copying():
    a = np.zeros(3)
    hints = [cuda.In(a), cuda.Out(a), cuda.InOut(a)]
    assert all(hint.value is a for hint in hints)
    assert [(h.copy_in, h.copy_out) for h in hints] == [(True, False), (False, True), (True, True)]
