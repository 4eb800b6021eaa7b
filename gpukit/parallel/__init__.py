"""Train on many devices: ranks that exchange arrays by MPI or NCCL, and a checker of programs."""

from gpukit.parallel.block_scheduler import Launch, simulate_blocks
from gpukit.parallel.checker.check import check
from gpukit.parallel.data import DataParallel
from gpukit.parallel.grid import Grid
from gpukit.parallel.one_device import Task, TaskTimeline, run_tasks
from gpukit.parallel.pipeline import Pipeline
from gpukit.parallel.replicas import Asynchronous, Averaged
from gpukit.parallel.schedules import Schedule, gpipe, one_f_one_b
from gpukit.parallel.sharding import load, save
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
    "Grid",
    "Group",
    "Launch",
    "Pipeline",
    "RowLinear",
    "Schedule",
    "SharedTrunk",
    "SlowMotion",
    "Task",
    "TaskTimeline",
    "TensorAttention",
    "Work",
    "World",
    "gpipe",
    "load",
    "one_f_one_b",
    "run",
    "run_tasks",
    "save",
    "simulate_blocks",
    "tensor_block",
    "tensor_gpt",
]
