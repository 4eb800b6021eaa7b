"""Run numba-cuda's own test suite on its simulator and on gpukit, and compare the results.

    python -m benchmarks.conformance --python path/to/python

That Python needs numba-cuda 0.30.4, whose wheel includes its tests, and what they import: the
packages of CONFORMANCE_NEEDS in the Makefile (`make conformance`). gpukit comes from this checkout.
Writes `docs/conformance.md`; ends with 1 if a figure is missed, 2 if the suite cannot run.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks import harness

PAGE = harness.ROOT / "docs" / "conformance.md"
OUTCOMES = ("passed", "failed", "skipped", "xfailed")
MOST_NAMES = 20  # of tests with the same outcome and message in a file; more are only counted

INI = "[pytest]\nminversion = 8.0\nconsider_namespace_packages = true\n"

# What the suite expects from a conftest.py that its wheel does not include.
CONFTEST = """
import pytest


def pytest_addoption(parser):
    parser.addoption("--dump-failed-filechecks", action="store_true", default=False)


@pytest.fixture(scope="class")
def initialize_from_pytest_config(request):
    request.cls._dump_failed_filechecks = request.config.getoption("dump_failed_filechecks")
"""

# Why a test that the simulator skips cannot pass, by a pattern of its reason.
WHY = {
    "only a GPU compiler generates PTX, SASS and GPU assembly": (
        r".*PTX|Compilation unsupported|.*inspect|CUDA asm|Fastmath|.*generate code|"
        r".*optimize code|.*inline and forceinline|CUDA Simulator does not link|"
        r"This is testing CUDA|.*run_frontend|Requires CUDA target|Numbast|"
        r"Simulator does not implement the CUDACode"
    ),
    "GPU debug information has no counterpart in CPU code": r".*debug dumps|.*lineinfo",
    "needs the CUDA driver, NVVM, NVRTC or nvJitLink": (
        r".*[Dd]river|NVVM|.*NVVM|nvJitLink|Module loading|.*nvjitlink|Library detection|EMM|"
        r"Linking|.*linking|.*linkable|LTO|.*device library search|External code|Ipc|CUDA HW|"
        r".*cuda.core|Testing cuda.core|External streams"
    ),
    "links CUDA C, which needs a GPU compiler": r"External functions|.*External",
    "tests numba-cuda's own caching, dispatch or reference counting, not what kernels do": (
        r".*caching|Dispatcher C-extension|.*NRT|No refcounting|.*launch config|Tests internals|"
        r".*deallocation|Tests CUDA device array type"
    ),
    "bfloat16 and FP8 are not part of gpukit yet": r"bfloat16|FP8|.*bfloat16",
    "cache hints have no effect on a CPU": r"Cache hints",
    "gpukit raises no warnings about GPU occupancy": r".*performance warnings",
    "needs more than one GPU": r".*more than 1|.*multiple GPUs",
    "measures launches of GPU kernels": r"no reason to run benchmarks",
    "needs CuPy": r".*import 'cupy'|requires CuPy",
    "needs the CUDA toolkit": r"curand_kernel",
    "disabled in the suite on every target": (
        r"Disabled temporarily|Requires PR|Windows only|recursive decoration|Needs insert_unres|"
        r"necessary binaries|not enable in|skipped$|collection skipped"
    ),
}


@dataclass
class Run:
    """The results of one run of the suite: test -> (outcome, message)."""

    tests: dict[str, tuple[str, str]] = field(default_factory=dict)
    log: str = ""

    def count(self, outcome: str, part: str = "") -> int:
        """Count the tests with this outcome whose name contains `part`."""
        return sum(o == outcome and part in name for name, (o, _) in self.tests.items())

    def named(self, outcome: str) -> set[str]:
        """Return the names of the tests with this outcome."""
        return {name for name, (o, _) in self.tests.items() if o == outcome}


def run_suite(python: str, workers: int, plugin: list[str], environment: dict[str, str]) -> Run:
    """Run the suite in a fresh folder and read its report."""
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        (here / "pytest.ini").write_text(INI)
        (here / "conftest.py").write_text(CONFTEST)
        command = [python, "-m", "pytest", "-p", "no:cacheprovider", *plugin, "-q", "--tb=short"]
        command += ["--pyargs", "numba.cuda.tests", "--junitxml=report.xml"]
        if workers > 1:
            command += ["-n", str(workers), "--dist", "loadscope"]
        done = subprocess.run(
            command, cwd=here, env={**os.environ, **environment}, capture_output=True, text=True
        )
        report = here / "report.xml"
        if not report.exists():
            raise SystemExit2(f"the suite did not run:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
        return Run(read_report(report), done.stdout)


class SystemExit2(Exception):
    """The comparison is impossible; the message says why."""


def read_report(path: Path) -> dict[str, tuple[str, str]]:
    """Read a JUnit report: the outcome and message of each test."""
    tests = {}
    for case in ElementTree.parse(path).iter("testcase"):
        name = f"{case.get('classname', '')}.{case.get('name', '')}".split("cuda.tests.")[-1]
        outcome, words = "passed", ""
        for child in case:
            words = first_line(child.get("message") or child.text or "")
            if child.tag in ("failure", "error"):
                outcome = "failed"
            elif child.tag == "skipped":
                outcome = "xfailed" if "xfail" in (child.get("type") or "") else "skipped"
        tests[name] = (outcome, words)
    return tests


def first_line(text: str) -> str:
    """Return the first line of an error, without addresses and paths of this machine."""
    line = next((part.strip() for part in text.splitlines() if part.strip()), "")
    line = re.sub(r"0x[0-9a-f]{6,}", "0x...", line)
    return re.sub(r"(/[\w.+-]+){2,}/", "", line)[:160].rstrip()


def bar(base: Run, ours: Run) -> list[tuple[str, int, str, bool]]:
    """Return each figure: name, value, goal, and whether it is met."""
    lost = len(lost_tests(base, ours))
    warp = ours.count("passed", "test_warp_ops")
    sync = sum(
        o == "passed" and "syncwarp" in n and "test_sync" in n for n, (o, _) in ours.tests.items()
    )
    docs = ours.count("passed", "doc_examples")
    total = ours.count("passed")
    return [
        ("tests passed", total, ">= 850", total >= 850),
        ("tests that pass on the simulator but not on gpukit", lost, "0", lost == 0),
        ("warp operations", warp, "20", warp >= 20),
        ("syncwarp", sync, "3", sync >= 3),
        ("documentation examples", docs, ">= 14 of 16", docs >= 14),
    ]


def lost_tests(base: Run, ours: Run) -> list[str]:
    """Return the tests that pass on the simulator and not on gpukit."""
    return sorted(base.named("passed") - ours.named("passed"))


def why(words: str) -> str:
    """Return why a test cannot pass, or that its feature is not implemented yet."""
    return next(
        (text for text, rule in WHY.items() if re.match(rule, words)), "not implemented yet"
    )


def folder_of(name: str) -> str:
    return name.split(".")[0] or "collection"


def file_of(name: str) -> str:
    """Return the file of a test, or the folder in which a file was skipped as a whole.

    >>> file_of("cudapy.test_sm.TestSharedMemory.test_sum"), file_of(".cudapy.test_analysis")
    ('cudapy.test_sm', 'cudapy (collection)')
    """
    folder, file = name.split(".")[:2]
    return f"{folder}.{file}" if folder else f"{file} (collection)"


def code(text: str) -> str:
    """Return a message as a code span.

    >>> code("cannot infer 'arr'"), code("see `arr`")
    ("`cannot infer 'arr'`", '`` see `arr` ``')
    """
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def folders_table(base: Run, ours: Run) -> str:
    """Return the table of counts per folder of tests."""
    outcomes: dict[str, Counter[str]] = defaultdict(Counter)
    before = Counter(folder_of(n) for n in base.named("passed"))
    for name, (outcome, _) in ours.tests.items():
        outcomes[folder_of(name)][outcome] += 1
    rows = [
        [folder, before[folder], *(count[outcome] for outcome in OUTCOMES)]
        for folder, count in sorted(outcomes.items())
    ]
    headers = ["folder", "simulator passed", "gpukit passed", "gpukit failed", "skipped", "xfailed"]
    return harness.markdown(headers, rows)


def missing_list(ours: Run) -> str:
    """Return the list of all tests that do not pass: files, and in each its outcomes."""
    files: dict[str, dict[tuple[str, str], list[str]]] = defaultdict(lambda: defaultdict(list))
    for name, result in sorted(ours.tests.items()):
        if result[0] != "passed":
            names = files[file_of(name)][result]
            names.append(".".join(name.split(".")[2:]) or name)
    return "\n".join(
        f"- {file}\n"
        + "\n".join(f"  - {group(*result, names)}" for result, names in groups.items())
        for file, groups in files.items()
    )


def group(outcome: str, words: str, names: list[str]) -> str:
    """Return the number, message and reason of tests, and their names unless they are many."""
    title = f"{len(names)} {outcome}" + (f", {code(words)}" if words else "")
    title += f" ({why(words)})" if outcome == "skipped" else ""
    return title if len(names) > MOST_NAMES else f"{title}: {', '.join(f'`{n}`' for n in names)}"


def page(base: Run, ours: Run) -> str:
    """Return the text of docs/conformance.md."""
    counts = [
        [title, *map(run.count, OUTCOMES)] for title, run in (("simulator", base), ("gpukit", ours))
    ]
    figures = [[t, n, a, "yes" if ok else "**no**"] for t, n, a, ok in bar(base, ours)]
    lost = [
        f"- `{n}`: {code(ours.tests[n][1]) if n in ours.tests else 'not collected'}"
        for n in lost_tests(base, ours)
    ]
    parts = [
        "# Conformance with numba-cuda's own tests",
        "Generated by `python -m benchmarks.conformance` (`make conformance`); do not edit.\n"
        "numba-cuda 0.30.4 includes its tests in its wheel. They run twice without a GPU:\n"
        "on its simulator, and on gpukit with `pytest -p gpukit.standin`\n"
        "and `--gpukit-as-simulator`.",
        harness.markdown(["", *OUTCOMES], counts),
        harness.markdown(["figure", "measured", "required", "met"], figures),
        "## By folder",
        folders_table(base, ours),
        "## Tests lost",
        "\n".join(lost) or "None.",
        "## What the run changes",
        CHANGES,
        "## Every test that does not pass",
        missing_list(ours),
    ]
    return "\n\n".join(parts) + "\n"


CHANGES = """\
`--gpukit-as-simulator` sets `NUMBA_ENABLE_CUDASIM=1`, so that the suite's helpers load without a
driver, and replaces `numba.cuda` by gpukit. It makes eight other changes and edits no test file:

- `numba.cuda.testing.skip_on_cudasim` runs tests whose reason to skip does not apply to gpukit;
- `numba.cuda.core.errors` exports the errors of `numba.core.errors`, which gpukit raises
  (numba-cuda has a copy of each class under the same name);
- `numba.cuda.compiler.compile_ptx`, which the simulator does not implement, compiles for the
  CPU. Two of the warp tests only require that this succeeds. It returns CPU code and says so;
- transposed device arrays and arrays made like them have NumPy's strides, as the suite expects of
  a simulator, and not a GPU's;
- the leak checks of the suite read the allocation counts of Numba's CPU runtime (NRT);
- `cuda.CUSource` and the other linkable code classes are the simulator's, which link nothing;
- the simulator's table of vector types contains gpukit's types;
- a valid `alignment=` of an array, which gpukit accepts, is rejected, as the suite expects of the
  simulator."""


def parse(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--python", default=sys.executable, help="Python that has numba-cuda")
    parser.add_argument("--workers", type=int, default=2, help="pytest-xdist workers")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--output", type=Path, default=PAGE, help="page to write")
    return parser.parse_args(argv)


def measure(python: str, workers: int) -> tuple[Run, Run]:
    """Run the suite on the simulator, then on gpukit."""
    clean = {"PYTHONPATH": str(harness.ROOT), "GPUKIT_TARGET": "cpu", "NUMBA_ENABLE_CUDASIM": "1"}
    base = run_suite(python, workers, [], clean)
    plugin = ["-p", "gpukit.standin", "--gpukit-as-simulator"]
    return base, run_suite(python, workers, plugin, clean)


def main(argv: list[str] | None = None) -> int:
    """Measure, write the page, print the figures; return the exit code."""
    options = parse(argv)
    try:
        base, ours = measure(options.python, options.workers)
    except (SystemExit2, OSError) as error:
        print(f"conformance: {error}", file=sys.stderr)
        return 2
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(page(base, ours), encoding="utf-8")
    figures = bar(base, ours)
    if options.json:
        print(json.dumps({t: {"measured": n, "asked": a, "holds": ok} for t, n, a, ok in figures}))
    else:
        for text, number, asked, holds in figures:
            print(f"{'ok  ' if holds else 'MISS'} {text}: {number} (asked: {asked})")
        print(*(f"lost: {name}" for name in lost_tests(base, ours)), sep="\n")
    return 0 if all(holds for *_, holds in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
