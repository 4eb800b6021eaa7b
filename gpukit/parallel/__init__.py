"""Train on many devices: ranks that exchange arrays by MPI or NCCL, and a checker of programs."""

from gpukit.parallel.checker.check import check
from gpukit.parallel.data import DataParallel
from gpukit.parallel.replicas import Asynchronous, Averaged
from gpukit.parallel.slow_motion import SlowMotion
from gpukit.parallel.tasks import SharedTrunk
from gpukit.parallel.virtual import run
from gpukit.parallel.world import Group, Work, World

__all__ = [
    "check",
    "Asynchronous",
    "Averaged",
    "DataParallel",
    "Group",
    "SharedTrunk",
    "SlowMotion",
    "Work",
    "World",
    "run",
]
