"""What kernels do under two sets of names: their values, findings, counters and recordings."""

from __future__ import annotations

from typing import Any

import numpy as np

import gpukit
from gpukit.bench.launches import copied
from tests.compiler.hostile import Exchange


def outcome(exchange: Exchange, kernel: Any, launch: Any, arguments: tuple[Any, ...]) -> Any:
    """Return what a kernel writes, what the checker finds in it and what a profile counts."""
    made = exchange(kernel)
    back = exchange.names[made.py_func.__name__]
    plain, checked, counted = (copied(arguments) for _ in range(3))
    made[launch](*plain)
    report = gpukit.check(made)[launch](*checked)
    counts = gpukit.profile(made)[launch](*counted).as_dict()
    found = [
        (f.kind, f.severity, f.line, back.get(f.array, f.array), f.count, f.threads)
        for f in report.findings
    ]
    values = [a.tobytes() for a in (*plain, *checked) if isinstance(a, np.ndarray)]
    return {"values": values, "findings": found, "total": counts["total"], "lines": counts["lines"]}


def recording(exchange: Exchange, kernel: Any, launch: Any, arguments: tuple[Any, ...]) -> Any:
    """Return what a recording shows of a launch, with the names that the kernel had before."""
    made = exchange(kernel)
    back = exchange.names[made.py_func.__name__]
    told = gpukit.play(made)[launch](*copied(arguments)).recording
    steps = [
        {
            **{k: v for k, v in step.items() if k not in ("text", "set")},
            "set": {back.get(name, name): v for name, v in step["set"].items()},
        }
        for step in told["steps"]
    ]
    return sorted(back.get(v, v) for v in told["variables"]), steps
