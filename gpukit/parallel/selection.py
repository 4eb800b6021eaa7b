"""Which transport this process uses, and why."""

from __future__ import annotations

import importlib.util
import os
from typing import NamedTuple

from gpukit import target

# What MPICH, Open MPI and SLURM put into the environment of the ranks that they start.
LAUNCHERS = {
    "PMI_SIZE": "mpiexec (MPICH) or srun",
    "OMPI_COMM_WORLD_SIZE": "mpiexec (Open MPI)",
    "PMIX_RANK": "a launcher with PMIx",
}
# What they put there as the number of a rank.
_RANK = ("PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK")
INSTALL = target.INSTALL.replace("cuda13", "parallel")


class Choice(NamedTuple):
    """A transport's name ("single", "mpi", "nccl"), the reason, and what is missing if anything."""

    name: str
    reason: str
    missing: str = ""


def choose() -> Choice:
    """Return the transport of this process."""
    variable = next((name for name in LAUNCHERS if name in os.environ), None)
    if variable is None:
        return Choice("single", "no launcher started this process, so it is the only rank")
    launcher = f"{LAUNCHERS[variable]} started this process ({variable} is set)"
    if not has("mpi4py"):
        return Choice("single", launcher, f"mpi4py is not installed. Install it, {INSTALL}")
    if target.active().name != "cuda":
        return Choice("mpi", f"{launcher}, and the arrays are in host memory")
    if has("nccl"):
        return Choice("nccl", f"{launcher}, and the arrays are on GPUs")
    return Choice("mpi", f"{launcher}; nccl4py is not installed, so GPU arrays go by host memory")


def rank() -> int:
    """Return the number that the launcher gave to this process, 0 without a launcher."""
    return next((int(os.environ[name]) for name in _RANK if name in os.environ), 0)


def has(module: str) -> bool:
    """Return whether a module is installed, without importing it."""
    return importlib.util.find_spec(module) is not None
