"""The result of a check, and the queries that several checks share."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

from gpukit.doctor.facts import Machine
from gpukit.doctor.gpu_facts import Version, numbers


@dataclass(frozen=True)
class Finding:
    """Something found: a `problem` stops work, a `note` is worth knowing. `fix` is what to do."""

    level: str
    name: str
    what: str
    fix: str


Check = Callable[[Machine], Finding | None]


def finds(
    level: str, name: str, what: str, fix: str
) -> Callable[[Callable[[Machine], bool]], Check]:
    """Return a decorator that makes a check of a condition, with one finding for all machines."""

    def decorate(condition: Callable[[Machine], bool]) -> Check:
        @functools.wraps(condition)
        def check(machine: Machine) -> Finding | None:
            return Finding(level, name, what, fix) if condition(machine) else None

        return check

    return decorate


def has(machine: Machine, package: str) -> bool:
    return package in machine.packages


def version(machine: Machine, package: str) -> Version:
    return numbers(machine.packages.get(package, ""))


def unset(machine: Machine, variable: str) -> str:
    """Return the command that unsets an environment variable, in this system's shell."""
    windows = machine.system == "Windows"
    return f"Remove-Item Env:{variable}" if windows else f"unset {variable}"


def cuda_package(machine: Machine) -> bool:
    return has(machine, "numba-cuda") or has(machine, "numba-cuda-mlir")


def install_cuda(machine: Machine) -> str:
    """Return the command that installs numba-cuda for this driver and these GPUs.

    It names packages and no extra of gpukit, so it is correct in a clone and outside of one.
    """
    fits = machine.driver_cuda is None or machine.driver_cuda >= (13, 0)
    major = 13 if fits and all(gpu.capability >= (7, 5) for gpu in machine.gpus) else 12
    return f'python -m pip install "numba-cuda[cu{major}]>=0.30" "numpy<2.5"'
