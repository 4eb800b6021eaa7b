"""Estimates against published times: how far off, per GPU and table, and what is not known.

    python -m benchmarks.estimates [--fit] [--write] [--json FILE]

Launches the kernels of `published_kernels` and `published_reductions` at the published sizes,
counts some of their blocks with `gpukit.profile`, and compares estimates with the times in
`data/published_times.json`; compares gpukit's own kernels with the times recorded on a GPU.
Always fits the three constants of the model on all tables but one, for each; `--fit` also fits
those of the model itself, on one table. `--write` regenerates docs/estimates.md and
gpukit/estimates/published.json, from which `Estimate.tested` is read. Takes about two minutes and 4
GB of memory.
"""

from __future__ import annotations

import functools
import itertools
import json
import math
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks import harness, published_kernels, published_reductions

DOCUMENT = harness.ROOT / "docs" / "estimates.md"
TIMES = harness.ROOT / "benchmarks" / "data" / "published_times.json"
FITTED_ON = "SGEMM, A6000"
OWN, OWN_GPU = "gpukit's kernels", "H200"  # recorded on a GPU that the project was lent
NEAR, FAR, DIFFERENT = 1.5, 2.0, 1.2
BLOCKS = 8
GRID = {
    "overlap": (1.25, 1.5, 1.75, 2.0, 2.5, 3.0),
    "clock": (0.85, 0.9, 0.95, 1.0),
    "dependency": (1.0, 1.5, 2.0, 3.0, 4.0, 6.0),  # a warp issues at most once per cycle
}

# A launch: kernel, grid, block, and the arguments, made when they are needed.
Launch = tuple[Any, Any, Any, Callable[[], Sequence[Any]]]


@dataclass(frozen=True)
class Case:
    """One published time, in seconds, and what its launches ask of a GPU."""

    table: str
    gpu: str
    variant: str
    measured: float
    repeated: bool
    works: Sequence[Any]

    def estimate(self, constants: Any = None) -> Any:
        """Return the sums of the times of the launches, and the bound of the longest."""
        from gpukit.estimates import gpus, model

        machine, constants = gpus.find(self.gpu), constants or model.FITTED
        times = [
            model.times(work, machine, constants, repeated=self.repeated) for work in self.works
        ]
        longest = max(times, key=lambda one: one.likely)
        floor, likely, worst = (
            sum(getattr(t, name) for t in times) for name in ("floor", "likely", "worst")
        )
        return model.Times(floor, likely, worst, longest.bound)

    def off(self, constants: Any = None) -> float:
        """Return the factor, 1 or more, by which the likely time is off."""
        ratio = self.estimate(constants).likely / self.measured
        return max(ratio, 1 / ratio)


# ---- the published launches ----------------------------------------------------------------------


def _product(kernel: Any, size: int, dtype: Any, grid: int, block: Any) -> Any:
    def arguments() -> Sequence[Any]:
        return [np.ones((size, size), dtype) for _ in range(3)]

    return [(kernel, (grid, grid), block, arguments)]


def _vector(kernel: Any, elements: int, results: int, block: int, each: int = 1) -> Launch:
    def arguments() -> Sequence[Any]:
        return [np.zeros(elements, np.uint32), np.zeros(results, np.uint32)]

    return (kernel, -(-elements // (block * each)), block, arguments)


def _reduction(kernel: Any, each: int) -> list[Launch]:
    """Return the launches that reduce 2**26 elements to one."""
    found, left = [], 2**26
    while left > 1:
        blocks = -(-left // (published_reductions.BLOCK * each))
        found.append(_vector(kernel, left, blocks, published_reductions.BLOCK, each))
        left = blocks
    return found


def launches() -> dict[str, list[Launch]]:
    """Return the launches of each variant, at the published size."""
    k, r = published_kernels, published_reductions
    f32, u32 = np.float32, np.uint32

    def matvec() -> Sequence[Any]:
        return np.zeros(8192, u32), np.ones((8192, 8192), u32), np.ones(8192, u32)

    return {
        "sgemm_naive": _product(k.sgemm_naive, 4096, f32, 128, (32, 32)),
        "sgemm_coalesced": _product(k.sgemm_coalesced, 4096, f32, 128, 1024),
        "sgemm_shared": _product(k.sgemm_shared, 4096, f32, 128, 1024),
        "sgemm_8_per_thread": _product(k.sgemm_8_per_thread, 4096, f32, 64, 512),
        "sgemm_64_per_thread": _product(k.sgemm_64_per_thread, 4096, f32, 32, 256),
        "sgemm_vectorized": _product(k.sgemm_vectorized, 4096, f32, 32, 256),
        "gemm_naive": _product(k.matmul_naive, 2048, f32, 128, (16, 16)),
        "gemm_4_per_thread": _product(k.gemm_4_per_thread, 2048, f32, 64, (16, 16)),
        "gemm_16_per_thread": _product(k.gemm_16_per_thread, 2048, f32, 64, (16, 4)),
        "add_coalesced": _product(k.add_coalesced, 8192, f32, 512, (16, 16)),
        "add_not_coalesced": _product(k.add_not_coalesced, 8192, f32, 512, (16, 16)),
        "matmul_naive": _product(k.matmul_naive, 2048, u32, 128, (16, 16)),
        "matmul_tiled_16": _product(k.matmul_tiled_16, 2048, u32, 128, (16, 16)),
        "matmul_tiled_32": _product(k.matmul_tiled_32, 4096, u32, 128, (32, 32)),
        "matvec": [(k.matvec, 16, 512, matvec)],
        "histogram_global": [_vector(k.histogram_global, 2**26, 512, 512)],
        "histogram_shared": [_vector(k.histogram_shared, 2**26, 512, 512)],
        "reduce_modulo": _reduction(r.reduce_modulo, 1),
        "reduce_strided": _reduction(r.reduce_strided, 1),
        "reduce_sequential": _reduction(r.reduce_sequential, 1),
        "reduce_two_loads": _reduction(r.reduce_two_loads, 2),
        "reduce_last_warp": _reduction(r.reduce_last_warp, 2),
    }


def counted() -> dict[str, list[Any]]:
    """Return what the launches of each variant ask of a GPU, counted on some of their blocks."""
    import gpukit

    found: dict[str, list[Any]] = {}
    for variant, steps in launches().items():
        for kernel, grid, block, arguments in steps:
            made = gpukit.estimate(kernel, "RTX 3080", blocks=BLOCKS, sass=False)[grid, block](
                *arguments()
            )
            found.setdefault(variant, []).append(made.work)
    return found


def cases(works: dict[str, list[Any]]) -> list[Case]:
    """Return the published times with what their launches ask for."""
    tables = json.loads(TIMES.read_text(encoding="utf-8"))["tables"]
    return [
        Case(
            table["table"],
            time["gpu"],
            time["variant"],
            time["milliseconds"] / 1e3,
            table["cache"] == "repeated",
            works[time["variant"]],
        )
        for table in tables
        for time in table["times"]
    ]


def recorded(gpu: str) -> list[Case]:
    """Return gpukit's own recorded times on a GPU, with what their launches ask for.

    Kernels that are no cases any more are left out. L2 was emptied between the launches.
    """
    from gpukit.bench import launches as launches_of
    from gpukit.bench.cases import CASES
    from gpukit.bench.recorded import RECORDS

    found = []
    for row in json.loads(RECORDS.read_text(encoding="utf-8"))["gpu"]:
        if row["kernel"] not in CASES or gpu not in row["device"]:
            continue
        entry = CASES[row["kernel"]]
        made = launches_of.gpu_time(functools.partial(entry.of, *entry.sizes[2]), gpu)
        if made and made.estimate:
            works = [part.work for part in made.estimate.parts or [made.estimate]]
            found.append(Case(OWN, gpu, row["kernel"], row["seconds"], False, works))
    return found


# ---- fit and figures -----------------------------------------------------------------------------


def fit(chosen: Sequence[Case]) -> Any:
    """Return the constants of GRID with the least squared error of the logarithms."""
    from gpukit.estimates.model import Constants

    tried = [Constants(*values) for values in itertools.product(*GRID.values())]
    return min(tried, key=lambda c: sum(math.log(case.off(c)) ** 2 for case in chosen))


def in_order(found: Iterable[Case]) -> tuple[int, int]:
    """Return how many pairs of variants are in the right order, and how many differ by 1.2."""
    right = pairs = 0
    for a, b in itertools.combinations(found, 2):
        apart = max(a.measured / b.measured, b.measured / a.measured)
        if (a.table, a.gpu) == (b.table, b.gpu) and apart > DIFFERENT:
            pairs += 1
            right += (a.measured < b.measured) == (a.estimate().likely < b.estimate().likely)
    return right, pairs


def summary(found: Sequence[Case], constants: Any = None) -> dict[str, Any]:
    """Return how far off the estimates of some published times are."""
    off = sorted(case.off(constants) for case in found)
    return {
        "times": len(off),
        "median": round(statistics.median(off), 2),
        "largest": round(off[-1], 2),
        "within": round(sum(x <= NEAR for x in off) / len(off), 3),
        "within_2": round(sum(x <= FAR for x in off) / len(off), 3),
    }


def outside(found: Iterable[Case]) -> tuple[int, int]:
    """Return how many floors are above the measured time, and how many worst times below it."""
    made = [(case.estimate(), case.measured) for case in found]
    return sum(e.floor > t for e, t in made), sum(e.worst < t for e, t in made)


def by_table(found: Sequence[Case]) -> list[dict[str, Any]]:
    """Return the figures of each table and GPU, as `Estimate.tested` reads them."""
    rows = []
    for table, gpu in dict.fromkeys((case.table, case.gpu) for case in found):
        of_these = [case for case in found if (case.table, case.gpu) == (table, gpu)]
        figures = summary(of_these)
        figures.pop("within_2")
        rows.append({"table": table, "gpu": gpu, **figures})
    return rows


def left_out(found: Sequence[Case]) -> list[dict[str, Any]]:
    """Return the figures of each table with constants that were fitted on all others."""
    rows = []
    for table in dict.fromkeys(case.table for case in found):
        constants = fit([case for case in found if case.table != table])
        own = [case for case in found if case.table == table]
        rows.append({"table": table, "constants": vars(constants), **summary(own, constants)})
    return rows


# ---- report --------------------------------------------------------------------------------------


def figures(found: Sequence[Case]) -> str:
    """Return what was asked and what was reached."""
    whole = summary(found)
    right, pairs = in_order(found)
    above, beyond = outside(found)
    rows = [
        ("within a factor of 1.5", "75%", f"{whole['within']:.0%}", whole["within"] >= 0.75),
        ("within a factor of 2", "93%", f"{whole['within_2']:.0%}", whole["within_2"] >= 0.93),
        ("floors above the measured time", "0", above, above == 0),
        ("worst-case times below the measured time", "0", beyond, beyond == 0),
        (
            "pairs more than a factor of 1.2 apart, in the right order",
            "95%",
            f"{right} of {pairs}",
            right >= 0.95 * pairs,
        ),
    ]
    cells = [(name, asked, reached, harness.yes(met)) for name, asked, reached, met in rows]
    head = harness.markdown(["figure", "target", "reached", "met"], cells)
    return f"{head}\n\nMedian factor {whole['median']}, largest {whole['largest']}."


def own_times(own: Sequence[Case]) -> str:
    """Return how far off the estimates of gpukit's own recorded times are, in words."""
    whole, (right, pairs) = summary(own), in_order(own)
    above, beyond = outside(own)
    return (
        f"On an {OWN_GPU}, {whole['times']} of gpukit's own kernels were timed "
        f"([gpu.md](gpu.md)). No constant is fitted on them: {whole['within']:.0%} of the "
        f"estimates are within a factor of 1.5, {whole['within_2']:.0%} within 2, the largest "
        f"factor is {whole['largest']}, {right} of {pairs} pairs are in the right order; "
        f"{count(above, 'floor')} {'are' if above > 1 else 'is'} above the measured time and "
        f"{count(beyond, 'worst-case time')} below it."
    )


def count(number: int, noun: str) -> str:
    """Return a number of things in words.

    >>> [count(number, "floor") for number in range(3)]
    ['no floor', '1 floor', '2 floors']
    """
    return f"{number or 'no'} {noun}{'s' * (number > 1)}"


def tables(found: Sequence[Case]) -> str:
    """Return the figures of each table and GPU."""
    rows = [
        (r["table"], r["gpu"], r["times"], f"{r['median']:.2f}", f"{r['largest']:.2f}")
        for r in by_table(found)
    ]
    return harness.markdown(["table", "GPU", "times", "median factor", "largest"], rows)


def every_time(found: Sequence[Case]) -> str:
    """Return every published time beside its estimate."""
    rows = []
    for case in found:
        made = case.estimate()
        times = (f"{s * 1e3:.2f}" for s in (case.measured, made.floor, made.likely, made.worst))
        ratio = f"{made.likely / case.measured:.2f}"
        rows.append((case.gpu, case.variant.replace("_", " "), *times, ratio, made.bound))
    headers = ["GPU", "kernel", "measured, ms", "floor", "likely", "worst", "ratio", "limit"]
    return harness.markdown(headers, rows)


def leave_one_out(rows: Sequence[dict[str, Any]]) -> str:
    """Return the figures of each table with constants fitted on the others."""
    cells = [
        (
            row["table"],
            row["times"],
            ", ".join(f"{value:g}" for value in row["constants"].values()),
            f"{row['median']:.2f}",
            f"{row['within']:.0%}",
            f"{row['within_2']:.0%}",
        )
        for row in rows
    ]
    headers = ["table left out", "times", "constants", "median factor", "within 1.5", "within 2"]
    return harness.markdown(headers, cells)


def main(arguments: Sequence[str] | None = None) -> int:
    """Count the published kernels, compare, and write what was asked for."""
    parser = harness.parser(__doc__, "docs/estimates.md")
    parser.add_argument("--fit", action="store_true", help=f"fit the constants on {FITTED_ON}")
    options = parser.parse_args(arguments)
    from gpukit.estimates import model, published

    found, own = cases(counted()), recorded(OWN_GPU)
    if options.fit:
        model.FITTED = fit([case for case in found if case.table == FITTED_ON])
    record: dict[str, Any] = {
        "constants": vars(model.FITTED),
        "fitted_on": FITTED_ON,
        "tables": by_table([*found, *own]),
    }
    sections = {
        "figures": figures(found),
        "own": own_times(own),
        "tables": tables([*found, *own]),
        "left out": leave_one_out(left_out(found)),
        "every time": every_time([*found, *own]),
    }
    constants = ", ".join(f"{name} {value:g}" for name, value in record["constants"].items())
    sections["figures"] += f" Constants, fitted on {FITTED_ON} alone: {constants}."
    for name, text in sections.items():
        print(f"\n{text}")
        if options.write:
            harness.put(name, text, DOCUMENT)
    if options.write:
        harness.save(published.RECORD, record)
    if options.json:
        harness.save(options.json, record)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
