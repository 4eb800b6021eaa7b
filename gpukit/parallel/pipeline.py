"""Pipeline parallel training: every rank holds some layers, and micro-batches flow through them.

    world = parallel.World()
    grid = parallel.Grid(world, pipeline=4)
    model = parallel.Pipeline(
        nn.gpt(96, 64, 64, 4, 4), grid, seed=0, schedule=parallel.one_f_one_b(4, 8)
    )
    optimizer = nn.AdamW(model.parameters, lr=1e-3)
    for x, label in loader.epoch(0):
        loss = model.gradients(x, label)
        optimizer.step()

All ranks of a pipeline take the same batches: the first stage uses the examples, the last one the
labels. Without a schedule the batch is one micro-batch and one stage computes at a time, which is
called naive model parallelism.

Source: Huang et al., "GPipe", 2019 (arXiv 1811.06965); Narayanan et al., "Memory-Efficient
Pipeline-Parallel DNN Training", 2020 (arXiv 2006.09503)
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import launch
from gpukit.nn.containers import Sequential
from gpukit.nn.parameters import Buffer, Parameter, Parameters, parts_of
from gpukit.nn.training import cross_entropy
from gpukit.parallel.data import BUCKET, DataParallel, scaled
from gpukit.parallel.grid import Grid
from gpukit.parallel.messages import Messages, Pool
from gpukit.parallel.schedules import FORWARD, Held, Schedule, gpipe
from gpukit.parallel.sharding import Shards
from gpukit.parallel.single import assign
from gpukit.parallel.stages import cut

Loss = Callable[[Any, Any], tuple[Any, Any]]


class Pipeline:
    """A `Sequential` divided among the ranks of `grid.pipeline`, and the schedule that trains it.

    The model is cut where the stages have similar numbers of parameters, or before the layers
    `boundaries`. `parameters` are those of this rank's stage, the same as one process has with the
    same seed. The ranks of `grid.data` compute different batches, whose gradients are exchanged.

    With `recompute` a stage keeps the inputs of its micro-batches instead of all activations, and
    runs the forward pass again before the backward pass. `held` is what it held at most in the last
    step.
    """

    def __init__(
        self,
        model: Sequential,
        grid: Grid,
        *,
        seed: int,
        schedule: Schedule | None = None,
        recompute: bool = False,
        boundaries: Sequence[int] | None = None,
        dtype: npt.DTypeLike = np.float32,
        bucket: int = BUCKET,
    ) -> None:
        group = grid.pipeline
        self.grid, self.recompute = grid, recompute
        self.schedule = gpipe(group.size, 1) if schedule is None else schedule
        if len(self.schedule) != group.size:
            raise ValueError(
                f"Pipeline: expected a schedule of {group.size} stages, the ranks of the pipeline, "
                f"got {self.schedule!r}. Pass one_f_one_b({group.size}, micro_batches)."
            )
        self.stages = cut(model, group.size, boundaries)
        own, rng = self.stages[group.rank], np.random.default_rng(seed)
        for layer in model.layers[: own.start]:  # as the numbers drawn depend on those before
            for _, parameter in parts_of(layer, Parameter):
                parameter.init(rng, parameter.shape)
        self.stage = Sequential(*model.layers[own.start : own.stop])
        self.layers = (self.stage,)
        self.parameters = Parameters(self.stage, seed=rng, dtype=dtype)
        self.shards = Shards(model, self.stages, grid, self.parameters)
        self.replica = DataParallel(self.stage, self.parameters, grid.data, bucket=bucket)
        self.messages = Messages(group)
        self.held = Held(0, 0)
        self.forwards, self.backwards, self.arrivals = Pool(), Pool(), Pool()

    @property
    def first(self) -> bool:
        """Whether this rank has the first layers."""
        return self.grid.pipeline.rank == 0

    @property
    def last(self) -> bool:
        """Whether this rank has the last layers."""
        return self.grid.pipeline.rank == self.grid.pipeline.size - 1

    def gradients(self, x: Any, label: Any, loss: Loss = cross_entropy) -> Any:
        """Run the schedule on a batch; write the gradients of this stage, return the mean loss.

        loss(output, label) returns the mean over a micro-batch and the gradient of the output;
        micro-batches of different sizes are weighted by them.
        """
        step = _Step(self, x, label, loss)
        operations = self.schedule[self.grid.pipeline.rank]
        for number, (kind, micro_batch) in enumerate(operations):
            if kind == FORWARD:
                step.forward(micro_batch)
            else:
                step.backward(micro_batch, final=number == len(operations) - 1)
        self.replica.finish_backward()
        self.messages.finish()
        self.held = step.held
        total = np.array([step.loss / len(x)])
        self.grid.pipeline.broadcast(total, len(self.stages) - 1, name="the loss")
        return total[0]

    def forward(self, x: Any) -> tuple[Any, None]:
        """Return the model's output for x on every rank of the pipeline; all of them call this."""
        messages, workspace = self.messages, self.forwards.take()
        with workspace:
            given = x if self.first else messages.receive_input(_kind(x), len(x))
            out, _ = self.stage.forward(given)
            if not self.last:
                messages.send_output(out, _kind(x), len(x))
            out = messages.broadcast(out, len(self.stages) - 1)
        messages.finish()
        self.forwards.give(workspace, None)
        return out, None


@dataclass
class _MicroBatch:
    """Part of a batch on its way through a stage."""

    x: Any  # its examples, or what the stage before made of them
    label: Any
    arrival: Any = None  # where what arrived lies
    saved: Any = None
    grad: Any = None  # of the last stage's output
    workspace: Any = None  # where the activations lie
    sent: Any = None  # the message to the next stage
    buffers: dict[str, Any] | None = None  # before the forward pass, to repeat it


class _Step:
    """One run of the schedule."""

    def __init__(self, pipeline: Pipeline, x: Any, label: Any, loss: Loss) -> None:
        self.pipeline, self.evaluate, count = pipeline, loss, pipeline.schedule.micro_batches
        if len(x) < count:
            raise ValueError(
                f"Pipeline: expected an example for each of {count} micro-batches, got a batch of "
                f"{len(x)}. Pass a larger batch, a schedule of fewer micro-batches, or "
                "drop_last=True to the Loader where it is the last one of an epoch."
            )
        self.kind = _kind(x)
        ends = [len(x) * m // count for m in range(count + 1)]
        self.batches = [
            _MicroBatch(x[first:end], label[first:end]) for first, end in itertools.pairwise(ends)
        ]
        self.loss = 0.0  # the sum over all examples, on the last stage
        self.held = Held(0, 0)
        self.inputs: set[int] = set()
        self.activations: set[int] = set()

    def forward(self, m: int) -> None:
        """Run the forward pass of a micro-batch, send the output, and keep what backward needs."""
        pipeline, batch = self.pipeline, self.batches[m]
        if not pipeline.first:
            batch.arrival = pipeline.arrivals.take()
            with batch.arrival:
                batch.x = pipeline.messages.receive_input(self.kind, len(batch.label), m)
        if pipeline.recompute:
            self._hold(self.inputs, m)
            if pipeline.last:  # whose output nobody waits for
                return
            batch.buffers = _copies(pipeline.stage)
        self._run(m)
        if not pipeline.recompute:
            self._hold(self.activations, m)
            return
        batch.saved = None
        pipeline.forwards.give(batch.workspace, batch.sent)

    def backward(self, m: int, *, final: bool) -> None:
        """Run the backward pass of a micro-batch, and send the gradient of its input."""
        pipeline, batch = self.pipeline, self.batches[m]
        if pipeline.recompute:
            self._repeat(m)
            self._hold(self.activations, m)
        examples = len(batch.label)
        workspace = pipeline.backwards.take()
        with workspace, contextlib.nullcontext() if final else pipeline.replica.no_sync():
            grad = batch.grad
            if not pipeline.last:
                grad = pipeline.messages.receive_gradient(self.kind, examples, m)
            grad = pipeline.replica.start_backward(batch.saved, grad, examples)
        sent = None if pipeline.first else pipeline.messages.send_gradient(grad, m)
        pipeline.backwards.give(workspace, sent)
        pipeline.forwards.give(batch.workspace, batch.sent)
        if batch.arrival is not None:
            pipeline.arrivals.give(batch.arrival, batch.sent)
        self.batches[m] = _MicroBatch(None, None)
        self.activations.discard(m)
        self.inputs.discard(m)

    def _run(self, m: int, *, again: bool = False) -> None:
        """Run the layers and, on the last stage, the loss; send the output."""
        pipeline, batch = self.pipeline, self.batches[m]
        batch.workspace = pipeline.forwards.take()
        with batch.workspace:
            out, batch.saved = pipeline.stage.forward(batch.x)
            if pipeline.last:
                value, grad = self.evaluate(out, batch.label)
                examples = len(batch.label)
                self.loss += float(launch.to_host(value.reshape(1))[0]) * examples
                batch.grad = scaled(grad, examples)
        if not pipeline.last and not again:
            batch.sent = pipeline.messages.send_output(out, self.kind, len(batch.label), m)

    def _repeat(self, m: int) -> None:
        """Run the forward pass again, with the random numbers of the first time."""
        batch = self.batches[m]
        if batch.buffers is None:
            self._run(m)
            return
        now = _copies(self.pipeline.stage)
        _restore(self.pipeline.stage, batch.buffers)
        self._run(m, again=True)
        _restore(self.pipeline.stage, now)

    def _hold(self, kind: set[int], m: int) -> None:
        kind.add(m)
        here = Held(len(self.inputs), len(self.activations))
        self.held = Held(*map(max, self.held, here))


def _kind(x: Any) -> Any:
    """Return what the shapes of all activations depend on, but for the number of examples."""
    return tuple(x.shape[1:]), str(x.dtype)


def _copies(stage: Any) -> dict[str, Any]:
    """Return copies of a stage's buffers on the host: averages, and the counts of Dropout."""
    return {name: launch.to_host(part.value).copy() for name, part in parts_of(stage, Buffer)}


def _restore(stage: Any, copies: dict[str, Any]) -> None:
    """Set the buffers of a stage to copies of them."""
    for name, part in parts_of(stage, Buffer):
        assign(part.value, copies[name])
