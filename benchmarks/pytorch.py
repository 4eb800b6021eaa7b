"""Kernels on the CPU target against the same operations in PyTorch, on one thread each.

    python -m benchmarks.pytorch [KERNEL ...] [--rounds 9] [--json out.json]

Names are those of `gpukit bench`: `conv2d` means all variants of the convolution. The answer of a
kernel is checked before it is timed; tests/against_torch compares the answers of both sides. Whole
networks: `benchmarks.training`. PyTorch is not a dependency of gpukit: `make torch` installs it
into .venv-torch.
"""

from __future__ import annotations

import statistics

from benchmarks import harness

if __name__ == "__main__":
    harness.one_thread()

from gpukit.bench import cases, rivals, timing

HEADERS = ["kernel", "size", "gpukit ms", "PyTorch ms", "gpukit / PyTorch"]


def main(arguments: list[str] | None = None) -> int:
    """Measure and print; 1 if an answer was wrong."""
    parser = harness.parser(__doc__)
    parser.add_argument("names", nargs="*", metavar="KERNEL", help="default: all kernels")
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args(arguments)
    try:
        import torch
    except ImportError:
        parser.error(
            "expected PyTorch, found none. Run make torch and then .venv-torch/bin/python."
        )
    torch.set_num_threads(1)
    rows, wrong = [], 0
    for comparison in map(cases.make, cases.choose(options.names)):
        if comparison.units or not rivals.named(comparison):
            continue
        _, error = timing.first_answer(comparison)
        if error:
            print(f"{comparison.name}: WRONG, {error}")
            wrong = 1
            continue
        theirs = rivals.by_torch(comparison, torch, "cpu")
        times = harness.interleave({"ours": comparison.ours, "theirs": theirs}, options.rounds)
        ours, other = (1e3 * statistics.median(t) for t in times.values())
        cells = [f"{ours:.3f}", f"{other:.3f}", f"{ours / other:.2f}"]
        rows.append([comparison.name, comparison.size, *cells])
        print(" | ".join(rows[-1]), flush=True)
    print(
        f"\n{harness.machine()}, PyTorch {torch.__version__}\n\n{harness.markdown(HEADERS, rows)}"
    )
    if options.json:
        harness.save(options.json, [dict(zip(HEADERS, row, strict=True)) for row in rows])
    return wrong


if __name__ == "__main__":
    raise SystemExit(main())
