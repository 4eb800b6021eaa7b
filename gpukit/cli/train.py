"""The command `train`: a script on several ranks."""

from __future__ import annotations

import argparse
import os
import sys

from gpukit.cli import show


def train(arguments: argparse.Namespace) -> int:
    """Run a script on several ranks of this machine; return its exit code."""
    from gpukit.parallel import failure, launcher
    from gpukit.standin import script

    program = (
        ["-m", arguments.script]
        if arguments.module
        else [str(script.find(arguments.script, "train"))]
    )
    environment = dict(os.environ)
    if arguments.traceback:
        environment[failure.VARIABLE] = "1"
    outcome = launcher.run(
        arguments.ranks,
        ["-m", "gpukit.cli.one_rank", *program, *arguments.arguments],
        deadline=arguments.deadline,
        environment=environment,
    )
    sys.stdout.flush()
    sys.stderr.write(outcome.traceback)
    if outcome.sentence:
        show.error(outcome.sentence)
    return outcome.code
