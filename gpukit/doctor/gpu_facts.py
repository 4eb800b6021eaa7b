"""Collect facts about the GPUs: hardware, driver, and NVIDIA's compiler libraries."""

from __future__ import annotations

import ctypes
import importlib.metadata
import os
from dataclasses import dataclass
from pathlib import Path

from gpukit import target

Version = tuple[int, ...]

# The wheels that contain NVIDIA's compiler libraries, and the libraries' short names.
_LIBRARIES = {
    "nvrtc": ("nvidia-cuda-nvrtc",),
    "nvvm": ("nvidia-nvvm", "nvidia-cuda-nvcc"),  # of CUDA 13, and of CUDA 12
    "nvjitlink": ("nvidia-nvjitlink",),
}


@dataclass(frozen=True)
class Gpu:
    """One NVIDIA GPU as its driver describes it."""

    name: str
    capability: tuple[int, int]
    gigabytes: float


def numbers(version: str) -> Version:
    """Return the leading numbers of a version.

    >>> numbers("2.5.0rc1")
    (2, 5, 0)
    """
    found = []
    for part in version.split("."):
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        if not digits:
            break
        found.append(int(digits))
        if digits != part:
            break
    return tuple(found)


def hardware_seen() -> bool:
    """Return whether the machine seems to have an NVIDIA GPU, with or without a driver."""
    if Path("/proc/driver/nvidia/version").exists() or Path("/dev/nvidia0").exists():
        return True
    vendors = Path("/sys/bus/pci/devices").glob("*/vendor")
    return any(_display(vendor.parent) and _read(vendor) == "0x10de" for vendor in vendors)


def _display(device: Path) -> bool:
    """PCI class 03 is a display controller; a GPU's own sound card is another class."""
    return _read(device / "class").startswith("0x03")


def _read(file: Path) -> str:
    try:
        return file.read_text().strip()
    except OSError:
        return ""


def driver() -> dict[str, object]:
    """Return the NVIDIA driver's CUDA version and its GPUs; empty where there is no driver."""
    for name in target.driver_names():
        try:
            library = ctypes.CDLL(name)
            break
        except OSError:
            continue
    else:
        return {}
    found: dict[str, object] = {"driver": name, "driver_status": int(library.cuInit(0))}
    version = ctypes.c_int(0)
    if library.cuDriverGetVersion(ctypes.byref(version)) == 0:
        found["driver_cuda"] = (version.value // 1000, version.value % 1000 // 10)
    if found["driver_status"] == 0:
        found["gpus"] = _gpus(library)
    return found


def _gpus(library: ctypes.CDLL) -> tuple[Gpu, ...]:
    count = ctypes.c_int(0)
    library.cuDeviceGetCount(ctypes.byref(count))
    return tuple(_gpu(library, ordinal) for ordinal in range(count.value))


def _gpu(library: ctypes.CDLL, ordinal: int) -> Gpu:
    device, value = ctypes.c_int(0), ctypes.c_int(0)
    name, memory = ctypes.create_string_buffer(100), ctypes.c_size_t(0)
    library.cuDeviceGet(ctypes.byref(device), ordinal)
    library.cuDeviceGetName(name, 100, device)
    library.cuDeviceTotalMem_v2(ctypes.byref(memory), device)
    capability = []
    # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR
    for attribute in (75, 76):
        library.cuDeviceGetAttribute(ctypes.byref(value), attribute, device)
        capability.append(value.value)
    return Gpu(name.value.decode(), (capability[0], capability[1]), memory.value / 2**30)


def toolkit() -> dict[str, object]:
    """Return the version of NVIDIA's compiler libraries from wheels, and which are missing."""
    versions: dict[str, str] = {}
    for short, wheels in _LIBRARIES.items():
        for wheel in (f"{name}{suffix}" for name in wheels for suffix in ("", "-cu13", "-cu12")):
            try:
                versions.setdefault(short, importlib.metadata.version(wheel))
            except importlib.metadata.PackageNotFoundError:
                continue
    if os.environ.get("CUDA_HOME"):
        return {}
    missing = tuple(short for short in ("nvrtc", "nvvm") if short not in versions)
    first = numbers(versions.get("nvrtc", ""))[:2]
    return {"missing_libraries": missing, "toolkit": first if len(first) == 2 else None}
