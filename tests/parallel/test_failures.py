"""When a rank fails all of them end, with one sentence that says which, where and why."""

import io
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from gpukit.parallel import board, launcher

PROGRAMS = Path(__file__).parent / "programs"
DEADLINE = 3.0

SENTENCES = {
    "exception": r"rank 1 of 3 failed in step 7 \(failing\.py:\d+\): "
    r"ZeroDivisionError: no examples\.",
    "kill": r"rank 1 of 3 was ended by signal 9 \(SIGKILL\); it was computing in step 7\.",
    "leave": r"rank [02] of 3 has waited 1 s in step 7, in all_reduce of gradients \(5,\) float32 "
    r"\(failing\.py:\d+\): .*rank 1 has left in step 7.*",
    "stall": r"rank [02] of 3 has waited 3 s in step 7, .*rank 1 is computing in step 7.*",
    "stop": r"rank [02] of 3 has waited 3 s in step 7, .*rank 1 is computing in step 7.*",
    "disk": r"rank 0 of 3 failed in step 7 \(failing\.py:\d+\): OutputError: .*/dev/full.*",
}


def run(ranks, *program, **options):
    """Return the exit code, what was printed, and the launcher's own sentence."""
    text = io.StringIO()
    outcome = launcher.run(ranks, program, output=text, errors=text, **options)
    return outcome.code, text.getvalue() + outcome.sentence


@pytest.mark.slow
@pytest.mark.parametrize("kind", SENTENCES)
def test_failure_ends_all_ranks_with_one_sentence(kind):
    began = time.monotonic()
    code, text = run(3, str(PROGRAMS / "failing.py"), kind, deadline=DEADLINE)
    assert code != 0
    sentence = text.strip().removeprefix("gpukit: ")
    assert re.fullmatch(SENTENCES[kind] + r" All ranks were ended\.", sentence), text
    assert time.monotonic() - began < DEADLINE + 60  # of which starting Python may take most


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="needs Linux")
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_of_ranks_that_have_ended_the_first_is_named(order):
    """A busy machine may not let the launcher run before all ranks have ended."""
    looked, go_on = threading.Event(), threading.Event()

    class Busy(board.Memory):
        def read(self, rank):
            if rank == 2:  # asked for last
                looked.set()
                go_on.wait(60)
            return super().read(rank)

    records = Busy(3)
    ranks = [
        subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) for _ in order
    ]
    for rank, process in enumerate(ranks):
        records.write(rank, board.Entry(process=process.pid))
    watch = launcher._Watch(records, 3)
    watch.start()
    assert looked.wait(60)
    for rank in order:
        ranks[rank].kill()
        ranks[rank].communicate()
    watch.over.set()
    go_on.set()
    watch.join(60)
    assert watch.first == order[0]


@pytest.mark.slow
def test_report_of_a_rank_is_returned_by_the_launcher(tmp_path):
    script = tmp_path / "silent.py"
    script.write_text(
        "import os\nfrom gpukit import parallel\nworld = parallel.World()\n"
        "if world.rank == 1 and world.records.claim():\n"
        "    world.records.report('rank 1 has failed.', 'Traceback')\n"
        "    os._exit(1)\n"
        "world.barrier()\n"
    )
    text = io.StringIO()
    outcome = launcher.run(2, [str(script)], output=text, errors=text)
    assert (outcome, text.getvalue()) == ((1, "rank 1 has failed.", "Traceback"), "")


@pytest.mark.slow
def test_rank_that_another_launcher_started_prints_the_report_itself():
    program = [sys.executable, "-m", "mpi4py", str(PROGRAMS / "failing.py"), "exception"]
    command = [launcher.mpiexec(), "-n", "3", *program]
    wide = dict(os.environ)  # without the COLUMNS that readline sets for children
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=wide)
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("gpukit: ")]
    assert re.fullmatch(rf"gpukit: {SENTENCES['exception']} All ranks were ended\.", line)
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_exit_code_of_the_program_is_that_of_the_launcher():
    assert run(2, str(PROGRAMS / "failing.py"), "exit") == (5, "")


@pytest.mark.slow
def test_training_that_was_killed_resumes_to_the_same_bits(tmp_path):
    program, checkpoint = str(PROGRAMS / "training.py"), tmp_path / "saved.npz"
    whole, resumed = tmp_path / "whole.npz", tmp_path / "resumed.npz"
    assert run(2, program, str(whole)) == (0, "")
    code, text = run(2, program, str(resumed), str(checkpoint), "37")
    assert code != 0
    assert "rank 1 of 2 was ended by signal 9" in text
    assert run(2, program, str(resumed), str(checkpoint)) == (0, "")
    expected, found = np.load(whole), np.load(resumed)
    for name in ("losses", "weights"):
        np.testing.assert_array_equal(found[name], expected[name])


@pytest.mark.slow
def test_ranks_do_not_outlive_a_launcher_that_is_terminated(tmp_path):
    script = tmp_path / "endless.py"
    script.write_text(
        "import os, time\nfrom gpukit import parallel\nparallel.World()\n"
        "print(os.getpid(), flush=True)\ntime.sleep(600)\n"
    )
    command = [sys.executable, "-m", "gpukit.cli", "train", "--ranks", "2", str(script)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        ranks = [int(process.stdout.readline()) for _ in range(2)]
        process.terminate()
        assert process.wait(30) == 128 + signal.SIGTERM
    until = time.monotonic() + 30
    while any(map(is_running, ranks)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(map(is_running, ranks))


def is_running(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return "State:\tZ" not in Path(f"/proc/{process}/status").read_text()


def test_without_an_mpi_launcher_the_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setattr(launcher.shutil, "which", lambda _: None)
    monkeypatch.setattr(sys, "executable", os.devnull)
    with pytest.raises(
        launcher.RankError,
        match=r"mpiexec, which several ranks need, is not installed.*\[parallel\]",
    ):
        run(2, "script.py")


def test_one_rank_needs_no_launcher(tmp_path, monkeypatch):
    monkeypatch.setattr(launcher.shutil, "which", lambda _: None)
    script = tmp_path / "alone.py"
    script.write_text("from gpukit import parallel\nprint(parallel.World().size)\n")
    assert run(1, str(script)) == (0, "1\n")
