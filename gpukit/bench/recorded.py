"""Recorded times: those of GPUs, and those of a CPU that had little else to do.

`benchmarks/records.py` collects them from the runs that the documents quote, into a file that is
part of the package: lessons run where there is no repository.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from gpukit.bench import report, timing
from gpukit.estimates import gpus

RECORDS = Path(__file__).with_name("records.json")
HEADERS = ("GPU", "kernel", "size", "time", "speed")
NONE = "No GPU time of these kernels has been recorded yet."


class Record(NamedTuple):
    """The recorded time of a kernel at a size, in seconds, and NumPy's where it was recorded.

    `of` is how fast the kernel is as a multiple of the speed of each library. `size` is empty
    where it is not known.
    """

    device: str
    kernel: str
    size: str
    seconds: float
    numpy: float | None = None
    of: Mapping[str, float] = MappingProxyType({})

    @property
    def cell(self) -> str:
        """The time as a cell of a table, with NumPy's and the size."""
        numpy = "" if self.numpy is None else f", NumPy {report.duration(self.numpy)}"
        size = self.size.replace(" x ", "x")  # a table breaks its cells at blanks
        return f"{report.duration(self.seconds)}{numpy} at {size}"

    @property
    def line(self) -> str:
        """The time in words that stand alone."""
        return f"recorded on {self.device}: {self.cell}"


@functools.cache
def _records(path: Path) -> dict[str, list[Record]]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return {kind: [Record(**one) for one in rows] for kind, rows in found.items()}


def rows(names: Sequence[str], path: Path | None = None) -> list[list[str]]:
    """Return the recorded GPU times of the kernels whose names begin with one of `names`.

    A row is a GPU, a kernel, its size, its time by GPU events, and its speed as a percentage of the
    fastest library's.
    """
    return [
        _row(one) for one in _records(path or RECORDS)["gpu"] if one.kernel.startswith(tuple(names))
    ]


def of_gpu(kernel: str, gpu: str, path: Path | None = None) -> Record | None:
    """Return the recorded time of a kernel, named without `_kernel`, on a GPU of `estimate`."""
    same = (r for r in _records(path or RECORDS)["gpu"] if r.kernel == kernel)
    machine = gpus.find(gpu)
    return next((one for one in same if gpus.machine_of(one.device) is machine), None)


def of_cpu(kernel: str, path: Path | None = None) -> Record | None:
    """Return the recorded time of a kernel on a CPU."""
    return next((r for r in _records(path or RECORDS)["cpu"] if r.kernel == kernel), None)


def notes(results: Sequence[timing.Result]) -> list[str]:
    """Return the recorded time of each result whose own times vary too much."""
    busy = [(result.name, of_cpu(result.name)) for result in results if report.varied(result)]
    return [f"{name}: {record.line}" for name, record in busy if record is not None]


def _row(record: Record) -> list[str]:
    best = min(record.of.items(), key=lambda pair: pair[1], default=None)
    share = f"{100 * best[1]:.0f} % of {best[0]}" if best else "-"
    time = report.duration(record.seconds)
    return [record.device, record.kernel, record.size, time, share]
