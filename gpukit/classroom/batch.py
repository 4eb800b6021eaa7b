"""Grade a folder of submissions: in processes of this machine, or in the workers of Dask.

What is done is on disk: a report per submission, written whole or not at all. A run that was killed
goes on where it was, with the seed it had, and ends with the same files.
"""

from __future__ import annotations

import importlib
import json
import multiprocessing
import os
import secrets
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent import futures
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import gpukit
from gpukit import files
from gpukit.classroom import reports, schema, work
from gpukit.classroom.intake import Submission
from gpukit.classroom.reports import FOLDER, RUN, Report
from gpukit.classroom.work import Task
from gpukit.course import supervisor
from gpukit.errors import GpukitError, SandboxError

ELSEWHERE = "name another folder with --out"
_CONNECTING = 10  # seconds to reach a scheduler
Progress = Callable[[int, int], None]  # how many are done, of how many
Map = Callable[[Iterable[Task]], Iterator[tuple[Task, Report]]]


class RunError(GpukitError):
    """The folder of the results belongs to another run."""


@dataclass(frozen=True)
class Run:
    """What holds for all submissions of a run, and stands in run.json.

    `seed` is what the inputs of all cases are drawn from. Reports of other students and exercises,
    from an earlier run in the same folder, do not count.
    """

    exercises: tuple[str, ...]
    seed: int
    isolation: str
    students: tuple[str, ...] = ()

    def as_json(self) -> str:
        """Return the text of run.json."""
        known = {"schema": schema.NAME, "version": schema.VERSION, "gpukit": gpukit.__version__}
        known |= {"exercises": list(self.exercises), "seed": self.seed, "isolation": self.isolation}
        return json.dumps({**known, "students": list(self.students)}, indent=2) + "\n"


def begin(
    out: Path,
    exercises: tuple[str, ...],
    isolation: str,
    seed: int | None,
    students: tuple[str, ...] = (),
) -> Run:
    """Begin a run in the folder `out`, or go on with the one that is there.

    A seed that is not given is that of the run before, else a new one that nobody can know.
    """
    before = _before(out)
    if before is not None:
        known = before["seed"]
        if seed is not None and seed != known:
            raise RunError(
                f"--seed {seed}: {out} has results with the seed {known}. Name another folder with "
                "--out, or leave out --seed."
            )
        seed = known
    if seed is None:
        seed = secrets.randbits(32)
    run = Run(exercises, seed, isolation, students)
    files.write(out / RUN, run.as_json(), ELSEWHERE, folders=True)
    return run


def _before(out: Path) -> dict[str, Any] | None:
    """Return what run.json says, None where there is none; raise RunError where it is no run's."""
    file = out / RUN
    if not file.exists():
        if out.is_dir() and any(out.iterdir()):
            raise RunError(
                f"--out: {out} is not empty, and holds no results. {ELSEWHERE.capitalize()}."
            )
        return None
    try:
        known = json.loads(file.read_text(encoding="utf-8"))
        if known["schema"] == schema.NAME and isinstance(known["seed"], int):
            return dict(known)
    except (ValueError, KeyError, TypeError):
        pass
    raise RunError(
        f"{file}: expected the record of a run, got another file. {ELSEWHERE.capitalize()}."
    )


def grade(
    out: Path,
    run: Run,
    submissions: list[Submission],
    mapped: Map,
    progress: Progress = lambda *_: None,
) -> int:
    """Grade what is not graded yet, and return how many that were.

    An answer that took too long is tried once more, alone: a machine may be busy.
    """
    every = [Task(s, run.seed, run.isolation) for s in submissions if not _is_done(out, run, s)]
    for task in every:
        if not task.submission.source:  # nothing to run
            _write(out, work.grade_one(task))
    todo = [task for task in every if task.submission.source]
    again: list[Task] = []
    for done, (task, report) in enumerate(mapped(todo), 1):
        if report["status"] == "timeout":
            again.append(task)
        else:
            _write(out, report)
        progress(done - len(again), len(todo))
    for done, task in enumerate(again, len(todo) - len(again) + 1):
        for _, report in mapped([task]):
            _write(out, report)
        progress(done, len(todo))
    return len(every)


def report_file(out: Path, student: str, exercise: str) -> Path:
    """Return the file of a report."""
    return out / FOLDER / student / f"{exercise}.json"


def _write(out: Path, report: Report) -> None:
    text = json.dumps(report, indent=2, ensure_ascii=True) + "\n"
    files.write(report_file(out, report["student"], report["exercise"]), text, folders=True)


def _is_done(out: Path, run: Run, submission: Submission) -> bool:
    """Whether there is a report on the same bytes, by the same rules; our own faults count not.

    A file that cannot be graded is looked at each time: nothing says that its problem is the same.
    """
    if submission.problem or (submission.file and not submission.source):
        return False
    report = reports.load(report_file(out, submission.student, submission.exercise))
    if isinstance(report, str):  # none, or a damaged one
        return False
    known = {
        "student": submission.student,
        "exercise": submission.exercise,
        "sha256": submission.sha256,
        "file": submission.file,
        "exercise_sha256": work.exercise_sha256(submission.full_name),
        "seed": run.seed,
        "gpukit": gpukit.__version__,
        "isolation": run.isolation,
    }
    return report["status"] != "infra" and known.items() <= report.items()


# ---- in processes of this machine ---------------------------------------------------------------


@contextmanager
def processes(jobs: int) -> Iterator[Map]:
    """Give a function that grades in `jobs` processes, each with a sandbox of its own."""
    yield lambda tasks: _in_pool(list(tasks), jobs)


def _in_pool(tasks: list[Task], jobs: int) -> Iterator[tuple[Task, Report]]:
    """Grade in a pool. Where a worker dies, each of the submissions left has one of its own."""
    left = dict.fromkeys(tasks)
    try:
        with _pool(min(jobs, len(tasks)) or 1) as pool:
            started = {pool.submit(work.grade_one, task): task for task in tasks}
            try:
                for done in futures.as_completed(started):
                    report = _result(done, started[done])
                    left.pop(started[done])
                    yield started[done], report
            finally:  # Ctrl-C: what is not begun is not graded
                pool.shutdown(wait=False, cancel_futures=True)
    except futures.process.BrokenProcessPool:
        for task in left:
            yield task, _alone(task)


def _alone(task: Task) -> Report:
    """Grade one submission in a process of its own, which may die."""
    try:
        with _pool(1) as pool:
            return _result(pool.submit(work.grade_one, task), task)
    except futures.process.BrokenProcessPool:
        return work.failed(task, "The process that grades this submission has died.")


def _result(done: futures.Future[Report], task: Task) -> Report:
    """Return a report; one that cannot be made or sent is no reason to stop the others."""
    try:
        return done.result()
    except futures.process.BrokenProcessPool:
        raise
    except Exception as error:
        return work.failed(task, f"A worker could not grade this: {error}")


def _pool(jobs: int) -> futures.ProcessPoolExecutor:
    context = multiprocessing.get_context("spawn")  # a fork would copy locks of our threads
    return futures.ProcessPoolExecutor(jobs, context, _end_with_the_parent)


def _end_with_the_parent() -> None:
    """Let a worker end, and remove its folders, when the one that has started it is killed.

    Ctrl-C is for that one. The executor would take SystemExit for an error of the submission.
    """

    def leave(*_: object) -> NoReturn:
        work.end()
        os._exit(0)

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, leave)
    supervisor.end_with_the_parent(signal.SIGTERM)


# ---- in the workers of Dask ---------------------------------------------------------------------


@contextmanager
def dask(address: str) -> Iterator[Map]:
    """Give a function that grades in the workers of a Dask cluster, at `dask://` or `tcp://`.

    Dask gives a submission to another worker when one is lost. Start workers with one thread each.
    """
    try:
        distributed: Any = importlib.import_module("distributed")  # it has no types
    except ImportError:
        what = f"--executor {address}: Dask is not installed. Run: pip install distributed"
        raise SandboxError(what) from None
    try:
        client = distributed.Client(address.replace("dask://", "tcp://", 1), timeout=_CONNECTING)
    except (OSError, ValueError) as error:
        raise SandboxError(
            f"--executor {address}: no scheduler answers there ({type(error).__name__}). Start one "
            "with `dask scheduler`, and name the address that it prints."
        ) from None
    with client:

        def mapped(tasks: Iterable[Task]) -> Iterator[tuple[Task, Report]]:
            started = {client.submit(work.grade_one, task, pure=False): task for task in tasks}
            for done in distributed.as_completed(started):
                task = started[done]
                if done.status == "finished":
                    yield task, done.result()
                else:
                    why = f"A worker could not grade this: {done.exception()}"
                    yield task, work.failed(task, why)

        yield mapped
