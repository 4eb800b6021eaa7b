"""Shadow memory against an oracle, access by access, on random histories.

The oracle (`tests/oracle/happens_before.py`) stores every access and compares all pairs; shadow
memory stores a few words. Both must find the first race of each element at the same access.
"""

import random

import pytest

from tests.checked.shadow_driver import Shadow
from tests.oracle.happens_before import LOAD, NONE, STORE, UPDATE, Grid

KINDS = (LOAD, STORE, UPDATE)


class Both:
    """The oracle and shadow memory on the same history."""

    def __init__(self, blocks, threads, elements, space="global", *, fences=False):
        self.grid = Grid(blocks, threads)
        self.shadow = Shadow(blocks, threads, elements, space, fences=fences)
        self.threads, self.raced, self.instrumentation, self.fences = threads, set(), [], fences

    def begin(self, block):
        self.block = block
        self.instrumentation.append(f"begin({block})")
        self.shadow.begin(block)

    def barrier(self):
        self.instrumentation.append("barrier()")
        self.shadow.barrier()
        self.grid.synchronize(self.block, list(range(self.threads)))

    def syncwarp(self, warps):
        self.instrumentation.append(f"syncwarp({warps})")
        lanes = [[t for t in range(self.threads) if t // 32 == warp] for warp in warps]
        self.shadow.syncwarp([t for warp in lanes for t in warp])
        for warp in lanes:
            self.grid.synchronize(self.block, warp)

    def fence(self, thread):
        self.instrumentation.append(f"fence({thread})")
        self.shadow.fence(thread)
        self.grid.fence(self.block, thread)

    def access(self, thread, element, kind, *, depends=False):
        self.instrumentation.append(f"access({thread}, {element}, {kind}, depends={depends})")
        self.shadow.access(thread, element, kind, depends=depends)
        self._compare([(thread, element)], kind, depends=depends)

    def row(self, threads, element, step, kind):
        self.instrumentation.append(f"row({threads}, {element}, {step}, {kind})")
        self.shadow.row(threads, element, step, kind)
        self._compare([(t, element + k * step) for k, t in enumerate(threads)], kind)

    def _compare(self, accesses, kind, *, depends=False):
        expected = {}
        for thread, element in accesses:
            worst = self.grid.access(self.block, thread, element, kind, depends=depends)
            expected[element] = max(worst, expected.get(element, NONE))
        found = self.shadow.found()
        for element, worst in expected.items():
            if element not in self.raced:
                agree = found.get(element, NONE) == worst
                if self.fences and not agree:
                    # Few readers are stored: a write may be reported against another one.
                    agree = bool(worst) or kind == STORE
                    agree &= element in found
                assert agree, (element, worst, found, self.instrumentation)
                self.raced |= {element} if worst or element in found else set()


def play(rng, blocks, threads, elements, events, space="global"):
    """Apply a random history to both."""
    both = Both(blocks, threads, elements, space)
    likely = rng.sample(range(threads), 3)
    try:
        for block in range(blocks):
            both.begin(block)
            for _ in range(events):
                event(rng, both, likely, elements)
    finally:
        both.shadow.close()


def event(rng, both, likely, elements):
    what = rng.random()
    if what < 0.08:
        both.barrier()
    elif what < 0.2:
        warps = range(-(-both.threads // 32))
        both.syncwarp(rng.choice([[rng.choice(warps)], list(warps)]))
    elif what < 0.4:
        step = rng.choice((0, 1))
        first = rng.randrange(both.threads)
        last = min(both.threads, first + rng.choice((1, 2, 40)), first + elements if step else 999)
        kind = rng.choice((LOAD, LOAD, STORE))
        start = rng.randrange(elements - (last - first - 1) * step)
        both.row(range(first, last), start, step, kind)
    else:
        thread = rng.choice(likely) if rng.random() < 0.7 else rng.randrange(both.threads)
        both.access(thread, rng.randrange(elements), rng.choice(KINDS))


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.costly
def test_shadow_memory_finds_the_races_of_random_global_accesses(seed):
    rng = random.Random(seed)
    for _ in range(10):
        play(rng, rng.choice((1, 2, 3)), rng.choice((20, 40, 70)), rng.choice((2, 5)), 25)


@pytest.mark.parametrize("seed", range(8))
def test_shadow_memory_finds_the_races_of_random_shared_accesses(seed):
    rng = random.Random(seed)
    for _ in range(10):
        play(rng, 1, rng.choice((20, 40, 70)), rng.choice((2, 5)), 40, "shared")


FLAGS, DATA = (0, 1), (2, 3, 4)


def play_with_fences(rng, blocks, threads, events, space="global"):
    """Apply a random history to both in which threads publish data through flags."""
    both = Both(blocks, threads, 5, space, fences=True)
    likely = rng.sample(range(threads), 3)
    try:
        for block in range(blocks):
            both.begin(block)
            for _ in range(events):
                fenced_event(rng, both, likely)
    finally:
        both.shadow.close()


def fenced_event(rng, both, likely):
    thread, what = rng.choice(likely), rng.random()
    if what < 0.05:
        both.barrier()
    elif what < 0.08:
        both.syncwarp(list(range(-(-both.threads // 32))))
    elif what < 0.3:
        both.fence(thread)
    elif what < 0.6:
        both.access(thread, rng.choice(FLAGS), UPDATE, depends=True)
    else:
        both.access(thread, rng.choice(DATA), rng.choice((LOAD, STORE)), depends=what < 0.95)


@pytest.mark.parametrize("seed", range(8))
def test_shadow_memory_follows_fences_and_atomics(seed):
    rng = random.Random(seed)
    for _ in range(10):
        play_with_fences(rng, rng.choice((1, 2, 3)), 70, 20)
        play_with_fences(rng, 1, 70, 30, "shared")
