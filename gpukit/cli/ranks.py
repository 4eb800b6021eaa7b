"""`gpukit check --ranks N`: a parallel program on virtual ranks."""

from __future__ import annotations

import argparse
import contextlib
import sys
from pathlib import Path
from typing import Any

from gpukit import files
from gpukit.cli import FINDINGS, INTERRUPTED, MISUSE, show
from gpukit.cli.outputs import output_aside, page


def check(arguments: argparse.Namespace) -> int:
    """Run a script on virtual ranks, and print what is wrong with it."""
    from gpukit import parallel
    from gpukit.cli import limit
    from gpukit.standin import script

    for option in ("module", "junit"):
        if getattr(arguments, option):
            words = {"module": "-m", "junit": "--junit"}[option]
            show.error(f"check: {words} does not go with --ranks. Leave out one of the two.")
            return MISUSE
    if arguments.html:
        files.check(arguments.html)
    timer = limit.TimeLimit(arguments.timeout, arguments.script)
    runs = 0
    try:
        with (
            output_aside(arguments.json),
            script.repeatable(arguments.script, arguments.arguments, "check --ranks") as once,
            _First(lambda: runs <= arguments.ranks),
            timer,
        ):

            def program(_world: Any) -> None:
                nonlocal runs
                runs += 1
                if code := once():
                    raise RuntimeError(f"the script ended with exit code {code}")

            report = parallel.check(program, arguments.ranks)
    except KeyboardInterrupt:
        show.error("check: stopped by Ctrl-C before the ranks were compared.")
        return INTERRUPTED
    if timer.expired:
        show.error(f"check: stopped after {timer.cause()}, before the ranks were compared.")
        return FINDINGS
    report.program = f"`{Path(arguments.script).name}`"
    if arguments.json:
        show.text(report.to_json())
    else:
        show.text(report.text(colour=show.fancy(sys.stdout)))
    if arguments.html:
        files.write(arguments.html, page(report))
    return report.exit_code


class _First(contextlib.redirect_stdout[Any]):
    """Print what the script prints in its first run on all ranks, and not again."""

    def __init__(self, first: Any) -> None:
        super().__init__(self)
        self.first, self.stream = first, sys.stdout

    def write(self, text: str) -> int:
        """Write to the stream in the first run."""
        return self.stream.write(text) if self.first() else len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)
