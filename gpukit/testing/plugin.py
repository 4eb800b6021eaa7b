"""What `pytest --gpukit-check` does: observe launches, fail tests, and sum up the run.

Launches are those of the whole process. Their findings belong to the phase of the test (setup,
call, teardown) that is running, so a fixture's launch belongs to the test that first needs the
fixture; those outside of tests, as on import of a test module, belong to the session. Each process
of pytest-xdist checks its own launches and sends its reports to the first process.
"""

from __future__ import annotations

import contextlib
import os
import unittest
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

import pytest

from gpukit import errors, files, standin, target
from gpukit.checked import check, process
from gpukit.checked.command import observing, observing_gpu
from gpukit.checked.finding import Finding
from gpukit.checked.messages.phrases import some
from gpukit.checked.report import Report, as_text, content, merge, merging
from gpukit.testing import control
from gpukit.testing.baseline import Baseline

# Kinds of findings that are exceptions of a plain launch too, which a test may expect.
_RAISED = ("raised", "launch-refused", "returned-local")
_SHOWN = 20  # findings in the summary
_SKIPS = (pytest.skip.Exception, unittest.SkipTest)
# Options of pytest that select tests: without them the whole suite is run.
_SELECTING = ("file_or_dir", "keyword", "markexpr", "deselect", "ignore", "ignore_glob", "lf")
_Phase = Generator[None, Any, Any]


def begin(config: pytest.Config) -> None:
    """Stand in for `numba.cuda` and check every launch from now on; raise UsageError."""
    options = config.known_args_namespace
    folder = config.invocation_params.dir
    try:
        state = standin.install(children=True)
        junit = folder / options.gpukit_junit if options.gpukit_junit else None
        if junit:
            files.check(junit)
        known = _baseline(config.rootpath, folder, options)
    except errors.GpukitError as error:
        raise pytest.UsageError(str(error)) from None
    config.pluginmanager.register(Checking(config, known, junit, state), "gpukit-check")


def _baseline(root: Path, folder: Path, options: Any) -> Baseline:
    writes = options.gpukit_baseline_write
    if not options.gpukit_baseline:
        if writes:
            raise errors.ArgumentError(
                "--gpukit-baseline-write: expected the file to write. Name it with "
                "--gpukit-baseline FILE."
            )
        return Baseline(root)
    path = folder / options.gpukit_baseline
    if writes:
        files.check(path)
    return Baseline(root, path, writes=writes)


class Checking:
    """The plugin of one checked run: the reports of its launches, and what becomes of them."""

    def __init__(
        self, config: pytest.Config, known: Baseline, junit: Path | None, state: standin.Report
    ) -> None:
        self.config, self.known, self.junit, self.state = config, known, junit, state
        self._new: list[Report] = []  # of the launches since the last phase
        self._reports: list[Report] = []  # one for each phase so far
        self._outside: list[Finding] = []  # errors that no test is to blame for
        self._missed = ""
        self._lost: list[str] = []  # processes of pytest-xdist that sent no reports
        self._written = ""
        self._process = os.getpid()
        self._open = contextlib.ExitStack()
        self._open.enter_context(observing(self._run))
        self._open.enter_context(observing_gpu("pytest --gpukit-check", self._run))
        self._open.enter_context(check.following(self._new))
        self._open.enter_context(_checked_children())

    # ---- launches ---------------------------------------------------------------------------

    def _run(self, kernel: Any, shape: Any, arguments: tuple[Any, ...]) -> None:
        """Run a launch under the checker; raise what a plain launch raises and a test may expect"""
        if os.getpid() != self._process:  # a fork: nobody would read its reports
            process.raise_findings(kernel, shape, arguments)
            return
        report = process.run_reported(self._new, kernel, shape, arguments)
        raised = [found for found in report.findings if found.kind in _RAISED]
        if report.error is not None and raised:
            report.findings = [found for found in report.findings if found not in raised]
            raise report.error

    def _launched(self) -> list[Report]:
        """Return the reports since the last call."""
        taken = self._new[:]
        self._new.clear()
        return taken

    def _take(self) -> list[Finding]:
        """Record the reports of a phase; return the errors for which it fails."""
        reports = self._launched()
        if not reports:
            return []
        self._reports.append(merge(reports))
        return [found for found in self._reports[-1].errors if not self.known.knows(found)]

    # ---- tests ------------------------------------------------------------------------------

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> _Phase:
        """Fail the setup of a test for the launches of its fixtures."""
        self._outside += self._take()
        return (yield from self._phase(item, "setup"))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> _Phase:
        """Fail a test for its launches."""
        return (yield from self._phase(item, "call"))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> _Phase:
        """Fail the teardown of a test for the launches of its fixtures."""
        return (yield from self._phase(item, "teardown"))

    def _phase(self, item: pytest.Item, when: str) -> _Phase:
        try:
            result = yield
        except BaseException as error:
            self._judge(item, when, fails=not isinstance(error, _SKIPS))
            raise
        self._judge(item, when, fails=False)
        return result

    def _judge(self, item: pytest.Item, when: str, *, fails: bool) -> None:
        """Fail a phase for its findings; if it fails itself, show them below its own error."""
        found = self._take()
        if not found:
            return
        # What a unittest.TestCase raises does not get here: pytest keeps it in this list, and
        # reports it, a skip too, instead of what is raised below.
        raised = getattr(item, "_excinfo", None) or []
        raised[:] = [one for one in raised if not isinstance(one.value, _SKIPS)]
        if not fails and not raised:
            pytest.fail(_texts(found), pytrace=False)
        item.add_report_section(when, "gpukit", _texts(found))

    # ---- session ----------------------------------------------------------------------------

    def pytest_report_header(self) -> str:
        """Report what `numba.cuda` means, and that launches are checked."""
        return f"gpukit check: every launch is checked. {self.state}"

    def pytest_sessionstart(self) -> None:
        """Look whether a planted race is found; where it is not, the run ends."""
        self._outside += self._take()
        if self.config.pluginmanager.hasplugin("dsession"):  # its workers launch, and look
            return
        self._missed = control.missed(self._launched)
        if self._missed and self._worker is None:
            pytest.exit(self._missed, pytest.ExitCode.INTERNAL_ERROR)

    @property
    def _worker(self) -> dict[str, Any] | None:
        """What a process of pytest-xdist sends to the first one; None in the first one itself."""
        return getattr(self.config, "workeroutput", None)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Receive the reports of a process of pytest-xdist."""
        if not hasattr(node, "workeroutput"):  # it crashed
            self._lost.append(node.gateway.id)
            return
        sent = node.workeroutput.pop("gpukit", None)  # an interrupted one is down twice
        if sent:
            self._missed = self._missed or sent["missed"]
            self._reports.append(Report.from_json(sent["report"]))
            self._outside += Report.from_json(sent["outside"]).findings

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the files, and fail a session for what no test failed for."""
        self._open.close()  # which delivers races with memory that was freed
        self._outside += self._take()
        report = self._report = merge(self._reports)
        if self._worker is not None:
            outside = Report(self._outside, launches=0)
            sent = {"report": report.to_json(), "outside": outside.to_json()}
            self._worker["gpukit"] = {**sent, "missed": self._missed}
            return
        self._outside = merging.findings(self._outside)
        passed = session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
        if self._missed:
            session.exitstatus = pytest.ExitCode.INTERNAL_ERROR
        elif (self._outside or self._lost) and passed:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        try:
            if self.junit:
                files.write(self.junit, report.to_junit(self._known(report.findings)))
            if self.known.writes:
                self._written = self._write(session, report)
        except errors.OutputError as error:
            self._written = str(error)
            session.exitstatus = pytest.ExitCode.INTERNAL_ERROR

    def pytest_unconfigure(self) -> None:
        """End the checking, also where there was no session."""
        self._open.close()

    def _write(self, session: pytest.Session, report: Report) -> str:
        """Write the baseline of a run that completed; return what is said about it."""
        ended = session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
        if not ended or session.shouldfail or session.shouldstop or self._lost:
            return f"{self.known.path} was not written: the run did not complete."
        # A test that failed may have ended before its launches.
        selected = any(self.config.getoption(name, None) for name in _SELECTING)
        whole = session.exitstatus == pytest.ExitCode.OK and not selected
        count, kept = self.known.write([*report.errors, *report.warnings], whole=whole)
        wrote = f"Wrote {some(count, 'finding')} to {self.known.path}."
        if not kept:
            return wrote
        why = "tests were selected" if selected else "a test failed"
        return (
            f"{wrote} Kept {some(kept, 'older finding')} not found in this run, because {why}. To "
            "remove what is fixed, run the whole suite without failures, or edit the file."
        )

    def _known(self, findings: Sequence[Finding]) -> list[Finding]:
        return [found for found in findings if self.known.knows(found)]

    # ---- summary ----------------------------------------------------------------------------

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Show what was checked, warnings, findings outside of tests, and the baseline."""
        terminalreporter.section("gpukit check")
        for paragraph in self._summary(self._report):
            terminalreporter.write_line(paragraph)

    def _summary(self, report: Report) -> list[str]:
        if self._missed:
            return [self._missed]
        warnings = [found for found in report.warnings if not self.known.knows(found)]
        lines = []
        if warnings:
            lines.append(_texts(warnings[:_SHOWN]))
        if len(warnings) > _SHOWN:
            lines.append(f"{some(len(warnings) - _SHOWN, 'more warning')}: use --gpukit-junit.")
        if self._outside:
            lines += ["Outside of any test:", _texts(self._outside)]
        lines += [
            f"The findings of {name} are missing: that process of pytest-xdist ended early."
            for name in self._lost
        ]
        lines += [content.clean(f"Note: {note}") for note in report.notes]
        lines += [report.summary, *self._about_baseline(report)]
        return [*lines, self._written] if self._written else lines

    def _about_baseline(self, report: Report) -> list[str]:
        if self.known.writes or self.known.path is None:
            return []
        name = self.known.path.name
        known = self._known([*report.errors, *report.warnings])
        lines = [f"Known and not failing, in {name}: {some(len(known), 'finding')}."]
        stale = self.known.stale(report.findings)
        if stale:
            lines.append(
                f"In {name}, but not found in this run: {some(len(stale), 'finding')}. If they "
                "are fixed, run the whole suite with --gpukit-baseline-write."
            )
        return lines + [f"  {entry}" for entry in stale]


def _texts(findings: Sequence[Finding]) -> str:
    return "\n\n".join(as_text.finding_text(found) for found in findings)


@contextlib.contextmanager
def _checked_children() -> Generator[None]:
    """Let Python processes that start inside a `with` block check their launches, and raise."""
    before = os.environ.get(target.VARIABLE)
    if target.active().name != "cuda":
        os.environ[target.VARIABLE] = "checked"
    try:
        yield
    finally:
        os.environ.pop(target.VARIABLE, None)
        if before is not None:
            os.environ[target.VARIABLE] = before
