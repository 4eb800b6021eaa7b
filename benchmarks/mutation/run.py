"""Seed mistakes in the kernels of the book and count how many checked mode finds.

python -m benchmarks.mutation.run                        all mutants, a table at the end
python -m benchmarks.mutation.run --kernels matmul       one package, or one kernel
python -m benchmarks.mutation.run --sample 400           a sample, chosen by the mutants' names
python -m benchmarks.mutation.run --write                into docs/checking.md and the JSON
python -m benchmarks.mutation.run --write --missing      the same; examines only what the JSON lacks

A recorded result is valid while the kernel, what it uses of its file, and its launches stay the
same. Only a run without `--missing` tells whether the checker still finds the mutant.
"""

from __future__ import annotations

import argparse
import datetime
import functools
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import harness
from benchmarks.mutation import cases, equivalents, mutants, pool, report, truth, verdict
from benchmarks.mutation.verdict import Verdict
from gpukit import launch

DOCUMENT = harness.ROOT / "docs" / "checking.md"
RESULT = harness.ROOT / "benchmarks" / "results" / "mutation.json"
EQUIVALENTS = Path(__file__).with_name("equivalents.toml")
LIMIT = 120  # seconds per mutant; compiling it takes a second or two


class Kept:
    """Results of earlier runs, by the question and the mutant's digest.

    They are read from a file of lines, to which new ones are appended, and from `recorded`, the
    rows of the JSON of a whole run.
    """

    def __init__(
        self,
        path: Path | None,
        chosen: list[mutants.Mutant],
        recorded: Sequence[dict[str, Any]] = (),
    ) -> None:
        self.path, self.results = path, {}
        self.digests = {mutant.id: digest(mutant) for mutant in chosen}
        self.days: dict[str, str] = {}  # when recorded mutants were examined
        ids = {known: name for name, known in self.digests.items()}
        for row in recorded:
            name = ids.get(row["digest"])
            if name is not None:
                self.days[name] = row["day"]
                self.results["oracle", name] = _faults(row["faults"])
                outcome = "survived" if row["outcome"] == "equivalent" else row["outcome"]
                kinds = tuple(row["kinds"])
                self.results["checked", name] = Verdict(
                    name, outcome, kinds, row["wrong"], row["note"]
                )
        if path is not None and path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                word, known, answer = json.loads(line)
                if known in ids:
                    self.results[word, ids[known]] = _thawed(answer)

    def add(self, word: str, mutant: mutants.Mutant, result: Any) -> None:
        """Append a result to the file at once, so that an interrupted run can resume."""
        if self.path is not None:
            answer = asdict(result) if isinstance(result, Verdict) else result
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps([word, self.digests[mutant.id], answer]) + "\n")


def _thawed(answer: Any) -> Any:
    if isinstance(answer, dict):
        return Verdict(**{**answer, "kinds": tuple(answer["kinds"])})
    return tuple(answer) if isinstance(answer, list) else answer


def _faults(faults: list[str]) -> Any:
    """Return the oracle's answer: faults, or one word for a mutant that broke the oracle."""
    return faults[0] if faults in (["hung"], ["crashed"]) else tuple(faults)


def digest(mutant: mutants.Mutant) -> str:
    """Return the digest of everything but the checker that a mutant's outcome depends on."""
    words = [mutant.id, mutants.own_text(mutant), *sorted(mutant.right_kinds)]
    parts = hashlib.sha256("\0".join(words).encode())
    parts.update(_launches(mutant.kernel))
    return parts.hexdigest()


@functools.cache
def _launches(kernel: str) -> bytes:
    """Return the digest of the launches of a kernel: shapes, arguments and expected answers."""
    parts = hashlib.sha256()
    for case in cases.find(kernel):
        arguments = [_plain(a) for a in case.make()]
        expected = [(at, _plain(right)) for at, right in sorted(case.expected.items())]
        parts.update(repr((case.shape, arguments, expected, case.terms)).encode())
    return parts.digest()


def _plain(value: Any) -> Any:
    """Return an array as type, shape, strides and digest of its bytes."""
    if not isinstance(value, np.ndarray) and not hasattr(value, "copy_to_host"):
        return value
    host = launch.to_host(value)
    held = hashlib.sha256(np.ascontiguousarray(host).tobytes()).hexdigest()
    return str(host.dtype), host.shape, getattr(value, "strides", None), held


def choose(names: Sequence[str]) -> list[mutants.Mutant]:
    """Return the mutants of the named packages or kernels; of all if there are no names."""
    return [
        mutant
        for mutant in mutants.every()
        if not names
        or {mutant.package, mutant.subject, mutant.subject.rpartition(".")[2]} & {*names}
    ]


def run(chosen: list[mutants.Mutant], workers: int, kept: Kept) -> list[report.Row]:
    """Run each mutant in checked mode and in the oracle, and combine the results."""
    verdicts = _each("checked", verdict.examine, chosen, workers, kept)
    faults = _each("oracle", truth.of, chosen, workers, kept)
    rows, today = [], datetime.date.today().isoformat()
    for mutant in chosen:
        said, seen = verdicts[mutant.id], faults[mutant.id]
        found = Verdict(mutant.id, said) if isinstance(said, str) else said
        reason = equivalents.read(EQUIVALENTS).get(mutant.id, {}).get("reason", "")
        # A mutant that hangs or crashes the oracle does something forbidden.
        faults_ = (seen,) if isinstance(seen, str) else seen
        day = kept.days.get(mutant.id, today)
        launches = cases.find(mutant.kernel)
        whole = all(case.interpreted for case in launches)
        known = kept.digests[mutant.id]
        rows.append(report.Row(mutant, found, faults_, reason, known, day, whole))
    return rows


def _each(
    word: str,
    function: Callable[[Any], Any],
    chosen: list[mutants.Mutant],
    workers: int,
    kept: Kept,
) -> dict[str, Any]:
    results = {m.id: kept.results[word, m.id] for m in chosen if (word, m.id) in kept.results}
    missing = [mutant for mutant in chosen if mutant.id not in results]
    for mutant, result in pool.run(function, missing, workers=workers, limit=LIMIT):
        results[mutant.id] = result
        kept.add(word, mutant, result)
        if sys.stderr.isatty():
            print(f"\r{word} {len(results)} of {len(chosen)}", end="", file=sys.stderr)
    return results


def main(arguments: list[str] | None = None) -> int:
    """Run, print, and write what was asked for; 1 if a figure is not reached."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kernels", nargs="*", default=[], help="packages or kernels")
    parser.add_argument("--sample", type=int, metavar="N", help="only N mutants, chosen by name")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--write", action="store_true", help="write docs/checking.md and the JSON")
    parser.add_argument("--missing", action="store_true", help="examine what the JSON lacks")
    parser.add_argument("--keep", type=Path, help="file of results, for resuming")
    options = parser.parse_args(arguments)
    if options.write and options.kernels:
        parser.error("--write needs the whole book: leave out --kernels")
    chosen = every = choose(options.kernels)
    if not chosen:
        parser.error(f"no kernel is called {' or '.join(options.kernels)}")
    if options.sample is not None:
        chosen = mutants.sample(every, options.sample)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["GPUKIT_CACHE_DIR"] = folder  # keeps mutants out of the user's cache
        known = RESULT.read_text(encoding="utf-8") if options.missing else '{"mutants": []}'
        kept = Kept(options.keep, chosen, json.loads(known)["mutants"])
        rows = run(chosen, options.workers, kept)
    text = report.markdown(rows, of=len(every))
    print(text)
    n = report.figures(rows)
    if options.write:
        harness.put("mutation", text, DOCUMENT)
        harness.save(RESULT, {"figures": n, "mutants": [row.as_dict() for row in rows]})
    reached = n["flagged"] >= 0.98 * n["mistakes"] and n["right"] >= 0.9 * n["forbidden"]
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
