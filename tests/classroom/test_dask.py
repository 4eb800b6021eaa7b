"""Grading on several machines, here two workers of this one."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip("distributed", reason="needs Dask: pip install distributed")

from gpukit.classroom import batch
from gpukit.classroom.intake import Submission
from gpukit.classroom.work import Task
from gpukit.course import catalogue

pytestmark = pytest.mark.slow
RIGHT = catalogue.find("zip_add").solution.read_bytes()


@contextlib.contextmanager
def cluster(workers):
    """Start a scheduler and workers of one thread each; give the address and the processes."""
    log = {"stderr": subprocess.PIPE, "text": True}
    dask = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
    options = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
    scheduler = subprocess.Popen([*dask, *options], **log)
    try:
        for line in scheduler.stderr:
            found = re.search(r"tcp://(127\.0\.0\.1:\d+)", line)
            if found:
                break
        address = found[1]
        dask = [sys.executable, "-m", "distributed.cli.dask_worker", f"tcp://{address}"]
        options = ["--nthreads", "1", "--no-nanny", "--no-dashboard"]
        started = [
            subprocess.Popen([*dask, *options], stderr=subprocess.DEVNULL) for _ in range(workers)
        ]
        try:
            yield f"dask://{address}", started
        finally:
            for process in started:
                process.kill()
                process.wait()
    finally:
        scheduler.kill()
        scheduler.communicate()


def test_a_lost_worker_costs_no_submission_and_none_is_graded_twice(tmp_path, isolation):
    handed_in = [
        Submission(f"student{n}", "zip_add", f"student{n}/zip_add.py", RIGHT + b"# %d\n" % n)
        for n in range(8)
    ]
    run = batch.begin(tmp_path, ("zip_add",), isolation, 3)
    told = []
    with cluster(2) as (address, workers), batch.dask(address) as mapped:

        def killing(done, _):
            told.append(done)
            if done == 2:
                os.kill(workers[0].pid, signal.SIGKILL)

        batch.grade(tmp_path, run, handed_in, mapped, killing)
    reports = [json.loads(file.read_text()) for file in tmp_path.glob("reports/*/zip_add.json")]
    assert [report["status"] for report in reports] == ["right"] * 8
    assert told == list(range(1, 9))


def test_a_scheduler_that_is_not_there_is_named(monkeypatch):
    from gpukit.errors import GpukitError

    begin = time.monotonic()
    with pytest.raises(GpukitError, match=r"--executor dask://127\.0\.0\.1:9: "):
        with batch.dask("dask://127.0.0.1:9") as mapped:
            list(mapped([Task(Submission("ann", "zip_add"), 1, "none")]))
    assert time.monotonic() - begin < 60
