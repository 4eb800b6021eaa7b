"""The commands that instrument a script's launches: check, profile, estimate, play."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gpukit import errors, files
from gpukit.cli import FINDINGS, INTERRUPTED, MACHINE, MISUSE, WELL, show
from gpukit.cli.outputs import output_aside, page

if TYPE_CHECKING:
    from gpukit.checked.profile import Profile
    from gpukit.checked.report import Report


def check(arguments: argparse.Namespace) -> int:
    """Run a script with every launch checked, and print what is wrong with them."""
    if arguments.ranks:
        from gpukit.cli import ranks

        return ranks.check(arguments)
    from gpukit.checked import process
    from gpukit.checked.report import merge

    outputs = [path for path in (arguments.junit, arguments.html) if path]
    for output in outputs:
        files.check(output)
    with process.checking() as reports, output_aside(arguments.json):
        ran = _run("check", arguments)
    report = merge(reports)
    if ran.stopped:
        report.notes.append(f"{ran.stopped}; nothing after that was checked.")
    if arguments.json:
        show.text(report.to_json())
    elif reports or (ran.stopped and not ran.failed):
        printed = merge(one for one in reports if one.shown)  # by the script
        show.text(report.text(colour=show.fancy(sys.stdout), known=printed.findings))
    else:
        show.paragraph(f"Nothing was checked: {ran.nothing}", indent="")
        if not ran.failed:
            show.paragraph(_what_to_launch(Path(arguments.script)), indent="")
    if arguments.junit:
        files.write(arguments.junit, report.to_junit())
    if arguments.html:
        files.write(arguments.html, page(report))
    ran.show_error()
    nothing = not (ran.stopped or reports)
    return ran.code_with(report) or (MISUSE if nothing else WELL)


def _what_to_launch(script: Path) -> str:
    """Say how to launch the kernels of a script without launches: an answer, or a module."""
    from gpukit.course import catalogue

    exercise = catalogue.worked_on_in(script.parent)
    if exercise:
        file = "" if script.resolve() == exercise.answer.resolve() else f" --file {script}"
        return f"It answers an exercise: launch it with `gpukit test {exercise.name}{file}`."
    return (
        "Call its kernels at the end of the script, `kernel[blocks, threads](...)`, or check a "
        "script that imports it. For an answer to an exercise: `gpukit test NAME --file FILE`."
    )


def profile(arguments: argparse.Namespace) -> int:
    """Run a script and print the profiles of its launches."""
    from gpukit.checked import process

    with process.profiling() as profiles, output_aside(arguments.json):
        ran = _run("profile", arguments)
    if arguments.json:
        show.data([p.as_dict() for p in profiles])
        ran.explain("counted", profiles)
        return ran.code
    if not profiles:
        show.paragraph(f"Nothing was counted: {ran.nothing}", indent="")
    stopped = ran.stopped and not ran.failed
    shown = _last_of_each(profiles) if stopped else profiles
    for k, made in enumerate(shown):
        if k:
            show.text()
        show.text(made.text(colour=show.fancy(sys.stdout), occupancy=arguments.occupancy))
    if len(shown) < len(profiles):
        show.text()
        show.paragraph(
            f"{len(profiles):,} launches were counted; the last of each kernel and shape is shown. "
            "`gpukit profile --json` shows all of them.",
            indent="",
        )
    ran.explain("counted", profiles)
    return ran.code


def estimate(arguments: argparse.Namespace) -> int:
    """Run a script and print what the named GPUs would need for its launches."""
    from gpukit import estimates

    names = arguments.gpu or [estimates.chosen()]
    with (
        estimates.estimating(names, repeated=arguments.repeated) as found,
        output_aside(arguments.json),
    ):
        ran = _run("estimate", arguments)
    if arguments.json:
        show.data([one.as_dict() for one in found])
    elif not found:
        show.paragraph(f"Nothing was estimated: {ran.nothing}", indent="")
    elif len(found) == 1:
        show.text(str(found[0]))
    else:
        show.text(str(estimates.Estimates(found)))
    ran.explain("estimated", found)
    return ran.code


def _last_of_each(profiles: list[Profile]) -> list[Profile]:
    """Return one profile per kernel and shape: enough for a script with a loop of launches."""
    return list({(p.kernel, p.file, p.grid, p.block): p for p in profiles}.values())


def play(arguments: argparse.Namespace) -> int:
    """Run a script and write a page for each of its first launches that steps through it."""
    from gpukit.checked import process
    from gpukit.checked.report import merge

    folder = Path(arguments.folder)
    files.check_folder(folder, "choose one that you can write to with --folder")
    earlier = set(folder.glob("*.html"))
    with process.recording_to(folder, arguments.launches) as pages, output_aside(arguments.json):
        ran = _run("play", arguments)
    report = merge(pages.reports)
    if arguments.json:
        show.data([str(p) for p in pages.written])
    elif pages.written:
        for path in pages.written:
            show.text(f"{'replaced' if path in earlier else 'wrote'} {path}")
        show.text("Open a page in a browser; the arrow keys step forward and back.")
        if report.findings:
            show.text(f"\n{report.text(colour=show.fancy(sys.stdout))}")
    elif not pages.refused:
        show.paragraph(f"Nothing was recorded: {ran.nothing}", indent="")
    ran.explain("recorded", pages.written)
    if pages.refused:
        raise pages.refused
    return ran.code_with(report)


@dataclass
class _Ran:
    """How a script ended: its exit code, or what `stopped` it, in words, and the `error` that did.

    `launch` says which launch was stopped and how many blocks were done, "" if none was; `own`
    which functions of gpukit launched kernels for the script.
    """

    code: int
    stopped: str = ""
    error: Exception | None = None
    launch: str = ""
    own: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether an error stopped it."""
        return self.error is not None

    @property
    def nothing(self) -> str:
        """Why nothing was recorded."""
        if self.failed:
            return "the script stopped with an error before it launched a kernel."
        if self.stopped:
            return "no launch was completed."
        if self.own:
            return f"all launches of the script are made by {' and '.join(self.own)}."
        return "the script launched no kernel."

    def code_with(self, report: Report) -> int:
        """Return the exit code of a command that reports findings: 1 if one is an error."""
        if self.code in (INTERRUPTED, MACHINE):
            return self.code
        return report.exit_code or self.code

    def explain(self, done: str, results: Sequence[object]) -> None:
        """Say on standard error, after the results, why not all was counted or recorded."""
        if self.stopped and (results or not self.failed):
            launch = f"{self.launch}: it was not {done}. " if self.launch else ""
            after = f"nothing after that was {done}."
            sys.stdout.flush()
            sys.stderr.write(f"Note: {launch}{self.stopped}; {after}\n")
        self.show_error()

    def show_error(self) -> None:
        """Print the error as `gpukit run` does: one that names its line without a traceback."""
        sys.stdout.flush()
        if isinstance(self.error, errors.PlacedError | errors.FileError):
            show.error(str(self.error))
        elif self.error is not None:
            show.traceback_from(self.error)


def _run(command: str, arguments: argparse.Namespace) -> _Ran:
    """Run the script until its end, an error, Ctrl-C or the end of its time limit."""
    from gpukit.checked.command import listening
    from gpukit.cli import failure, limit
    from gpukit.standin import script

    own: set[str] = set()
    timer = limit.TimeLimit(arguments.timeout, arguments.script)
    code = WELL
    try:
        with timer, listening(lambda name, _answer: own.add(f"gpukit.{name}")):
            code = script.run(
                arguments.script, arguments.arguments, command, module=arguments.module
            ).code
    except KeyboardInterrupt as error:
        return _interrupted(arguments, error, "by Ctrl-C", INTERRUPTED)
    except (errors.TargetError, script.ScriptError):
        raise  # the machine's fault, or misuse: there is nothing to report
    except Exception as error:
        code = failure.code(error) if isinstance(error, errors.FileError) else FINDINGS
        return _Ran(code, "The script was stopped by an error", error)
    if timer.expired:
        return _interrupted(arguments, timer.error, f"after {timer.cause()}", FINDINGS)
    return _Ran(code, own=tuple(sorted(own)))


def _interrupted(
    arguments: argparse.Namespace, error: BaseException | None, why: str, code: int
) -> _Ran:
    from gpukit.checked.instrumented import Interrupted
    from gpukit.cli import limit

    line = limit.line_in(arguments.script, error)
    at = f" in line {line} of {Path(arguments.script).name}," if line else ""
    launch = error.words() if isinstance(error, Interrupted) else ""
    return _Ran(code, f"The script was stopped{at} {why}", launch=launch)


__all__ = ["WELL", "check", "estimate", "play", "profile"]
