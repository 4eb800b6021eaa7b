"""Evaluate the facts: one function per known problem, each with the command that fixes it."""

from __future__ import annotations

from gpukit.doctor import gpu, software, surroundings
from gpukit.doctor.facts import Machine
from gpukit.doctor.finding import Check, Finding

CHECKS: tuple[Check, ...] = (*software.CHECKS, *gpu.CHECKS, *surroundings.CHECKS)


def examine(machine: Machine) -> list[Finding]:
    """Return everything that is wrong or worth knowing, problems first."""
    found = [finding for check in CHECKS if (finding := check(machine)) is not None]
    return sorted(found, key=lambda finding: finding.level != "problem")
