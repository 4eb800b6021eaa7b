"""The float32 functions of the CPU target: how exact over all arguments, and how fast.

    python benchmarks/float32_mathematics.py [NAME ...] [--pairs 1000000000] [--json FILE] [--write]
    python benchmarks/float32_mathematics.py --speed [--json FILE] [--write]

A function of one argument is called with every float32 there is, one of two with random pairs,
and compared with float64: NumPy's, or the C library's. What FILE holds of the same formula is not
measured again, so a run that was stopped goes on. `--write` puts the tables into
docs/mathematics.md.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import json
import math
import os
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numba
import numpy as np
import numpy.typing as npt

from benchmarks import speed
from gpukit import cuda
from gpukit.bench import cases, timing
from gpukit.compiler.runtime import float32, formulas

Array = npt.NDArray[Any]
DOCUMENT = speed.DOCUMENT.with_name("mathematics.md")
RESULTS = Path(__file__).resolve().parent / "results" / "float32_mathematics.json"
CHUNK, BLOCK = 1 << 24, 256


@numba.vectorize(["float64(float64)"])
def _erf(x: Any) -> Any:
    return math.erf(x)


@numba.vectorize(["float64(float64)"])
def _erfc(x: Any) -> Any:
    return math.erfc(x)


# What a kernel calls, what it is compared with, and CUDA's bound: "CUDA C++ Programming Guide",
# Mathematical Functions, Standard Functions, table of single-precision functions.
FUNCTIONS: dict[str, tuple[Any, Any, int]] = {
    "exp": (math.exp, np.exp, 2),
    "exp2": (np.exp2, np.exp2, 2),
    "exp10": (cuda.libdevice.exp10f, functools.partial(np.power, 10.0), 2),
    "expm1": (math.expm1, np.expm1, 1),
    "log": (math.log, np.log, 1),
    "log2": (math.log2, np.log2, 1),
    "log10": (math.log10, np.log10, 2),
    "log1p": (math.log1p, np.log1p, 1),
    "sin": (math.sin, np.sin, 2),
    "cos": (math.cos, np.cos, 2),
    "tan": (math.tan, np.tan, 4),
    "asin": (math.asin, np.arcsin, 2),
    "acos": (math.acos, np.arccos, 2),
    "atan": (math.atan, np.arctan, 2),
    "sinh": (math.sinh, np.sinh, 3),
    "cosh": (math.cosh, np.cosh, 2),
    "tanh": (math.tanh, np.tanh, 2),
    "asinh": (math.asinh, np.arcsinh, 3),
    "acosh": (math.acosh, np.arccosh, 4),
    "atanh": (math.atanh, np.arctanh, 3),
    "erf": (math.erf, _erf, 2),
    "erfc": (math.erfc, _erfc, 4),
    "cbrt": (cuda.cbrt, np.cbrt, 1),
    "rsqrt": (cuda.rsqrt, lambda x: 1 / np.sqrt(x), 2),
    "atan2": (math.atan2, np.arctan2, 3),
    "pow": (math.pow, np.power, 4),
    "hypot": (math.hypot, np.hypot, 3),
}
TWO = ("atan2", "pow", "hypot")


def kernel(name: str) -> Any:
    """Return a kernel that calls a function for each element of its arrays."""
    function = FUNCTIONS[name][0]

    @cuda.jit
    def one_kernel(x, out):  # type: ignore[no-untyped-def]
        i = cuda.grid(1)
        if i < out.shape[0]:
            out[i] = function(x[i])

    @cuda.jit
    def two_kernel(x, y, out):  # type: ignore[no-untyped-def]
        i = cuda.grid(1)
        if i < out.shape[0]:
            out[i] = function(x[i], y[i])

    return two_kernel if name in TWO else one_kernel


# --- How exact --------------------------------------------------------------------------------


def everything() -> Iterator[tuple[Array]]:
    """Yield every float32, in chunks."""
    for start in range(0, 1 << 32, CHUNK):
        yield (np.arange(start, start + CHUNK, dtype=np.uint32).view(np.float32),)


def pairs(count: int) -> Iterator[tuple[Array, Array]]:
    """Yield random pairs: of all bit patterns, and of ordinary sizes, in turns."""
    draw = np.random.default_rng(0)
    for number in range(-(-count // CHUNK)):
        if number % 2:
            bits = draw.integers(0, 1 << 32, (2, CHUNK), dtype=np.uint32)
            x, y = bits.view(np.float32)
        else:
            x, y = (s * draw.standard_normal(CHUNK, np.float32) for s in (3, 20))
        yield x, y


@numba.njit(error_model="numpy")
def worst(found, right):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Return the largest error, and the largest distance from what is correctly rounded.

    Both in units in the last place, each with its index. A NaN for a number and a zero with the
    wrong sign are as far off as can be.
    """
    nearest = right.astype(np.float32)
    bits, wanted = found.view(np.int32), nearest.view(np.int32)
    one_over_place = 2.0 ** (150.0 - np.maximum(np.arange(255.0), 1.0))  # by exponent
    error, error_at, steps, steps_at = 0.0, 0, 0, 0
    for i in range(found.size):
        if right[i] != right[i] or found[i] != found[i]:
            if right[i] == right[i] or found[i] == found[i]:
                return math.inf, i, 1 << 32, i
            continue
        a, b = np.int64(bits[i]), np.int64(wanted[i])
        if (a ^ b) < 0:
            return math.inf, i, 1 << 32, i
        if abs(a - b) > steps:
            steps, steps_at = abs(a - b), i
        if (a & 0x7FFFFFFF) < 0x7F800000 and (b & 0x7FFFFFFF) < 0x7F800000:
            off = abs(np.float64(found[i]) - right[i]) * one_over_place[(b >> 23) & 0xFF]
            if off > error:
                error, error_at = off, i
    return error, error_at, steps, steps_at


def measure(name: str, inputs: Iterator[tuple[Array, ...]]) -> dict[str, Any]:
    """Return the largest error of a function, and where it is."""
    reference, run, started = FUNCTIONS[name][1], kernel(name), time.perf_counter()
    made: dict[str, Any] = {"ulps": 0.0, "steps": 0, "arguments": 0}
    for arrays in inputs:
        out = np.full(CHUNK, np.nan, np.float32)
        run[CHUNK // BLOCK, BLOCK](*arrays, out)
        with np.errstate(all="ignore"):
            right = reference(*(a.astype(np.float64) for a in arrays))
        error, error_at, steps, steps_at = worst(out, right)
        made["arguments"] += CHUNK
        for key, size, at in (("ulps", error, error_at), ("steps", steps, steps_at)):
            if size > made[key]:
                made[key], made[f"{key}_at"] = float(size), [float(a[at]) for a in arrays]
    seconds = round(time.perf_counter() - started, 1)
    return made | {"bound": FUNCTIONS[name][2], "seconds": seconds, "formula": formula(name)}


def formula(name: str) -> str:
    """Return a digest of the formula of a function."""
    made = getattr(float32, {"exp10": "pow"}.get(name, name))
    text, _ = formulas.trace(made, 2 if made is float32.pow or name in TWO else 1, fused=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


# --- How fast ---------------------------------------------------------------------------------

N = 10_000_000
HALF_OF_NUMPY, OVER_RELU = 0.5, 1.5


def sides() -> dict[str, speed.Work]:
    """Return what is timed: kernels of the book and NumPy's work, once checked, and exp."""
    made: dict[str, speed.Work] = {}
    for name in ("relu", "sigmoid", "tanh", "gelu"):
        comparison = cases.make(name)
        comparison.ours()
        if mistake := timing.mistake(comparison):
            raise SystemExit(f"{name}: {mistake}")
        made |= {name: comparison.ours, f"numpy {name}": comparison.on(np)}
    run, x = kernel("exp"), 3 * np.random.default_rng(1).standard_normal(N, np.float32)
    out = np.full_like(x, np.nan)
    run[-(-N // BLOCK), BLOCK](x, out)
    if not np.allclose(out, np.exp(x), rtol=1e-6):
        raise SystemExit("exp: the answer is wrong")
    made["exp"] = lambda: run[-(-N // BLOCK), BLOCK](x, out)
    made["numpy exp"] = lambda: np.exp(x, out=out)
    return made


def on_threads(work: speed.Work, threads: int) -> speed.Work:
    """Return the same work done by so many threads; the number is read at every launch."""

    def run() -> None:
        os.environ["GPUKIT_THREADS"] = str(threads)
        work()

    return run


def time_all(rounds: int, clock: str) -> dict[str, Any]:
    """Return median and least milliseconds of each side, with one thread and with two.

    Processor time tells nothing of two threads, so there it is one.
    """
    most = 1 if clock == "processor" else 2
    works = {
        f"{name}, {threads}": on_threads(work, threads)
        for name, work in sides().items()
        for threads in range(1, 1 + (1 if name.startswith("numpy") else most))
    }
    before = speed.load()
    found = speed.interleave(works, rounds, speed.CLOCKS[clock])
    return {
        "machine": speed.machine(),
        "n": N,
        "rounds": rounds,
        "clock": clock,
        "load": f"{before} before, {speed.load()} after",
        "median": {side: 1e3 * statistics.median(t) for side, t in found.items()},
        "least": {side: 1e3 * min(t) for side, t in found.items()},
    }


# --- Telling ----------------------------------------------------------------------------------


def table(functions: dict[str, dict[str, Any]]) -> str:
    """Return the errors as a Markdown table."""
    lines = [
        "| function | arguments | error, ulp | at | from the correctly rounded, ulp | CUDA's |",
        "|---|---:|---:|---|---:|---:|",
    ]
    for name in FUNCTIONS:
        if (row := functions.get(name)) is not None:
            at = ", ".join(f"{a:.9g}" for a in row.get("ulps_at", []))
            count = "all" if row["arguments"] == 1 << 32 else f"{row['arguments']:.1e} pairs"
            lines.append(
                f"| {name} | {count} | {row['ulps']:.3f} | {at} "
                f"| {row['steps']:.0f} | {row['bound']} |"
            )
    return "\n".join(lines)


def speed_table(times: dict[str, Any]) -> str:
    """Return the times as a Markdown table."""
    lines = [
        f"{times['n']:,} float32 numbers, medians of {times['rounds']} rounds in turns (the least "
        f"in brackets), on: {times['machine']}. Load average {times['load']}. Clock: "
        f"{times['clock']}.\n",
        "| kernel | threads | ms | NumPy ms, 1 thread | over NumPy | over relu | asked | met |",
        "|---|---:|---:|---:|---:|---:|---|---|",
    ]
    median, least = times["median"], times["least"]
    for name in ("relu", "exp", "sigmoid", "tanh", "gelu"):
        for threads in (t for t in (1, 2) if f"{name}, {t}" in median):
            sides = ours, numpy, relu = f"{name}, {threads}", f"numpy {name}, 1", f"relu, {threads}"
            said = [f"{median[side]:.2f} ({least[side]:.2f})" for side in sides[:2]]
            said += [f"{median[ours] / median[other]:.2f}" for other in (numpy, relu)]
            asked = _asked(name, *(median[side] for side in sides))
            lines.append(f"| {name} | {threads} | {' | '.join(said)} | {asked} |")
    return "\n".join(lines)


def _asked(name: str, ours: float, numpy: float, relu: float) -> str:
    met = {}
    if name in ("sigmoid", "tanh", "gelu"):
        met[f"{HALF_OF_NUMPY} of NumPy"] = ours / numpy <= HALF_OF_NUMPY
    if name in ("sigmoid", "exp"):
        met[f"{OVER_RELU} of relu"] = ours / relu <= OVER_RELU
    return (
        f"{', '.join(met) or '-'} | {', '.join('yes' if m else 'NO' for m in met.values()) or '-'}"
    )


def main(arguments: list[str] | None = None) -> int:
    """Measure what is not known yet, print, and write what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="default: all functions")
    parser.add_argument("--pairs", type=int, default=1_000_000_000)
    parser.add_argument("--speed", action="store_true", help="how fast, not how exact")
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument("--clock", choices=speed.CLOCKS, default="wall", help="processor when busy")
    parser.add_argument("--json", type=Path, default=RESULTS)
    parser.add_argument("--write", action="store_true", help="write docs/mathematics.md")
    given = parser.parse_args(arguments)
    known = json.loads(given.json.read_text("utf-8")) if given.json.exists() else {}
    functions = known.setdefault("functions", {})
    if given.speed:
        known.setdefault("speed", {})[given.clock] = time_all(given.rounds, given.clock)
        _keep(given.json, known)
    else:
        for name in given.names or FUNCTIONS:
            if functions.get(name, {}).get("formula") != formula(name):
                functions[name] = measure(name, pairs(given.pairs) if name in TWO else everything())
                _keep(given.json, known)
            print(table({name: functions[name]}).splitlines()[-1], flush=True)
    made = {"errors": table(functions)}
    if "speed" in known:
        made["speed"] = "\n\n".join(map(speed_table, known["speed"].values()))
        print(made["speed"] if given.speed else "")
    for section, text in made.items() if given.write else ():
        speed.put(section, text, DOCUMENT)
    return 0


def _keep(file: Path, known: dict[str, Any]) -> None:
    file.write_text(json.dumps(known, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    raise SystemExit(main())
