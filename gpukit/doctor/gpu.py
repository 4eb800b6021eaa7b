"""Checks of the GPU, its driver and NVIDIA's libraries."""

from __future__ import annotations

from gpukit.doctor.facts import Machine
from gpukit.doctor.finding import Check, Finding, cuda_package, has, install_cuda, unset

# The error codes of cuInit, in words.
_STATUS = {
    100: "it finds no GPU",
    304: "the operating system refused a call; in a sandbox /sys may be missing",
    803: "its two halves have different versions, as after an update without a restart",
    804: "this driver is too old for the CUDA compatibility libraries installed",
    999: "an unknown error, often fixed by a restart",
}


def driver_missing(machine: Machine) -> Finding | None:
    """A GPU is of no use without its driver."""
    if machine.driver or not machine.hardware_seen:
        return None
    fix = (
        "Install the NVIDIA driver on Windows (not inside WSL), then: wsl --shutdown"
        if machine.in_wsl
        else "Install NVIDIA's driver; on Debian: apt install nvidia-driver (in a container: start "
        "it with --gpus all)"
    )
    return Finding(
        "note",
        "driver-missing",
        "There seems to be an NVIDIA GPU, but its driver library (libcuda) was not found.",
        fix,
    )


def driver_failing(machine: Machine) -> Finding | None:
    """The driver library is installed but does not start."""
    status = machine.driver_status
    if not status or (status == 100 and not machine.hardware_seen):
        return None
    if machine.environment.get("CUDA_VISIBLE_DEVICES", "x").strip() in ("", "-1"):
        return None
    return Finding(
        "note",
        "driver-failing",
        f"The NVIDIA driver does not start: cuInit returned "
        f"{status}, {_STATUS.get(status, 'see the CUDA driver API for this number')}.",
        "Restart the machine; if that does not help, install the driver again.",
    )


def gpus_hidden(machine: Machine) -> Finding | None:
    """CUDA_VISIBLE_DEVICES may hide all GPUs."""
    value = machine.environment.get("CUDA_VISIBLE_DEVICES")
    if value is None or machine.gpus or not machine.driver:
        return None
    return Finding(
        "note",
        "gpus-hidden",
        f"CUDA_VISIBLE_DEVICES is {value!r}, which hides every GPU.",
        unset(machine, "CUDA_VISIBLE_DEVICES"),
    )


def cuda_package_missing(machine: Machine) -> Finding | None:
    """A GPU responds, but no compiler for it is installed."""
    if not machine.gpus or cuda_package(machine):
        return None
    return Finding(
        "note",
        "cuda-package-missing",
        "A GPU is available, but neither numba-cuda nor "
        "numba-cuda-mlir is installed, so kernels run on the CPU.",
        install_cuda(machine),
    )


def driver_against_toolkit(machine: Machine) -> Finding | None:
    """A newer toolkit writes PTX that an older driver does not accept."""
    if not machine.gpus or machine.driver_cuda is None or machine.toolkit is None:
        return None
    if not cuda_package(machine) or machine.toolkit <= machine.driver_cuda:
        return None
    toolkit, driver = (".".join(map(str, v)) for v in (machine.toolkit, machine.driver_cuda))
    older_major = machine.driver_cuda[0] < machine.toolkit[0]
    can_step_back = older_major and machine.driver_cuda[0] == 12
    # Within one major version most things work, so only a kernel that fails is a problem.
    return Finding(
        "problem" if older_major or machine.kernel_error else "note",
        "driver-older-than-toolkit",
        f"The driver supports CUDA {driver}, the compiler libraries are CUDA {toolkit}: kernels "
        "may fail with CUDA_ERROR_UNSUPPORTED_PTX_VERSION.",
        install_cuda(machine) if can_step_back else "Install a newer NVIDIA driver.",
    )


def libraries_missing(machine: Machine) -> Finding | None:
    """numba-cuda needs NVRTC and NVVM."""
    if not machine.gpus or not has(machine, "numba-cuda") or not machine.missing_libraries:
        return None
    listed = " and ".join(machine.missing_libraries)
    # A system-wide toolkit serves too, so only a kernel that fails makes this a problem.
    return Finding(
        "problem" if machine.kernel_error else "note",
        "libraries-missing",
        f"numba-cuda needs {listed}, for which no wheel is installed.",
        install_cuda(machine),
    )


def gpu_too_old(machine: Machine) -> Finding | None:
    """CUDA 13 dropped GPUs before Turing."""
    old = [gpu for gpu in machine.gpus if gpu.capability < (7, 5)]
    if not old or machine.toolkit is None or machine.toolkit < (13, 0):
        return None
    capability = ".".join(map(str, old[0].capability))
    return Finding(
        "problem",
        "gpu-too-old",
        f"{old[0].name} has compute capability {capability}; CUDA 13 needs 7.5.",
        install_cuda(machine),
    )


CHECKS: tuple[Check, ...] = (
    driver_missing,
    driver_failing,
    gpus_hidden,
    cuda_package_missing,
    driver_against_toolkit,
    libraries_missing,
    gpu_too_old,
)
