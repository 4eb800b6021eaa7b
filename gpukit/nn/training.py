"""The training loop: batches, checkpoints, and NaN diagnosis."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import gpukit
from gpukit import cuda, files, interrupts, launch
from gpukit.errors import CheckpointError
from gpukit.nn import checkpoint
from gpukit.nn.containers import Sequential
from gpukit.nn.data import Loader
from gpukit.nn.inference import accuracy
from gpukit.nn.optimizers import AnyOptimizer
from gpukit.nn.parameters import Parameter, parts_of
from gpukit.nn.progress import History, ProgressLine, Remaining
from gpukit.workspace import Workspace

PAUSE = 0.3  # seconds between reports
Loss = Callable[[Any, Any], tuple[Any, Any]]
State = tuple[dict[str, Any], dict[str, Any]]  # of parameters and optimizer


def cross_entropy(logits: Any, label: Any) -> tuple[Any, Any]:
    """Return the mean cross-entropy, a 0-dimensional array, and the gradient of the logits.

    logits (..., C) and label (...), int32, on the device: a class per row, or per position
    of each sequence.
    """
    rows = logits.reshape(-1, logits.shape[-1])
    value, grad = gpukit.cross_entropy_with_grad(rows, label.reshape(label.size))
    return value, grad.reshape(logits.shape)


def fit(
    model: Any,
    optimizer: AnyOptimizer,
    loader: Loader,
    *,
    epochs: int,
    loss: Loss = cross_entropy,
    clip: float | None = None,
    validate: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
    checkpoint: str | Path | None = None,
    every: int = 100,
    report: bool | Callable[[History], None] = True,
    world: Any = None,
) -> History:
    """Train a model: for each batch of each epoch forward, loss, backward, update.

    loss(output, label) returns the mean loss and the gradient of the output. Gradients are clipped
    to a norm of `clip`. After each epoch the accuracy on `validate`, (x, labels), is computed.
    `report` prints progress, or is called with the `History` a few times per second.

    With a `checkpoint`, the training is saved there every `every` steps and at the end; if the file
    exists already, the training resumes from it, bit-identically.

    On several ranks each calls `fit` with its `parallel.World`, a model in `parallel.DataParallel`
    and a loader of its part: losses are then those of whole batches, and rank 0 alone reports and
    writes the checkpoint. A `parallel.Pipeline` is divided among ranks: its checkpoint holds the
    whole model.

    Ctrl-C, or Stop in a notebook, ends after the current step, saves the checkpoint, reports, and
    raises KeyboardInterrupt, whose `history` is the `History` so far; the model keeps what it
    has learned. A second Ctrl-C raises at once, in the middle of a step.

    Raises FloatingPointError when a loss or a weight becomes NaN or infinite: the error names the
    step and the layer, and model and optimizer are restored to their last finite state, at most
    `every` steps before. Raises OutputError when the checkpoint is not writable, before the first
    step where that can be known, and ValueError for a label that the model has no output for.
    """
    __tracebackhide__ = True  # IPython and pytest then show the user's own lines
    training = _Training(
        model,
        optimizer,
        loader,
        loss,
        clip,
        validate,
        checkpoint,
        every,
        report=ProgressLine() if report is True else report or (lambda _: None),
        history=History(epochs, len(loader)),
        world=world,
    )
    try:
        return training.run()
    except KeyboardInterrupt as stopped:
        raise interrupts.brief(stopped, "nn.fit was stopped in the middle of a step") from None


@dataclass
class _Training:
    """The arguments of `fit`, and the state of the training: history, workspace, losses."""

    model: Any
    optimizer: AnyOptimizer
    loader: Loader
    loss: Loss
    clip: float | None
    validate: tuple[npt.ArrayLike, npt.ArrayLike] | None
    checkpoint: str | Path | None
    every: int
    report: Callable[[History], None]
    history: History
    world: Any

    def __post_init__(self) -> None:
        self.leads = self.world is None or self.world.rank == 0
        self.divided = hasattr(self.model, "shards")  # among ranks: a parallel.Pipeline
        self.parameters, self.workspace = self.optimizer.parameters, Workspace()
        self.parameters.check_owned("fit", self.model)
        self.losses = cuda.device_array(self.history.steps, self.parameters.value.dtype)

    def run(self) -> History:
        if self.checkpoint is not None and self.leads:
            files.check(self.checkpoint)
        history, first = self.history, self._resume()
        total = history.steps
        self._keep(first)
        remaining = Remaining()
        begun = reported = time.perf_counter()
        with interrupts.noted() as ctrl_c:
            for step, x, label in self._batches(first, total):
                loss = self._step(x, label, step)
                stop = self._exchange(step, loss, len(label), bool(ctrl_c))
                now, done = time.perf_counter(), step + 1
                history.seconds = now - begun
                history.seconds_left = remaining.seconds(now, done, total)
                epoch_ends = done % history.batches == 0
                if epoch_ends and self.validate is not None:
                    history.accuracies.append(accuracy(self.model, *self.validate))
                if done - first == 1 or (epoch_ends and done - first <= history.batches):
                    remaining.measure_from(time.perf_counter(), done)  # kernels are compiled
                history.stopped = stop and done < total
                if history.stopped or done % self.every == 0 or done == total:
                    self._keep(done)
                    self._save()
                if history.stopped or epoch_ends or now - reported > PAUSE:
                    self._read_losses(done)
                    if self.leads:
                        self.report(history)
                    reported = now
                if history.stopped:
                    break
        if history.stopped or ctrl_c:
            raise self._interrupted()
        return history

    def _interrupted(self) -> KeyboardInterrupt:
        """Return the error for a training that Ctrl-C ended, which says how to resume it."""
        history = self.history
        made, steps = len(history.losses), history.steps
        words = f"nn.fit was stopped by Ctrl-C after step {made:,} of {steps:,}."
        if not history.stopped:
            words = f"Ctrl-C came in the last step of nn.fit: all {steps:,} are done."
        elif self.checkpoint is not None:
            words += f" The same call resumes from there: it is saved in {self.checkpoint}."
        else:
            words += " The model keeps what it has learned."
        error = KeyboardInterrupt(words)
        error.history = history  # type: ignore[attr-defined]
        return error

    def _batches(self, first: int, last: int) -> Iterator[tuple[int, Any, Any]]:
        """Yield the batches of steps `first` to `last - 1`, with their numbers."""
        for step in range(first, last):
            epoch, batch = divmod(step, len(self.loader))
            if step == first or batch == 0:
                batches = self.loader.epoch(epoch, batch)
            yield step, *next(batches)

    def _exchange(self, step: int, loss: Any, count: int, stop: bool) -> bool:
        """Record the loss, a mean over the ranks; return whether Ctrl-C came on any of them."""
        here = self.losses[step : step + 1]
        if self.world is None:
            here.copy_to_device(loss.reshape(1))
            return stop
        number = float(launch.to_host(loss.reshape(1))[0])
        total, examples, stops = self.world.totals(number * count, count, stop)
        here.copy_to_device(np.full(1, total / examples, self.losses.dtype))
        return bool(stops)

    def _step(self, x: Any, label: Any, step: int) -> Any:
        """Train on one batch; return its loss on the device."""
        if self.world is not None:
            self.world.step = step + 1
        with self.workspace:
            if self.divided:
                value = self.model.gradients(x, label, self._loss)
            else:
                out, saved = self.model.forward(x)
                value, grad = self._loss(out, label)
                self.model.backward(saved, grad)
            if self.clip is not None and self.divided:
                self.model.shards.clip_grad_norm(self.clip)
            elif self.clip is not None:
                gpukit.clip_grad_norm(self.parameters.grad, self.clip)
            self.optimizer.step()
            return value

    def _loss(self, out: Any, label: Any) -> tuple[Any, Any]:
        if self.loss is cross_entropy and self.loader.most >= out.shape[-1]:
            raise ValueError(
                f"fit: expected labels below {out.shape[-1]}, the number of the model's "
                f"outputs, got {self.loader.most}. Give its last layer an output for each "
                "class, and number the classes from 0."
            )
        return self.loss(out, label)

    # --- State -------------------------------------------------------------------------------

    def _resume(self) -> int:
        """Resume from the checkpoint, if there is one; return how many steps were done before."""
        if self.checkpoint is None or not Path(self.checkpoint).exists():
            return 0
        parts = checkpoint.read(self.checkpoint)
        if not {"losses", "accuracies"} <= parts["numbers"].keys():
            raise CheckpointError(
                f"{self.checkpoint}: expected a checkpoint of nn.fit, got one of nn.save, which "
                "does not hold the losses. Name another file, or load it yourself with nn.load."
            )
        made, steps = len(parts["numbers"]["losses"]), self.history.steps
        if made > steps:
            raise CheckpointError(
                f"{self.checkpoint}: expected a training of at most {steps:,} steps, which is what "
                f"epochs={self.history.epochs} asks for, got one that has made {made:,}. Ask for "
                "more epochs, or name another file."
            )
        own = (self.model.shards.own_parts,) if self.divided else ()
        numbers = checkpoint.restore(self.checkpoint, parts, self.parameters, self.optimizer, *own)
        self.history.losses = numbers["losses"]
        self.history.accuracies = numbers["accuracies"].tolist()
        return len(self.history.losses)

    def _save(self) -> None:
        if self.checkpoint is None or not (self.leads or self.divided):
            return
        parts = checkpoint.collect(
            self.parameters,
            self.optimizer,
            losses=self.history.losses,
            accuracies=np.array(self.history.accuracies),
        )
        if self.divided:
            parts = self.model.shards.whole_parts(parts)
        if self.leads:
            checkpoint.write(self.checkpoint, parts)

    def _keep(self, done: int) -> None:
        """Save the state after so many steps, if it is finite."""
        self._read_losses(done)
        state: State = self.parameters.state(), self.optimizer.state()
        if not all(_finite(array) for part in state for array in part.values()):
            self._give_up(done)
        self.sound, self.sound_at = state, done

    def _read_losses(self, done: int) -> None:
        """Copy the losses of the last steps to the host, and check that they are finite."""
        known = len(self.history.losses)
        if done > known:
            new = launch.to_host(self.losses[known:done])
            if not _finite(new):
                self._give_up(done)
            self.history.losses = np.concatenate([self.history.losses, new])

    # --- NaN and infinity --------------------------------------------------------------------

    def _give_up(self, done: int) -> None:
        """Repeat the steps since the last finite state to find what broke; restore it; raise."""
        self._go_back()
        fault = f"by step {done}: a weight or a loss"
        # Ranks have different batches: each would repeat another number of steps.
        alone = self.world is None and not getattr(self.optimizer, "exchanges", False)
        repeated = self._batches(self.sound_at, done) if alone else ()
        for step, x, label in repeated:
            before = self.parameters.state()
            where = _fault_forward(self.model, x)
            self.parameters.load(before)  # the repetition may have drawn random numbers
            if not where:
                self._step(x, label, step)
                where = _fault_backward(self.model)
            if where:
                fault = f"in step {step + 1}: {where}"
                break
        self._go_back()
        raise FloatingPointError(
            f"fit: something became NaN or infinite {fault}. Weights and optimizer are as they "
            f"were after step {self.sound_at}. Look at the inputs there; a lower lr or clip=1.0 "
            "makes shorter steps."
        )

    def _go_back(self) -> None:
        parameters, optimizer = self.sound
        self.parameters.load(parameters)
        self.optimizer.load(optimizer)
        self.history.losses = self.history.losses[: self.sound_at]


def _finite(array: Any) -> bool:
    return bool(np.isfinite(launch.to_host(array)).all())


def _fault_forward(model: Any, x: Any) -> str:
    """Return which layer outputs NaN or infinity for a batch, "" where none does."""
    if not all(map(_finite, x if isinstance(x, tuple) else (x,))):
        return "the input"
    model = getattr(model, "wrapped", model)
    for number, layer in enumerate(model.layers if isinstance(model, Sequential) else (model,)):
        given = "" if isinstance(x, tuple) else f" for x of shape {tuple(x.shape)}"
        x, _ = layer.forward(x)
        if not _finite(x):
            return f"the output of layer {number}, {type(layer).__name__},{given}"
    return ""


def _fault_backward(model: Any) -> str:
    """Return which gradient or weight is NaN or infinite after a step, "" where none is."""
    for name, parameter in parts_of(model, Parameter):
        for what, array in (("gradient", parameter.grad), ("weight", parameter.value)):
            if not _finite(array):
                return f"the {what} {name} of shape {parameter.shape}"
    return ""
