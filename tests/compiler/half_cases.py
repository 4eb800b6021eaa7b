"""Test values of float16, and compiled expressions evaluated for all of them."""

import math

import numba
import numpy as np

from gpukit.compiler.runtime import half

half.install()

ALL = np.arange(65536, dtype=np.uint16).view(np.float16)
RNG = np.random.default_rng(20)
# Every pair of these is one case of a binary operation.
CHOSEN = np.concatenate(
    [
        np.array(
            [
                0.0,
                -0.0,
                1.0,
                -1.0,
                65504,
                -65504,
                6e-8,
                -6e-8,
                6.1e-5,
                2.5,
                3.0,
                0.1,
                1e-3,
                np.inf,
                -np.inf,
                np.nan,
            ],
            np.float16,
        ),
        RNG.integers(0, 65536, 240).astype(np.uint16).view(np.float16),
    ]
)
LEFT, RIGHT = (a.ravel() for a in np.meshgrid(CHOSEN, CHOSEN))


def same_bits(found, wanted):
    """Assert equal bits; all NaNs compare equal."""
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted)
    numbers = ~np.isnan(wanted)
    np.testing.assert_array_equal(np.signbit(found[numbers]), np.signbit(wanted[numbers]))


def rows(expressions, result, *arrays, **scope):
    """Return one row of results for each expression in `a`, `b`, `c`: one loop, compiled once."""
    names = "abc"[: len(arrays)]
    lines = [f"def loop(out, {', '.join(f'{n}_' for n in names)}):", " for i in range(a_.size):"]
    lines += [f"  {n} = {n}_[i]" for n in names]
    lines += [f"  out[{k}, i] = {text}" for k, text in enumerate(expressions)]
    known = {"np": np, "math": math, "half": half, **scope}
    exec("\n".join(lines), known)
    out = np.full((len(expressions), arrays[0].size), 99, result)
    numba.njit(error_model="numpy")(known["loop"])(out, *arrays)
    return out


def run(expression, result, *arrays, **scope):
    """Return the value of a compiled expression for each element."""
    return rows([expression], result, *arrays, **scope)[0]
