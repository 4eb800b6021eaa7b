"""Checks of the environment: variables, the cache, the cores, and whether a kernel runs."""

from __future__ import annotations

from gpukit import target
from gpukit.doctor.facts import Machine
from gpukit.doctor.finding import Check, Finding, finds, unset


def target_name(machine: Machine) -> Finding | None:
    """GPUKIT_TARGET must be one of four words."""
    wanted = machine.environment.get(target.VARIABLE, "").strip().lower()
    if not machine.target_error:
        return None
    if wanted and wanted not in target.CHOICES:
        return Finding(
            "problem", "target-name", machine.target_error, unset(machine, target.VARIABLE)
        )
    return Finding(
        "problem", "target-unavailable", machine.target_error, unset(machine, target.VARIABLE)
    )


def simulator_on(machine: Machine) -> Finding | None:
    """Numba's simulator replaces its CUDA target, GPU or not."""
    if machine.environment.get("NUMBA_ENABLE_CUDASIM", "0") in ("", "0"):
        return None
    return Finding(
        "problem" if machine.gpus else "note",
        "simulator-on",
        "NUMBA_ENABLE_CUDASIM is "
        "set: code that uses numba.cuda directly runs in Numba's simulator, not on a GPU.",
        unset(machine, "NUMBA_ENABLE_CUDASIM"),
    )


def jit_off(machine: Machine) -> Finding | None:
    """NUMBA_DISABLE_JIT turns compiled kernels into Python."""
    if machine.environment.get("NUMBA_DISABLE_JIT", "0") in ("", "0"):
        return None
    return Finding(
        "problem",
        "jit-off",
        "NUMBA_DISABLE_JIT is set: Numba compiles nothing.",
        unset(machine, "NUMBA_DISABLE_JIT"),
    )


def optimiser_off(machine: Machine) -> Finding | None:
    """NUMBA_OPT below 2 makes every timing meaningless."""
    if machine.environment.get("NUMBA_OPT", "3") not in ("0", "1"):
        return None
    return Finding(
        "note",
        "optimiser-off",
        "NUMBA_OPT is below 2: kernels are compiled without optimisation and timings mean nothing.",
        unset(machine, "NUMBA_OPT"),
    )


def cache_writable(machine: Machine) -> Finding | None:
    """Compiled kernels are cached on disk; without the cache every process compiles again."""
    if not machine.cache_error:
        return None
    return Finding(
        "note",
        "cache-read-only",
        f"Compiled kernels cannot be cached in "
        f"{machine.cache_folder} ({machine.cache_error}): the first launch is slow in "
        "every new process.",
        "export GPUKIT_CACHE_DIR=/a/folder/you/may/write",
    )


def temporary_folder(machine: Machine) -> Finding | None:
    """Exercises in a notebook, CUDA C++ and the GPU compiler write temporary files."""
    if not machine.temporary_error:
        return None
    return Finding(
        "note",
        "no-temporary-folder",
        "There is no writable folder for temporary files, which `%%exercise` and the GPU compiler "
        f"need: {machine.temporary_error}.",
        "export TMPDIR=/a/folder/you/may/write",
    )


@finds(
    "note",
    "one-core",
    "Only one core is available: blocks run one after the other.",
    "Give the container or the virtual machine more cores.",
)
def one_core(machine: Machine) -> bool:
    """On one core blocks run one after the other."""
    return machine.cores <= 1 and machine.target != "cuda"


def first_kernel(machine: Machine) -> Finding | None:
    """The proof: a kernel of 1000 threads runs and its result is right."""
    if not machine.kernel_error:
        return None
    fix = (
        "GPUKIT_TARGET=cpu gpukit doctor"
        if machine.target == "cuda"
        else "Please report this, with the output of: gpukit doctor --json"
    )
    return Finding("problem", "first-kernel", f"A first kernel fails: {machine.kernel_error}", fix)


CHECKS: tuple[Check, ...] = (
    target_name,
    simulator_on,
    jit_off,
    optimiser_off,
    cache_writable,
    temporary_folder,
    one_core,
    first_kernel,
)
