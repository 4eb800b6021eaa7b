"""Models that are split over ranks, random numbers, parameters that drift apart."""

from tests.parallel import parallel_programs as programs
from tests.parallel.mistakes.corpus import ALL, mistake

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
