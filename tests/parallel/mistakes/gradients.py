"""Gradients that are exchanged wrongly, or that are the wrong ones."""

from tests.parallel import parallel_programs as programs
from tests.parallel.mistakes.corpus import ALL, mistake

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
    programs.by_hand,
    "sum_of_unequal_parts",
    "unequal-parts",
    """
Adds up the means of parts of 9, 9 and 8 examples and divides by nothing.
-        sums = parameters.grad.copy_to_host() * np.float32(len(mine))
-        world.all_reduce(sums, name="gradients")
-        parameters.grad.copy_to_device(sums / np.float32(N))
+        sums = parameters.grad.copy_to_host()
+        world.all_reduce(sums, name="gradients")  # BUG
+        parameters.grad.copy_to_device(sums)
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
