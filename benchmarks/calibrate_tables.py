"""The record of a calibration: schema, hash of the predictions, tables, and refit."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypedDict

from benchmarks import estimates, harness
from benchmarks.microbenchmarks import CLOCK, figure
from gpukit.estimates import gpus
from gpukit.estimates.estimated import SASS, SOURCE
from gpukit.estimates.model import FITTED, Constants, Work

SCHEMA, VERSION = "gpukit-calibration", 1
Launches = list[list[list[int]]]  # the grid and the block of each launch


class Spread(TypedDict):
    """Seconds of some samples: the median, the quintiles, and how many there were."""

    median: float
    low: float
    high: float
    samples: int


class Microbenchmark(TypedDict):
    """What one launch does (`amount`), its seconds, and the figure that the model takes, in `unit`.

    `microbenchmarks.figure` makes a figure of amount and seconds.
    """

    unit: str
    amount: float
    model: float
    seconds: Spread


class Basis(TypedDict):
    """An estimate from the source or from SASS, in seconds, and what each launch asks for.

    `refused` is why `gpukit.estimate` gives no more than the floor; `modelled` is False if that is
    because of the kernel, not of the GPU: such a kernel is in no refit. `works` are the fields of
    `gpukit.estimates.model.Work`.
    """

    floor: float
    likely: float
    worst: float
    bound: str
    refused: str
    modelled: bool
    wide: list[str]
    works: list[dict[str, Any]]


class Prediction(TypedDict):
    """The estimates of a kernel at a size; `bases` has "source" and, if possible, "SASS"."""

    kernel: str
    launches: Launches
    bases: dict[str, Basis]


class Time(TypedDict):
    """The measured seconds of a kernel at a size, and the GPU's state after them (nvidia-smi)."""

    kernel: str
    launches: Launches
    seconds: Spread
    state: dict[str, str]


class Record(TypedDict):
    """What `calibrate.py` writes, as JSON.

    `gpu` is a name of `gpukit.estimate`, `constants` those of the model then. `sha256` is that of
    the predictions (`digest`), "" before they are complete; `hashed_at` and `timed_at` are when it
    was written and when the first kernel was started to be timed, in seconds since 1970.
    `predictions` and `times` have the same keys, a kernel and its size. `wrong` says which answers
    were wrong, `failed` which parts died and why, `left_out` what there was no time for.
    """

    schema: str
    version: int
    gpu: str
    rehearsal: bool
    constants: dict[str, float]
    environment: dict[str, Any]
    microbenchmarks: dict[str, Microbenchmark]
    predictions: dict[str, Prediction]
    sha256: str
    hashed_at: float
    timed_at: float
    times: dict[str, Time]
    wrong: dict[str, str]
    failed: dict[str, str]
    left_out: list[str]


def new(gpu: str, *, rehearsal: bool) -> Record:
    """Return an empty record."""
    return Record(
        schema=SCHEMA,
        version=VERSION,
        gpu=gpu,
        rehearsal=rehearsal,
        constants=dict(vars(FITTED)),
        environment={},
        microbenchmarks={},
        predictions={},
        sha256="",
        hashed_at=0.0,
        timed_at=0.0,
        times={},
        wrong={},
        failed={},
        left_out=[],
    )


def digest(record: Record) -> str:
    """Return the SHA-256 of the predictions, with the GPU and the constants, as canonical JSON.

    Canonical: sorted keys, no spaces, ASCII, no NaN, floats as Python prints them.
    """
    hashed = {key: record[key] for key in ("gpu", "constants", "predictions")}
    text = json.dumps(hashed, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def held_out(kernel: str) -> bool:
    """Tell whether a kernel is kept out of every refit: if the SHA-256 of its name is odd.

    >>> held_out("fill"), held_out("matmul_tiled")
    (True, False)
    """
    return hashlib.sha256(kernel.encode()).digest()[-1] % 2 == 1


def case(gpu: str, kernel: str, measured: float, works: Sequence[Mapping[str, Any]]) -> Any:
    """Return a measured time, in seconds, with what its launches ask of a GPU."""
    return estimates.Case("calibration", gpu, kernel, measured, False, [Work(**w) for w in works])


def timed(record: Record, basis: str) -> Iterator[tuple[str, Basis, float]]:
    """Yield the timed kernels that the model is made for: name, estimate, measured seconds.

    Kernels without an estimate from this basis are left out.
    """
    for label, time in record["times"].items():
        predicted = record["predictions"][label]
        found = predicted["bases"].get(basis)
        if found and found["modelled"] and predicted["launches"] == time["launches"]:
            yield time["kernel"], found, time["seconds"]["median"]


def cases(record: Record, basis: str) -> Iterator[Any]:
    """Yield the timed kernels that the model is made for, with what they ask of a GPU."""
    for kernel, found, measured in timed(record, basis):
        yield case(record["gpu"], kernel, measured, found["works"])


def best_basis(record: Record) -> str:
    """Return SASS where the predictions have it: it is the code that was timed."""
    known = [predicted["bases"] for predicted in record["predictions"].values()]
    return SASS if known and all(SASS in bases for bases in known) else SOURCE


def refit(record: Record) -> dict[str, Any]:
    """Return the three constants that fit half of the kernels best, and the errors of both halves.

    Changes nothing: whoever reads it decides.
    """
    basis = best_basis(record)
    known = list(cases(record, basis))
    halves = {
        "fitted": [one for one in known if not held_out(one.variant)],
        "held out": [one for one in known if held_out(one.variant)],
    }
    if not all(halves.values()):
        raise ValueError("calibrate: expected timed kernels in both halves, got too few to refit.")
    before, after = Constants(**record["constants"]), estimates.fit(halves["fitted"])
    rows = [
        {"half": half, "constants": name, **estimates.summary(chosen, constants)}
        for half, chosen in halves.items()
        for name, constants in (("before", before), ("refitted", after))
    ]
    return {"basis": basis, "before": vars(before), "refitted": vars(after), "rows": rows}


# ---- tables ---------------------------------------------------------------------------------


def refit_table(found: Mapping[str, Any]) -> str:
    """Return a refit as Markdown."""
    cells = [
        [
            *(row["half"], row["constants"], row["times"]),
            *(f"{row['median']:.2f}", f"{row['largest']:.2f}"),
            *(f"{row['within']:.0%}", f"{row['within_2']:.0%}"),
        ]
        for row in found["rows"]
    ]
    head = ["half", "constants", "times", "median factor", "largest", "within 1.5", "within 2"]
    sets = [
        f"{name}: " + ", ".join(f"{key} {value:g}" for key, value in found[name].items())
        for name in ("before", "refitted")
    ]
    return f"{harness.markdown(head, cells)}\n\nFrom {found['basis']}. {'; '.join(sets)}."


def markdown(record: Record) -> str:
    """Return the record as tables of Markdown: measured against what was expected."""
    parts = [_microbenchmarks(record), _times(record), _summary(record)]
    parts += [f"WRONG {name}: {why}" for name, why in record["wrong"].items()]
    parts += [f"FAILED {name}: {why}" for name, why in record["failed"].items()]
    parts += [f"No figures of: {', '.join(record['left_out'])}"] if record["left_out"] else []
    return "\n\n".join(filter(None, parts))


def _microbenchmarks(record: Record) -> str:
    known, machine = record["microbenchmarks"], gpus.find(record["gpu"])
    measured = known.get(CLOCK)
    clock = measured["amount"] / measured["seconds"]["median"] if measured else machine.clock
    cells = []
    for name, one in known.items():
        found = figure(one["unit"], one["amount"] / one["seconds"]["median"], clock)
        ratio = f"{found / one['model']:.2f}"
        cells.append([name, one["unit"], f"{found:.4g}", f"{one['model']:.4g}", ratio])
    head = ["microbenchmark", "unit", "measured", "model", "ratio"]
    return harness.markdown(head, cells) if cells else ""


def _times(record: Record) -> str:
    basis, cells = best_basis(record), []
    for label, time in record["times"].items():
        predicted = record["predictions"][label]["bases"][basis]
        measured = time["seconds"]["median"]
        figures = (measured, *(predicted[key] for key in ("floor", "likely", "worst")))
        ratio = f"{measured / predicted['likely']:.2f}"
        limit = predicted["bound"] + (", refused" if predicted["refused"] else "")
        cells.append([label, *(f"{1e6 * s:.1f}" for s in figures), ratio, limit])
    head = ["kernel", "measured, us", "floor", "likely", "worst", "measured / likely", "limit"]
    return harness.markdown(head, cells) if cells else ""


def _summary(record: Record) -> str:
    sha256 = record["sha256"]
    if not sha256:
        return "The predictions were not complete: nothing was timed."
    state = "unchanged" if sha256 == digest(record) else "NOT THESE PREDICTIONS"
    lines = [f"Predictions, sha256 {sha256}: {state}."]
    for basis in (SASS, SOURCE):
        bands = list(timed(record, basis))
        if not bands:
            continue
        constants = Constants(**record["constants"])
        whole = estimates.summary(list(cases(record, basis)), constants)
        below = sum(measured < predicted["floor"] for _, predicted, measured in bands)
        above = sum(measured > predicted["worst"] for _, predicted, measured in bands)
        lines.append(
            f"From {basis}, {whole['times']} times: median factor {whole['median']}, largest "
            f"{whole['largest']}, {whole['within']:.0%} within 1.5, {whole['within_2']:.0%} within "
            f"2; {below} below the floor, {above} above the worst."
        )
    return "\n".join(lines)
