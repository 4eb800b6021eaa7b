"""Formulas of collectives and steps against messages counted one by one."""

import math
import random

import pytest

from gpukit.parallel import cost_model
from gpukit.parallel.cost_model import ALL_REDUCE
from gpukit.parallel.links import Link, Piece

RANKS = (1, 2, 3, 4, 7, 8, 24, 64)
LINK = Link(3e-6, 2e9, (Piece(100_000, 20e-6, 9e9),))
LATENCY, BANDWIDTH = Link(latency=1.0), Link(bandwidth=1.0)


# ---- collectives, on real lists ------------------------------------------------------------------


class Ranks:
    """Ranks that hold lists of numbers and exchange parts of them; each step costs its longest."""

    def __init__(self, ranks, link, size=840):
        self.link, self.seconds, self.size = link, 0.0, size
        self.data = [[float(r * 1000 + i) for i in range(size)] for r in range(ranks)]

    def step(self, messages):
        """Send all at once: (from, to, first, last, whether to add)."""
        sent = [(to, a, b, add, self.data[at][a:b]) for at, to, a, b, add in messages]
        for to, a, b, add, part in sent:
            old = self.data[to][a:b]
            self.data[to][a:b] = [x + y for x, y in zip(old, part, strict=True)] if add else part
        longest = max(b - a for _, _, a, b, _ in messages)
        self.seconds += self.link.seconds(8 * longest)

    def summed(self):
        p, size = len(self.data), self.size
        whole = [float(sum(r * 1000 + i for r in range(p))) for i in range(size)]
        return all(rank == whole for rank in self.data)


def ring(world):
    p = len(world.data)
    part = world.size // p
    for k in range(2 * (p - 1)):
        moved = [(r, (r + 1) % p, (r - k) % p * part, k < p - 1) for r in range(p)]
        world.step([(r, to, a, a + part, add) for r, to, a, add in moved])


def tree(world):
    p, whole = len(world.data), world.size
    distances = [2**k for k in range(math.ceil(math.log2(p)))]
    for d in distances:
        world.step([(r, r - d, 0, whole, True) for r in range(d, p, 2 * d)])
    for d in reversed(distances):
        world.step([(r - d, r, 0, whole, False) for r in range(d, p, 2 * d)])


def folded(world, inner):
    """Run a collective on a power of two of the ranks, the others send before and receive after."""
    p, whole = len(world.data), world.size
    core = 2 ** int(math.log2(p))
    extra = range(core, p)
    if extra:
        world.step([(r, r - core, 0, whole, True) for r in extra])
    inner(world, core)
    if extra:
        world.step([(r - core, r, 0, whole, False) for r in extra])


def doubling(world, core):
    for k in range(int(math.log2(core))):
        world.step([(r, r ^ 2**k, 0, world.size, True) for r in range(core)])


def halving(world, core):
    spans = [(0, world.size)] * core
    for k in range(int(math.log2(core))):
        halves = []
        for r, (a, b) in enumerate(spans):
            middle = (a + b) // 2
            halves.append((a, middle) if not r & 2**k else (middle, b))
        world.step([(r, r ^ 2**k, *halves[r ^ 2**k], True) for r in range(core)])
        spans = halves
    for k in reversed(range(int(math.log2(core)))):
        world.step([(r, r ^ 2**k, *spans[r], False) for r in range(core)])
        spans = [
            (min(spans[r][0], spans[r ^ 2**k][0]), max(spans[r][1], spans[r ^ 2**k][1]))
            for r in range(core)
        ]


RUN = {
    "ring": ring,
    "tree": tree,
    "recursive doubling": lambda world: folded(world, doubling),
    "halving and doubling": lambda world: folded(world, halving),
}


@pytest.mark.parametrize("name", ALL_REDUCE)
@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("link", [LINK, LATENCY, BANDWIDTH], ids=["link", "latency", "bandwidth"])
def test_formula_is_the_time_of_the_messages_that_add_lists_up(name, ranks, link):
    world = Ranks(ranks, link, size=64 * 21)  # all of RANKS divide it, and so do their halves
    RUN[name](world)
    assert world.summed()
    expected = ALL_REDUCE[name](link, ranks, 8 * world.size)
    assert world.seconds == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", ALL_REDUCE)
def test_work_of_each_step_is_added_once_per_message(name):
    without = ALL_REDUCE[name](LINK, 8, 1e6)
    steps = ALL_REDUCE[name](LATENCY, 8, 0)
    assert ALL_REDUCE[name](LINK, 8, 1e6, per_step=0.5) == pytest.approx(without + steps * 0.5)


def test_large_arrays_go_around_a_ring_or_in_halves_and_small_ones_double():
    link = Link(5e-6, 10e9)
    assert cost_model.fastest_all_reduce(link, 64, 8)[0] == "recursive doubling"
    assert cost_model.fastest_all_reduce(link, 64, 1e9)[0] == "halving and doubling"
    assert cost_model.fastest_all_reduce(link, 48, 1e9)[0] == "ring"


# ---- steps ---------------------------------------------------------------------------------------


def test_step_without_overlap_takes_compute_and_all_reductions():
    step = cost_model.data_parallel_step(1.0, 2.0, [3.0, 4.0], lambda n: n, overlap=False)
    assert step == (10.0, 3.0, 7.0, 7.0)


def test_step_with_overlap_exposes_what_follows_the_backward_pass():
    """Buckets of 1 and 3 bytes are full at 1.5 and 3; their reductions take 1 and 3 seconds."""
    step = cost_model.data_parallel_step(1.0, 2.0, [1.0, 3.0], lambda n: n)
    assert step == (6.0, 3.0, 4.0, 3.0)


def test_bucket_waits_for_the_one_before():
    step = cost_model.data_parallel_step(0.0, 2.0, [5.0, 5.0], lambda n: n)
    assert step.seconds == 1.0 + 5.0 + 5.0


def test_overlap_never_makes_a_step_slower():
    rng = random.Random(3)
    for _ in range(50):
        buckets = [rng.uniform(0.1, 3) for _ in range(rng.randint(1, 6))]
        both = [
            cost_model.data_parallel_step(1.0, 2.0, buckets, lambda n: n, overlap=overlap).seconds
            for overlap in (True, False)
        ]
        assert both[0] <= both[1]


def test_buckets_hold_all_bytes_and_none_is_larger_than_asked_for():
    made = cost_model.in_buckets(101e6, 25e6)
    assert len(made) == 5
    assert sum(made) == pytest.approx(101e6)


def test_slowest_of_many_is_what_samples_say():
    rng = random.Random(7)
    samples = [max(rng.gauss(1.0, 0.1) for _ in range(64)) for _ in range(4000)]
    assert cost_model.slowest(1.0, 0.1, 64) == pytest.approx(sum(samples) / 4000, rel=0.005)


def test_weak_scaling_multiplies_work_and_strong_scaling_divides_time():
    weak = cost_model.scaling([8, 16], lambda p: p / 4)
    strong = cost_model.scaling([8, 16], lambda p: 80 / p, weak=False)
    assert (weak.speed_up, weak.efficiency) == ([1.0, 1.0], [1.0, 0.5])
    assert (strong.speed_up, strong.efficiency) == ([1.0, 2.0], [1.0, 1.0])


# ---- what a slow-motion cluster measured ---------------------------------------------------------


def test_bubble_is_that_of_a_pipeline_of_sleeping_ranks():
    """4 stages, 1F1B; measured with real messages of 8 processes whose passes sleep."""
    measured = {1: 0.754, 4: 0.439, 8: 0.289, 16: 0.178}
    for batches, share in measured.items():
        assert cost_model.bubble(4, batches) == pytest.approx(share, abs=0.021)
