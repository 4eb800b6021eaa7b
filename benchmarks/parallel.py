"""Each way to divide one GPT among ranks: how far from one process, and whether runs are equal.

    python -m benchmarks.parallel [--write] [--steps 60] [--runs 50] [--repeated 5]

Starts processes with MPI: 2, 4 and 8 of them. Each mode trains for `steps` steps, whose losses and
weights are compared with those of one process, and `runs` times for `repeated` steps, whose bits
are compared with each other. `--write` puts the table into docs/parallel.md and
benchmarks/results/parallel.json. The model and the modes are those of tests/parallel/hybrid.py.
"""

from __future__ import annotations

import hashlib
import io
import json
import sys
from collections.abc import Sequence
from typing import Any

from benchmarks import harness

DOCUMENT = harness.ROOT / "docs" / "parallel.md"
RESULTS = harness.ROOT / "benchmarks" / "results" / "parallel.json"
RANKS = (2, 4, 8)
LIMIT = 1e-5


def main(arguments: Sequence[str] | None = None) -> int:
    """Run every mode and print the table."""
    parser = harness.parser(__doc__, "docs/parallel.md")
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--repeated", type=int, default=5, help="steps of each of these runs")
    parser.add_argument("--rank", action="store_true", help="what a rank runs")
    options = parser.parse_args(arguments)
    chosen = options.steps, options.runs, options.repeated
    if options.rank:
        on_rank(*chosen)
        return 0
    rows = [row for ranks in RANKS for row in measured(ranks, *chosen)]
    record = {
        "machine": harness.machine(),
        "load": harness.load(),
        **dict(zip(("steps", "runs", "repeated"), chosen, strict=True)),
        "modes": rows,
    }
    harness.finish(options, "modes", report(record), record, document=DOCUMENT, results=RESULTS)
    return int(any(row["losses"] > LIMIT or row["weights"] > LIMIT for row in rows))


def measured(ranks: int, steps: int, runs: int, repeated: int) -> list[dict[str, Any]]:
    """Return a row for each mode of so many ranks."""
    from gpukit.parallel import launcher

    options = ["--steps", str(steps), "--runs", str(runs), "--repeated", str(repeated)]
    text = io.StringIO()
    program = ["-m", "benchmarks.parallel", "--rank", *options]
    outcome = launcher.run(ranks, program, output=text, errors=text)
    if outcome.code:
        raise SystemExit(text.getvalue() + outcome.sentence)
    found: list[dict[str, Any]] = json.loads(text.getvalue().splitlines()[-1])
    return found


def on_rank(steps: int, runs: int, repeated: int) -> None:
    """Train in each mode of as many ranks as there are; rank 0 prints the rows as JSON."""
    from gpukit import parallel
    from tests.parallel import hybrid

    world, rows = parallel.World(), []
    losses, weights = hybrid.alone(steps)
    for name, mode in hybrid.MODES.items():
        if mode.ranks != world.size:
            continue
        found, state = hybrid.together(world, mode, steps)
        bits = {_digest(*hybrid.together(world, mode, repeated)) for _ in range(runs)}
        if world.rank == 0:
            rows.append(
                {
                    "mode": name,
                    "losses": hybrid.deviation((found, {}), (losses, {})),
                    "weights": hybrid.deviation((losses, state), (losses, weights)),
                    "different": len(bits),
                }
            )
    if world.rank == 0:
        print(json.dumps(rows), flush=True)


def _digest(losses: Any, state: dict[str, Any]) -> str:
    """Return a hash of the bits of losses and weights."""
    content = b"".join(array.tobytes() for array in (losses, *state.values()))
    return hashlib.sha256(content).hexdigest()


def report(record: dict[str, Any]) -> str:
    """Return the table as Markdown."""
    cells = [
        [
            row["mode"],
            f"{row['losses']:.1e}",
            f"{row['weights']:.1e}",
            f"{record['runs'] - row['different'] + 1} of {record['runs']}",
        ]
        for row in record["modes"]
    ]
    headers = ["mode", "losses", "weights", "equal runs"]
    return (
        f"Largest difference from one process over {record['steps']} steps of a small GPT with "
        f"AdamW and clipping, and how many runs of {record['repeated']} steps give the same bits "
        f"as the first. Processes with MPI; {record['machine']}, load average {record['load']}.\n\n"
        f"{harness.markdown(headers, cells)}"
    )


if __name__ == "__main__":
    sys.exit(main())
