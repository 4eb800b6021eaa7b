"""The messages between the stages of a pipeline: activations forward, gradients back.

No send is waited for before the end of a step: it may complete only once the other stage receives,
which itself may be sending. So what a message is read from must not be written until then.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from gpukit.parallel.world import Group, Work
from gpukit.workspace import Workspace, take

OUTPUT, GRADIENT = "activations", "gradient"
SHAPE = 0  # a tag; `_named` has those of other messages
HEADER = 256  # bytes


class Pool:
    """Workspaces for passes whose arrays must outlive the next passes."""

    def __init__(self) -> None:
        self.free: list[Workspace] = []
        self.waiting: list[tuple[Workspace, Work]] = []

    def take(self) -> Workspace:
        """Return a workspace that nobody reads any more, a new one if there is none."""
        sent = [pair for pair in self.waiting if pair[1].done()]
        self.waiting = [pair for pair in self.waiting if pair not in sent]
        self.free += [workspace for workspace, _ in sent]
        return self.free.pop() if self.free else Workspace()

    def give(self, workspace: Workspace, sending: Work | None) -> None:
        """Take a workspace back, once a message that is read from it has been sent."""
        if sending is None:
            self.free.append(workspace)
        else:
            self.waiting.append((workspace, sending))


class Messages:
    """What one stage exchanges with the stages before and after it.

    A stage learns the shape of its input from the stage before it, with the first micro-batch of
    examples of a shape and dtype, `kind`. The first axis counts examples.
    """

    def __init__(self, group: Group) -> None:
        self.group = group
        self.inputs: dict[Any, tuple[tuple[int, ...], Any]] = {}  # shape per example, and dtype
        self.outputs: dict[Any, tuple[tuple[int, ...], Any]] = {}
        self.sent: list[Work] = []

    def receive_input(self, kind: Any, examples: int, m: int = 0) -> Any:
        """Return what the stage before made of micro-batch m, of so many examples."""
        before = self.group.rank - 1
        if kind not in self.inputs:
            header = np.empty(HEADER, np.uint8)
            self.group.recv(header, before, tag=SHAPE, name="shape of activations")
            self.inputs[kind] = _unpacked(header)
        shape, dtype = self.inputs[kind]
        array = take((examples, *shape), dtype, on_device=True)
        return self.group.recv(array, before, **_named(OUTPUT, m))

    def send_output(self, out: Any, kind: Any, examples: int, m: int = 0) -> Work:
        """Send what this stage made of micro-batch m, of so many examples."""
        after = self.group.rank + 1
        if len(out) != examples:
            raise ValueError(
                f"Pipeline: expected stage {self.group.rank} to return a row for each of "
                f"{examples} examples, got shape {tuple(out.shape)}. Pass boundaries that cut the "
                "model where the first axis counts examples."
            )
        if kind not in self.outputs:
            self.outputs[kind] = tuple(out.shape[1:]), out.dtype
            header = _packed(out)
            self._send(header, after, tag=SHAPE, name="shape of activations")
        return self._send(out, after, **_named(OUTPUT, m))

    def receive_gradient(self, kind: Any, examples: int, m: int) -> Any:
        """Return the gradient of what this stage made of micro-batch m, of so many examples."""
        shape, dtype = self.outputs[kind]
        array = take((examples, *shape), dtype, on_device=True)
        return self.group.recv(array, self.group.rank + 1, **_named(GRADIENT, m))

    def send_gradient(self, grad: Any, m: int) -> Work:
        """Send the gradient of the input of micro-batch m to the stage before."""
        if grad is None:
            raise ValueError(
                f"Pipeline: expected stage {self.group.rank} to return the gradient of its input, "
                "got None. Build its first layers without first=True, and let no stage before it "
                "consist of layers that need no gradient."
            )
        return self._send(grad, self.group.rank - 1, **_named(GRADIENT, m))

    def broadcast(self, out: Any, root: int) -> Any:
        """Return the output of stage `root` on all of them."""
        here = self.group.rank == root
        header = _packed(out) if here else np.empty(HEADER, np.uint8)
        self.group.broadcast(header, root, name="shape of the output")
        if not here:
            out = take(*_unpacked(header, rows=True), on_device=True)
        return self.group.broadcast(out, root, name="output")

    def finish(self) -> None:
        """Wait until all messages have been received."""
        for work in self.sent:
            work.wait()
        self.sent = []

    def _send(self, array: Any, dest: int, *, tag: int, name: str) -> Work:
        work = self.group.isend(array, dest, tag=tag, name=name)
        self.sent.append(work)
        return work


def _named(what: str, m: int) -> dict[str, Any]:
    """Return tag and name of a message, by which two stages may run micro-batches in any order."""
    return {"tag": 1 + 2 * m + (what == GRADIENT), "name": f"{what} of micro-batch {m}"}


def _packed(array: Any) -> Any:
    """Return dtype and shape of an array as bytes."""
    text = json.dumps([array.dtype.str, *array.shape]).encode().ljust(HEADER)
    return np.frombuffer(text, np.uint8).copy()


def _unpacked(header: Any, *, rows: bool = False) -> tuple[tuple[int, ...], Any]:
    """Return shape and dtype from bytes; without `rows`, the shape of one example."""
    dtype, *shape = json.loads(header.tobytes())
    return tuple(shape if rows else shape[1:]), np.dtype(dtype)
