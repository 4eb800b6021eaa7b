"""Messages and collective operations that do not fit together, or are not waited for."""

from tests.parallel import parallel_programs as programs
from tests.parallel.mistakes.corpus import ALL, mistake

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
    "not_sent",
    "never-sent",
    """
Expects a last message from the neighbour, which sends none.
     return {"cells": cells[1:-1]}
+
+
+def halo(world, smoothed=halo):
+    world.irecv(np.zeros(1), (world.rank + 1) % world.size, tag=3).done()  # BUG
+    return smoothed(world)
""",
)
mistake(
    programs.groups,
    "other_order",
    "message-order",
    """
Sends a weight and a bias of one shape, and receives them in the other order.
-    world.barrier()
+    for name in ("weight", "bias")[:: 1 - 2 * world.rank]:
+        if world.rank == 1:
+            world.recv(np.ones(2), 0, name=name)  # BUG
+        elif world.size > 1:
+            world.send(np.ones(2), 1, name=name)  # BUG
""",
)
mistake(
    programs.by_hand,
    "exception",
    "raised",
    """
Raises an exception on rank 1 in the second step.
-        out, saved = model.forward(x)
+        if world.rank == 1 and step == 1:
+            raise ValueError("no examples")  # BUG
+        out, saved = model.forward(x)
""",
    ranks=(1,),
)
