"""Train on many devices: ranks that exchange arrays by MPI or NCCL, and a checker of programs."""

from gpukit.parallel.checker.check import check
from gpukit.parallel.data import DataParallel
from gpukit.parallel.replicas import Asynchronous, Averaged
from gpukit.parallel.slow_motion import SlowMotion
from gpukit.parallel.tasks import SharedTrunk
from gpukit.parallel.tensor import (
    ColumnLinear,
    RowLinear,
    TensorAttention,
    tensor_block,
    tensor_gpt,
)
from gpukit.parallel.virtual import run
from gpukit.parallel.world import Group, Work, World

__all__ = [
    "check",
    "Asynchronous",
    "Averaged",
    "ColumnLinear",
    "DataParallel",
    "Group",
    "RowLinear",
    "SharedTrunk",
    "SlowMotion",
    "TensorAttention",
    "Work",
    "World",
    "run",
    "tensor_block",
    "tensor_gpt",
]
