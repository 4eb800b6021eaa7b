"""Put mistakes into the kernels of the book and count which of them checked mode finds.

python -m tests.mutation.run                        everything, a table at the end
python -m tests.mutation.run --kernels matmul       one room, or one kernel
python -m tests.mutation.run --write                docs/checking.md and the JSON beside it
"""

from __future__ import annotations

import argparse
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

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from tests.mutation import cases, mutants, pool, report, truth, verdict
from tests.mutation.verdict import Verdict

ROOT = Path(__file__).resolve().parent.parent.parent
DOCUMENT = ROOT / "docs" / "checking.md"
RESULT = ROOT / "benchmarks" / "results" / "mutation.json"
EQUIVALENTS = Path(__file__).with_name("equivalents.toml")
BEGIN, END = "<!-- mutation begin -->", "<!-- mutation end -->"
LIMIT = 120  # seconds for one mutant; compiling it takes a second or two


@functools.cache
def equivalents() -> dict[str, dict[str, str]]:
    """Return the mutants that change nothing, with the reason, by id."""
    listed = tomllib.loads(EQUIVALENTS.read_text(encoding="utf-8")).get("equivalent", [])
    return {entry["id"]: entry for entry in listed}


class Kept:
    """Results of an earlier run, one to a line: what was asked, the mutant's digest, the answer."""

    def __init__(self, path: Path | None, chosen: list[mutants.Mutant]) -> None:
        self.path, self.results = path, {}
        if path is None or not path.exists():
            return
        ids = {_digest(mutant): mutant.id for mutant in chosen}
        for line in path.read_text(encoding="utf-8").splitlines():
            word, digest, answer = json.loads(line)
            if digest in ids:
                self.results[word, ids[digest]] = _thawed(answer)

    def add(self, word: str, mutant: mutants.Mutant, result: Any) -> None:
        """Keep one result at once: the run may end any moment."""
        if self.path is not None:
            answer = asdict(result) if isinstance(result, Verdict) else result
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps([word, _digest(mutant), answer]) + "\n")


def _thawed(answer: Any) -> Any:
    if isinstance(answer, dict):
        return Verdict(**{**answer, "kinds": tuple(answer["kinds"])})
    return tuple(answer) if isinstance(answer, list) else answer


def _digest(mutant: mutants.Mutant) -> str:
    launches = Path(str(cases.__file__)).read_text(encoding="utf-8")
    parts = [mutant.id, mutant.text, launches, *sorted(mutant.right_kinds)]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def choose(names: Sequence[str]) -> list[mutants.Mutant]:
    """Return the mutants of some rooms or kernels; of all without a name."""
    return [
        mutant
        for mutant in mutants.every()
        if not names or {mutant.room, mutant.subject, mutant.subject.partition(".")[2]} & {*names}
    ]


def run(chosen: list[mutants.Mutant], workers: int, kept: Kept) -> list[report.Row]:
    """Examine every mutant, ask the oracle about each, and put the two together."""
    verdicts = _each("checked", verdict.examine, chosen, workers, kept)
    faults = _each("oracle", truth.of, chosen, workers, kept)
    rows = []
    for mutant in chosen:
        said, seen = verdicts[mutant.id], faults[mutant.id]
        found = Verdict(mutant.id, said) if isinstance(said, str) else said
        reason = equivalents().get(mutant.id, {}).get("reason", "")
        # A mutant that hangs or breaks the oracle does something forbidden, whatever it is.
        rows.append(report.Row(mutant, found, (seen,) if isinstance(seen, str) else seen, reason))
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


def put(text: str) -> None:
    """Replace the section of docs/checking.md between its markers; add it where there is none."""
    old = DOCUMENT.read_text(encoding="utf-8") if DOCUMENT.exists() else "# Checking\n"
    if BEGIN not in old:
        old = f"{old.rstrip()}\n\n{BEGIN}\n{END}\n"
    before, after = old.partition(BEGIN)[0], old.partition(END)[2]
    DOCUMENT.write_text(f"{before}{BEGIN}\n\n{text.strip()}\n\n{END}{after}", encoding="utf-8")


def main(arguments: list[str] | None = None) -> int:
    """Run, print, and write what was asked for; 1 if a figure is not reached."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kernels", nargs="*", default=[], help="rooms or kernels; all without")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--write", action="store_true", help="write docs/checking.md and the JSON")
    parser.add_argument("--keep", type=Path, help="a file of results, to go on after a break")
    options = parser.parse_args(arguments)
    if options.write and options.kernels:
        parser.error("--write needs the whole book: leave out --kernels")
    chosen = choose(options.kernels)
    if not chosen:
        parser.error(f"no kernel is called {' or '.join(options.kernels)}")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["GPUKIT_CACHE_DIR"] = folder  # mutants do not belong into the person's cache
        rows = run(chosen, options.workers, Kept(options.keep, chosen))
    text = report.markdown(rows)
    print(text)
    n = report.figures(rows)
    if options.write:
        put(text)
        RESULT.parent.mkdir(parents=True, exist_ok=True)
        data = {"figures": n, "mutants": [row.as_dict() for row in rows]}
        RESULT.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    reached = n["flagged"] >= 0.98 * n["mistakes"] and n["right"] >= 0.9 * n["forbidden"]
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
