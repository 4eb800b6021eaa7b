"""Seed mistakes in compiler, checker and grader, and count how many make a test fail.

    python -m benchmarks.compiler_mutants [--count 100] [--seed 16] [--seconds 240] [--workers 1]
    python -m benchmarks.compiler_mutants --generous [--seconds 240] [--workers 1]

A line of code of gpukit/compiler, the checker's engine or gpukit/course is drawn, then one mistake
in it (`mutation/python_code.py`). Each is tried in a copy of the repository: pytest runs until the
first failure, beginning with the tests most likely to cover the file; a test that hangs has failed.
The JSON keeps the mutants that were killed; the next run tries the others on the remaining tests.
Mistakes that change nothing are in `mutation/compiler_equivalents.toml` with the reason; another
mistake is drawn for each. With `--generous` the mistakes are those of `mutation/generous.toml`,
each of which makes the grader give points away.

With `--coverage FILE` tests that run the changed line come first, which takes seconds instead of
minutes for most mistakes. `make test` writes the file where pytest-cov is installed, with
`PYTEST_FLAGS='--cov=gpukit --cov-context=test --cov-report='`: `.coverage`.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks import harness
from benchmarks.harness import ROOT
from benchmarks.mutation import equivalents, listed, python_code
from benchmarks.mutation.python_code import Mutant

EQUIVALENTS = ROOT / "benchmarks" / "mutation" / "compiler_equivalents.toml"
SEEDED = ("gpukit/compiler", "gpukit/checked/engine", "gpukit/course")
RESULT = ROOT / "benchmarks" / "results" / "compiler_mutants.json"
GENEROUS = ROOT / "benchmarks" / "mutation" / "generous.toml"
GRADER_RESULT = ROOT / "benchmarks" / "results" / "grader_mutants.json"
# A test that takes longer hangs. This also ends some of the long tests, and all that starts a
# sandbox, which loads the checker.
HANGS = ("-o", "faulthandler_timeout=60", "-o", "faulthandler_exit_on_timeout=true")

# Tests in order of how likely they are to find a mistake. Each group is one process.
SEMANTICS = "compiler/test_semantics* compiler/test_values* compiler/test_refusals*"
PLAIN = "compiler/test_* oracle/test_* safety/test_*"
CHECKS = "checked/test_check.py checked/test_check_[a-m]* checked/test_counters*"
CHECKED = "checked/test_check* checked/test_shadow* checked/test_recording*"
GRADER = "course/test_* classroom/test_*"
CLASSROOM = "classroom/test_* course/test_*"
GRADED = "exercises/test_*"
OTHERS = "cpu/test_* primitives/test_* kernels/test_* checked/test_* bugs/test_* test_*"
SLOW_FILES = (
    "test_shuffle_rows.py",
    "test_evaluated_once.py",
    "test_processes.py",
    "test_libdevice.py",
)
# Files that only instrumented kernels use: the tests of the checker come first.
INSTRUMENTED = re.compile(
    "checker_state|locations|instruments|accesses|references|lockstep|unassigned|shadow|hooks|"
    "counting|events|epochs|findings|fences|probe|entries|block_order|decided|provenance|barriers"
)
LONG = ("watched", "programs", "corpus", "random", "slow")
FAST = f"not ({' or '.join((*LONG, 'answers', 'browser', 'exhaustive'))})"
# Answers to the exercises, right and wrong: the grader's whole path.
ANSWERS = ["tests/exercises", "-m", "answers and not exhaustive"]
OF_GRADER = ("gpukit/classroom/", "gpukit/course/")
# Long tests of the grader: of the sandbox, of a run, then all others, among them attacks.
ATTACKS = [f"tests/classroom/test_{name}.py" for name in ("sandbox", "batch", "machine")]
ATTACKS += ["tests/classroom", "tests/course", "-m", "slow and not exhaustive"]
# The first tests for a mistake in a file of the grader, where they bear another name than it.
NEAREST = {
    "__init__": "classroom/test_sandbox.py",
    "allowed": "classroom/test_rules.py classroom/test_attacks.py",
    "base": "classroom/test_export.py",
    "child": "course/test_grade*",
    "confine": "classroom/test_sandbox.py",
    "contracts": "course/test_grade*",
    "launches": "course/test_grade*",
    "modes": "classroom/test_sandbox.py",
    "rules": "classroom/test_rules.py classroom/test_attacks.py",
    "stages": "course/test_grade*",
    "visible": "classroom/test_sandbox.py",
    "work": "classroom/test_release.py classroom/test_batch.py classroom/test_attacks.py",
}
MOST_TESTS = 150  # that run a changed line, and are tried before all others


def groups(file: str) -> Iterator[list[str]]:
    """Yield the arguments of pytest for a mistake in this file, one list per process."""
    name = Path(file).stem
    order = [SEMANTICS, PLAIN, f"{CHECKS} {CHECKED}", OTHERS]
    if INSTRUMENTED.match(name):
        order = [CHECKS, CHECKED, f"{SEMANTICS} {PLAIN}", OTHERS]
    of_classes, graded = file.startswith("gpukit/classroom/"), file.startswith(OF_GRADER)
    if graded:
        order = [CLASSROOM if of_classes else GRADER, GRADED, f"cli/test_* {OTHERS}"]
    order[0] = f"*/test_*{name}* {order[0]}"
    seen: set[str] = set()
    if graded and (near := [*_files(NEAREST.get(name, f"*/test_{name}*"))]):
        yield [*near, "-m", "not exhaustive"]
    for patterns in order:
        found = [*_files(patterns)]
        late = [f for f in found if f.endswith(SLOW_FILES)] if patterns != OTHERS else []
        fresh = [f for f in dict.fromkeys(found) if f not in seen and f not in late]
        seen.update(fresh)
        if patterns is order[0] and _has_examples(ROOT / file):
            fresh.insert(0, file)
        yield [*fresh, *([] if graded else HANGS), "-m", FAST]
    everywhere = ["tests", "--ignore=tests/notebooks", "--ignore=tests/exercises"]
    long = [[*everywhere, "-m", f"{mark} and not exhaustive"] for mark in LONG]
    yield from [ATTACKS, ANSWERS, *long] if graded else [*long, ANSWERS]


def _has_examples(file: Path) -> bool:
    """Tell whether docstrings of a file have examples, which pytest runs."""
    return file.exists() and ">>> " in file.read_text(encoding="utf-8")


def _files(patterns: str) -> Iterator[str]:
    """Yield the files of tests that patterns match, in their order."""
    for pattern in patterns.split():
        for file in sorted((ROOT / "tests").glob(pattern)):
            if file.suffix == ".py":
                yield str(file.relative_to(ROOT))


class Coverage:
    """Which tests run which lines, from a file of coverage.py whose contexts are tests."""

    def __init__(self, file: Path | None) -> None:
        self.data: Any = None
        if file is not None:
            from coverage import CoverageData

            self.data = CoverageData(str(file))
            self.data.read()

    def tests(self, mutant: Mutant) -> list[str]:
        """Return some of the tests that run a changed line, in random order."""
        if self.data is None:
            return []
        files = [name for name in self.data.measured_files() if name.endswith(f"/{mutant.file}")]
        lines = range(mutant.line, mutant.line + 1 + mutant.before.rstrip("\n").count("\n"))
        found = {
            context.partition("|")[0]
            for name in files
            for line, contexts in self.data.contexts_by_lineno(name).items()
            if line in lines
            for context in contexts
        }
        tests = sorted(test for test in found if test.startswith("tests/"))
        return random.Random(mutant.id).sample(tests, min(MOST_TESTS, len(tests)))


class Copy:
    """A copy of the repository, with a mistake in one file at a time."""

    def __init__(self, folder: Path, coverage: Coverage) -> None:
        self.folder, self.cache, self.coverage = folder / "gpukit", folder / "cache", coverage

    def fill(self) -> Copy:
        """Copy the files that git tracks."""
        command = ["git", "ls-files", "-z"]
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        for name in filter(None, listed.stdout.split("\0")):
            target = self.folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, target)
        return self

    def run(self, arguments: list[str], limit: float) -> tuple[int | None, str]:
        """Run pytest; return its exit code, None where time ran out, and the test that failed."""
        environment = {
            **os.environ,
            "PYTHONPATH": str(self.folder),
            "GPUKIT_CACHE_DIR": str(self.cache),
            "CI": "1",
            "GPUKIT_TARGET": "cpu",
        }
        flags = "-m pytest -x -q -p no:cacheprovider -rfE"
        command = [sys.executable, *flags.split(), *arguments]
        with tempfile.TemporaryFile("w+") as out:
            process = subprocess.Popen(
                command,
                cwd=self.folder,
                env=environment,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )
            try:
                code = process.wait(limit)
            except subprocess.TimeoutExpired:
                return None, ""
            finally:  # kills child processes of a hung test too
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            out.seek(0)
            lines = out.read().splitlines()
        failed = [line for line in lines if line.startswith(("FAILED ", "ERROR "))]
        return code, failed[-1][:200] if failed else "a test that hung or ended the process"

    def examine(self, mutant: Mutant, row: dict[str, Any], seconds: float) -> dict[str, Any]:
        """Run the groups of tests not yet tried on a mistake, until one fails or time is up."""
        path = self.folder / mutant.file
        right, began = path.read_text(encoding="utf-8"), time.monotonic()
        if not mutant.file.startswith(OF_GRADER):  # what it calls compiles as before
            shutil.rmtree(self.cache, ignore_errors=True)
        try:
            path.write_text(mutant.put_into(right), encoding="utf-8")
            Path(importlib.util.cache_from_source(str(path))).unlink(missing_ok=True)
            likely = self.coverage.tests(mutant)
            first = [[*likely, *HANGS]] if likely else []
            for done, arguments in enumerate([*first, *groups(mutant.file)], -len(first)):
                if 0 <= done < row["groups"]:
                    continue
                code, killer = self.run(arguments, seconds - (time.monotonic() - began))
                if code is None:
                    break
                if done < 0 and code == 4:  # a test that is not there, or nothing can be imported
                    continue
                row["groups"] = max(row["groups"], done + 1)
                if code not in (0, 5):  # 5: no test is in the group
                    row |= {"outcome": "killed", "by": killer}
                    break
        finally:
            path.write_text(right, encoding="utf-8")
            Path(importlib.util.cache_from_source(str(path))).unlink(missing_ok=True)
        return row | {"seconds": round(row["seconds"] + time.monotonic() - began)}


def table(rows: list[dict[str, Any]]) -> str:
    """Return the outcomes by package as Markdown, and what survived."""
    counts: dict[str, Counter[str]] = {}
    for row in rows:
        package = Path(row["id"].split("\n")[0]).parent.name
        for name in (package, "all"):
            counts.setdefault(name, Counter())[row["outcome"]] += 1
    headers = ["package", "mistakes", "killed", "survived", "equivalent"]
    cells = []
    for name in sorted(counts, key=lambda package: (package == "all", package)):
        n = counts[name]
        words = [n[word] for word in headers[2:]]
        cells.append([name, n["killed"] + n["survived"], *words])
    left = [row for row in rows if row["outcome"] == "survived"]
    return "\n".join(
        [
            harness.markdown(headers, cells),
            *(f"\nline {row['line']} of {row['id']}" for row in left),
        ]
    )


def main(arguments: list[str] | None = None) -> int:
    """Draw mistakes, try each, write the JSON after each, print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=240, help="per mistake")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--coverage", type=Path, metavar="FILE", help="tests of each line")
    parser.add_argument("--generous", action="store_true", help="mistakes that give points away")
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args(arguments)
    result: Path = chosen.json or (GRADER_RESULT if chosen.generous else RESULT)
    known = json.loads(result.read_text())["mutants"] if result.exists() else []
    before = {row["id"]: row for row in known if row["outcome"] != "equivalent"}
    asked = ["git", "rev-parse", "--short", "HEAD"]
    commit = subprocess.check_output(asked, cwd=ROOT, text=True).strip()
    same = equivalents.read(EQUIVALENTS)
    rows, todo = {}, []
    if chosen.generous:
        mutants = listed.read(GENEROUS, ROOT)
    else:
        mutants = python_code.draw(ROOT, SEEDED, chosen.count, chosen.seed, same)
    for m in mutants:
        row = {"id": m.id, "line": m.line, "operator": m.operator}
        if m.id in same:
            rows[m.id] = row | {"outcome": "equivalent", "by": same[m.id]["reason"]}
            continue
        row |= {"outcome": "survived", "by": "", "groups": 0, "seconds": 0}
        rows[m.id] = before.get(m.id, row)
        if rows[m.id]["outcome"] == "survived":
            todo.append(m)

    def write() -> None:
        record = {"commit": commit, "seed": chosen.seed, "mutants": list(rows.values())}
        harness.save(result, record)

    with tempfile.TemporaryDirectory() as folder:
        coverage = Coverage(chosen.coverage)
        copies = [Copy(Path(folder) / str(k), coverage).fill() for k in range(chosen.workers)]

        def work(mutant: Mutant) -> None:
            copy = copies.pop()
            rows[mutant.id] = copy.examine(mutant, rows[mutant.id], chosen.seconds)
            copies.append(copy)
            row = rows[mutant.id]
            print(row["outcome"], f"{row['seconds']} s", mutant.id, row["by"], flush=True)
            write()

        with ThreadPoolExecutor(chosen.workers) as pool:
            list(pool.map(work, todo))
    print(f"seed {chosen.seed}\n\n{table(list(rows.values()))}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
