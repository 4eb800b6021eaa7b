"""The one device of the CPU target, its context, and their attributes.

Limits are those of a GPU, because launches must respect them, and rates those of the modelled
GPU (`attributes`). Name, cores and memory are this machine's own.
"""

from __future__ import annotations

import contextlib
import difflib
import functools
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from gpukit import errors
from gpukit.cpu import machine, streams
from gpukit.cpu.attributes import ATTRIBUTES
from gpukit.cpu.deallocations import Deallocations
from gpukit.cpu.limits import COMPUTE_CAPABILITY, LIMITS
from gpukit.cpu.memory import allocations, arrays, contiguity
from gpukit.cpu.memory.ndarray import DeviceNDArray

F = TypeVar("F", bound=Callable[..., Any])

_ONE = "The CPU target has one device."


class Device:
    """The CPU of this machine, with the interface of a CUDA device."""

    id = 0
    # The format that CUDA prescribes, all zeros: there is no GPU to name.
    uuid = "GPU-00000000-0000-0000-0000-000000000000"
    compute_capability = COMPUTE_CAPABILITY
    supports_float16 = True
    supports_bfloat16 = False
    supports_fp8 = False

    def __init__(self, devnum: int = 0) -> None:
        if devnum != 0:
            raise IndexError(f"Device: expected device 0, got {devnum}. {_ONE}")
        vars(self).update(ATTRIBUTES)  # host functions read some at every launch

    @property
    def name(self) -> str:
        """The processor's name."""
        return machine.cpu_name()

    @functools.cached_property
    def MULTIPROCESSOR_COUNT(self) -> int:
        """The cores that this process may use: blocks run on all of them."""
        return machine.cores()

    def __getattr__(self, name: str) -> int:
        near = difflib.get_close_matches(name, [*ATTRIBUTES, "MULTIPROCESSOR_COUNT"], 3, 0.75)
        raise AttributeError(
            f"{name}: CUDA has no device attribute with this name."
            + f" Did you mean {' or '.join(near)}?" * bool(near)
        )

    def __repr__(self) -> str:
        return f"<CPU device 0 '{self.name}'>"

    def get_device_identity(self) -> dict[str, int]:
        """Return the device's location on the PCI bus, all zeros: there is none."""
        return {"pci_domain_id": 0, "pci_bus_id": 0, "pci_device_id": 0}

    def get_primary_context(self) -> Context:
        """Return the context: there is one."""
        return _context

    def release_primary_context(self) -> None:
        """Do nothing: the context holds no resources."""

    def reset(self) -> None:
        """Do nothing: the context holds no resources."""


class Context:
    """The context of the CPU device, which allocates memory and creates streams and events."""

    handle = 0

    def __init__(self, device: Device) -> None:
        self.device = device
        self.deallocations = Deallocations()

    @property
    def id(self) -> int:
        return self.device.id

    @property
    def compute_capability(self) -> tuple[int, int]:
        return self.device.compute_capability

    def __enter__(self) -> Context:
        return self

    def __exit__(self, *exc: object) -> None:
        return None

    def __repr__(self) -> str:
        return f"<CPU context of device {self.id}>"

    def push(self) -> None:
        """Do nothing: there is one context."""

    def pop(self) -> None:
        """Do nothing: there is one context."""

    def reset(self) -> None:
        """Do nothing: arrays are freed when nothing refers to them."""

    def synchronize(self) -> None:
        """Wait until all launches are done."""
        streams.synchronize()

    def get_memory_info(self) -> machine.MemoryInfo:
        """Return the free and total memory of this machine in bytes."""
        return machine.memory()

    def memalloc(self, bytesize: int) -> DeviceNDArray:
        """Return `bytesize` bytes of device memory."""
        return arrays.device_array(bytesize, "u1")

    def memhostalloc(
        self, bytesize: int, mapped: bool = False, portable: bool = False, wc: bool = False
    ) -> Any:
        """Return `bytesize` bytes of host memory, mapped to the device where requested."""
        make: Any = arrays.mapped_array if mapped else arrays.pinned_array
        return make(bytesize, "u1")

    def memallocmanaged(self, bytesize: int, attach_global: bool = True) -> Any:
        """Return `bytesize` bytes of managed memory."""
        return arrays.managed_array(bytesize, "u1")

    def mempin(self, owner: Any, pointer: Any = 0, size: int = 0, mapped: bool = False) -> Any:
        """Page-lock the memory of `owner`; on the CPU target there is nothing to do."""
        return allocations.Memory(contiguity.host_of(owner))

    def get_ipc_handle(self, memory: Any) -> Any:
        """Raise: sharing memory between processes needs a GPU."""
        raise errors.TargetError(
            "get_ipc_handle: CUDA IPC needs a GPU. On the CPU target share arrays between "
            "processes with multiprocessing.shared_memory."
        )

    def create_stream(self) -> streams.Stream:
        """Create a stream."""
        return streams.stream()

    def create_external_stream(self, ptr: int) -> streams.Stream:
        """Return a stream that stands for the handle of another library."""
        return streams.external_stream(ptr)

    def get_default_stream(self) -> streams.Stream:
        """Return the default stream."""
        return streams.default_stream()

    def get_legacy_default_stream(self) -> streams.Stream:
        """Return the legacy default stream."""
        return streams.legacy_default_stream()

    def get_per_thread_default_stream(self) -> streams.Stream:
        """Return the default stream of the calling thread."""
        return streams.per_thread_default_stream()

    def create_event(self, timing: bool = True) -> streams.Event:
        """Create an event."""
        return streams.event(timing)

    @contextlib.contextmanager
    def defer_cleanup(self) -> Iterator[None]:
        """Defer the calls given to `deallocations`; arrays are freed by reference counting."""
        with self.deallocations.disable():
            yield

    def can_access_peer(self, peer_device: int) -> bool:
        """Return False: there is one device."""
        return False

    def get_active_blocks_per_multiprocessor(
        self, func: Any, blocksize: int, memsize: int, flags: Any = None
    ) -> int:
        """Return how many blocks of this size the modelled GPU could hold at once per
        multiprocessor, by threads, blocks and dynamic shared memory (not by registers)."""
        warps = -(-blocksize // LIMITS["WARP_SIZE"])
        by_threads = LIMITS["MAX_THREADS_PER_MULTIPROCESSOR"] // (warps * LIMITS["WARP_SIZE"])
        by_memory = LIMITS["MAX_SHARED_MEMORY_PER_MULTIPROCESSOR"] // max(memsize, 1)
        return min(by_threads, by_memory, LIMITS["MAX_BLOCKS_PER_MULTIPROCESSOR"])

    def get_max_potential_block_size(
        self, func: Any, b2d_func: Any, memsize: int, blocksizelimit: int, flags: Any = None
    ) -> tuple[int, int]:
        """Return a grid size that fills the machine and the block size to go with it."""
        block = min(blocksizelimit or 256, 256)
        return max(machine.cores(), 1), block


class _DeviceContext:
    """An entry of `cuda.gpus`: the device, usable in a `with` statement."""

    def __init__(self, device: Device) -> None:
        self._device = device

    @property
    def device(self) -> Device:
        return self._device

    def __getattr__(self, name: str) -> Any:
        return getattr(self._device, name)

    def __enter__(self) -> None:
        gpus.closed = False

    def __exit__(self, *exc: object) -> None:
        return None

    def __str__(self) -> str:
        return f"<Managed Device {self._device.id}>"


class DeviceList:
    """The devices of this target: one, the CPU."""

    def __init__(self, device: Device) -> None:
        self.lst = (_DeviceContext(device),)
        self.closed = False

    def __getitem__(self, devnum: int) -> _DeviceContext:
        if devnum not in (0, -1):
            raise IndexError(f"cuda.gpus: expected device 0, got {devnum}. {_ONE}")
        self.closed = False
        return self.lst[0]

    def __str__(self) -> str:
        return ", ".join(str(device) for device in self.lst)

    def __iter__(self) -> Iterator[_DeviceContext]:
        return iter(self.lst)

    def __len__(self) -> int:
        return len(self.lst)

    @property
    def current(self) -> _DeviceContext | None:
        """The device in use, None after `cuda.close()`."""
        return None if self.closed else self.lst[0]


_device = Device()
_context = Context(_device)
gpus = DeviceList(_device)


def get_context(devnum: int | None = None) -> Context:
    """Return the context of a device: the only one there is."""
    if devnum is not None:
        gpus[devnum]
    return _context


current_context = get_context


def require_context(func: F) -> F:
    """Ensure that there is a context before `func` runs; here there always is one."""
    return func


def select_device(device_id: int) -> Device:
    """Use the device with this number; there is only number 0."""
    return gpus[device_id].device


def get_current_device() -> Device:
    """Return the device in use."""
    return _device


def list_devices() -> DeviceList:
    """Return all devices."""
    return gpus


def reset() -> None:
    """Close the context; it opens again when it is next needed."""
    gpus.closed = True


def close() -> None:
    """Close the context; it opens again when it is next needed."""
    reset()


def is_available() -> bool:
    """Return True: kernels run, on the CPU. `detect` prints on what."""
    return True


def is_supported_version() -> bool:
    """Return True: the CPU target needs no CUDA runtime."""
    return True


def cuda_error() -> None:
    """Return None: importing this namespace cannot fail."""


def is_float16_supported() -> bool:
    """Return True: half precision works on the CPU target."""
    return True


def is_bfloat16_supported() -> bool:
    """Return False: bfloat16 needs the cuda target."""
    return _device.supports_bfloat16


def is_fp8_supported() -> bool:
    """Return False: 8-bit floats need the cuda target."""
    return _device.supports_fp8


@functools.cache
def _description() -> tuple[tuple[str, str], ...]:
    return (
        ("Compute Capability", "{}.{} (modelled)".format(*COMPUTE_CAPABILITY)),
        ("Cores", str(machine.cores())),
        ("Watchdog", "Disabled"),
        ("FP16 Support", "Yes"),
        ("BF16 Support", "No"),
        ("FP8 Support", "No"),
    )


def detect() -> bool:
    """Print the devices that kernels run on; return whether there is a usable one."""
    print(f"Found {len(gpus)} CUDA devices")
    print(f"id {_device.id:d}    {_device.name:>20} {'[CPU: gpukit, no GPU]':>40}")
    for key, value in _description():
        print(f"{key:>40}: {value}")
    print("Summary:")
    print(f"\t{len(gpus)}/{len(gpus)} devices are supported")
    return True


@contextlib.contextmanager
def defer_cleanup() -> Iterator[None]:
    """Defer the freeing of memory; here that has no effect worth deferring."""
    with _context.defer_cleanup():
        yield


def profile_start() -> None:
    """Start NVIDIA's profiler; on the CPU target there is none, and nothing happens."""


def profile_stop() -> None:
    """Stop NVIDIA's profiler; on the CPU target there is none, and nothing happens."""


@contextlib.contextmanager
def profiling() -> Iterator[None]:
    """Profile the `with` block with NVIDIA's profiler, where there is one."""
    profile_start()
    yield
    profile_stop()
