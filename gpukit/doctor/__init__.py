"""Diagnoses this machine: what it is, which target it uses and why, and what is wrong with it.

`facts.look()` collects the facts; `checks.examine(machine)` is pure and evaluates them, so
every problem can be tested on a machine that does not have it.
"""

from gpukit.doctor import folders
from gpukit.doctor.checks import examine
from gpukit.doctor.facts import Machine, look
from gpukit.doctor.finding import Finding

__all__ = ["Finding", "Machine", "examine", "folders", "look"]
