"""What every transport must do: functions of a world, each of which raises where it does not.

Run as a script, on ranks that a launcher started, it prints the name of each that held.
"""

import numpy as np

from gpukit import cuda, launch, parallel


def filled(world, value, count=5, dtype=np.float32):
    """Return a device array whose numbers depend on the rank."""
    return cuda.to_device(np.full(count, value, dtype))


def poisoned(shape, dtype=np.float32):
    return cuda.to_device(np.full(shape, np.nan if np.dtype(dtype).kind == "f" else -7, dtype))


def same(array, expected):
    np.testing.assert_array_equal(launch.to_host(array), expected)


def a_message_goes_around_the_ring(world):
    got = poisoned(5)
    sending = world.isend(filled(world, world.rank), (world.rank + 1) % world.size)
    world.recv(got, (world.rank - 1) % world.size)
    sending.wait()
    same(got, [(world.rank - 1) % world.size] * 5)


def messages_of_one_tag_arrive_in_order(world):
    first, second = np.array([1, 2]), np.array([3, 4])
    works = [world.isend(array, world.rank) for array in (first, second)]
    got = [world.recv(np.full(2, -7), world.rank) for _ in works]
    for work in works:
        work.wait()
    same(np.array(got), [[1, 2], [3, 4]])


def a_tag_chooses_the_message(world):
    works = [world.isend(np.full(1, tag), world.rank, tag=tag) for tag in (7, 8)]
    got = [world.recv(np.full(1, -7), world.rank, tag=tag) for tag in (8, 7)]
    for work in works:
        work.wait()
    same(np.array(got), [[8], [7]])


def a_message_may_have_any_dtype(world):
    sent = np.arange(3, dtype=np.float16) / 3
    work = world.isend(sent, world.rank)
    same(world.recv(np.zeros(3, np.float16), world.rank), sent)
    work.wait()


def a_slice_of_an_array_is_received_in_place(world):
    whole = poisoned(6)
    work = world.isend(filled(world, 4, 2), world.rank)
    world.recv(whole[2:4], world.rank)
    work.wait()
    same(whole, [np.nan] * 2 + [4, 4] + [np.nan] * 2)


def all_reduce_adds_the_arrays_of_all_ranks(world):
    same(world.all_reduce(filled(world, world.rank + 1)), [sum(range(1, world.size + 1))] * 5)


def all_reduce_takes_the_largest_and_the_smallest(world):
    same(world.all_reduce(np.array([world.rank, -world.rank]), "max"), [world.size - 1, 0])
    same(world.all_reduce(np.array([world.rank, -world.rank]), "min"), [0, 1 - world.size])


def all_reduce_keeps_float64(world):
    same(world.all_reduce(np.array([1 + 2.0**-40])), [world.size * (1 + 2.0**-40)])


def broadcast_copies_the_array_of_the_root(world):
    root = world.size - 1
    same(world.broadcast(filled(world, world.rank), root), [root] * 5)


def all_gather_returns_the_arrays_in_the_order_of_the_ranks(world):
    rows = world.all_gather(filled(world, world.rank, 2))
    same(rows, [[rank] * 2 for rank in range(world.size)])


def all_gather_writes_to_out(world):
    out = poisoned((world.size, 2))
    assert world.all_gather(filled(world, world.rank, 2), out=out) is out
    same(out, [[rank] * 2 for rank in range(world.size)])


def reduce_scatter_gives_each_rank_a_row_of_the_sum(world):
    rows = np.arange(3 * world.size, dtype=np.float32).reshape(world.size, 3)
    got = world.reduce_scatter(rows + world.rank, poisoned(3))
    same(got, world.size * rows[world.rank] + sum(range(world.size)))


def nonblocking_operations_overlap(world):
    arrays = [filled(world, world.rank + k) for k in range(4)]
    works = [world.iall_reduce(array) for array in arrays]
    total = sum(range(world.size))
    for k, work in reversed(list(enumerate(works))):
        same(work.wait(), [total + k * world.size] * 5)


def a_barrier_returns(world):
    world.barrier()


def a_group_exchanges_among_its_ranks_only(world):
    even = [rank for rank in range(world.size) if rank % 2 == world.rank % 2]
    group = world.split(even)
    assert (group.ranks, group.rank) == (tuple(even), even.index(world.rank))
    same(group.all_reduce(np.array([world.rank])), [sum(even)])
    inner = group.split([group.rank])
    same(inner.all_reduce(np.array([world.rank])), [world.rank])


def a_window_is_read_and_added_to_by_others(world):
    exposed = np.zeros(3)
    window = world.window(exposed)
    for rank in range(world.size):
        window.accumulate(np.full(3, 1.0 + world.rank), rank)
    world.barrier()
    got = np.full(3, np.nan)
    window.get((world.rank + 1) % world.size, got)
    same(got, [sum(range(1, world.size + 1))] * 3)
    world.barrier()
    window.put(np.full(3, -1.0), world.rank)
    world.barrier()
    window.get(0, got)
    same(got, [-1] * 3)
    window.close()


def totals_adds_numbers(world):
    assert world.totals(1.5, world.rank) == (1.5 * world.size, sum(range(world.size)))


ALL = {
    name: function
    for name, function in globals().items()
    if getattr(function, "__module__", "") == __name__
    and name not in ("filled", "poisoned", "same")
}

if __name__ == "__main__":
    here = parallel.World()
    for name, function in ALL.items():
        function(here)
        here.barrier()
        if here.rank == 0:
            print(name, flush=True)
