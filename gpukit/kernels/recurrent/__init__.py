"""Recurrent cells, forward and backward: RNN (Elman), LSTM and GRU.

A cell takes one time step: the products of its input and of its hidden state with weights, then one
kernel for the rest (`gates`, `lstm`, `gru`). A loop over time allocates nothing if it passes `out`
for the new states and `saved` for the saved activations. `out` may be `hx`; alternating between two
arrays is faster on a CPU, where loops over overlapping arrays are not vectorized.

    new = rnn_tanh_cell(input, hx, w_ih, w_hh, b_ih, b_hh)              or rnn_relu_cell
    new_h, new_c = lstm_cell(input, (h, c), w_ih, w_hh, b_ih, b_hh)
    new = gru_cell(input, hx, w_ih, w_hh, b_ih, b_hh)

All cells: input (N, I), states (N, H), w_ih (K H, I), w_hh (K H, H) and the biases (K H,), of which
either may be None, all float32 or all float64. K is the number of gates: 1; 4 (i, f, g, o); 3 (r,
z, n). `saved` (3, N, K H) is written by the forward: [0] are the gates (not of an RNN cell), [1]
and [2] the input part and the hidden part of their sums. The backward returns the gradients of
input, of the states, w_ih, w_hh, b_ih and b_hh, and `out` takes as many arrays. `grad_sums` (N,
K H) gets the gradients of the sums; for a GRU it is (2, N, K H), because those of the input part
and of the hidden part differ.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from gpukit import launch, signature
from gpukit.kernels import activations_grad, backprop
from gpukit.kernels.recurrent import gates, gru, lstm
from gpukit.results import Result, check_outs

VARIANTS = (*gates.VARIANTS, *lstm.VARIANTS, *gru.VARIANTS)
LSTM_VARIANTS = lstm.VARIANTS[:2]
GRU_VARIANTS = (gru.VARIANTS[0], gru.VARIANTS[2])
_SIGMOID, _TANH, _RELU = gates.VARIANTS
_STATES = ("hx", "h", "c")


# --- Forwards --------------------------------------------------------------------------------


def rnn_tanh_cell(
    input: Any,
    hx: Any,
    w_ih: Any,
    w_hh: Any,
    b_ih: Any = None,
    b_hh: Any = None,
    *,
    out: Any = None,
    saved: Any = None,
    stream: Any = 0,
) -> Any:
    """Return tanh(input w_ih^T + b_ih + hx w_hh^T + b_hh), the next state of an RNN cell."""
    arrays = input, hx, w_ih, w_hh, b_ih, b_hh
    return _rnn_cell("rnn_tanh_cell", _TANH, arrays, out, saved, stream)


def rnn_relu_cell(
    input: Any,
    hx: Any,
    w_ih: Any,
    w_hh: Any,
    b_ih: Any = None,
    b_hh: Any = None,
    *,
    out: Any = None,
    saved: Any = None,
    stream: Any = 0,
) -> Any:
    """Return relu(input w_ih^T + b_ih + hx w_hh^T + b_hh), the next state of an RNN cell."""
    arrays = input, hx, w_ih, w_hh, b_ih, b_hh
    return _rnn_cell("rnn_relu_cell", _RELU, arrays, out, saved, stream)


def _rnn_cell(
    function: str,
    variant: launch.Variant,
    arrays: tuple[Any, ...],
    out: Any,
    saved: Any,
    stream: Any,
) -> Any:
    step = _Step(function, 1, stream, **_named("input hx w_ih w_hh b_ih b_hh", arrays))
    new = step.result(out, *step.state)
    sums = step.sums(saved)
    step.run(variant, new.array, sums.array[1], sums.array[2], new.array)
    return step.get(sums, saved, new)[0]


@signature.takes_old_names
def lstm_cell(
    input: Any,
    hx: tuple[Any, Any],
    w_ih: Any,
    w_hh: Any,
    b_ih: Any = None,
    b_hh: Any = None,
    *,
    variant: str = "fused",
    out: tuple[Any, Any] | None = None,
    saved: Any = None,
    stream: Any = 0,
) -> tuple[Any, Any]:
    """Return the next (h, c) of an LSTM from hx, the current (h, c)."""
    chosen = launch.pick("lstm_cell", LSTM_VARIANTS, variant)
    arrays = input, *hx, w_ih, w_hh, b_ih, b_hh
    step = _Step("lstm_cell", 4, stream, **_named("input h c w_ih w_hh b_ih b_hh", arrays))
    new_h, new_c = (step.result(array, *step.state) for array in out or (None, None))
    sums = step.sums(saved)
    made, first, second = sums.array
    if chosen.name == "fused":
        arguments = first, second, step["c"], made, new_h.array, new_c.array
        step.run(chosen, new_h.array, *arguments)
    else:
        for k, variant_of_gate in enumerate((_SIGMOID, _SIGMOID, _TANH, _SIGMOID)):
            parts = [step.gate(x, k) for x in (first, second, made)]
            step.run(variant_of_gate, parts[2], *parts)
        step.run(chosen, new_h.array, made, step["c"], new_h.array, new_c.array)
    found_h, found_c = step.get(sums, saved, new_h, new_c)
    return found_h, found_c


@signature.takes_old_names
def gru_cell(
    input: Any,
    hx: Any,
    w_ih: Any,
    w_hh: Any,
    b_ih: Any = None,
    b_hh: Any = None,
    *,
    variant: str = "fused",
    out: Any = None,
    saved: Any = None,
    stream: Any = 0,
) -> Any:
    """Return the next state of a GRU."""
    chosen = launch.pick("gru_cell", GRU_VARIANTS, variant)
    arrays = input, hx, w_ih, w_hh, b_ih, b_hh
    step = _Step("gru_cell", 3, stream, **_named("input hx w_ih w_hh b_ih b_hh", arrays))
    new = step.result(out, *step.state)
    sums = step.sums(saved)
    made, first, second = sums.array
    if chosen.name == "fused":
        step.run(chosen, new.array, first, second, step["hx"], made, new.array)
    else:
        r, z, n = ([step.gate(x, k) for x in (first, second, made)] for k in range(3))
        step.run(_SIGMOID, r[2], *r)
        step.run(_SIGMOID, z[2], *z)
        step.run(gru.VARIANTS[1], n[2], *n[:2], r[2], n[2])
        step.run(chosen, new.array, made, step["hx"], new.array)
    return step.get(sums, saved, new)[0]


# --- Backwards -------------------------------------------------------------------------------


def rnn_tanh_cell_backward(
    grad_out: Any,
    input: Any,
    hx: Any,
    w_ih: Any,
    w_hh: Any,
    output: Any,
    *,
    out: Any = None,
    grad_sums: Any = None,
    stream: Any = 0,
) -> tuple[Any, ...]:
    """Return the gradients of input, hx, w_ih, w_hh, b_ih and b_hh; output is the new state."""
    arrays = grad_out, input, hx, w_ih, w_hh, output
    name, slope = "rnn_tanh_cell_backward", activations_grad.tanh_grad
    return _rnn_backward(name, slope, arrays, out, grad_sums, stream)


def rnn_relu_cell_backward(
    grad_out: Any,
    input: Any,
    hx: Any,
    w_ih: Any,
    w_hh: Any,
    output: Any,
    *,
    out: Any = None,
    grad_sums: Any = None,
    stream: Any = 0,
) -> tuple[Any, ...]:
    """Return the gradients of input, hx, w_ih, w_hh, b_ih and b_hh; output is the new state."""
    arrays = grad_out, input, hx, w_ih, w_hh, output
    name, slope = "rnn_relu_cell_backward", activations_grad.relu_grad
    return _rnn_backward(name, slope, arrays, out, grad_sums, stream)


def _rnn_backward(
    function: str, slope: Any, arrays: tuple[Any, ...], out: Any, grad_sums: Any, stream: Any
) -> tuple[Any, ...]:
    step = _Step(function, 1, stream, **_named("grad_out input hx w_ih w_hh output", arrays))
    results, sums = step.gradients(out, ("hx",)), step.result(grad_sums, *step.state)
    slope(step["grad_out"], step["output"], out=sums.array, stream=step.stream)
    step.backward(sums.array, sums.array, results)
    return step.get(sums, grad_sums, *results)


def lstm_cell_backward(
    grad_out: tuple[Any, Any],
    input: Any,
    hx: tuple[Any, Any],
    w_ih: Any,
    w_hh: Any,
    saved: Any,
    new_c: Any,
    *,
    out: Any = None,
    grad_sums: Any = None,
    stream: Any = 0,
) -> tuple[Any, ...]:
    """Return the gradients of input, h, c, w_ih, w_hh, b_ih and b_hh from those of (h', c').

    `saved` and new_c are what the forward wrote and returned.
    """
    arrays = *grad_out, input, *hx, w_ih, w_hh, saved, new_c
    names = "grad_h grad_c input h c w_ih w_hh saved new_c"
    step = _Step("lstm_cell_backward", 4, stream, **_named(names, arrays))
    results = step.gradients(out, ("h", "c"))
    sums = step.result(grad_sums, step.state[0], step.wide)
    ahead = step["grad_h"], step["grad_c"], step["saved"][0], step["c"], step["new_c"]
    step.run(lstm.VARIANTS[2], step["c"], *ahead, sums.array, results[2].array)
    step.backward(sums.array, sums.array, [*results[:2], *results[3:]])
    return step.get(sums, grad_sums, *results)


def gru_cell_backward(
    grad_out: Any,
    input: Any,
    hx: Any,
    w_ih: Any,
    w_hh: Any,
    saved: Any,
    *,
    out: Any = None,
    grad_sums: Any = None,
    stream: Any = 0,
) -> tuple[Any, ...]:
    """Return the gradients of input, hx, w_ih, w_hh, b_ih and b_hh; the forward wrote `saved`."""
    arrays = grad_out, input, hx, w_ih, w_hh, saved
    step = _Step(
        "gru_cell_backward", 3, stream, **_named("grad_out input hx w_ih w_hh saved", arrays)
    )
    results = step.gradients(out, ("hx",))
    sums = step.result(grad_sums, 2, step.state[0], step.wide)
    (first, second), (made, _, past) = sums.array, step["saved"]
    grad, h, grad_h = step["grad_out"], step["hx"], results[1].array
    step.run(gru.VARIANTS[3], h, grad, made, past, h, first, second)
    step.backward(first, second, results)
    step.run(gru.VARIANTS[4], grad_h, grad, step.gate(made, 1), grad_h, grad_h)
    return step.get(sums, grad_sums, *results)


# --- Shared by all cells -----------------------------------------------------------------------


def _named(names: str, arrays: tuple[Any, ...]) -> dict[str, Any]:
    """Return arrays by their names in errors."""
    return dict(zip(names.split(), arrays, strict=True))


@functools.cache
def _takes(gates: int, names: tuple[str, ...]) -> signature.Signature:
    """Return the signature of a cell with so many gates: input and states, then arrays of gates."""
    axes = {
        "input": "n i",
        "w_ih": f"{gates}*h i",
        "w_hh": f"{gates}*h h",
        "b_ih": f"{gates}*h",
        "b_hh": f"{gates}*h",
        "saved": f"3 n {gates}*h",
    }
    states = [name for name in names if name not in axes]
    in_order = ["input", *states, *(name for name in names if name in axes and name != "input")]
    line = ", ".join(f"{name}: {axes.get(name, 'n h')}" for name in in_order)
    made = signature.Signature(f"{line} -> made...", layout="strided")
    made.listed.sort(key=lambda array: names.index(array.name))
    return made


class _Step:
    """The arrays of one step of a cell with so many gates, checked and on the device."""

    def __init__(self, function: str, gates: int, stream: Any, **arrays: Any) -> None:
        self.function, self.stream = function, stream
        given = {name: array for name, array in arrays.items() if array is not None}
        takes = _takes(gates, tuple(given))
        in_order = [given[array.name] for array in takes.arrays]
        self.place: signature.Output
        moved, self.place = takes.bind(function, in_order, stream=stream)
        self.moved = dict(zip((array.name for array in takes.arrays), moved, strict=True))
        (n, i), h = self["input"].shape, self["w_hh"].shape[1]
        self.state, self.wide = (n, h), gates * h
        self.shapes = {
            "input": (n, i),
            "w_ih": (self.wide, i),
            "w_hh": (self.wide, h),
            "b_ih": (self.wide,),
            "b_hh": (self.wide,),
        }

    def __getitem__(self, name: str) -> Any:
        return self.moved[name]

    def gate(self, sums: Any, k: int) -> Any:
        """Return the columns of gate k."""
        h = self.state[1]
        return sums[:, k * h : (k + 1) * h]

    def result(self, out: Any, *shape: int) -> Result:
        """Return where a result goes, possibly a state: a thread reads only its own element."""
        return self.place._replace(out=out, in_place=_STATES).of(shape)

    def sums(self, saved: Any) -> Result:
        """Return memory for the gates, and the input part and hidden part of their sums."""
        place = self.place._replace(function=f"{self.function} (saved)", out=saved)
        sums = place.of((3, *self.state[:1], self.wide))
        past = "hx" if "hx" in self.moved else "h"
        for array, x, side in zip(sums.array[1:], ("input", past), ("ih", "hh"), strict=True):
            self.linear(self[x], self[f"w_{side}"], self.moved.get(f"b_{side}"), array)
        return sums

    def gradients(self, out: Any, states: Sequence[str]) -> list[Result]:
        """Return where the gradients of input, states, weights and biases go."""
        names = ("input", *states, "w_ih", "w_hh", "b_ih", "b_hh")
        given = check_outs(self.function, out, len(names))
        shapes = [self.shapes.get(name, self.state) for name in names]
        return [self.result(array, *shape) for array, shape in zip(given, shapes, strict=True)]

    def backward(self, first: Any, second: Any, results: Sequence[Result]) -> None:
        """Compute all gradients that are products, from those of both parts of the sums."""
        grad_x, grad_h, grad_w_ih, grad_w_hh, grad_b_ih, grad_b_hh = (r.array for r in results)
        past = "hx" if "hx" in self.moved else "h"
        self.linear_backward(first, self["input"], self["w_ih"], grad_x, grad_w_ih, grad_b_ih)
        self.linear_backward(second, self[past], self["w_hh"], grad_h, grad_w_hh, grad_b_hh)

    def linear(self, x: Any, weight: Any, bias: Any, out: Any) -> None:
        """Compute x weight^T + bias, for every product of a forward."""
        backprop.linear(x, weight, bias, out=out, stream=self.stream)

    def linear_backward(
        self, grad: Any, x: Any, weight: Any, grad_x: Any, grad_weight: Any, grad_bias: Any
    ) -> None:
        """Compute the gradients of x, weight and bias, for every product of a backward."""
        out = grad_x, grad_weight, grad_bias
        backprop.linear_backward(grad, x, weight, out=out, stream=self.stream)

    def run(self, variant: launch.Variant, like: Any, *arguments: Any) -> None:
        """Launch a kernel with one thread per element of `like`, unless it is empty."""
        if like.size:
            grid = variant.grid(self.function, *like.shape[::-1])
            variant.kernel[grid, variant.block, self.stream](*arguments)

    def get(self, kept: Result, asked: Any, *results: Result) -> tuple[Any, ...]:
        """Return the results; `kept` is copied to the caller's array `asked`, if there is one."""
        if asked is not None:
            kept.get()
        return tuple(result.get() for result in results)


__all__ = [
    "GRU_VARIANTS",
    "VARIANTS",
    "LSTM_VARIANTS",
    "gru_cell",
    "gru_cell_backward",
    "lstm_cell",
    "lstm_cell_backward",
    "rnn_relu_cell",
    "rnn_relu_cell_backward",
    "rnn_tanh_cell",
    "rnn_tanh_cell_backward",
]
