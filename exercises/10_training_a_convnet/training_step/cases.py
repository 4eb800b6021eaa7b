"""Cases of the training step: batches of any size, one step and several, clipped or not."""

from dataclasses import dataclass, field

import numpy as np

from gpukit.course import Case, called, poison, some

HIDDEN, CLASSES = 8, 3
LR, MOMENTUM, EPS, CLIP_EPS, BN_MOMENTUM = 1.0, 0.9, 1e-5, 1e-6, 0.1
BOUNDS = (100.0, 0.03)  # on the norm of the first gradient, in units of that norm
# Samples per batch (with fewer than four, batch norm leaves hardly any gradient), inputs,
# steps, and the index of one of the bounds.
SHAPES = {
    "one step": (8, 5, 1, 0),
    "one step, the gradient too long": (8, 5, 1, 1),
    "four samples": (4, 3, 1, 1),
    "three steps": (16, 7, 3, 0),
    "three steps, gradients too long": (33, 4, 3, 1),
    "a larger batch": (61, 11, 2, 1),
}
NAMES = {
    "first": ("the weights and biases of the first layer", []),
    "norm": ("the weights and biases of BatchNorm", []),
    "last": ("the weights and biases of the last layer", []),
    "averages": ("the running mean and variance of BatchNorm", []),
    "losses": ("the losses returned", []),
}
Arrays = list[np.ndarray]
Batch = tuple[np.ndarray, np.ndarray]


def case(rng: np.random.Generator, n: int, inputs: int, steps: int, kind: int) -> Case:
    """Return the case of `steps` steps with batches of at most n samples."""
    label = rng.integers(0, CLASSES, (steps, n)).astype(np.int32)
    middle = rng.normal(0, 1, (CLASSES, inputs))
    x = (middle[label] + rng.normal(0, 1, (steps, n, inputs))).astype(np.float32)
    shapes = ((HIDDEN, inputs), (HIDDEN,), (HIDDEN,), (HIDDEN,), (CLASSES, HIDDEN), (CLASSES,))
    weights = [rng.normal(0, 0.8, shape).astype(np.float32) for shape in shapes]
    weights[2] += 1
    start = Training([w.astype(np.float64) for w in weights])
    batches = [(x[k, : n - k].astype(np.float64), label[k, : n - k]) for k in range(steps)]
    bound = BOUNDS[min(kind, 1)] * norm_of(start.gradients(*batches[0])[1])
    most = (bound * (1 + np.arange(steps))).astype(np.float32)

    right = start.run(batches, most.tolist())
    fewer = ", one sample fewer in each step" if steps > 1 else ""
    return called(
        args={
            "x": x,
            "label": label,
            "weights": np.concatenate([w.ravel() for w in weights]),
            "most": most,
            **{name: poison(array.shape) for name, array in right.items()},
        },
        expected=right,
        scale={name: np.full(a.shape, 2 + np.abs(a).max()) for name, a in right.items()},
        shown=f"{some(steps, 'step')}, batches of {n} samples of {inputs} inputs{fewer}, "
        f"gradients {'longer' if kind else 'shorter'} than most = {most[0]:.3g}",
        names=NAMES,
    )


def norm_of(grads: Arrays) -> float:
    """Return the norm of several arrays together."""
    return float(np.sqrt(sum((g**2).sum() for g in grads)))


def clipped(grads: Arrays, most: float) -> Arrays:
    """Return arrays scaled so that their common norm is at most `most`."""
    factor = min(1.0, most / (norm_of(grads) + CLIP_EPS))
    return [g * factor for g in grads]


@dataclass
class Training:
    """A dense layer, batch norm, tanh and a dense layer in float64, and its optimizer."""

    weights: Arrays
    mean: np.ndarray = field(default_factory=lambda: np.zeros(HIDDEN))
    var: np.ndarray = field(default_factory=lambda: np.ones(HIDDEN))

    def forward(self, x: np.ndarray) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
        """Return the logits and the saved activations."""
        w1, b1, gain, shift, w2, b2 = self.weights
        sums = x @ w1.T + b1
        deviation = np.sqrt(sums.var(axis=0) + EPS)
        hat = (sums - sums.mean(axis=0)) / deviation
        h = np.tanh(gain * hat + shift)
        return h @ w2.T + b2, (sums, deviation, hat, h)

    def update_averages(self, sums: np.ndarray) -> None:
        """Update the running averages with a batch."""
        many = max(1, len(sums) - 1)
        self.mean = (1 - BN_MOMENTUM) * self.mean + BN_MOMENTUM * sums.mean(axis=0)
        self.var = (1 - BN_MOMENTUM) * self.var + BN_MOMENTUM * sums.var(axis=0) * len(sums) / many

    def gradients(self, x: np.ndarray, label: np.ndarray) -> tuple[np.ndarray, Arrays]:
        """Return the loss of each sample and the gradients of all weights."""
        gain, w2 = self.weights[2], self.weights[4]
        logits, (_, deviation, hat, h) = self.forward(x)
        e = np.exp(logits - logits.max(axis=1, keepdims=True))
        p = e / e.sum(axis=1, keepdims=True)
        losses = -np.log(p[np.arange(len(x)), label])
        grad = (p - np.eye(CLASSES)[label]) / len(x)
        g = (grad @ w2) * (1 - h**2)
        of_hat = g * gain
        of_sums = (of_hat - of_hat.mean(axis=0) - hat * (of_hat * hat).mean(axis=0)) / deviation
        return losses, [
            of_sums.T @ x,
            of_sums.sum(axis=0),
            (g * hat).sum(axis=0),
            g.sum(axis=0),
            grad.T @ h,
            grad.sum(axis=0),
        ]

    def run(self, batches: list[Batch], bounds: list[float]) -> dict[str, np.ndarray]:
        """Run the steps and return the weights, averages and losses after them."""
        velocity, losses = [np.zeros_like(w) for w in self.weights], []
        for batch, most in zip(batches, bounds, strict=True):
            each, grads = self.gradients(*batch)
            self.update_averages(self.forward(batch[0])[1][0])
            used = clipped(grads, most)
            velocity = [MOMENTUM * v + g for v, g in zip(velocity, used, strict=True)]
            self.weights = [w - LR * v for w, v in zip(self.weights, velocity, strict=True)]
            losses.append(each.mean())
        flat = [w.ravel() for w in self.weights]
        left = {
            "first": np.concatenate(flat[:2]),
            "norm": np.concatenate(flat[2:4]),
            "last": np.concatenate(flat[4:]),
            "averages": np.concatenate([self.mean, self.var]),
            "losses": np.array(losses),
        }
        return {name: array.astype(np.float32) for name, array in left.items()}
