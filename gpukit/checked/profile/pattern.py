"""The addresses of one request of a warp, as `Profile.pattern` returns them and `draw` shows them.

A profile keeps the first of the most expensive requests of each access.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from gpukit.compiler import checker_state

SECTOR, BANKS, WORD = 32, 32, 4
_ALIGNED = 256  # as cudaMalloc aligns: sectors are those of the GPU from here


@dataclass(frozen=True)
class Pattern:
    """What the lanes of one warp requested together: lane numbers and a byte offset per lane.

    Offsets of global memory start at the allocation, those of shared memory at the array.
    """

    lanes: tuple[int, ...]
    offsets: tuple[int, ...]
    size: int
    space: str = "global"
    text: str = ""
    line: int = 0

    @property
    def sectors(self) -> list[int]:
        """The 32-byte sectors that the request touches, in order of address."""
        return sorted({s for at in self.offsets for s in self._parts(at, SECTOR)})

    @property
    def phases(self) -> list[list[int]]:
        """Return which lanes access the banks together: 32 with up to 4 bytes, 16 with 8."""
        together = 32 if self.size <= WORD else 16 if self.size <= 2 * WORD else 8
        groups: dict[int, list[int]] = {}
        for k, lane in enumerate(self.lanes):
            groups.setdefault(lane // together, []).append(k)
        return list(groups.values())

    def words(self, members: list[int]) -> dict[int, list[int]]:
        """Return for each bank the distinct 4-byte words that these lanes request from it."""
        wanted = sorted({w for k in members for w in self._parts(self.offsets[k], WORD)})
        banks: dict[int, list[int]] = {}
        for word in wanted:
            banks.setdefault(word % BANKS, []).append(word)
        return banks

    @property
    def wavefronts(self) -> int:
        """How many wavefronts (passes through the banks) the request takes."""
        return sum(max(map(len, self.words(part).values())) for part in self.phases)

    @property
    def step(self) -> int | None:
        """Bytes from each lane to the next, where most have the same distance; else None."""
        steps = self._steps()
        if not steps:
            return None
        step, times = steps.most_common(1)[0]
        return step if 2 * times >= len(self.lanes) - 1 else None

    @property
    def regular(self) -> bool:
        """Whether all neighbouring lanes have the same distance."""
        return len(self._steps()) == 1

    def _steps(self) -> Counter[int]:
        pairs = zip(self.lanes, self.lanes[1:], self.offsets, self.offsets[1:], strict=False)
        return Counter(after - before for a, b, before, after in pairs if b == a + 1)

    def _parts(self, at: int, unit: int) -> range:
        return range(at // unit, (at + self.size - 1) // unit + 1)


def of_row(row: Any, segment: Any, text: str, line: int) -> Pattern | None:
    """Return the most expensive request of a row of counters, None if there was none."""
    count = int(row[checker_state.S_WORST_COUNT])
    if not count:
        return None
    lanes = (
        int(lane) for lane in row[checker_state.S_WORST_LANES : checker_state.S_WORST_LANES + count]
    )
    offsets = (
        int(at)
        for at in row[checker_state.S_WORST_ADDRESSES : checker_state.S_WORST_ADDRESSES + count]
    )
    first = segment.begin // _ALIGNED * _ALIGNED if segment and segment.arrays[0].on_device else 0
    # The blocks of a cooperative grid have a copy of a shared array each.
    apart = segment.stride if segment else 0
    inside = (at % apart if apart else at - first for at in offsets)
    space = checker_state.SPACES[int(row[checker_state.S_SPACE])]
    return Pattern(tuple(lanes), tuple(inside), int(row[checker_state.S_SIZE]), space, text, line)
