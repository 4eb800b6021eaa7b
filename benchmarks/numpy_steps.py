"""Training steps in plain NumPy: dense networks and one LSTM layer, SGD with momentum.

Each function takes the weights of a model of gpukit.nn, as `Parameters.state` returns them, and
returns a step `(x, label) -> loss`. Products are batched where possible, also over time steps, and
weights are updated in place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

State = dict[str, Any]
Step = Callable[[Any, Any], float]


def dense(state: State, activation: str, *, lr: float, momentum: float) -> Step:
    """Return the step of dense layers with activation "relu" or "sigmoid"; x (N, inputs)."""
    weights = [array for name, array in state.items() if name.endswith("weight")]
    biases = [array for name, array in state.items() if name.endswith("bias")]
    update = _momentum([*weights, *biases], lr, momentum)
    forward, derivative = ACTIVATIONS[activation]

    def step(x: Any, label: Any) -> float:
        inputs = [x]
        for weight, bias in zip(weights[:-1], biases[:-1], strict=True):
            inputs.append(forward(inputs[-1] @ weight.T + bias))
        loss, grad = cross_entropy(inputs[-1] @ weights[-1].T + biases[-1], label)
        of_weights, of_biases = [], []
        for number in reversed(range(len(weights))):
            of_weights.append(grad.T @ inputs[number])
            of_biases.append(grad.sum(0))
            if number:
                grad = (grad @ weights[number]) * derivative(inputs[number])
        update([*of_weights[::-1], *of_biases[::-1]])
        return loss

    return step


def lstm(state: State, *, lr: float, momentum: float) -> Step:
    """Return the step of an LSTM and a dense layer over its hidden states; x (T, N, inputs)."""
    w_ih, w_hh, b_ih, b_hh, weight, bias = state.values()
    update = _momentum([w_ih, w_hh, b_ih, b_hh, weight, bias], lr, momentum)

    def step(x: Any, label: Any) -> float:
        steps, n, _ = x.shape
        units = w_hh.shape[1]
        from_input = x @ w_ih.T + (b_ih + b_hh)
        h, c = (np.zeros((steps + 1, n, units), x.dtype) for _ in range(2))
        gates = []
        for t in range(steps):
            i, f, g, o = np.split(from_input[t] + h[t] @ w_hh.T, 4, axis=1)
            i, f, g, o = _sigmoid(i), _sigmoid(f), np.tanh(g), _sigmoid(o)
            c[t + 1] = f * c[t] + i * g
            h[t + 1] = o * np.tanh(c[t + 1])
            gates.append((i, f, g, o))
        states = h[1:].reshape(steps * n, units)
        loss, grad = cross_entropy(states @ weight.T + bias, label)
        of_weight, of_bias = grad.T @ states, grad.sum(0)
        above = (grad @ weight).reshape(steps, n, units)
        sums = np.empty((steps, n, 4 * units), x.dtype)
        grad_h, grad_c = above[-1], np.zeros((n, units), x.dtype)
        for t in reversed(range(steps)):
            i, f, g, o = gates[t]
            tanh_c = np.tanh(c[t + 1])
            grad_c = grad_c + grad_h * o * (1 - tanh_c * tanh_c)
            of_gates = (
                grad_c * g * i * (1 - i),
                grad_c * c[t] * f * (1 - f),
                grad_c * i * (1 - g * g),
                grad_h * tanh_c * o * (1 - o),
            )
            np.concatenate(of_gates, axis=1, out=sums[t])
            grad_c = grad_c * f
            if t:
                grad_h = above[t - 1] + sums[t] @ w_hh
        rows = sums.reshape(steps * n, 4 * units)
        of_w_ih = rows.T @ x.reshape(steps * n, -1)
        of_w_hh = rows.T @ h[:-1].reshape(steps * n, units)
        of_gates = rows.sum(0)
        update([of_w_ih, of_w_hh, of_gates, of_gates, of_weight, of_bias])
        return loss

    return step


def cross_entropy(logits: Any, label: Any) -> tuple[float, Any]:
    """Return the mean loss of logits (N, C) and its gradient, which overwrites the logits."""
    rows = np.arange(len(label))
    logits -= logits.max(1, keepdims=True)
    target = logits[rows, label]
    exponentials = np.exp(logits, out=logits)
    normalizer = exponentials.sum(1, keepdims=True)
    loss = float((np.log(normalizer[:, 0]) - target).mean())
    exponentials /= normalizer
    exponentials[rows, label] -= 1
    exponentials /= len(label)
    return loss, exponentials


def _momentum(weights: list[Any], lr: float, momentum: float) -> Callable[[list[Any]], None]:
    velocities = [np.zeros_like(weight) for weight in weights]

    def update(grads: list[Any]) -> None:
        for weight, velocity, grad in zip(weights, velocities, grads, strict=True):
            velocity *= np.float32(momentum)
            velocity += grad
            weight -= np.float32(lr) * velocity

    return update


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


# Each activation, and its derivative as a function of its output.
ACTIVATIONS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "relu": (lambda x: np.maximum(x, 0), lambda y: y > 0),
    "sigmoid": (_sigmoid, lambda y: y * (1 - y)),
}
