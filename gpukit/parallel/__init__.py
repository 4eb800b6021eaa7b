"""Train on many devices: ranks that exchange arrays by MPI or NCCL."""

from gpukit.parallel.data import DataParallel
from gpukit.parallel.world import Group, Work, World

__all__ = ["DataParallel", "Group", "Work", "World"]
