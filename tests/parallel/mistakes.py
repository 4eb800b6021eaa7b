"""The corpus of mistakes in parallel programs: edits of right ones (`parallel_programs`).

A finding must be at a line with the mark `# BUG`, name the parameter if one is given, and the ranks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tests.bugs.edit import edit
from tests.parallel import parallel_programs as programs


class Mistake(NamedTuple):
    """A wrong program, the class of the finding, and what the finding must name."""

    program: Callable[[Any], Any]
    right: Callable[[Any], Any]
    kind: str
    sentence: str
    lines: set[int]
    parameters: tuple[str, ...]
    ranks: tuple[int, ...]
    size: int
    alone: Callable[[Any], Any] | bool


MISTAKES: dict[str, Mistake] = {}
ALL = ("0.bias", "0.weight", "2.bias", "2.weight")


def mistake(
    right: Callable[[Any], Any],
    name: str,
    kind: str,
    text: str,
    *,
    parameters: tuple[str, ...] = (),
    ranks: tuple[int, ...] = (0, 1),
    size: int = 2,
    alone: Callable[[Any], Any] | bool = True,
) -> None:
    """Put a mistake into the corpus: a sentence about it, then an edit of the right program."""
    sentence, _, hunks = text.strip("\n").partition("\n")
    name = f"{name}-{kind}"
    if name in MISTAKES:
        raise ValueError(f"two mistakes of the corpus are called {name!r}")
    wrong, lines = edit([right], hunks, name)
    MISTAKES[name] = Mistake(wrong, right, kind, sentence, lines, parameters, ranks, size, alone)


# --- Exchanges of gradients ----------------------------------------------------------------------

mistake(
    programs.by_hand,
    "forgotten",
    "missing-exchange",
    """
Forgets the exchange: every rank trains on its own examples.
-        world.all_reduce(sums, name="gradients")
@@
-        optimizer.step()
+        optimizer.step()  # BUG
""",
    parameters=ALL,
)
mistake(
    programs.in_place,
    "one_parameter_forgotten",
    "missing-exchange",
    """
Exchanges the weights and forgets the biases.
-            for parameter in (layer.weight, layer.bias):
+            for parameter in (layer.weight,):
@@
-        optimizer.step()
+        optimizer.step()  # BUG
""",
    parameters=("0.bias", "2.bias"),
)
mistake(
    programs.in_place,
    "group_too_small",
    "missing-exchange",
    """
Exchanges in pairs of ranks, which drift apart from each other.
-    for step in range(3):
+    first = world.rank // 2 * 2
+    pair = world.split([first, first + 1])
+    for step in range(3):
@@
-                works.append(world.iall_reduce(parameter.grad))
+                works.append(pair.iall_reduce(parameter.grad))  # BUG
@@
-        parallel.data.scale(parameters.grad, 1 / world.size)
+        parallel.data.scale(parameters.grad, 1 / 2)
""",
    parameters=ALL,
    ranks=(0, 1, 2, 3),
    size=4,
)
mistake(
    programs.in_place,
    "after_the_step",
    "late-exchange",
    """
Exchanges the gradients after the optimizer has used them.
-        works = []
-        for layer in layers:
+        optimizer.step()  # BUG
+        works = []
+        for layer in layers:
@@
-                works.append(world.iall_reduce(parameter.grad))
+                works.append(world.iall_reduce(parameter.grad))  # BUG
@@
-        optimizer.step()
     return parameters
""",
    parameters=ALL,
)
mistake(
    programs.by_hand,
    "before_backward",
    "early-exchange",
    """
Exchanges the gradients of the step before, and computes new ones afterwards.
-        model.backward(saved, grad)
         sums = parameters.grad.copy_to_host() * np.float32(len(mine))
-        world.all_reduce(sums, name="gradients")
+        world.all_reduce(sums, name="gradients")  # BUG
         parameters.grad.copy_to_device(sums / np.float32(N))
+        model.backward(saved, grad)
""",
    parameters=ALL,
)
mistake(
    programs.by_hand,
    "result_thrown_away",
    "lost-result",
    """
Exchanges a copy of the gradients and does not copy it back.
-        world.all_reduce(sums, name="gradients")
-        parameters.grad.copy_to_device(sums / np.float32(N))
+        world.all_reduce(sums, name="gradients")  # BUG
""",
    parameters=ALL,
)
mistake(
    programs.by_hand,
    "result_used_on_one_rank",
    "lost-result",
    """
Copies the result back on rank 0 only.
-        world.all_reduce(sums, name="gradients")
-        parameters.grad.copy_to_device(sums / np.float32(N))
+        world.all_reduce(sums, name="gradients")  # BUG
+        if world.rank == 0:
+            parameters.grad.copy_to_device(sums / np.float32(N))
""",
    parameters=ALL,
    ranks=(0, 1, 2),
    size=3,
)
mistake(
    programs.in_place,
    "twice",
    "repeated-exchange",
    """
Exchanges gradients that were exchanged already, by parameter and once more as a whole.
         parallel.data.scale(parameters.grad, 1 / world.size)
+        world.all_reduce(parameters.grad)  # BUG
""",
    parameters=ALL,
    ranks=(0, 1, 2),
    size=3,
)
mistake(
    programs.accumulation,
    "by_hand_and_by_data_parallel",
    "repeated-exchange",
    """
Sums gradients that DataParallel has exchanged already.
         replica.backward(saved, grad)
-        optimizer.step()
+        world.all_reduce(parameters.grad)  # BUG
+        optimizer.step()
""",
    parameters=ALL,
)
mistake(
    programs.accumulation_by_hand,
    "with_every_part",
    "repeated-exchange",
    """
Exchanges the sum so far after every part, so that the earlier parts are summed again.
             total += parameters.grad.copy_to_host() * np.float32(len(mine))
-        world.all_reduce(total)
+            world.all_reduce(total)  # BUG
""",
    parameters=ALL,
)
mistake(
    programs.in_place,
    "not_divided",
    "summed",
    """
Leaves out the division by the number of ranks: a learning rate three times as high.
-                works.append(world.iall_reduce(parameter.grad))
+                works.append(world.iall_reduce(parameter.grad))  # BUG
@@
-        parallel.data.scale(parameters.grad, 1 / world.size)
""",
    parameters=ALL,
    ranks=(0, 1, 2),
    size=3,
)
mistake(
    programs.ring,
    "ring_not_divided",
    "summed",
    """
Sums means in a ring and does not divide.
-    mine = np.array_split(np.arange(N), n)[rank]
+    mine = np.arange(24)[rank::n]
@@
-        gradients = parameters.grad.copy_to_host() * np.float32(len(mine) / N)
+        gradients = parameters.grad.copy_to_host()
@@
-        optimizer.step()
+        optimizer.step()  # BUG
""",
    parameters=ALL,
)
mistake(
    programs.by_hand,
    "divided_twice",
    "averaged",
    """
Divides by the number of ranks although the weights add up to one.
-        world.all_reduce(sums, name="gradients")
-        parameters.grad.copy_to_device(sums / np.float32(N))
+        world.all_reduce(sums, name="gradients")  # BUG
+        parameters.grad.copy_to_device(sums / np.float32(N) / np.float32(world.size))
""",
    parameters=ALL,
)
mistake(
    programs.accumulation_by_hand,
    "divided_by_the_own_part",
    "scaled",
    """
Divides the sum by the examples of one rank and one part: the sum over four parts is meant.
-        world.all_reduce(total)
-        parameters.grad.copy_to_device(total / np.float32(24))
+        world.all_reduce(total)  # BUG
+        parameters.grad.copy_to_device(total / np.float32(6))
""",
    parameters=ALL,
    alone=programs.accumulation_by_hand,
)
mistake(
    programs.by_hand,
    "divided_by_the_own_count",
    "scaled",
    """
Divides by the number of its own examples times the ranks, which differs between ranks.
-        world.all_reduce(sums, name="gradients")
-        parameters.grad.copy_to_device(sums / np.float32(N))
+        world.all_reduce(sums, name="gradients")  # BUG
+        parameters.grad.copy_to_device(sums / np.float32(len(mine) * world.size))
""",
    parameters=ALL,
    ranks=(0, 1, 2),
    size=3,
)
mistake(
    programs.by_hand,
    "means_of_unequal_parts",
    "unequal-parts",
    """
Averages the means of parts of 9, 9 and 8 examples with equal weights.
-        sums = parameters.grad.copy_to_host() * np.float32(len(mine))
-        world.all_reduce(sums, name="gradients")
-        parameters.grad.copy_to_device(sums / np.float32(N))
+        sums = parameters.grad.copy_to_host()
+        world.all_reduce(sums, name="gradients")  # BUG
+        parameters.grad.copy_to_device(sums / np.float32(world.size))
""",
    parameters=("0.weight",),
    ranks=(0, 1, 2),
    size=3,
)
mistake(
    programs.in_place,
    "same_examples",
    "same-batch",
    """
Gives every rank the same examples, those of rank 0.
-    mine = np.arange(24)[world.rank :: world.size]
+    mine = np.arange(24)[:: world.size]
@@
-                works.append(world.iall_reduce(parameter.grad))
+                works.append(world.iall_reduce(parameter.grad))  # BUG
""",
    parameters=ALL,
)
mistake(
    programs.in_place,
    "batch_skipped",
    "stale-gradient",
    """
Skips a batch on rank 1, which takes part in the exchange with the gradients of the step before.
-        model.backward(saved, grad)
+        if not (world.rank == 1 and step == 1):
+            model.backward(saved, grad)
@@
-                works.append(world.iall_reduce(parameter.grad))
+                works.append(world.iall_reduce(parameter.grad))  # BUG
""",
    parameters=ALL,
)
mistake(
    programs.in_place,
    "no_backward",
    "stale-gradient",
    """
Computes no gradients on rank 1 at first, so that the others average with zeros.
-        model.backward(saved, grad)
+        if world.rank != 1 or step > 0:
+            model.backward(saved, grad)
@@
-                works.append(world.iall_reduce(parameter.grad))
+                works.append(world.iall_reduce(parameter.grad))  # BUG
""",
    parameters=ALL,
    ranks=(0, 1, 2),
    size=3,
)

# --- Messages and collective operations ----------------------------------------------------------

mistake(
    programs.in_place,
    "step_before_wait",
    "in-flight",
    """
Scales and uses gradients while their exchange is in progress.
-        for work in works:
-            work.wait()
-        parallel.data.scale(parameters.grad, 1 / world.size)
+        parallel.data.scale(parameters.grad, 1 / world.size)  # BUG
@@
         optimizer.step()
+        for work in works:
+            work.wait()
""",
    parameters=ALL,
)
mistake(
    programs.in_place,
    "exchange_in_backward",
    "in-flight",
    """
Starts the exchange before the backward pass, which overwrites the array.
-        model.backward(saved, grad)
         works = []
@@
-                works.append(world.iall_reduce(parameter.grad))
+                works.append(world.iall_reduce(parameter.grad))
+        model.backward(saved, grad)  # BUG
""",
    parameters=ALL,
)
mistake(
    programs.by_hand,
    "never_waited",
    "not-waited",
    """
Starts the exchange and never waits for it.
-        world.all_reduce(sums, name="gradients")
+        sums = world.iall_reduce(sums, name="gradients").result  # BUG
@@
-        parameters.grad.copy_to_device(sums / np.float32(N))
+        world.barrier()
""",
    parameters=ALL,
)
mistake(
    programs.by_hand,
    "buffer_reused",
    "in-flight",
    """
Changes the array on the host between the start of the exchange and its wait.
-        world.all_reduce(sums, name="gradients")
+        work = world.iall_reduce(sums, name="gradients")  # BUG
+        sums /= np.float32(N)
+        work.wait()
@@
-        parameters.grad.copy_to_device(sums / np.float32(N))
+        parameters.grad.copy_to_device(sums)
""",
    parameters=ALL,
)
mistake(
    programs.by_hand,
    "fewer_steps",
    "rank-left",
    """
Makes one step less on rank 1, and leaves rank 0 alone in the exchange.
-    for step in range(2):
+    for step in range(2 - world.rank):
@@
-        world.all_reduce(sums, name="gradients")
+        world.all_reduce(sums, name="gradients")  # BUG
""",
)
mistake(
    programs.by_hand,
    "only_on_rank_0",
    "collective-mismatch",
    """
Calls a broadcast on rank 0 only: the other ranks are in the exchange of gradients.
+        if world.rank == 0:
+            world.broadcast(np.zeros(1), name="loss")  # BUG
         sums = parameters.grad.copy_to_host() * np.float32(len(mine))
-        world.all_reduce(sums, name="gradients")
+        world.all_reduce(sums, name="gradients")  # BUG
""",
)
mistake(
    programs.groups,
    "different_roots",
    "collective-mismatch",
    """
Broadcasts from each rank itself.
-    team.broadcast(total, 0, name="result")
+    team.broadcast(total, world.rank, name="result")  # BUG
""",
)
mistake(
    programs.groups,
    "different_operations",
    "collective-mismatch",
    """
Takes a sum on one rank and the largest on the other one.
-    total = team.all_reduce(np.array([1.0 + world.rank]), name="total")
+    op = "max" if world.rank else "sum"
+    total = team.all_reduce(np.array([1.0 + world.rank]), op, name="total")  # BUG
""",
)
mistake(
    programs.groups,
    "different_shapes",
    "collective-mismatch",
    """
Sums arrays of different lengths.
-    total = team.all_reduce(np.array([1.0 + world.rank]), name="total")
+    total = team.all_reduce(np.ones(1 + world.rank), name="total")  # BUG
""",
)
mistake(
    programs.in_place,
    "other_order",
    "collective-order",
    """
Exchanges the layers in another order on rank 1; biases and weights are padded to one shape.
-    layers = [model.layers[0], model.layers[2]]
+    padded = [np.zeros(30, np.float32) for _ in range(2)]
+    names = ["first", "second"][:: 1 - 2 * world.rank]
+    layers = [model.layers[0], model.layers[2]]
+    for array, name in zip(padded, names, strict=True):
+        world.all_reduce(array, name=name)  # BUG
""",
)
mistake(
    programs.halo,
    "send_first",
    "deadlock",
    """
Sends to both neighbours before receiving, by calls that wait for the receiver.
-        works = []
-        if world.rank > 0:
+        works = []
+        if world.rank > 0:
+            world.send(cells[1:2], world.rank - 1, tag=2, name="left edge")  # BUG
@@
-        if world.rank < world.size - 1:
+        if world.rank < world.size - 1:
+            world.send(cells[-2:-1], world.rank + 1, tag=1, name="right edge")  # BUG
@@
-            works.append(world.isend(cells[1:2], world.rank - 1, tag=2, name="left edge"))
@@
-            works.append(world.isend(cells[-2:-1], world.rank + 1, tag=1, name="right edge"))
""",
)
mistake(
    programs.ring,
    "receive_first",
    "deadlock",
    """
Receives from the left before sending to the right, as all ranks do.
-            sending = world.isend(chunks[(rank - k) % n], right)
-            target = chunks[(rank - k - 1) % n]
-            target += world.recv(np.empty_like(target), left)
-            sending.wait()
+            target = chunks[(rank - k - 1) % n]
+            target += world.recv(np.empty_like(target), left)  # BUG
+            world.send(chunks[(rank - k) % n], right)
""",
    ranks=(0, 1, 2),
    size=3,
)
mistake(
    programs.halo,
    "wrong_tag",
    "message-mismatch",
    """
Receives the left halo with the tag of the other direction.
-            works.append(world.irecv(cells[:1], world.rank - 1, tag=1, name="left halo"))
+            works.append(world.irecv(cells[:1], world.rank - 1, tag=2, name="left halo"))  # BUG
""",
)
mistake(
    programs.halo,
    "two_cells",
    "message-mismatch",
    """
Sends two cells where one is received.
-            works.append(world.isend(cells[1:2], world.rank - 1, tag=2, name="left edge"))
+            works.append(world.isend(cells[1:3], world.rank - 1, tag=2, name="left edge"))  # BUG
""",
)
mistake(
    programs.halo,
    "not_received",
    "never-received",
    """
Sends the last edge once more, which no rank receives.
     return {"cells": cells[1:-1]}
+
+
+def halo(world, smoothed=halo):
+    world.isend(np.zeros(1), (world.rank + 1) % world.size, tag=3).done()  # BUG
+    return smoothed(world)
""",
)
mistake(
    programs.halo,
    "wrong_cell",
    "different-result",
    """
Sends its halo instead of its own last cell.
-            works.append(world.isend(cells[-2:-1], world.rank + 1, tag=1, name="right edge"))
+            edge = cells[-1:].copy()
+            works.append(world.isend(edge, world.rank + 1, tag=1, name="right edge"))
""",
    parameters=("cells",),
)
mistake(
    programs.pipeline,
    "backward_in_reverse",
    "different-gradient",
    """
Goes back through the micro-batches in reverse order on the last stage only.
-        for rows, out, saved in kept:
+        for rows, out, saved in kept[:: -1 if final else 1]:
@@
-        optimizer.step()
+        optimizer.step()  # BUG
""",
    parameters=("0.weight",),
    ranks=(0,),
)
mistake(
    programs.pipeline,
    "micro_batches_not_averaged",
    "scaled",
    """
Adds the gradients of the micro-batches and divides on one process only.
-        parameters.grad.copy_to_device(total / np.float32(2))
-        optimizer.step()
+        parameters.grad.copy_to_device(total / np.float32(2 if stages == 1 else 1))
+        optimizer.step()  # BUG
""",
    parameters=ALL,
)

# --- Tensor parallel, random numbers, parameters -------------------------------------------------

mistake(
    programs.tensor_parallel,
    "bias_on_every_rank",
    "repeated-bias",
    """
Adds the bias to each rank's part of the product, before the parts are summed.
-        world.all_reduce(out, name="activations")
-        out = cuda.to_device(out.copy_to_host() + last.bias.value.copy_to_host())
+        out = cuda.to_device(out.copy_to_host() + last.bias.value.copy_to_host())
+        world.all_reduce(out, name="activations")  # BUG
@@
-    parameters.load(mine)
+    mine["bias"] = mine["bias"] + np.float32(0.25)
+    parameters.load(mine)
""",
    parameters=("1.bias",),
    ranks=(0, 1, 2),
    size=3,
)
mistake(
    programs.tensor_parallel,
    "activations_not_summed",
    "missing-exchange",
    """
Computes the loss from each rank's part of the product.
-        world.all_reduce(out, name="activations")
@@
-        optimizer.step()
+        optimizer.step()  # BUG
""",
    parameters=("1.bias",),
)
mistake(
    programs.wrapped,
    "masks_all_the_same",
    "equal-masks",
    """
Undoes the seed that DataParallel gives each rank.
-    loader = nn.Loader(IMAGES, LABELS, batch=11, rank=world.rank, ranks=world.size)
+    model.layers[2].seed = 3
+    loader = nn.Loader(IMAGES, LABELS, batch=8, rank=world.rank, ranks=world.size, drop_last=True)
@@
-    nn.fit(replica, optimizer, loader, epochs=2, report=False, world=world)
+    nn.fit(replica, optimizer, loader, epochs=2, report=False, world=world)  # BUG
""",
)
mistake(
    programs.replicated_dropout,
    "masks_differ",
    "different-masks",
    """
Gives each rank a seed of its own where all hold copies of the activations.
-    seed = 5
+    seed = 5 + world.rank
@@
-    dropped = gpukit.dropout(x, 0.5, seed=seed, offset=0)
+    dropped = gpukit.dropout(x, 0.5, seed=seed, offset=0)  # BUG
""",
)
mistake(
    programs.by_hand,
    "seed_of_each_rank",
    "different-start",
    """
Initializes with the rank as the seed and copies nothing.
-    parameters = nn.Parameters(model, seed=0)
+    parameters = nn.Parameters(model, seed=world.rank)
@@
-        optimizer.step()
+        optimizer.step()  # BUG
""",
    parameters=ALL,
)
mistake(
    programs.by_hand,
    "other_learning_rate",
    "drift",
    """
Trains with another learning rate on rank 1.
-    optimizer = nn.Momentum(parameters, lr=0.1)
+    optimizer = nn.Momentum(parameters, lr=0.1 * (1 + world.rank))
@@
-        optimizer.step()
+        optimizer.step()  # BUG
""",
    parameters=ALL,
)
mistake(
    programs.by_hand,
    "scaled_learning_rate",
    "different-update",
    """
Multiplies the learning rate by the number of ranks for a batch that does not grow.
-    optimizer = nn.Momentum(parameters, lr=0.1)
+    optimizer = nn.Momentum(parameters, lr=0.1 * world.size)
@@
-        optimizer.step()
+        optimizer.step()  # BUG
""",
    parameters=("0.weight",),
)
mistake(
    programs.by_hand,
    "changed_between_steps",
    "drift",
    """
Clips the parameters on rank 0 after the update.
-        optimizer.step()
+        optimizer.step()  # BUG
+        if world.rank == 0:
+            parameters.value.copy_to_device(parameters.value.copy_to_host().clip(-0.1, 0.1))
""",
    parameters=ALL,
)
mistake(
    programs.by_hand,
    "update_on_one_rank",
    "different-steps",
    """
Leaves out the last update on rank 1.
-        optimizer.step()
+        if world.rank == 0 or step == 0:
+            optimizer.step()  # BUG
""",
)
mistake(
    programs.averaged,
    "parameters_summed",
    "summed",
    """
Sums the parameters and does not divide.
-            world.all_reduce(parameters.value, name="parameters")
-            parallel.data.scale(parameters.value, 1 / world.size)
+            world.all_reduce(parameters.value, name="parameters")  # BUG
""",
    parameters=("0.weight",),
)
mistake(
    programs.averaged,
    "not_averaged_at_the_end",
    "drift",
    """
Ends two updates after the last average.
-        if step % 2 == 1:
-            world.all_reduce(parameters.value, name="parameters")
+        if step == 1:
+            world.all_reduce(parameters.value, name="parameters")  # BUG
""",
    parameters=("0.weight",),
)
