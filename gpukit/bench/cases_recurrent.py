"""Cases of the cells of recurrent networks, behind their products."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpukit.bench.calls import launched, poisoned
from gpukit.bench.register import Example, answered, group, name_of, random
from gpukit.kernels.recurrent import VARIANTS
from gpukit.launch import Variant


def _sigmoid(xp: Any, x: Any) -> Any:
    return 1 / (1 + xp.exp(-x))


def _parts(array: Any, count: int) -> list[Any]:
    h = array.shape[1] // count
    return [array[:, k * h : (k + 1) * h] for k in range(count)]


def _lstm(xp: Any, first: Any, second: Any, c: Any) -> list[Any]:
    i, f, g, o = _parts(first + second, 4)
    gates = _sigmoid(xp, i), _sigmoid(xp, f), xp.tanh(g), _sigmoid(xp, o)
    made = xp.concatenate(gates, 1)
    return [made, *_lstm_update(xp, made, c)]


def _lstm_update(xp: Any, gates: Any, c: Any) -> list[Any]:
    i, f, g, o = _parts(gates, 4)
    new_c = f * c + i * g
    return [o * xp.tanh(new_c), new_c]


def _lstm_backward(xp: Any, grad_h: Any, grad_c: Any, gates: Any, c: Any, new_c: Any) -> list[Any]:
    (i, f, g, o), said = _parts(gates, 4), xp.tanh(new_c)
    grad = grad_c + grad_h * o * (1 - said * said)
    of_gates = grad * g, grad * c, grad * i, grad_h * said
    slopes = i * (1 - i), f * (1 - f), 1 - g * g, o * (1 - o)
    made = [a * b for a, b in zip(of_gates, slopes, strict=True)]
    return [xp.concatenate(made, 1), grad * f]


def _gru(xp: Any, first: Any, second: Any, h: Any) -> list[Any]:
    a, b = _parts(first, 3), _parts(second, 3)
    r, z = _sigmoid(xp, a[0] + b[0]), _sigmoid(xp, a[1] + b[1])
    n = xp.tanh(a[2] + r * b[2])
    return [xp.concatenate((r, z, n), 1), n + z * (h - n)]


def _gru_update(_: Any, gates: Any, h: Any) -> list[Any]:
    _r, z, n = _parts(gates, 3)
    return [n + z * (h - n)]


def _gru_backward(xp: Any, grad: Any, gates: Any, past: Any, h: Any) -> list[Any]:
    r, z, n = _parts(gates, 3)
    of_z, of_n = grad * (h - n) * z * (1 - z), grad * (1 - z) * (1 - n * n)
    of_r = of_n * _parts(past, 3)[2] * r * (1 - r)
    return [xp.concatenate((of_r, of_z, each), 1) for each in (of_n, of_n * r)]


# By kernel: the widths of what it reads and writes, in units of H, and the same work in NumPy.
_CASES: dict[str, tuple[str, str, Callable[..., list[Any]]]] = {
    "gate_sigmoid": ("11", "1", lambda xp, a, b: [_sigmoid(xp, a + b)]),
    "gate_tanh": ("11", "1", lambda xp, a, b: [xp.tanh(a + b)]),
    "gate_relu": ("11", "1", lambda _, a, b: [(a + b) * (a + b > 0)]),
    "lstm_fused": ("441", "411", _lstm),
    "lstm_update": ("41", "11", _lstm_update),
    "lstm_backward": ("11411", "41", _lstm_backward),
    "gru_fused": ("331", "31", _gru),
    "gru_new": ("111", "1", lambda xp, a, b, r: [xp.tanh(a + r * b)]),
    "gru_update": ("31", "1", _gru_update),
    "gru_backward": ("1331", "33", _gru_backward),
    "gru_carry": ("111", "1", lambda _, grad, z, product: [product + grad * z]),
}


@group(*VARIANTS, sizes=((11, 37), (1024, 1024), (8192, 4096)))
def _recurrent(variant: Variant, n: int, h: int) -> Example:
    read, written, work = _CASES[name_of(variant)]
    inputs = tuple(random(n, int(w) * h, draw=k) for k, w in enumerate(read))
    # What is written lies in one array, part after part, so that all of it is compared.
    ends = np.cumsum([n * int(w) * h for w in written])
    out = poisoned((ends[-1],), np.float32)
    parts = [out[end - n * int(w) * h : end] for w, end in zip(written, ends, strict=True)]
    ours = launched(variant, (h, n), *inputs, *(part.reshape(n, -1) for part in parts))

    def joined(xp: Any, *given: Any) -> Any:
        return xp.concatenate([part.reshape(-1) for part in work(xp, *given)])

    def expected() -> Any:
        found = variant.reference(*inputs)
        return np.concatenate([np.ravel(x) for x in (found if type(found) is tuple else (found,))])

    return answered(variant, ours, inputs, out, joined, expected=expected, terms=8)
