"""Strict virtual ranks: what MPI permits and an answer must not rely on fails, with a sentence."""

import numpy as np
import pytest

from gpukit.course import rank_counts, strict_ranks
from gpukit.errors import Deadlock, RankError


def ring(group, before_wait=lambda sent: None):
    """Send this rank's number around once; return what arrives."""
    sent, got = np.full(3, float(group.rank)), np.zeros(3)
    work = group.isend(sent, (group.rank + 1) % group.size)
    before_wait(sent)
    group.recv(got, (group.rank - 1) % group.size)
    work.wait()
    return got


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_what_a_right_answer_exchanges_arrives(ranks):
    for rank, got in enumerate(strict_ranks.run(ring, ranks)):
        np.testing.assert_array_equal(got, [(rank - 1) % ranks] * 3)


def test_collective_operations_are_those_of_virtual_ranks():
    def body(group):
        own = np.full(2, group.rank + 1.0)
        gathered = group.all_gather(own)
        total = group.all_reduce(own.copy(), "max")
        row = group.reduce_scatter(gathered.copy(), np.empty(2))
        group.barrier()
        return gathered, total, row, group.broadcast(own, 2)

    for rank, (gathered, total, row, last) in enumerate(strict_ranks.run(body, 3)):
        np.testing.assert_array_equal(gathered, [[1, 1], [2, 2], [3, 3]])
        np.testing.assert_array_equal(np.stack([total, last]), [[3, 3], [3, 3]])
        np.testing.assert_array_equal(row, [3.0 * (rank + 1)] * 2)


def test_send_buffer_that_changes_too_early_raises():
    with pytest.raises(RankError, match="array of a send was changed before the send was complete"):
        strict_ranks.run(lambda group: ring(group, lambda sent: sent.fill(9)), 2)


def test_receive_buffer_that_is_read_too_early_holds_nan():
    def body(group):
        got = np.zeros(2)
        work = group.irecv(got, 1 - group.rank)
        early = got.copy()
        group.isend(np.ones(2), 1 - group.rank).wait()
        work.wait()
        return early

    with pytest.raises(RankError, match=r"rank \d has returned NaN"):
        strict_ranks.run(body, 2)


def test_all_reduce_in_progress_holds_nan_even_where_all_ranks_have_called_it():
    def body(group):
        array = np.ones(2)
        work = group.iall_reduce(array)
        early = array + 0
        work.wait()
        return early

    with pytest.raises(RankError, match="has returned NaN"):
        strict_ranks.run(body, 2)


def test_operation_that_nobody_waits_for_raises():
    def body(group):
        group.iall_reduce(np.ones(2))

    with pytest.raises(RankError, match="without waiting for a collective operation"):
        strict_ranks.run(body, 2)


def test_collective_operations_that_differ_are_named_with_their_ranks():
    def body(group):
        return group.all_reduce(np.ones(2 + group.rank))

    with pytest.raises(RankError, match=r"rank 1 calls all_reduce of \(3,\) float64 op sum, but"):
        strict_ranks.run(body, 2)


def test_deadlock_leads_to_the_line_of_the_answer():
    def body(group):
        group.send(np.ones(1), 1 - group.rank)

    with pytest.raises(Deadlock) as caught:
        strict_ranks.run(body, 2)
    assert any(entry.name == "body" and "send" in str(entry) for entry in caught.traceback)


def test_counts_are_those_of_the_rank_that_sends_most():
    def body(group):
        if group.rank == 0:
            for _ in range(3):
                group.send(np.zeros(5, np.float32), 1)
        elif group.rank == 1:
            for _ in range(3):
                group.recv(np.zeros(5, np.float32), 0)
        group.all_reduce(np.zeros(2))

    with rank_counts.counting() as counts:
        strict_ranks.run(body, 3)
    assert counts.most() == {
        "messages": 3,
        "message_bytes": 60,
        "collectives": 1,
        "collective_bytes": 16,
    }


def test_nothing_is_counted_afterwards():
    with rank_counts.counting() as counts:
        pass
    strict_ranks.run(ring, 2)
    assert set(counts.most().values()) == {0}
