"""Collect the facts: versions, drivers, GPUs, environment, and whether a kernel runs."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import subprocess
import sys
import sysconfig
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from gpukit import errors, target
from gpukit.compiler import cache_folder
from gpukit.doctor.gpu_facts import Gpu, Version, driver, hardware_seen, toolkit

PACKAGES = (
    "numpy",
    "numba",
    "llvmlite",
    "numba-cuda",
    "numba-cuda-mlir",
    "matplotlib",
    "scikit-learn",
    "jupyterlab",
    "ipykernel",
    "mpi4py",
    "mpich",
    "nccl4py",
)
VARIABLES = (
    target.VARIABLE,
    "NUMBA_ENABLE_CUDASIM",
    "NUMBA_DISABLE_JIT",
    "GPUKIT_CACHE_DIR",
    "GPUKIT_CACHE",
    "NUMBA_OPT",
    "GPUKIT_THREADS",
    "GPUKIT_GPU",
    "NUMBA_NUM_THREADS",
    "CUDA_VISIBLE_DEVICES",
    "CUDA_HOME",
)

# Runs in a process of its own: a broken driver or library may crash it.
_FIRST_KERNEL = """
import numpy as np
from gpukit import cuda
@cuda.jit
def add_one_kernel(x, out):
    i = cuda.grid(1)
    if i < x.shape[0]:
        out[i] = x[i] + np.float32(1)
x = np.arange(1000, dtype=np.float32)
out = np.full_like(x, np.nan)
add_one_kernel[8, 128](x, out)
assert (out == x + 1).all(), "a first kernel gave a wrong answer"
"""


@dataclass(frozen=True)
class Machine:
    """The facts that the checks evaluate. The defaults describe a healthy laptop without a GPU."""

    python: Version = (3, 11, 9)
    bits: int = 64
    system: str = "Linux"
    arch: str = "x86_64"
    translated: bool = False
    in_wsl: bool = False
    cores: int = 4
    free_threaded: bool = False
    packages: dict[str, str] = field(
        default_factory=lambda: {
            "numpy": "2.4.6",
            "numba": "0.68.1",
            "llvmlite": "0.46.0",
            "matplotlib": "3.11.2",
            "scikit-learn": "1.8.0",
            "jupyterlab": "4.6.6",
            "ipykernel": "7.1.0",
        }
    )
    numba_error: str = ""
    environment: dict[str, str] = field(default_factory=dict)
    shadows: tuple[str, ...] = ()
    cache_folder: str = ""
    cache_error: str = ""
    temporary_error: str = ""
    driver: str = ""
    driver_status: int | None = None
    driver_cuda: tuple[int, int] | None = None
    hardware_seen: bool = False
    gpus: tuple[Gpu, ...] = ()
    toolkit: tuple[int, int] | None = None
    missing_libraries: tuple[str, ...] = ()
    target: str = "cpu"
    reason: str = ""
    target_error: str = ""
    kernel_error: str = ""
    ranks: str = ""
    isolation: str = ""


def _versions() -> dict[str, str]:
    found = {}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def _import_error(name: str) -> str:
    """Return why a package cannot be imported, or nothing. Any failure counts."""
    try:
        __import__(name)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _translated() -> bool:
    """Return whether an Intel Python runs on Apple silicon under Rosetta."""
    if platform.system() != "Darwin" or platform.machine() != "x86_64":
        return False
    try:
        answer = subprocess.run(
            ["sysctl", "-n", "sysctl.proc_translated"],
            capture_output=True,
            text=True,
            check=False,
            timeout=5,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return answer.stdout.strip() == "1"


def _shadows() -> tuple[str, ...]:
    """Return files here that Python would import instead of a package."""
    names = ("numba.py", "numpy.py", "cuda.py", "random.py", "gpukit.py")
    return tuple(name for name in names if Path(name).exists())


def _cache() -> tuple[str, str]:
    """Return the folder of compiled kernels, and why it is not writable, or nothing."""
    folder = cache_folder.folder()
    if folder is None:
        return "", ""
    existing = folder
    while not os.path.lexists(existing) and existing != existing.parent:
        existing = existing.parent
    try:
        with tempfile.TemporaryFile(dir=existing):
            return str(folder), ""
    except OSError as error:
        return str(folder), error.strerror or type(error).__name__


def _temporary_error() -> str:
    """Return why there is no folder for temporary files, or nothing."""
    try:
        tempfile.gettempdir()
    except OSError as error:
        return error.strerror or type(error).__name__
    return ""


def _target() -> dict[str, str]:
    try:
        active = target.active()
    except errors.GpukitError as error:
        return {"target": "none", "target_error": str(error)}
    return {"target": active.name, "reason": active.reason}


def _ranks() -> str:
    """Return what carries messages between ranks in this process, and whether it can start some."""
    from gpukit.parallel import launcher, selection  # imports numba, which may be broken

    choice = selection.choose()
    try:
        start = f"`gpukit train` starts them with {launcher.mpiexec()}"
    except errors.RankError as error:
        start = str(error).removeprefix("train: ")
    return f"{choice.name}: {choice.missing or choice.reason}; {start}"


def _isolation() -> str:
    """Return how `gpukit grade` isolates submissions on this machine, and what it would take."""
    from gpukit.classroom.sandbox import modes

    return modes.described(modes.every())


def _kernel_error() -> str:
    """Run a first kernel in a process of its own; return what went wrong, or nothing."""
    package = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH"))))
    try:
        done = subprocess.run(
            [sys.executable, "-c", _FIRST_KERNEL_LAUNCHER],
            input=_FIRST_KERNEL,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
            env={**os.environ, "PYTHONPATH": path},
        )
    except subprocess.TimeoutExpired:
        return "no answer in 120 seconds"
    if done.returncode == 0:
        return ""
    lines = done.stderr.strip().splitlines()
    return lines[-1] if lines else f"the process ended with code {done.returncode}"


# Kernels need their source, so it is put into linecache before it runs.
_FIRST_KERNEL_LAUNCHER = """
import linecache, sys
text = sys.stdin.read()
linecache.cache["<first kernel>"] = (len(text), None, text.splitlines(True), "<first kernel>")
exec(compile(text, "<first kernel>", "exec"), {"__name__": "first_kernel"})
"""


def look() -> Machine:
    """Return the facts about this machine. Starts one short process, changes nothing."""
    cache, cache_error = _cache()
    state = _target()
    numba_error = _import_error("numba")
    runnable = not numba_error and not state.get("target_error")
    facts: dict[str, object] = {**driver(), **toolkit(), **state}
    return Machine(
        python=tuple(sys.version_info[:3]),
        bits=64 if sys.maxsize > 2**32 else 32,
        system=platform.system(),
        arch=platform.machine(),
        translated=_translated(),
        in_wsl="microsoft" in platform.release().lower(),
        cores=_cores(),
        free_threaded=bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
        packages=_versions(),
        numba_error=numba_error,
        environment={name: os.environ[name] for name in VARIABLES if name in os.environ},
        shadows=_shadows(),
        cache_folder=cache,
        cache_error=cache_error,
        temporary_error=_temporary_error(),
        hardware_seen=hardware_seen(),
        kernel_error=_kernel_error() if runnable else "",
        ranks=_ranks() if runnable else "",
        isolation=_isolation() if runnable else "",
        **facts,  # type: ignore[arg-type]
    )
