"""The errors of the CPU target's float32 functions over all arguments.

    python -m benchmarks.float32_mathematics [NAME ...] [--pairs 1000000000] [--json FILE] [--write]

A function of one argument is called with every float32 value, a function of two with random pairs,
and compared with float64: NumPy's, or the C library's. Results in FILE for the same formula are not
measured again, so an interrupted run resumes. `--write` puts the table into docs/mathematics.md.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
import time
from collections.abc import Iterator
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from benchmarks import harness
from gpukit import cuda
from gpukit.compiler.runtime import float32, formulas

Array = npt.NDArray[Any]
DOCUMENT = harness.ROOT / "docs" / "mathematics.md"
RESULTS = harness.ROOT / "benchmarks" / "results" / "float32_mathematics.json"
CHUNK, BLOCK = 1 << 24, 256


@numba.vectorize(["float64(float64)"])
def _erf(x: Any) -> Any:
    return math.erf(x)


@numba.vectorize(["float64(float64)"])
def _erfc(x: Any) -> Any:
    return math.erfc(x)


# The function that a kernel calls, its reference, and CUDA's error bound, from the "CUDA C++
# Programming Guide", Mathematical Functions, table of single-precision standard functions.
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
    def one_kernel(x, out):
        i = cuda.grid(1)
        if i < out.shape[0]:
            out[i] = function(x[i])

    @cuda.jit
    def two_kernel(x, y, out):
        i = cuda.grid(1)
        if i < out.shape[0]:
            out[i] = function(x[i], y[i])

    return two_kernel if name in TWO else one_kernel


def everything() -> Iterator[tuple[Array]]:
    """Yield every float32, in chunks."""
    for start in range(0, 1 << 32, CHUNK):
        yield (np.arange(start, start + CHUNK, dtype=np.uint32).view(np.float32),)


def pairs(count: int) -> Iterator[tuple[Array, Array]]:
    """Yield random pairs, alternately of any bit patterns and of ordinary magnitudes."""
    draw = np.random.default_rng(0)
    for number in range(-(-count // CHUNK)):
        if number % 2:
            bits = draw.integers(0, 1 << 32, (2, CHUNK), dtype=np.uint32)
            x, y = bits.view(np.float32)
        else:
            x, y = (s * draw.standard_normal(CHUNK, np.float32) for s in (3, 20))
        yield x, y


@numba.njit(error_model="numpy")
def worst(found, right):  # pragma: no cover
    """Return the largest error and the largest distance from the correctly rounded value.

    Both are in units in the last place, each followed by its index. A NaN in place of a number and
    a zero with the wrong sign count as an infinite error.
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
    """Return a digest of the formula that gpukit compiles for a function."""
    made = getattr(float32, {"exp10": "pow"}.get(name, name))
    text, _ = formulas.trace(made, 2 if made is float32.pow or name in TWO else 1, fused=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def table(functions: dict[str, dict[str, Any]]) -> str:
    """Return the errors as a Markdown table."""
    headers = ["function", "arguments", "error, ulp", "at"]
    headers += ["distance from the correctly rounded value, ulp", "CUDA's bound, ulp"]
    rows = []
    for name in FUNCTIONS:
        if (row := functions.get(name)) is not None:
            at = ", ".join(f"{a:.9g}" for a in row.get("ulps_at", []))
            count = "all" if row["arguments"] == 1 << 32 else f"{row['arguments']:.1e} pairs"
            errors = [f"{row['ulps']:.3f}", at, f"{row['steps']:.0f}", row["bound"]]
            rows.append([name, count, *errors])
    return harness.markdown(headers, rows)


def main(arguments: list[str] | None = None) -> int:
    """Measure what FILE lacks, print, and write what was asked for."""
    parser = harness.parser(__doc__, "docs/mathematics.md")
    parser.add_argument("names", nargs="*", metavar="NAME", help="default: all functions")
    parser.add_argument("--pairs", type=int, default=1_000_000_000)
    parser.set_defaults(json=RESULTS)
    given = parser.parse_args(arguments)
    known = json.loads(given.json.read_text("utf-8")) if given.json.exists() else {}
    functions = known.setdefault("functions", {})
    for name in given.names or FUNCTIONS:
        if functions.get(name, {}).get("formula") != formula(name):
            functions[name] = measure(name, pairs(given.pairs) if name in TWO else everything())
            harness.save(given.json, known)
        print(table({name: functions[name]}).splitlines()[-1], flush=True)
    if given.write:
        harness.put("errors", table(functions), DOCUMENT)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
