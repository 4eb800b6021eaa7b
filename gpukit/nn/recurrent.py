"""Recurrent layers: the same cell at every time step, applied to its own previous state.

Steps depend on each other, samples do not. So all that does not need the previous state is done for
all steps at once: the products of inputs and weights before the first step, and, backwards, the
gradients of weights and inputs after the last. Between the steps one product and one kernel remain.

All layers take sequences (steps, N, inputs) and return the states after each step, (steps, N,
units). The state before the first step is zeros.
"""

from __future__ import annotations

import math
from typing import Any

import gpukit
from gpukit.kernels import recurrent
from gpukit.launch import Variant
from gpukit.nn.containers import add
from gpukit.nn.parameters import Parameter, uniform
from gpukit.workspace import take

_, RNN_STEP, _ = recurrent.gates.VARIANTS
LSTM_STEP, _, LSTM_BACK = recurrent.lstm.VARIANTS
GRU_STEP, _, _, GRU_BACK, GRU_CARRY = recurrent.gru.VARIANTS


class RNN:
    """Elman network: tanh of a weighted sum of input and previous state."""

    def __init__(self, inputs: int, units: int) -> None:
        self.w_ih, self.w_hh, self.b_ih, self.b_hh = _weights(1, inputs, units)

    def forward(self, x: Any) -> tuple[Any, Any]:
        """Return all states; x and the states for the backward."""
        from_input, h = _from_input(self, x), _states(self, x)
        from_past = _new(x, *h.shape[1:])
        for t in range(len(x)):
            _from_past(self, h[t], from_past)
            _run(RNN_STEP, h[t], from_input[t], from_past, h[t + 1])
        return h[1:], (x, h)

    def backward(self, saved: Any, grad: Any) -> Any:
        """Return the gradient of x; write those of weights and biases."""
        x, h = saved
        sums = _new(x, *grad.shape)
        grad_h = grad[len(x) - 1]
        for t in reversed(range(len(x))):
            gpukit.tanh_grad(grad_h, h[t + 1], out=sums[t])
            if t:
                grad_h = add(grad[t - 1], gpukit.matmul(sums[t], self.w_hh.value))
        return _gradients(self, x, h, sums, sums)


class LSTM:
    """Long short-term memory: a cell with input, forget and output gates."""

    def __init__(self, inputs: int, units: int) -> None:
        self.w_ih, self.w_hh, self.b_ih, self.b_hh = _weights(4, inputs, units)

    def forward(self, x: Any) -> tuple[Any, Any]:
        """Return all states; x, the gates, the states and the cells, for the backward."""
        from_input, h, c = _from_input(self, x), _states(self, x), _states(self, x)
        from_past, gates = _new(x, *from_input.shape[1:]), _new(x, *from_input.shape)
        for t in range(len(x)):
            _from_past(self, h[t], from_past)
            _run(LSTM_STEP, h[t], from_input[t], from_past, c[t], gates[t], h[t + 1], c[t + 1])
        return h[1:], (x, gates, h, c)

    def backward(self, saved: Any, grad: Any) -> Any:
        """Return the gradient of x; write those of weights and biases."""
        x, gates, h, c = saved
        sums, grad_c = _new(x, *gates.shape), _zeros(_new(x, *grad.shape[1:]))
        grad_h = grad[len(x) - 1]
        for t in reversed(range(len(x))):
            _run(LSTM_BACK, h[t], grad_h, grad_c, gates[t], c[t], c[t + 1], sums[t], grad_c)
            if t:
                grad_h = add(grad[t - 1], gpukit.matmul(sums[t], self.w_hh.value))
        return _gradients(self, x, h, sums, sums)


class GRU:
    """Gated recurrent unit: each step is a weighted mean of the old state and a new one."""

    def __init__(self, inputs: int, units: int) -> None:
        self.w_ih, self.w_hh, self.b_ih, self.b_hh = _weights(3, inputs, units)

    def forward(self, x: Any) -> tuple[Any, Any]:
        """Return all states; x, the gates, the recurrent sums and the states, for the backward."""
        from_input, h = _from_input(self, x), _states(self, x)
        from_past, gates = _new(x, *from_input.shape), _new(x, *from_input.shape)
        for t in range(len(x)):
            _from_past(self, h[t], from_past[t])
            _run(GRU_STEP, h[t], from_input[t], from_past[t], h[t], gates[t], h[t + 1])
        return h[1:], (x, gates, from_past, h)

    def backward(self, saved: Any, grad: Any) -> Any:
        """Return the gradient of x; write those of weights and biases."""
        x, gates, from_past, h = saved
        of_input, of_past = _new(x, *gates.shape), _new(x, *gates.shape)
        units = self.w_hh.shape[1]
        grad_h = grad[len(x) - 1]
        for t in reversed(range(len(x))):
            _run(GRU_BACK, h[t], grad_h, gates[t], from_past[t], h[t], of_input[t], of_past[t])
            if t:
                through = gpukit.matmul(of_past[t], self.w_hh.value)
                kept = gates[t][:, units : 2 * units]  # z, how much of the old state stays
                _run(GRU_CARRY, h[t], grad_h, kept, through, through)
                grad_h = add(grad[t - 1], through)
        return _gradients(self, x, h, of_input, of_past)


# --- Shared by all three ---------------------------------------------------------------------


def _weights(gates: int, inputs: int, units: int) -> tuple[Parameter, ...]:
    """Return the parameters of a layer: input and recurrent weights, and a bias for each."""
    begin, wide = uniform(1 / math.sqrt(units)), gates * units
    return tuple(Parameter(s, begin) for s in ((wide, inputs), (wide, units), (wide,), (wide,)))


def _from_input(layer: Any, x: Any) -> Any:
    """Return the input part of the sums for all steps, (steps, N, gates units)."""
    made = gpukit.linear(_rows(x), layer.w_ih.value, layer.b_ih.value)
    return made.reshape(*x.shape[:2], made.shape[1])


def _from_past(layer: Any, h: Any, out: Any) -> None:
    """Compute the recurrent part of the sums of one step."""
    gpukit.linear(h, layer.w_hh.value, layer.b_hh.value, out=out)


def _states(layer: Any, x: Any) -> Any:
    """Return an array for a state before each step and after the last; the first is zeros."""
    steps, n, _ = x.shape
    made = _new(x, steps + 1, n, layer.w_hh.shape[1])
    _zeros(made[0])
    return made


def _gradients(layer: Any, x: Any, h: Any, of_input: Any, of_past: Any) -> Any:
    """Return the gradient of x and write those of the parameters, from those of all sums."""
    out = None, layer.w_ih.grad, layer.b_ih.grad
    grad_x = gpukit.linear_backward(_rows(of_input), _rows(x), layer.w_ih.value, out=out)[0]
    gpukit.matmul(_rows(of_past), _rows(h[: len(x)]), transpose_a=True, out=layer.w_hh.grad)
    if of_past is of_input:  # the sum of input and past: both biases have one gradient
        layer.b_hh.grad.copy_to_device(layer.b_ih.grad)
    else:
        gpukit.column_sum(_rows(of_past), out=layer.b_hh.grad)
    return grad_x.reshape(x.shape)


def _run(variant: Variant, h: Any, *arrays: Any) -> None:
    """Launch a kernel with a thread per element of h, a state (N, units)."""
    variant.kernel[variant.grid("nn", *h.shape[::-1]), variant.block](*arrays)


def _rows(x: Any) -> Any:
    return x.reshape(x.shape[0] * x.shape[1], x.shape[2])


def _new(like: Any, *shape: int) -> Any:
    return take(shape, like.dtype, on_device=True)


def _zeros(array: Any) -> Any:
    flat = array.reshape(array.size)
    gpukit.fill(array.size, 0, dtype=array.dtype, out=flat)
    return array
