"""Where the commands that check scripts write."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def output_aside(aside: bool) -> Iterator[None]:
    """Redirect the script's output to standard error where ours must be JSON and nothing else."""
    if not aside:
        yield
        return
    sys.stdout.flush()
    kept = os.dup(1)  # child processes and C code write there, whatever sys.stdout is
    try:
        os.dup2(2, 1)
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)


def page(report: Any) -> str:
    """Return a report as a page of its own."""
    return (
        "<!DOCTYPE html><html lang='en'><head><meta charset='utf-8'><title>gpukit check</title>"
        f"</head><body>{report._repr_html_()}</body></html>\n"
    )
