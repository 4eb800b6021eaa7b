"""Cases of the training step: batches of any size, one step and several, clipped or not."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from gpukit.course import Case, called, poison

HIDDEN, CLASSES = 8, 3
LR, MOMENTUM, EPS, CLIP_EPS, KEEP = 1.0, 0.9, 1e-5, 1e-6, 0.1
PARTS = (100.0, 0.03)  # of its norm that the first gradient may have
# Samples of a batch (with fewer than four, batch norm lets hardly a gradient through), inputs,
# steps, and which of the parts.
SHAPES = {
    "one step": (8, 5, 1, 0),
    "one step, the gradient too long": (8, 5, 1, 1),
    "four samples": (4, 3, 1, 1),
    "three steps": (16, 7, 3, 0),
    "three steps, gradients too long": (33, 4, 3, 1),
    "a larger batch": (61, 11, 2, 1),
}
Arrays = list[np.ndarray]
Batch = tuple[np.ndarray, np.ndarray]


def case(rng: np.random.Generator, n: int, inputs: int, steps: int, kind: int) -> Case:
    """Return the case of so many steps with batches of n samples."""
    label = rng.integers(0, CLASSES, (steps, n)).astype(np.int32)
    middle = rng.normal(0, 1, (CLASSES, inputs))
    x = (middle[label] + rng.normal(0, 1, (steps, n, inputs))).astype(np.float32)
    shapes = ((HIDDEN, inputs), (HIDDEN,), (HIDDEN,), (HIDDEN,), (CLASSES, HIDDEN), (CLASSES,))
    weights = [rng.normal(0, 0.8, shape).astype(np.float32) for shape in shapes]
    weights[2] += 1
    start = Training([w.astype(np.float64) for w in weights])
    batches = [(x[k, : n - k].astype(np.float64), label[k, : n - k]) for k in range(steps)]
    part = PARTS[min(kind, 1)] * norm_of(start.gradients(batches[0])[1])
    most = (part * (1 + np.arange(steps))).astype(np.float32)

    def left(**changes: object) -> dict[str, np.ndarray]:
        """Return what training leaves that goes so."""
        training = replace(start, weights=[w.copy() for w in start.weights])
        return training.run(batches, most.tolist(), **changes)

    right, sizes = left(), (n - np.arange(steps)).astype(np.float32)
    averages = np.repeat([0.0, 1.0], HIDDEN).astype(np.float32)
    first_only, last_only = (lambda k: k < 2), (lambda k: k > 3)
    fewer = ", one sample less from step to step" if steps > 1 else ""
    return called(
        args={
            "x": x, "label": label, "weights": np.concatenate([w.ravel() for w in weights]),
            "most": most,
            **{name: poison(array.shape) for name, array in right.items()},
        },
        expected=right,
        scale={name: np.full(a.shape, 2 + np.abs(a).max()) for name, a in right.items()},
        shown=f"{steps} step{'s' * (steps > 1)}, batches of {n} samples of {inputs} inputs{fewer}, "
        f"gradients {'longer' if kind else 'shorter'} than most = {most[0]:.3g}",
        mistakes={
            "No weight has moved: optimizer.step() is missing, or the gradients are 0 when it "
            "comes.": left(moves=0),
            # Later steps go on from weights that no float64 tells.
            **({
                "The step comes before backward: it moves the weights by the gradients of the "
                "batch before, in the first step by zeros.": left(late=True),
                "Gradients that are short enough were made longer: clip_grad_norm leaves a norm "
                "below most as it is.": left(clip="always"),
                "backward was given the scores; it takes the gradient of the loss by the scores.": (
                    left(of_logits="logits")
                ),
            } if steps == 1 else {}),
            "The optimizer made two steps with the same gradients.": left(moves=2),
            "The weights go uphill: the optimizer subtracts the gradient, so give it the gradient "
            "as it is.": left(of_logits=lambda grad, p, n: -grad),
            "The gradients are those of the sum of the losses; training takes the gradient of the "
            "mean, which nn.cross_entropy returns.": left(of_logits=lambda grad, p, n: grad * n),
            "The gradients are divided by the number of samples twice: that of nn.cross_entropy is "
            "the mean's already.": left(of_logits=lambda grad, p, n: grad / n),
            "The scores went through softmax before nn.cross_entropy, which has its own inside.": (
                left(softmax_first=True)
            ),
            "The gradients are not made shorter: call gpukit.clip_grad_norm on "
            "optimizer.parameters.grad between backward and step.": left(clip="never"),
            "The gradient of the scores was made shorter. It is the gradients of the weights, all "
            "of them together, whose norm is bounded: optimizer.parameters.grad.": left(
                clip="scores"
            ),
            "Each weight's gradients were made shorter for themselves. The norm is that of all of "
            "them together: clip optimizer.parameters.grad once.": left(clip="each"),
            "Each number of the gradient was cut at -most and most; they are all scaled by the "
            "same factor.": left(clip="cut"),
            "The weights themselves were made shorter, where their gradients were meant: "
            "optimizer.parameters.grad.": left(clip="weights"),
            "Only the last layer has learned: model.backward goes through all layers.": left(
                learns=last_only
            ),
            "Only the first layer has learned: the optimizer must move the weights of all.": left(
                learns=first_only
            ),
            "The optimizer began anew in each call: its velocity lives from step to step, so use "
            "the one that is given.": left(forgets=True),
            "Only the first sample counts: x and label hold a batch.": left(part=lambda n: 1),
            "Only the first half of the batch counts: x and label go through the network as a "
            "whole.": left(part=lambda n: n // 2),
            "The forward ran twice on each batch, and BatchNorm counts each time: keep what the "
            "first one returned.": {"averages": left(forwards=2)["averages"]},
            "BatchNorm has seen no batch: in training the model must not run under nn.inference.": {
                "averages": averages
            },
            "The weights are right. The loss returned is that after the step: it is the one whose "
            "gradient was taken.": right | {"losses": left(loss="after")["losses"]},
            "The weights are right. The loss returned is the sum over the batch, not the mean.": (
                right | {"losses": right["losses"] * sizes}
            ),
            "The weights are right. The loss returned is divided by the number of samples, and was "
            "the mean already.": right | {"losses": right["losses"] / sizes},
            "The weights are right. The loss returned is that of the first sample, not the mean.": (
                right | {"losses": left(loss="first")["losses"]}
            ),
            "The weights are right. What is returned is the norm of the gradients, not the loss.": (
                right | {"losses": left(loss="norm")["losses"]}
            ),
            "The weights are right. What is returned is the share of samples that are classified "
            "right, not the loss.": right | {"losses": left(loss="accuracy")["losses"]},
        },
    )  # fmt: skip


def norm_of(grads: Arrays) -> float:
    """Return the norm of several arrays together."""
    return float(np.sqrt(sum((g**2).sum() for g in grads)))


def shorter(grads: Arrays, most: float) -> Arrays:
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
        """Return the scores and what the gradients need."""
        w1, b1, gain, shift, w2, b2 = self.weights
        sums = x @ w1.T + b1
        centred = sums - sums.mean(axis=0)
        deviation = np.sqrt(sums.var(axis=0) + EPS)
        hat = centred / deviation
        h = np.tanh(gain * hat + shift)
        return h @ w2.T + b2, (sums, deviation, hat, h)

    def watch(self, sums: np.ndarray) -> None:
        """Count a batch in the running averages."""
        many = max(1, len(sums) - 1)
        self.mean = (1 - KEEP) * self.mean + KEEP * sums.mean(axis=0)
        self.var = (1 - KEEP) * self.var + KEEP * sums.var(axis=0) * len(sums) / many

    def gradients(self, batch: Batch, of_logits: object = None, softmax_first: bool = False,
                  most: float = np.inf) -> tuple[np.ndarray, Arrays]:  # fmt: skip
        """Return the loss of each sample and the gradients of all weights."""
        x, label = batch
        gain, w2 = self.weights[2], self.weights[4]
        logits, (_, deviation, hat, h) = self.forward(x)
        scores = shares(logits) if softmax_first else logits
        p = shares(scores)
        highest = scores.max(axis=1)
        whole = highest + np.log(np.exp(scores - highest[:, None]).sum(axis=1))
        losses = whole - scores[np.arange(len(x)), label]
        grad = (p - np.eye(CLASSES)[label]) / len(x)
        if callable(of_logits):
            grad = of_logits(grad, p, len(x))
        elif of_logits == "logits":
            grad = logits
        (grad,) = shorter([grad], most)
        g = (grad @ w2) * (1 - h**2)
        of_hat = g * gain
        of_sums = (of_hat - of_hat.mean(axis=0) - hat * (of_hat * hat).mean(axis=0)) / deviation
        return losses, [
            of_sums.T @ x, of_sums.sum(axis=0), (g * hat).sum(axis=0), g.sum(axis=0), grad.T @ h,
            grad.sum(axis=0),
        ]  # fmt: skip

    def run(
        self, batches: list[Batch], bounds: list[float], *, moves: int = 1, late: bool = False,
        of_logits: object = None, softmax_first: bool = False, clip: str = "",
        learns: object = None, forgets: bool = False, part: Callable[[int], int] = int,
        forwards: int = 1, loss: str = "",
    ) -> dict[str, np.ndarray]:  # fmt: skip
        """Return what the steps leave, where one thing goes otherwise."""
        velocity = [np.zeros_like(w) for w in self.weights]
        before, losses = [np.zeros_like(w) for w in self.weights], []
        for batch, most in zip(batches, bounds, strict=True):
            mine = tuple(array[: part(len(array))] for array in batch)
            bound = most if clip == "scores" else np.inf
            each, grads = self.gradients(mine, of_logits, softmax_first, bound)
            logits, kept = self.forward(mine[0])
            for _ in range(forwards):
                self.watch(kept[0])
            found = {"": each.mean(), "first": each[0], "norm": norm_of(grads),
                     "accuracy": (logits.argmax(axis=1) == mine[1]).mean()}  # fmt: skip
            if callable(learns):
                grads = [g if learns(k) else np.zeros_like(g) for k, g in enumerate(grads)]
            grads = clipped(grads, most, clip)
            if clip == "weights":
                self.weights = shorter(self.weights, most)
            used, before = (before, grads) if late else (grads, before)
            for _ in range(moves):
                kept_of = 0 if forgets else MOMENTUM
                velocity = [kept_of * v + g for v, g in zip(velocity, used, strict=True)]
                self.weights = [w - LR * v for w, v in zip(self.weights, velocity, strict=True)]
            found["after"] = self.gradients(mine)[0].mean()
            losses.append(found[loss])
        flat = [w.ravel() for w in self.weights]
        left = {
            "first": np.concatenate(flat[:2]), "norm": np.concatenate(flat[2:4]),
            "last": np.concatenate(flat[4:]), "averages": np.concatenate([self.mean, self.var]),
            "losses": np.array(losses),
        }  # fmt: skip
        return {name: array.astype(np.float32) for name, array in left.items()}


def shares(scores: np.ndarray) -> np.ndarray:
    """Return the softmax of each row."""
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(e / e.sum(axis=1, keepdims=True))


def clipped(grads: Arrays, most: float, how: str) -> Arrays:
    """Return gradients made shorter, rightly or in another way."""
    if how in ("never", "scores", "weights"):
        return grads
    if how == "always":
        return [g * most / norm_of(grads) for g in grads]
    if how == "each":
        return [shorter([g], most)[0] for g in grads]
    return [np.clip(g, -most, most) for g in grads] if how == "cut" else shorter(grads, most)
