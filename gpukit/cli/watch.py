"""The verbs that watch a script's launches: check, profile, play."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gpukit.cli import FINDINGS, MISUSE, WELL, show


def check(arguments: argparse.Namespace) -> int:
    """Run a script with every launch checked, and print what is wrong with them."""
    from gpukit.checked import process
    from gpukit.checked.report import merge
    from gpukit.cli.limit import TimeLimit

    code: int | None = None  # as of a script that stopped with an error
    limit = TimeLimit(arguments.timeout, arguments.script)
    with process.checking() as reports, _output_aside(arguments.json), limit:
        code = _run("check", arguments)
    report = merge(reports)
    if limit.expired:
        at = f" in line {limit.line} of {Path(arguments.script).name}" if limit.line else ""
        report.notes.append(
            f"The script was stopped{at}, after the {limit.seconds:g} seconds of --timeout; what "
            "it would have done after that was not checked."
        )
    if arguments.junit:
        Path(arguments.junit).write_text(report.to_junit(), encoding="utf-8")
    if arguments.html:
        Path(arguments.html).write_text(_page(report), encoding="utf-8")
    if arguments.json:
        show.text(report.to_json())
    elif reports or limit.expired:
        show.text(report.text(colour=show.fancy(sys.stdout)))
    else:
        show.text(f"Nothing was checked: {_STOPPED if code is None else _NO_LAUNCH}")
        if code is not None:
            show.text(_what_to_launch(Path(arguments.script)))
    nothing = code is not None and not reports and not limit.expired
    return report.exit_code or _exit_code(code) or (MISUSE if nothing else WELL)


def _what_to_launch(script: Path) -> str:
    """Say how to get launches out of a script that has none: an answer, or a module of kernels."""
    folder = script.resolve().parent
    if (folder / "exercise.toml").exists():
        file = "" if script.name == "answer.py" else f" --file {script}"
        return f"It is an answer to an exercise: `gpukit test {folder.name}{file}` launches it."
    return (
        "Call its kernels at the end of the script, `kernel[blocks, threads](...)`, or check a "
        "script that imports it. For an answer to an exercise: `gpukit test NAME --file FILE`."
    )


def profile(arguments: argparse.Namespace) -> int:
    """Run a script and print what every launch asked of memory."""
    from gpukit.checked import process

    with process.profiling() as profiles, _output_aside(arguments.json):
        code = _run("profile", arguments)
    if arguments.json:
        show.data([p.as_dict() for p in profiles])
        return _exit_code(code)
    if not profiles:
        show.text(f"Nothing was counted: {_STOPPED if code is None else _NO_LAUNCH}")
    for k, made in enumerate(profiles):
        if k:
            show.text()
        show.text(made.text(colour=show.fancy(sys.stdout), occupancy=arguments.occupancy))
    return _exit_code(code)


def play(arguments: argparse.Namespace) -> int:
    """Run a script and write a page for each of its first launches that steps through it."""
    from gpukit.checked import process

    folder = Path(arguments.folder)
    earlier = set(folder.glob("*.html"))
    with process.recording_to(folder, arguments.launches) as pages, _output_aside(arguments.json):
        code = _run("play", arguments)
    if arguments.json:
        show.data([str(p) for p in pages])
    elif pages:
        for path in pages:
            show.text(f"{'replaced' if path in earlier else 'wrote'} {path}")
        show.text("Open a page in a browser; the arrow keys step forward and back.")
    else:
        show.text(f"Nothing was recorded: {_STOPPED if code is None else _NO_LAUNCH}")
    return _exit_code(code)


_NO_LAUNCH = "the script launched no kernel."
_STOPPED = "the script stopped with an error before a launch was done."


def _run(verb: str, arguments: argparse.Namespace) -> int | None:
    """Run the script; return its exit code, None where it stopped with an error."""
    from gpukit import errors
    from gpukit.standin import script

    try:
        return script.run(arguments.script, arguments.arguments, verb, module=arguments.module).code
    except (errors.TargetError, script.ScriptError):
        raise  # the machine's fault, or misuse: there is nothing to report
    except Exception as error:
        show.traceback_from(error)
        return None


def _exit_code(code: int | None) -> int:
    return FINDINGS if code is None else code


@contextlib.contextmanager
def _output_aside(aside: bool) -> Iterator[None]:
    """Send what the script prints to standard error where ours must be JSON and nothing else."""
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


def _page(report: Any) -> str:
    return (
        "<!DOCTYPE html><html lang='en'><head><meta charset='utf-8'><title>gpukit check</title>"
        f"</head><body>{report._repr_html_()}</body></html>\n"
    )


__all__ = ["WELL", "check", "play", "profile"]
