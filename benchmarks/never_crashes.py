"""Run thousands of kernels with random mistakes: none may crash the process or hang.

    python -m benchmarks.never_crashes --count 10000 --jobs 1 --seed 1 --json FILE

tests/checked/buggy.py generates the kernels. Each is checked twice and launched plainly, every
fifth also profiled and played, in child processes that work through a batch. FILE is written after
each batch, and a run that finds it resumes. `--keep FOLDER` receives the source of every kernel
that failed. Ends with 1 if there was a crash, a hang or another failure.
"""

from __future__ import annotations

import argparse
import json
import queue
import re
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks import harness
from tests.checked import buggy, buggy_parent

BATCH = 200
LIMIT = 60  # seconds of processor time per kernel, including its compilation
SLOW = 10  # seconds
WORDS = 600  # last characters of an error, kept in the file


@dataclass
class Tally:
    """The counts so far."""

    seed: int
    reached: dict[str, int] = field(default_factory=dict)  # first kernel of a batch -> next kernel
    kernels: int = 0
    reported: int = 0
    findings: Counter[str] = field(default_factory=Counter)  # kind -> kernels with it
    refused: Counter[str] = field(default_factory=Counter)
    crashes: list[dict[str, Any]] = field(default_factory=list)
    hangs: list[dict[str, Any]] = field(default_factory=list)
    failures: list[dict[str, Any]] = field(default_factory=list)
    seconds: float = 0.0
    slow: list[list[float]] = field(default_factory=list)  # (number, seconds)

    def add(self, answer: dict[str, Any]) -> None:
        """Count one kernel."""
        self.kernels += not answer.get("again")
        self.seconds += answer["seconds"]
        if answer["seconds"] > SLOW:
            self.slow.append([answer["number"], answer["seconds"]])
        if answer["refused"]:
            self.refused[answer["refused"]] += 1
        elif not answer["trouble"]:  # a failed kernel has no report
            self.reported += 1
            self.findings.update(list(answer["kinds"]))
        if answer["trouble"]:
            self._list(answer).append(
                {"number": answer["number"], "trouble": without_paths(answer["trouble"])[-WORDS:]}
            )

    def _list(self, answer: dict[str, Any]) -> list[dict[str, Any]]:
        if answer.get("crashed"):
            return self.crashes
        return self.hangs if answer.get("hung") else self.failures

    @property
    def sound(self) -> bool:
        return not (self.crashes or self.hangs or self.failures)


def without_paths(text: str) -> str:
    """Return a traceback with file names in place of the paths of this machine.

    >>> without_paths('File "/home/ada/gpukit/checked/decode.py", line 3')
    'File "decode.py", line 3'
    """
    return re.sub(r"(?<![\w/])(?:\.\./|/)(?:[^\s/\"':]+/)*([^\s/\"':]+)", r"\1", text)


def table(tally: Tally) -> str:
    """Return the counts as Markdown."""
    rows = [("kernels", tally.kernels), ("with a report", tally.reported)]
    rows += [(f"with {kind}", n) for kind, n in sorted(tally.findings.items())]
    rows += [(f"refused: {reason}", n) for reason, n in sorted(tally.refused.items())]
    rows += [("crashes", len(tally.crashes)), ("hangs", len(tally.hangs))]
    rows += [("other failures", len(tally.failures)), ("seconds", round(tally.seconds))]
    rows += [(f"kernels that took more than {SLOW} seconds", len(tally.slow))]
    return harness.markdown(["", "count"], [(name, f"{n:,}") for name, n in rows])


def batches(count: int, reached: dict[str, int]) -> Iterator[tuple[int, int, int]]:
    """Yield the remaining batches: first kernel, next kernel, and end."""
    for first in range(0, count, BATCH):
        following, end = reached.get(str(first), first), min(first + BATCH, count)
        if following < end:
            yield first, following, end


class Run:
    """Workers that take batches from a queue and count the outcomes."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.tally = resumed(options.json, options.seed)
        self.todo: queue.Queue[tuple[int, int, int]] = queue.Queue()
        for batch in batches(options.count, self.tally.reached):
            self.todo.put(batch)
        self.lock = threading.Lock()
        self.stop = time.monotonic() + 60 * options.minutes

    def run(self) -> Tally:
        """Work through all batches, or as many as the time allows."""
        with ThreadPoolExecutor(self.options.jobs) as pool:
            for worker in [pool.submit(self.work) for _ in range(self.options.jobs)]:
                worker.result()
        return self.tally

    def work(self) -> None:
        """Work through batches; when time is up, the progress within the batch is saved."""
        while time.monotonic() < self.stop:
            try:
                first, following, end = self.todo.get_nowait()
            except queue.Empty:
                return
            answers = buggy_parent.outcomes(self.options.seed, range(following, end), LIMIT)
            for answer in answers:
                with self.lock:
                    self.tally.reached[str(first)] = answer["number"] + 1
                    self.note(answer)
                if time.monotonic() > self.stop:
                    break
            answers.close()
            with self.lock:
                self.save()

    def note(self, answer: dict[str, Any]) -> None:
        self.tally.add(answer)
        if answer["trouble"]:
            keep(self.options.keep, self.options.seed, answer)
        if self.tally.kernels % 50 == 0:
            t = self.tally
            print(
                f"{t.kernels} kernels, {len(t.crashes)} crashes, {len(t.hangs)} hangs, "
                f"{len(t.failures)} other failures",
                flush=True,
            )

    def save(self) -> None:
        if self.options.json:
            self.options.json.parent.mkdir(parents=True, exist_ok=True)
            harness.save(self.options.json, vars(self.tally))


def resumed(path: Path | None, seed: int) -> Tally:
    """Return the counts of an earlier run with this seed, if there is one."""
    if path is None or not path.exists():
        return Tally(seed)
    kept = json.loads(path.read_text())
    if kept["seed"] != seed:
        return Tally(seed)
    counters = {name: Counter(kept.pop(name)) for name in ("findings", "refused")}
    return Tally(**kept, **counters)


def keep(folder: Path | None, seed: int, answer: dict[str, Any]) -> None:
    """Write a script that checks a kernel that failed, with the error in comments above."""
    if folder is None:
        return
    folder.mkdir(parents=True, exist_ok=True)
    what = "crash" if answer.get("crashed") else "hang" if answer.get("hung") else "failure"
    words = "".join(f"# {line}\n" for line in answer["trouble"].splitlines())
    script = buggy.make(seed, answer["number"]).script()
    path = folder / f"{what}_{seed}_{answer['number']}.py"
    path.write_text(words + script, encoding="utf-8")


def parse(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--count", type=int, default=10_000, help="kernels")
    parser.add_argument("--jobs", type=int, default=1, help="child processes at a time")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=24 * 60, help="time limit")
    parser.add_argument("--json", type=Path, help="file for the counts, and to resume")
    parser.add_argument("--keep", type=Path, help="folder for kernels that failed")
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> int:
    """Run, print the table and return the exit code."""
    tally = Run(parse(argv)).run()
    print(table(tally))
    return 0 if tally.sound else 1


if __name__ == "__main__":
    sys.exit(main())
