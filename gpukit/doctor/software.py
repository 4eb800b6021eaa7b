"""Checks of Python and its packages."""

from __future__ import annotations

from gpukit.doctor.facts import Machine
from gpukit.doctor.finding import Check, Finding, finds, has, version

PYTHON_LEAST, PYTHON_MOST = (3, 10), (3, 14)
NUMBA_LEAST = (0, 68)
NUMPY_LEAST = (2, 0)


def python_version(machine: Machine) -> Finding | None:
    """Numba supports a range of Python versions and refuses to install on others."""
    if PYTHON_LEAST <= machine.python[:2] <= PYTHON_MOST:
        return None
    return Finding(
        "problem",
        "python-version",
        f"Numba supports Python 3.10 to 3.14; this is {'.'.join(map(str, machine.python))}.",
        "Install Python 3.12 and create a new environment: python3.12 -m venv .venv",
    )


@finds(
    "problem",
    "python-bits",
    "This is a 32-bit Python; Numba needs 64 bits.",
    "Install the 64-bit Python from python.org and create a new environment.",
)
def python_bits(machine: Machine) -> bool:
    """Numba has no wheels for 32-bit Python."""
    return machine.bits != 64


@finds(
    "note",
    "python-free-threaded",
    "This is a free-threaded Python, on which gpukit is untested.",
    "Use the ordinary build: python3.14, not python3.14t",
)
def python_free_threaded(machine: Machine) -> bool:
    """Free-threaded builds have few wheels."""
    return machine.free_threaded


@finds(
    "note",
    "python-translated",
    "This Intel Python runs under Rosetta on Apple silicon: everything is slower.",
    "Install the arm64 Python from python.org and create a new environment.",
)
def python_translated(machine: Machine) -> bool:
    """An Intel Python on Apple silicon runs translated and slowly."""
    return machine.translated


def shadowed_package(machine: Machine) -> Finding | None:
    """A script called numba.py hides the package of that name."""
    if not machine.shadows:
        return None
    listed = ", ".join(machine.shadows)
    return Finding(
        "problem",
        "shadowed-package",
        f"Files in this folder shadow packages: {listed}.",
        f"Rename: {listed}",
    )


def numpy_version(machine: Machine) -> Finding | None:
    """gpukit needs numpy 2."""
    return _missing_or_old(machine, "numpy", NUMPY_LEAST)


def _missing_or_old(machine: Machine, name: str, least: tuple[int, int]) -> Finding | None:
    """A package that is not installed, or in a version before the first that will do."""
    wanted = f"{least[0]}.{least[1]}"
    install = f'"{name}>={wanted}"'
    if not has(machine, name):
        fix = f"python -m pip install {install}"
        return Finding("problem", f"{name}-missing", f"{name} is not installed.", fix)
    if version(machine, name) >= least:
        return None
    why = f"{name} {machine.packages[name]} is older than {wanted}."
    return Finding("problem", f"{name}-old", why, f"python -m pip install --upgrade {install}")


def numba_version(machine: Machine) -> Finding | None:
    """Without Numba no kernel runs on any target."""
    if found := _missing_or_old(machine, "numba", NUMBA_LEAST):
        return found
    if machine.numba_error:
        return Finding(
            "problem",
            "numba-import",
            f"numba cannot be imported: {machine.numba_error}",
            'python -m pip install --upgrade --force-reinstall "numba>=0.68" llvmlite "numpy<2.5"',
        )
    return None


def numpy_against_numba_cuda(machine: Machine) -> Finding | None:
    """numba-cuda up to 0.30 calls np.row_stack, which numpy 2.5 removed."""
    found = version(machine, "numba-cuda")
    if not found or found >= (0, 31) or version(machine, "numpy") < (2, 5):
        return None
    return Finding(
        "note",
        "numpy-with-numba-cuda",
        f"numba-cuda {machine.packages['numba-cuda']} calls np.row_stack, which numpy "
        f"{machine.packages['numpy']} no longer has. gpukit restores it; in programs that import "
        "numba.cuda directly no kernel compiles.",
        'python -m pip install "numpy<2.5"',
    )


def lab_missing(machine: Machine) -> Finding | None:
    """The notebooks need more than the kernels do."""
    missing = [
        name for name in ("matplotlib", "scikit-learn", "jupyterlab") if not has(machine, name)
    ]
    if not missing:
        return None
    return Finding(
        "note",
        "lab-missing",
        f"Not installed, but needed by the notebooks: {', '.join(missing)}.",
        f"python -m pip install {' '.join(missing)}",
    )


CHECKS: tuple[Check, ...] = (
    python_version,
    python_bits,
    python_free_threaded,
    python_translated,
    shadowed_package,
    numpy_version,
    numba_version,
    numpy_against_numba_cuda,
    lab_missing,
)
