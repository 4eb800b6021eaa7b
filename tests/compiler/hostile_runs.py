"""Results of kernels under other names: their values, findings, counters and recordings."""

from __future__ import annotations

from typing import Any

import numpy as np

import gpukit
from gpukit.bench.launches import copied
from tests.compiler.hostile import Exchange


def outcome(exchange: Exchange, kernel: Any, launch: Any, arguments: tuple[Any, ...]) -> Any:
    """Return what a kernel writes, the checker's findings and the profile's counters."""
    renamed = exchange(kernel)
    back = exchange.names[renamed.py_func.__name__]
    plain, checked, counted = (copied(arguments) for _ in range(3))
    renamed[launch](*plain)
    report = gpukit.check(renamed)[launch](*checked)
    counts = gpukit.profile(renamed)[launch](*counted).as_dict()
    found = [
        (f.kind, f.severity, f.line, back.get(f.array, f.array), f.count, f.threads)
        for f in report.findings
    ]
    lines = [{**line, "file": ""} for line in counts["lines"]]  # each text has a file of its own
    values = [a.tobytes() for a in (*plain, *checked) if isinstance(a, np.ndarray)]
    return {"values": values, "findings": found, "total": counts["total"], "lines": lines}


def recording(exchange: Exchange, kernel: Any, launch: Any, arguments: tuple[Any, ...]) -> Any:
    """Return the steps of a recorded launch, with the kernel's original names."""
    renamed = exchange(kernel)
    back = exchange.names[renamed.py_func.__name__]
    recorded = gpukit.play(renamed)[launch](*copied(arguments)).recording
    steps = [
        {
            **{k: v for k, v in step.items() if k not in ("text", "set")},
            "set": {back.get(name, name): v for name, v in step["set"].items()},
        }
        for step in recorded["steps"]
    ]
    return sorted(back.get(v, v) for v in recorded["variables"]), steps
