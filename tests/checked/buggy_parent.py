"""Run `buggy_child.py`, and continue after a kernel that crashed it or hung."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

from gpukit.compiler import cache_folder

ROOT = Path(__file__).resolve().parents[2]
CHILD = ("-m", "tests.checked.buggy_child")
ENDING = 60  # seconds that a process may take to end
LAST = 3000  # characters kept of the output of a dead process


def outcomes(
    seed: int, numbers: Sequence[int], limit: int
) -> Generator[dict[str, Any], None, None]:
    """Yield how each kernel ended; `crashed` or `hung` is true where it ended its process.

    A process that dies after its last kernel yields one more outcome, for that kernel `again`.
    """
    left = list(numbers)
    while left:
        begun = None
        for answer in _child(seed, left, limit):
            if "begin" in answer:
                begun = answer["begin"]
                continue
            if "number" in answer:
                left.remove(answer["number"])
                begun = None
                yield answer
                continue
            if begun is None:  # it died between two kernels, or after the last
                begun = left[0] if left else numbers[-1]
            again = begun not in left
            if not again:
                left.remove(begun)
            yield {
                "number": begun,
                "again": again,
                "kinds": {},
                "refused": "",
                "seconds": 0.0,
                **answer,
            }


def _child(seed: int, numbers: Sequence[int], limit: int) -> Iterator[dict[str, Any]]:
    """Yield the output of a child, and finally how it died, unless it finished."""
    command = [sys.executable, *CHILD, *(str(n) for n in (seed, limit, *numbers))]
    environment = {**os.environ, "GPUKIT_TARGET": "cpu"}
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output,
        tempfile.TemporaryDirectory() as folder,
    ):
        usual, own = cache_folder.folder(), Path(folder) / "gpukit"
        if usual is not None:  # kernels get a temporary cache, the checker comes from the usual one
            checker = usual.with_name(f"{usual.name}-checker")
            checker.mkdir(parents=True, exist_ok=True)
            own.with_name(f"{own.name}-checker").symlink_to(checker)
            environment["GPUKIT_CACHE_DIR"] = str(own)
        with subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=output,
            text=True,
        ) as child:
            try:
                assert child.stdout is not None
                for line in child.stdout:
                    if line.endswith("}\n"):
                        yield json.loads(line)
                child.wait(ENDING)
            except subprocess.TimeoutExpired:
                pass
            finally:
                child.kill()
                child.stdout.close()
        if child.returncode:
            output.seek(0)
            text = output.read()
            hung = child.returncode in (-signal.SIGPROF, -signal.SIGKILL) or "Timeout (" in text
            trouble = f"exit status {child.returncode}\n{text[-LAST:]}"
            yield {"crashed": not hung, "hung": hung, "trouble": trouble}
